# SPDX-License-Identifier: GPL-2.0-only
# Shared by the scripts of the laboratory VM. Sourced, not run.

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_dir/../.." && pwd)
build=${VM_BUILD:-$top/build/vm}

# Downloads and unpacked packages: worktrees of one clone share them.
vm_default_cache()
{
	local common
	common=$(git -C "$top" rev-parse --path-format=absolute --git-common-dir 2>/dev/null) || common=
	if [ -n "$common" ] && [ "$(basename "$common")" = .git ]; then
		echo "$(dirname "$common")/build/vm/cache"
	else
		echo "$build/cache"
	fi
}
cache=${VM_CACHE:-$(vm_default_cache)}

say() { echo "vm: $*" >&2; }

# die MESSAGE: the system lacks or refuses something (exit status 3, as the program's)
die() { echo "vm: $*" >&2; exit 3; }

need()
{
	local tool
	for tool; do
		command -v "$tool" >/dev/null || die "$tool is missing: install it (apt install $(package_of "$tool"))"
	done
}

package_of()
{
	case $1 in
	qemu-system-x86_64) echo qemu-system-x86 ;;
	depmod) echo kmod ;;
	readelf | objcopy) echo binutils ;;
	*) echo "$1" ;;
	esac
}

# locked NAME COMMAND...: runs one at a time per cache, so that two builds never tear one tree
locked()
{
	local name=$1
	shift
	mkdir -p "$cache"
	(
		flock 9
		"$@"
	) 9>"$cache/.$name.lock"
}

# newer_than FILE SOURCE...: the sources that are newer than FILE, all if there is no FILE
newer_than()
{
	local file=$1 source
	shift
	for source; do
		[ "$file" -nt "$source" ] || echo "$source"
	done
}

check_flavour()
{
	case $1 in
	plain | rt) ;;
	*) echo "vm: unknown kernel '$1': plain or rt" >&2; exit 2 ;;
	esac
}
