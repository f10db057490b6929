#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# build-module.sh DIR [plain|rt]: builds the kernel module in DIR (C sources and a Kbuild) for the guest's
# kernel. The sources are copied to build/vm/FLAVOUR/NAME.src, so that DIR stays clean; the result is
# build/vm/FLAVOUR/NAME.ko, whose path is printed. W=1 and C=1 in the environment reach kbuild.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || { echo "usage: build-module.sh DIR [plain|rt]" >&2; exit 2; }
dir=$(cd "$1" && pwd)
flavour=${2:-plain}
check_flavour "$flavour"
need gcc-12 make strip
"$vm_dir/packages.sh" kernel "$flavour"

build_module()
{
	local version work old new module
	version=$(cat "$cache/kernel-$flavour/version")
	work=$build/$flavour/$(basename "$dir").src
	mkdir -p "$work"
	module=$(find "$work" -maxdepth 1 -name '*.ko')
	if [ -n "$module" ] && [ -z "$(newer_than "$module" "$dir"/*.[ch] "$dir"/Kbuild "$vm_dir/build-module.sh")" ]; then
		echo "$build/$flavour/${module##*/}"
		return
	fi
	# Only what changed is copied, so that kbuild rebuilds no more than it must; what is gone from DIR goes here too.
	for old in "$work"/*.[ch]; do
		[[ ! -e $old || $old == *.mod.c || -e $dir/${old##*/} ]] || rm -f "$old"
	done
	for new in "$dir"/*.[ch] "$dir"/Kbuild; do
		cmp -s "$new" "$work/${new##*/}" || cp "$new" "$work/"
	done
	# No BTF for the module: that would need pahole, and nothing here reads it.
	make -s -C "$cache/kernel-$flavour/usr/src/linux-headers-$version" M="$work" CC=gcc-12 \
		CONFIG_DEBUG_INFO_BTF_MODULES= modules >&2
	for module in "$work"/*.ko; do
		touch "$module"
		strip --strip-debug -o "$build/$flavour/${module##*/}" "$module"
		echo "$build/$flavour/${module##*/}"
	done
}

locked "$build/.module-$flavour.lock" build_module
