#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# build-guest.sh [plain|rt] [packages]: with "packages" fetches what is needed and stops. Else makes
# build/vm/FLAVOUR/vmlinux and build/vm/FLAVOUR/base.cpio, the part of the guest's initramfs that does not change with the
# project's sources: user space and kernel modules. Nothing is done when both are newer than this script and the unpacked
# packages.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

flavour=${1:-plain} only=${2:-}
check_flavour "$flavour"

# Programs of the guest beside busybox's applets.
programs="bash ip tc bridge ss ethtool bpftool ptp4l phc2sys pmc phc_ctl ts2phc hwstamp_ctl strace chronyd chronyc
	kmod modprobe insmod rmmod lsmod modinfo taskset chrt dmesg setsid nsenter unshare flock prlimit sysctl ps pgrep
	gawk tcpdump jq"

# Kernel modules, with what they depend on.
modules="sch_* act_gact act_skbedit act_mirred act_vlan act_bpf act_police act_gate cls_u32 cls_flower cls_bpf
	cls_matchall cls_basic veth dummy 8021q bridge vrf igb igc e1000e virtio_net af_packet_diag"

# find_program NAME ROOT: its path below ROOT, that of the file itself before that of a link to it
find_program()
{
	local dir kind
	for kind in f L; do
		for dir in usr/sbin usr/bin sbin bin; do
			[ -$kind "$2/$dir/$1" ] && { [ $kind = L ] || [ ! -L "$2/$dir/$1" ]; } || continue
			echo "$dir/$1"
			return
		done
	done
	return 1
}

