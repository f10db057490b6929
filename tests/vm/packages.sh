#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetches the guest's packages by name with apt into the cache and unpacks them:
#   packages.sh kernel plain|rt     kernel image, headers and kbuild  -> $cache/kernel-FLAVOUR
#   packages.sh root                the guest's user space            -> $root_dir
#   packages.sh linuxptp4           linuxptp 4 with its own libc      -> $linuxptp4_dir
#   packages.sh qemu                the emulator                      -> $qemu_dir
#   packages.sh lists               the archives' lists alone: before several of the above at once
# A private apt state is used: neither root nor the machine's package lists are needed, and the machine is left as it
# was. The mirror is the one that the machine's own apt sources name. An interrupted run continues where it stopped.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# Prints "URI suite" of each archive that the machine's sources name, whatever their format.
machine_sources()
{
	apt-get indextargets --format '$(SITE) $(RELEASE)' 'Identifier: Packages' 2>/dev/null | sort -u
}

# apt_error LOG: what apt says was wrong, the cause before its consequences
apt_error() { grep -m1 '^[EW]:' "$1" || tail -n 1 "$1"; }

# write_sources STATE: the archives that are needed, from the mirror that the machine uses
write_sources()
{
	local state=$1 site release uri='' security='' opt='' key=/usr/share/keyrings/debian-archive-keyring.gpg
	while read -r site release; do
		case $release in
		bookworm) uri=$site ;;
		bookworm-security) security=$site ;;
		esac
	done < <(machine_sources)
	[ -n "$uri" ] || die "no Debian 12 (bookworm) archive in this machine's apt sources: packages cannot be fetched"
	[ -n "$security" ] || security=${uri%/debian*}/debian-security
	[ ! -e "$key" ] || opt="[signed-by=$key] "
	{
		echo "deb $opt$uri bookworm main"
		echo "deb $opt$security bookworm-security main"
		echo "deb $opt$uri bookworm-backports main"
		echo "deb $opt$uri trixie main"
	} >"$state/sources.list.new"
	# the same ones are not new: apt would read all lists again
	if cmp -s "$state/sources.list.new" "$state/sources.list"; then
		rm "$state/sources.list.new"
	else
		mv "$state/sources.list.new" "$state/sources.list"
	fi
}

apt_state()
{
	local state=$cache/apt

	need apt-get dpkg-deb
	[ "$(dpkg --print-architecture)" = amd64 ] || die "the guest is built on amd64 only"
	mkdir -p "$state"/{lists/partial,archives/partial,empty}
	[ -e "$state/status" ] || : >"$state/status" # a new one would make apt read all lists again
	# to ask apt takes seconds
	[ -e "$state/.updated" ] && [ -z "$(newer_than "$state/sources.list" /etc/apt/sources.list{,.d,.d/*})" ] || write_sources "$state"
	apt_options=(-q
		-o "Dir::State=$state" -o "Dir::State::lists=$state/lists" -o "Dir::State::status=$state/status"
		-o "Dir::Cache=$state" -o "Dir::Cache::archives=$state/archives"
		-o "Dir::Etc::sourcelist=$state/sources.list" -o "Dir::Etc::sourceparts=$state/empty"
		-o "Dir::Etc::preferences=$state/empty/none" -o "Dir::Etc::preferencesparts=$state/empty"
		-o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::srcpkgcache=srcpkgcache.bin
		-o APT::Get::List-Cleanup=0 -o APT::Install-Recommends=0 -o Acquire::Retries=3
		-o Acquire::Languages=none -o APT::Sandbox::User=root -o Debug::NoLocking=1
		-o DPkg::Post-Invoke=/bin/true -o APT::Keep-Downloaded-Packages=true)
	if [ ! -e "$state/.updated" ] || [ -n "$(find "$state/.updated" -mtime +7)" ]; then
		say "reading package lists"
		# By itself apt takes it for a success when no list could be had.
		if apt-get "${apt_options[@]}" -o APT::Update::Error-Mode=any update >"$state/update.log" 2>&1; then
			touch "$state/.updated"
		elif [ -e "$state/.updated" ]; then
			say "apt-get update: $(apt_error "$state/update.log"); going on with older lists"
		else
			die "apt-get update: $(apt_error "$state/update.log")"
		fi
	fi
}

# download_failed MESSAGE: the lists may name packages that the archive has replaced since; the next run reads them anew
download_failed()
{
	rm -f "$cache/apt/.updated"
	die "$@"
}

