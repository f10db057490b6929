#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh [OPTION...] -- CMD [ARG...]: boots the laboratory VM in virtual time, runs CMD in it and exits with its status.
# CMD's output comes on stdout and stderr; the kernel's console is kept apart and its end shown when the guest
# dies. A WARNING, BUG or Oops in the kernel log fails the run (status 70), a timeout (124) or a dead guest (71) too.
#
#   --kernel plain|rt     the guest's kernel (default plain)
#   --nic MODEL           model of the ports that lab-up makes in the guest (default ideal)
#   --timeout S           CPU time after which the guest is ended (default 120); and five times that in real time. CPU
#                         time, since a host that does other things makes nothing but the real time longer
#   --cpus N              CPUs of the guest (default 1; with more of them no timing holds, see docs/lab.md)
#   --memory MIB          memory of the guest (default 512)
#   --copy SRC[:DEST]     a file or directory of the host to have in the guest at DEST (default /lab/NAME)
#   --dmesg FILE          saves the whole kernel log
#   --prepare             makes all that a run needs and stops before it
#   --interactive         no CMD: a shell on this terminal, no timeout
#   --append WORDS        words for the kernel's command line
#
# $LAB_PHASE, if set: nanoseconds that the guest sleeps before CMD, and by which it sets its clock forward, so that a test can
# be seen at other phases: of its beginning against the second, of the kernel's tick against the cycles.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/machine.sh"

usage() { sed -n '3,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; }

kernel=plain nic=ideal timeout=120 cpus=1 memory=512 dmesg='' append='' prepare='' interactive='' copies=()
while [ $# -gt 0 ]; do
	case $1 in
	--kernel | --nic | --timeout | --cpus | --memory | --copy | --dmesg | --append)
		[ $# -ge 2 ] || { echo "vm: $1 needs a value" >&2; exit 2; } ;;
	esac
	case $1 in
	--kernel) kernel=$2; shift ;;
	--nic) nic=$2; shift ;;
	--timeout) timeout=$2; shift ;;
	--cpus) cpus=$2; shift ;;
	--memory) memory=$2; shift ;;
	--copy) copies+=("$2"); shift ;;
	--dmesg) dmesg=$2; shift ;;
	--append) append=$2; shift ;;
	--prepare) prepare=1 ;;
	--interactive) interactive=1 ;;
	--help) usage; exit 0 ;;
	--) shift; break ;;
	*) echo "vm: unknown option '$1'" >&2; usage >&2; exit 2 ;;
	esac
	shift
done
[ $# -gt 0 ] || [ -n "$prepare$interactive" ] || { echo "vm: no command: run.sh [OPTION...] -- CMD" >&2; exit 2; }
check_flavour "$kernel"
models=$(sed -n 's/.*\.name = "\([a-z0-9]*\)".*/\1/p' "$top/tests/sim/models.c" | xargs)
[[ $nic =~ ^[a-z0-9]+$ && " $models " == *" $nic "* ]] || { echo "vm: unknown NIC '$nic': want one of $models" >&2; exit 2; }
for number in "$timeout" "$cpus" "$memory"; do
	[[ $number =~ ^[1-9][0-9]{0,5}$ ]] || { echo "vm: '$number': want a number from 1 to 999999" >&2; exit 2; }
done
[[ ${LAB_PHASE:-0} =~ ^[0-9]{1,18}$ ]] || { echo "vm: LAB_PHASE '$LAB_PHASE': want nanoseconds" >&2; exit 2; }
need qemu-system-x86_64 cpio prlimit strip
[ -z "$interactive" ] || need python3
for copy in ${copies[@]+"${copies[@]}"}; do
	[ -e "${copy%%:*}" ] || die "there is no ${copy%%:*} to copy into the guest"
done
"$vm_dir/build-guest.sh" "$kernel" packages
module=''
if [ -e "$top/tests/sim/Kbuild" ]; then
	"$vm_dir/build-module.sh" "$top/tests/sim" "$kernel" >/dev/null & module=$!
fi
# The module is not part of the state: it is built beside the guest's first boot, and waited for whatever comes of that.
trap '[ -z "$module" ] || wait "$module" || true' EXIT
"$vm_dir/build-guest.sh" "$kernel"
state=$(machine_state)
locked "$build/.boot-$kernel.lock" machine_boot "$state"
trap - EXIT
[ -z "$module" ] || wait "$module" || exit
[ -z "$prepare" ] || exit 0

work=$(mktemp -d "$build/run.XXXXXX")
machine=''
trap '[ -z "$machine" ] || kill "$machine" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
stage=$work/stage
mkdir -p "$stage/lab/bin" "$stage/lab/modules" "$stage/lab/tests"
cp "$vm_dir"/guest/bin/* "$stage/lab/bin/"
cp "$vm_dir"/*.bats "$vm_dir"/guest/*.bash "$stage/lab/tests/"
for file in "$build/$kernel"/*.ko; do
	[ ! -e "$file" ] || cp "$file" "$stage/lab/modules/"
done
for file in "$top/build/tsnpub" "$top"/build/tools/*; do
	[[ ! -x $file || $file == *.d || $file == */skip_idle.so ]] || strip --strip-debug -o "$stage/lab/bin/${file##*/}" "$file"
