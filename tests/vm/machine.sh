# SPDX-License-Identifier: GPL-2.0-only
# The virtual machine itself. Sourced after lib.sh.
#
# Booting takes the emulated CPU more than 10 s, so each shape of the machine is booted once
# and its state kept in build/vm/FLAVOUR: its memory in *.state.ram, the rest in *.state. A run starts from there in about a
# second; it maps the memory, and what it writes is its own, so that nothing is read but what it needs. The guest waits in
# that state for its payload: what is particular to the run (the program, the tests, the command) as a cpio archive.

# machine_emulator: the words that start QEMU, in `emulator`: the one that was fetched, or the system's where that does not run
machine_emulator()
{
	local share=$qemu_dir/usr/share
	emulator=("$qemu_dir/usr/bin/qemu-system-x86_64" -L "$share/qemu" -L "$share/seabios")
	"${emulator[0]}" --version >/dev/null 2>&1 || emulator=(qemu-system-x86_64)
}

# Shape: what a saved state depends on. Set by the caller: kernel, cpus, memory, append.
machine_arguments()
{
	# One instruction is one nanosecond, idle time is skipped: timing does not depend on what the host does. What is
	# switched off costs many instructions and nothing here depends on it; the string instructions that would be fast on a
	# real CPU count as one instruction for each byte, and leave the generated code at each. QEMU 7.2 does not know fsrs
	# (fast short stos, which memset looks for) and would refuse it in -cpu; the kernel, that has no name for it, clears it by
	# its number. It is told too that the TSC counts nanoseconds, and has no other clock to measure it by: what it measures is
	# off by some ppm, another time at each boot, and then each of its clocks has fractions of nanoseconds of its own, so that
	# their difference changes by one from look to look.
	arguments=(-accel tcg,thread=single -icount shift=0,sleep=off -rtc clock=vm,base=2026-01-01T00:00:00
		-M q35,memory-backend=ram -cpu max,-erms,-fsrm -m "$memory" -smp "$cpus"
		-nodefaults -no-user-config -display none -no-reboot
		-kernel "$build/$kernel/vmlinux" -initrd "$build/$kernel/base.cpio"
		-append "console=ttyS0 quiet loglevel=5 oops=panic panic=-1 nokaslr mitigations=off log_buf_len=4M
			nosoftlockup nowatchdog random.trust_cpu=on clearcpuid=rep_good,395 init_on_alloc=0 audit=0 lsm= psi=0
			cgroup_disable=memory randomize_kstack_offset=off rcupdate.rcu_expedited=1 cryptomgr.notests
			rodata=off tsc_early_khz=1000000 tsc=reliable hpet=disable pmtmr=0 ${append:-}"
		-device isa-debug-exit,iobase=0x501,iosize=1
		-serial chardev:console -device virtio-serial-pci,max_ports=8,ioeventfd=off
		-device virtconsole,chardev=terminal,name=terminal)
	local port
	for port in payload stdout stderr status dmesg; do
		arguments+=(-device "virtserialport,chardev=$port,name=$port")
	done
}

# The command of QEMU's monitor by which a saved state is without the memory: that is in a file already.
keep_memory='migrate_set_capability x-ignore-shared on'

# machine_memory STATE on|off: the words that give QEMU the memory of that state. `on`: what the guest writes goes into it.
machine_memory() { memory_arguments=(-object "memory-backend-file,id=ram,size=${memory}M,mem-path=$1.ram,share=$2"); }

# machine_state: the path of the saved state of this shape
machine_state()
{
	local key
	machine_emulator
	machine_arguments
	key=$({
		"${emulator[@]}" --version
		stat -c '%n %s %.Y' "$build/$kernel/vmlinux" "$build/$kernel/base.cpio"
		printf '%s\n' "${arguments[@]}"
	} | sha256sum | cut -c1-16)
	echo "$build/$kernel/$key.state"
}

# machine_boot STATE: boots this shape until it waits for its payload and saves it; status 71 if it does not get there
machine_boot()
{
	local state=$1 work word rc=0
	[ ! -e "$state" ] || [ ! -e "$state.ram" ] || return 0
	say "booting the guest once ($kernel, $cpus CPUs, $memory MiB)"
	work=$(mktemp -d "$build/boot.XXXXXX")
	mkfifo "$work/payload.in" "$work/payload.out" "$work/status" "$work/monitor"
	exec 8<>"$work/monitor" 6<>"$work/status"
	machine_emulator
	machine_arguments
	rm -f "$state.ram"
	machine_memory "$state" on
	"${bounded[@]}" 300 "${unleft[@]}" "${emulator[@]}" "${arguments[@]}" "${memory_arguments[@]}" \
		-chardev file,id=console,path="$work/console" -chardev null,id=terminal \
		-chardev pipe,id=payload,path="$work/payload" \
		-chardev null,id=stdout -chardev null,id=stderr -chardev null,id=dmesg \
		-chardev file,id=status,path="$work/status" \
		-monitor stdio <&8 >"$work/qemu.log" 2>&1 &
	local qemu=$!
	# The guest says that it waits, or QEMU's end is seen.
	( wait_for_end "$qemu"; echo dead >&6 ) &
	local watch=$!
	read -r word <&6
	if [ "$word" = ready ]; then
		printf '%s\n' "$keep_memory" "migrate -d \"exec:cat >$state.new\"" >&8
		# Asked until it has ended: without -d the monitor waits too, but not in each state on the way there.
		until grep -qE '[Ss]tatus: *(completed|failed|cancelled)' "$work/qemu.log" || ! kill -0 "$qemu" 2>/dev/null; do
			echo 'info migrate' >&8
			sleep 0.2
		done
		echo quit >&8
		wait "$qemu" || rc=$?
		# QEMU's status is 0 too when the state was cut, by a full disk for one
		grep -q '[Ss]tatus: *completed' "$work/qemu.log" || rc=71
	fi
	kill "$watch" 2>/dev/null || true
	exec 6>&- 8>&-
	if [ "$word" != ready ] || [ "$rc" != 0 ] || [ ! -s "$state.new" ]; then
		tail -n 40 "$work/console" "$work/qemu.log" >&2 || true
		rm -rf "$work" "$state.new" "$state.ram"
		# nothing is missing on this machine (that would be status 3): a fault, as of a guest that dies later
		say "the guest did not boot, or its state could not be saved (end of its console and of QEMU's log above)"
		exit 71
	fi
	mv "$state.new" "$state"
	rm -rf "$work"
	# States of older guests are of no use any more.
	find "$build/$kernel" -name '*.state*' ! -newer "$build/$kernel/base.cpio" -delete
}

wait_for_end() { tail --pid="$1" -s 0.5 -f /dev/null; }