# fetch DIR SUITE PACKAGE...: downloads into DIR what is not there yet and names the files in DIR/list
fetch()
{
	local dir=$1 suite=$2
	shift 2
	mkdir -p "$dir"
	(cd "$dir" && apt-get "${apt_options[@]}" -t "$suite" download "$@") >"$dir/log" 2>&1 ||
		download_failed "apt-get download $*: $(apt_error "$dir/log")"
}

# depends PACKAGE...: the first exact-version dependency of each metapackage, nothing for one that there is not
depends()
{
	apt-cache "${apt_options[@]}" depends "$@" 2>/dev/null |
		awk '/^[^ ]/ { first = 1 } first && /^ *Depends: / { print $2; first = 0 }' || true
}

# unpack DIR DEST: all packages of DIR into DEST, atomically
unpack()
{
	local deb
	rm -rf "$2.new"
	mkdir -p "$2.new"
	for deb in "$1"/*.deb; do
		dpkg-deb -x "$deb" "$2.new"
	done
	rm -rf "$2"
	mv "$2.new" "$2"
}

kernel()
{
	local flavour=$1 suffix='' image='' headers='' dest=$cache/kernel-$1
	[ "$flavour" = plain ] || suffix=-rt
	[ ! -e "$dest/.complete" ] || return 0
	apt_state
	{ read -r image && read -r headers; } < <(depends "linux-image-6.12$suffix-amd64" "linux-headers-6.12$suffix-amd64") || true
	[ -n "$image" ] && [ -n "$headers" ] || die "no Linux 6.12 kernel in the archive (bookworm-security)"
	local version=${image#linux-image-}
	local base=${version%-amd64}
	base=${base%-rt}
	say "fetching $image"
	fetch "$cache/debs-kernel-$flavour" bookworm-security "$image" "$headers" \
		"linux-headers-$base-common$suffix" "linux-kbuild-$base"
	unpack "$cache/debs-kernel-$flavour" "$dest"
	# The headers' Makefile names its sibling by absolute path: make that relative to itself.
	echo "include \$(dir \$(abspath \$(lastword \$(MAKEFILE_LIST))))../linux-headers-$base-common$suffix/Makefile" \
		>"$dest/usr/src/linux-headers-$version/Makefile"
	echo "$version" >"$dest/version"
	touch "$dest/.complete"
	rm -rf "$cache/debs-kernel-$flavour"
}

# download_closure DIR SUITE PACKAGE...: with all that they depend on, as if nothing was installed
download_closure()
{
	local dir=$1 suite=$2
	shift 2
	mkdir -p "$dir/partial"
	apt-get "${apt_options[@]}" -y -t "$suite" -o "Dir::Cache::archives=$dir" install --download-only "$@" \
		>"$dir/log" 2>&1 || download_failed "apt-get install --download-only $*: $(apt_error "$dir/log")"
}

# user_space DIR SUITE PACKAGE...
user_space()
{
	local dest=$1 suite=$2
	shift 2
	[ ! -e "$dest/.complete" ] || return 0
	apt_state
	say "fetching $*"
	download_closure "$dest.debs" "$suite" "$@"
	unpack "$dest.debs" "$dest"
	touch "$dest/.complete"
	rm -rf "$dest.debs"
}

emulator()
{
	[ ! -e "$qemu_dir/.complete" ] || return 0
	apt_state
	say "fetching QEMU"
	fetch "$qemu_dir.debs" bookworm-backports "${qemu_packages[@]}"
	unpack "$qemu_dir.debs" "$qemu_dir"
	touch "$qemu_dir/.complete"
	rm -rf "$qemu_dir.debs"
}

# What apt makes of the lists is made here once, not by each of those that read it.
lists()
{
	apt_state
	apt-cache "${apt_options[@]}" gencaches >"$cache/apt/gencaches.log" 2>&1 ||
		die "apt-cache gencaches: $(apt_error "$cache/apt/gencaches.log")"
}

case ${1:-} in
lists) locked "$cache/.lists.lock" lists ;;
qemu) locked "$cache/.qemu.lock" emulator ;;
root) locked "$cache/.root.lock" user_space "$root_dir" bookworm "${guest_packages[@]}" ;;
linuxptp4) locked "$cache/.linuxptp4.lock" user_space "$linuxptp4_dir" trixie "${linuxptp4_packages[@]}" ;;
kernel)
	check_flavour "${2:-}"
	locked "$cache/.kernel-$2.lock" kernel "$2"
	;;
*)
	echo "usage: packages.sh kernel plain|rt | root | linuxptp4 | qemu | lists" >&2
	exit 2
	;;
esac