needed() { LC_ALL=C readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

# copy_libraries ELF ROOT STAGE LIBDIR: the shared libraries that ELF needs, from ROOT to STAGE/LIBDIR
copy_libraries()
{
	local name found dir
	for name in $(needed "$1"); do
		[ ! -e "$3/$4/$name" ] || continue
		found=
		for dir in lib/x86_64-linux-gnu usr/lib/x86_64-linux-gnu; do
			[ ! -e "$2/$dir/$name" ] || found=$2/$dir/$name
		done
		[ -n "$found" ] || die "the guest lacks the library $name, needed by $1"
		cp -L "$found" "$3/$4/$name"
		copy_libraries "$3/$4/$name" "$2" "$3" "$4"
	done
}

# Of the 53 ms of virtual time that bats needs for a test without content, the half: its library, which refers to itself, is
# read once by each process, without its comments; the time of day comes from the shell; our tracing is put in. And what the
# host has made of a file (run.sh) is not made again here, twice; with a filter for tests it is.
quicken_bats()
{
	local lib=$1/usr/lib/bats-core exec=$1/usr/libexec/bats-core name
	for name in common tracing; do
		sed -i -e "1i [ -z \"\${bats_has_$name:-}\" ] || return 0; bats_has_$name=1" -e '/^[[:space:]]*#/d' "$lib/$name.bash"
	done
	sed -i 's/^bats_setup_tracing()/bats_setup_tracing_of_bats()/' "$lib/tracing.bash"
	cat "$vm_dir/guest/bats-tracing.bash" >>"$lib/tracing.bash"
	sed -i -e '/^[[:space:]]*#/d' "$lib/test_functions.bash"
	sed -i 's/<(BATS_TEST_FILTER="$filter" bats-preprocess "$filename")/<(BATS_TEST_FILTER="$filter" bats-preprocess "$filename" | grep "^bats_test_function ")/' \
		"$exec/bats-exec-suite"
	mv "$exec/bats-preprocess" "$exec/bats-preprocess.bash"
	cat >"$exec/bats-preprocess" <<-'END'
		#!/bin/busybox sh
		[ -n "${BATS_TEST_FILTER:-}" ] || [ ! -e "$1.preprocessed" ] || exec cat "$1.preprocessed"
		exec "$0.bash" "$@"
	END
	chmod +x "$exec/bats-preprocess"
	sed -i -e 's/\$(date +%s%N)/${EPOCHREALTIME\/.}000/' -e 's/if ! mkdir -p "\$tests_tmpdir"/if ! { [ -d "$tests_tmpdir" ] || mkdir -p "$tests_tmpdir"; }/' \
		"$exec/bats-exec-test"
}

add_programs()
{
	local stage=$1 root=$root_dir name path real applet
	mkdir -p "$stage"/{bin,sbin,usr/bin,usr/sbin,usr/lib/x86_64-linux-gnu,lib64,etc,proc,sys,dev,run,tmp,root,var/run}
	mkdir -p "$stage"/{var/lib/chrony,usr/libexec,usr/lib/bats-core,lib}
	ln -s ../usr/lib/x86_64-linux-gnu "$stage/lib/x86_64-linux-gnu"
	cp -L "$root/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" "$stage/lib64/"
	cp "$root/bin/busybox" "$stage/bin/"
	for applet in $("$root/bin/busybox" --list-full); do
		mkdir -p "$stage/$(dirname "$applet")"
		[ -e "$stage/$applet" ] || ln -s /bin/busybox "$stage/$applet"
	done
	for name in $programs; do
		path=$(find_program "$name" "$root") || die "the guest lacks $name"
		# A program replaces busybox's applet of that name, wherever that lies.
		rm -f "$stage"/{bin,sbin,usr/bin,usr/sbin}/"$name"
		cp -a "$root/$path" "$stage/$path"
		real=$root/$path
		[ -L "$real" ] || copy_libraries "$real" "$root" "$stage" usr/lib/x86_64-linux-gnu
	done
	ln -sf gawk "$stage/usr/bin/awk"
	# busybox's shell would prefer its own applets to the programs of the same name.
	ln -sf bash "$stage/bin/sh"
	cp "$root/usr/bin/bats" "$stage/usr/bin/"
	cp -a "$root/usr/lib/bats-core" "$stage/usr/lib/"
	cp -a "$root/usr/libexec/bats-core" "$stage/usr/libexec/"
	quicken_bats "$stage"
	printf 'root:x:0:0:root:/root:/bin/bash\n_chrony:x:100:100::/var/lib/chrony:/bin/false\nnobody:x:65534:65534::/:/bin/false\n' \
		>"$stage/etc/passwd"
	printf 'root:x:0:\n_chrony:x:100:\nnogroup:x:65534:\n' >"$stage/etc/group"
	printf 'passwd: files\ngroup: files\nhosts: files\n' >"$stage/etc/nsswitch.conf"
	printf '127.0.0.1 localhost\n' >"$stage/etc/hosts"
	mkdir -p "$stage/etc/iproute2"
	cp -a "$root/etc/iproute2/." "$stage/etc/iproute2/" 2>/dev/null || true
	ln -s /proc/mounts "$stage/etc/mtab"
	cp -a "$root/lib/terminfo" "$stage/lib/"
}

# linuxptp 4 needs its suite's libc: it lives in /opt/linuxptp4 with its own loader. The loader's path inside the programs
# is replaced, not put before them on the command line, so that they keep their names in /proc.
add_linuxptp4()
{
	local stage=$1 root=$linuxptp4_dir to=opt/linuxptp4 name
	mkdir -p "$stage/$to/lib" "$stage/$to/bin" "$stage/$to/libexec"
	for name in ptp4l phc2sys pmc phc_ctl; do
		LC_ALL=C sed 's|/lib64/ld-linux-x86-64\.so\.2|/opt/linuxptp4/ld.so\x00\x00\x00\x00\x00\x00\x00|' \
			"$root/usr/sbin/$name" >"$stage/$to/libexec/$name"
		copy_libraries "$root/usr/sbin/$name" "$root" "$stage" "$to/lib"
		printf '#!/bin/sh\nLD_LIBRARY_PATH=/%s/lib exec /%s/libexec/%s "$@"\n' "$to" "$to" "$name" >"$stage/$to/bin/$name"
		chmod +x "$stage/$to/bin/$name" "$stage/$to/libexec/$name"
	done
	cp -L "$root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" "$stage/$to/ld.so"
}

# module_files DIR: the files below DIR of the modules that are wanted and of those that they need. What depmod would tell,
# which reads all four thousand for it.
module_files()
{
	local path name need pattern queue=()
	local -A file=() seen=()
	while read -r path; do
		name=${path##*/}
		name=${name%%.ko*}
		file[${name//-/_}]=$path
	done < <(cd "$1" && find . -name '*.ko*')
	for name in "${!file[@]}"; do
		for pattern in $modules; do
			# shellcheck disable=SC2053
			[[ $name != ${pattern//-/_} ]] || queue+=("$name")
		done
	done
	while [ ${#queue[@]} -gt 0 ]; do
		name=${queue[-1]}
		unset 'queue[-1]'
		[ -z "${seen[$name]:-}" ] || continue
		seen[$name]=1
		[ -n "${file[$name]:-}" ] || die "the guest lacks the kernel module $name"
		echo "${file[$name]}"
		for need in $(modinfo -F depends "$1/${file[$name]}" | tr ',' ' '); do
			queue+=("${need//-/_}")
		done
	done
}

add_modules()
{
	local stage=$1 version=$2 path
	local from=$cache/kernel-$flavour/lib/modules/$version to=$stage/lib/modules/$version
	mkdir -p "$to"
	module_files "$from" >"$stage/../modules.list"
	while read -r path; do
		mkdir -p "$to/$(dirname "$path")"
		case $path in
		*.xz) xz -dc "$from/$path" >"$to/${path%.xz}" ;;
		*) cp "$from/$path" "$to/$path" ;;
		esac
	done <"$stage/../modules.list"
	cp "$from"/modules.{builtin,builtin.modinfo,order} "$to/"
	depmod -b "$stage" "$version"
}

# unpack_kernel VMLINUZ DEST: the kernel inside, which QEMU starts as well: the emulated CPU takes seconds to unpack it.
# Where it cannot be had, the image as it is.
unpack_kernel()
{
	local at
	at=$(LC_ALL=C grep -m 1 -abo -P '\x28\xb5\x2f\xfd' "$1" | head -n 1 | cut -d: -f1) || at=
	# what stands behind it in the image is none of zstd's: an error in the end
	[ -z "$at" ] || tail -c "+$((at + 1))" "$1" | zstd -dcq >"$2" 2>/dev/null || true
	LC_ALL=C readelf -n "$2" 2>/dev/null | grep -q '0x00000012' || cp "$1" "$2" # the note with the entry that QEMU takes
}

# without_pauses VMLINUX: replaces the `pause` instructions of what runs at boot alone (.init.text) by two that do nothing. It is a
# hint only; but the emulated CPU leaves its generated code at each, and to measure the local APIC's timer the kernel waits for
# 104 ms of virtual time with one each 10 ns: that was four fifths of the boot.
without_pauses()
{
	local address at place
	read -r address at < <(LC_ALL=C readelf -SW "$1" |
		sed -n 's/^.* \.init\.text  *PROGBITS  *\([0-9a-f]*\)  *\([0-9a-f]*\) .*/\1 \2/p') || return 0
	for place in $(LC_ALL=C objdump -d --section=.init.text "$1" | sed -n 's/^\([0-9a-f]*\):\tf3 90 *\tpause.*/\1/p'); do
		printf '\x90\x90' | dd of="$1" bs=1 seek=$((16#$place - 16#$address + 16#$at)) conv=notrunc status=none
	done
}

# Most of the time goes into unpacking: the kernel beside the others.
fetch_packages()
{
	local kernel status=0 missing='' tree
	for tree in "$cache/kernel-$flavour" "$root_dir" "$linuxptp4_dir" "$qemu_dir"; do
		[ -e "$tree/.complete" ] || missing=1
	done
	[ -n "$missing" ] || return 0
	"$vm_dir/packages.sh" lists
	"$vm_dir/packages.sh" kernel "$flavour" & kernel=$!
	{ "$vm_dir/packages.sh" root && "$vm_dir/packages.sh" linuxptp4 && "$vm_dir/packages.sh" qemu; } || status=$?
	wait "$kernel" || status=$?
	[ "$status" = 0 ] || exit "$status"
}

build_base()
{
	local dest=$build/$flavour stage=$build/$flavour/stage version

	need cpio depmod modinfo objdump readelf xz zstd
	fetch_packages
	[ "$only" != packages ] || return 0
	version=$(cat "$cache/kernel-$flavour/version")
	[ -n "$(newer_than "$dest/base.cpio" "$vm_dir/build-guest.sh" "$vm_dir/guest/init" \
		"$vm_dir/guest/bats-tracing.bash" "$vm_dir/lib.sh" \
		"$root_dir/.complete" "$linuxptp4_dir/.complete" "$cache/kernel-$flavour/.complete")" ] || return 0
	say "building the guest's initramfs ($flavour, Linux $version)"
	rm -rf "$stage" "$dest/modules.list"
	mkdir -p "$stage"
	add_programs "$stage"
	add_linuxptp4 "$stage"
	add_modules "$stage" "$version"
	cp "$vm_dir/guest/init" "$stage/init"
	unpack_kernel "$cache/kernel-$flavour/boot/vmlinuz-$version" "$dest/vmlinux"
	without_pauses "$dest/vmlinux"
	(cd "$stage" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) >"$dest/base.cpio.new"
	mv "$dest/base.cpio.new" "$dest/base.cpio"
	rm -rf "$stage" "$dest/modules.list"
}

locked "$build/.guest-$flavour.lock" build_base
