# SPDX-License-Identifier: GPL-2.0-only
# Shared by the scripts of the laboratory VM. Sourced, not run.

# depmod and modinfo are there, and a user's PATH has no such directories
PATH=$PATH:/usr/sbin:/sbin
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
	apt-get) echo apt ;;
	dpkg-deb) echo dpkg ;;
	prlimit) echo util-linux ;;
	xz) echo xz-utils ;;
	depmod | modinfo) echo kmod ;;
	objdump | readelf | strip) echo binutils ;;
	*) echo "$1" ;;
	esac
}

# The guest's user space, and linuxptp 4 of a newer suite with what it needs. The cache is shared with other states of the
# sources, so what they unpack goes by the packages' names.
guest_packages=(bash busybox-static iproute2 ethtool bpftool linuxptp strace chrony kmod procps
	util-linux bats libc-bin gawk tcpdump ncurses-base jq)
linuxptp4_packages=(linuxptp)
# The emulator: QEMU 10 needs half the time of the 7.2 of Debian 12 for the same guest. Its libraries are those of the latter.
qemu_packages=(qemu-system-x86 qemu-system-common qemu-system-data seabios)
root_dir=$cache/root-$(cksum <<<"${guest_packages[*]}" | cut -d' ' -f1)
linuxptp4_dir=$cache/linuxptp4-$(cksum <<<"${linuxptp4_packages[*]}" | cut -d' ' -f1)
qemu_dir=$cache/qemu-$(cksum <<<"${qemu_packages[*]}" | cut -d' ' -f1)

# locked FILE COMMAND...: runs one at a time per lock file, so that two builds never tear one tree
locked()
{
	local file=$1
	shift
	mkdir -p "$(dirname "$file")"
	(
		flock 9
		"$@" 9>&-
	) 9>"$file"
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

# "${bounded[@]}" SECONDS "${unleft[@]}" COMMAND...: ends it after that time, and also when this shell is killed, so that no
# guest is left behind. Words, not a function: the shell must be the direct parent.
bounded=(setpriv --pdeathsig TERM timeout --kill-after=5)
unleft=(setpriv --pdeathsig KILL)