done
[ ! -d "$top/configs" ] || cp -r "$top/configs" "$stage/lab/configs"
for copy in ${copies[@]+"${copies[@]}"}; do
	source=${copy%%:*} dest=lab/$(basename "${copy%%:*}")
	[ "$source" = "$copy" ] || dest=${copy#*:}
	mkdir -p "$stage/$(dirname "$dest")"
	cp -rL "$source" "$stage/$dest"
	# what bats makes of a file before it runs it; the names of its functions depend on the locale
	[[ $source != *.bats ]] || LC_ALL=C BATS_ROOT=$root_dir/usr "$root_dir/usr/libexec/bats-core/bats-preprocess" "$source" \
		>"$stage/$dest.preprocessed"
done
{
	echo "LAB_INTERACTIVE='$interactive'"
	echo "LAB_DMESG='${dmesg:+1}'"
	echo "export LAB_NIC='$nic' LAB_KERNEL='$kernel'"
	if [ -n "$interactive" ]; then
		read -r rows columns < <(stty size)
		printf 'export LAB_ROWS=%q LAB_COLUMNS=%q LAB_TERM=%q\n' "$rows" "$columns" "${TERM:-linux}"
	fi
} >"$stage/lab/env"
{
	echo '#!/bin/bash'
	echo 'cd /lab'
	if [ -n "${LAB_PHASE:-}" ]; then
		printf -v phase '%d.%09d' $((10#$LAB_PHASE / 1000000000)) $((10#$LAB_PHASE % 1000000000))
		printf 'sleep %s\nphc_ctl -q CLOCK_REALTIME -- adj %s >/dev/null\n' "$phase" "$phase"
	fi
	[ -z "$interactive" ] || set -- /lab/bin/lab-shell
	printf 'exec'
	printf ' %q' "$@"
	echo
} >"$stage/lab/run"
chmod +x "$stage/lab/run"
(cd "$stage" && find . | cpio --quiet -o -H newc -R 0:0) >"$work/payload"

[ -z "${LAB_PHASE:-}" ] || say "LAB_PHASE=$LAB_PHASE"
console=$work/console
mkfifo "$work/stdout" "$work/stderr"
cat "$work/stdout" & out=$!
cat "$work/stderr" >&2 & err=$!

status=0
machine_emulator
machine_arguments
machine_memory "$state" off
printf '%s\n' "$keep_memory" "migrate_incoming \"exec:cat $state\"" >"$work/begin.in"
: >"$work/begin.out"
skip_idle=$top/build/tools/skip_idle.so
[ ! -e "$skip_idle" ] || emulator=(env LD_PRELOAD="$skip_idle" "${emulator[@]}")
qemu=("${emulator[@]}" "${arguments[@]}" "${memory_arguments[@]}" -incoming defer
	-chardev "pipe,id=begin,path=$work/begin" -mon chardev=begin,mode=readline
	-chardev "file,id=console,path=$console"
	-chardev "file,id=stdout,path=$work/stdout" -chardev "file,id=stderr,path=$work/stderr"
	-chardev "file,id=dmesg,path=$work/dmesg")
if [ -n "$interactive" ]; then
	"$vm_dir/terminal.py" "$work" "${unleft[@]}" "${qemu[@]}" 2>"$work/qemu.err" || status=$?
else
	mv "$work/payload" "$work/payload.in"
	: >"$work/payload.out"
	"${bounded[@]}" $((5 * timeout)) "${unleft[@]}" prlimit --cpu="$timeout:$((timeout + 5))" \
		"${qemu[@]}" -chardev null,id=terminal \
		-chardev "pipe,id=payload,path=$work/payload" -chardev "file,id=status,path=$work/status" \
		</dev/null 2>"$work/qemu.err" &
	machine=$!
	wait "$machine" || status=$?
	machine=''
fi
# If QEMU never opened them, the readers would wait for ever.
: 1<>"$work/stdout" 1<>"$work/stderr"
wait "$out" "$err" || true

if [ -n "$dmesg" ]; then
	cp "$work/dmesg" "$dmesg"
fi
result=$(sed -n 's/^exit //p' "$work/status" 2>/dev/null || true)
# 124 and 137: timeout, its kill; 152: out of CPU time
if [ "$status" = 124 ] || [ "$status" = 137 ] || [ "$status" = 152 ]; then
	tail -n 40 "$console" >&2 2>/dev/null || true
	say "the guest did not end within $timeout s of CPU time (end of its console above)"
	exit 124
elif [ -z "$result" ]; then
	cat "$work/qemu.err" >&2
	if grep -q 'load of migration failed' "$work/qemu.err"; then
		rm -f "$state" "$state.ram"
		say "the guest's saved state was damaged and is removed; the next run makes it anew"
	fi
	tail -n 60 "$console" >&2 2>/dev/null || true
	say "the guest died before its command ended (QEMU's status $status, end of its console above)"
	exit 71
elif grep -q splat "$work/status"; then
	say "the command's status was $result"
	exit 70
fi
exit "$result"
