#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# check-module.sh DIR: the kernel module in DIR under sparse and the compiler's further warnings (kbuild's C=2 W=1), over the
# headers of the guest's kernel. Prints what is found about the module's own files; status 1 then. Nothing is done if
# nothing has changed since the last clean run.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || { echo "usage: check-module.sh DIR" >&2; exit 2; }
dir=$(cd "$1" && pwd)
need sparse gcc-12 make
work=$top/build/lint/$(basename "$dir")
[ -n "$(newer_than "$work/clean" "$dir"/*.[ch] "$dir"/Kbuild "$0")" ] || exit 0
"$vm_dir/packages.sh" kernel plain

rm -rf "$work"
mkdir -p "$work"
cp "$dir"/*.[ch] "$dir"/Kbuild "$work/"
make -s -C "$cache/kernel-plain/usr/src/linux-headers-$(cat "$cache/kernel-plain/version")" M="$work" CC=gcc-12 \
	CONFIG_DEBUG_INFO_BTF_MODULES= C=2 W=1 modules >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
# headers of the kernel have findings of their own
if grep -F "$work/" "$work/log"; then
	exit 1
fi
touch "$work/clean"
