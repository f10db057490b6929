# SPDX-License-Identifier: GPL-2.0-only
# --fix and --undo on the simulated NIC and this kernel, compared setting by setting.
# vm: --timeout 900 --cpus 2

STATE=/run/tsnpub/doctor.json

setup_file() {
	insmod /lab/modules/tsnsim.ko
	ip link set tsn0 up
	ip link set tsn1 up
	sleep 5
	# something to find: what a machine out of the box looks like
	ethtool -C tsn0 rx-usecs 33 2>/dev/null || true
	ethtool -G tsn0 rx 256 tx 256 2>/dev/null || true
	ethtool -K tsn0 gro on gso on 2>/dev/null || true
}

setup() {
	out=$BATS_TEST_TMPDIR/out
}

# Everything that the doctor may change, one setting a line. Few processes: under emulation each is dear.
settings() {
	local option

	for option in -c -g -k -a --show-eee -l; do ethtool $option tsn0 2>&1 || true; done
	# interrupts that are not in use may not be readable
	grep -s '' /proc/irq/*/smp_affinity_list /proc/irq/default_smp_affinity /proc/sys/kernel/sched_rt_runtime_us \
		/proc/sys/kernel/watchdog* /proc/sys/net/core/busy_* /sys/kernel/mm/transparent_hugepage/enabled \
		/sys/devices/virtual/workqueue/cpumask /sys/class/net/tsn0/tx_queue_len \
		/sys/class/net/tsn0/device/power/control /sys/devices/system/cpu/cpu*/online \
		/sys/devices/system/clocksource/clocksource0/current_clocksource \
		/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor /sys/module/pcie_aspm/parameters/policy \
		/sys/devices/system/cpu/cpu*/cpuidle/state*/disable /sys/kernel/debug/sched/fair_server/cpu*/runtime || true
}

# doctor STATUS OPTION...: output in $out
doctor() {
	local wanted=$1 status=0

	shift
	tsnpub doctor "$@" >"$out" 2>&1 || status=$?
	cat "$out"
	[ "$status" = "$wanted" ]
}

# absent GREP-ARGUMENT...: it finds nothing. (A test goes on after a command with "!".)
absent() { [ -z "$(grep "$@")" ]; }

@test "the doctor finds what is wrong, and says how to mend it" {
	doctor 1 --iface tsn0 --cpu 1 --for 250us
	grep -q '^  bad  *rt-kernel  *no PREEMPT_RT' "$out"
	grep -q 'fix: echo -1 > /proc/sys/kernel/sched_rt_runtime_us' "$out"
	grep -q '^boot parameters, as one line: .*isolcpus=managed_irq,domain,1' "$out"
	grep -q '^  warn  *rt-throttling' "$out"
}

@test "--fix mends, --undo restores every setting" {
	settings >"$out.before"
	# the kernel stays as it is, so something bad remains
	doctor 1 --iface tsn0 --cpu 1 --for 250us --fix --yes
	settings >"$out.fixed"
	grep -q '^irq-affinity  *[0-9]* changed$' "$out"
	[ "$(stat -c %a $STATE)" = 600 ]
	for wanted in /proc/sys/kernel/sched_rt_runtime_us:-1 /proc/sys/net/core/busy_poll:50 /proc/sys/net/core/busy_read:50 \
		/sys/class/net/tsn0/tx_queue_len:0 /sys/devices/virtual/workqueue/cpumask:1 \
		/sys/kernel/debug/sched/fair_server/cpu1/runtime:0 /proc/irq/default_smp_affinity:1; do
		grep -qx -- "$wanted" "$out.fixed"
	done
	# the record holds each setting that differs, and no other
	[ "$(diff "$out.before" "$out.fixed" | grep -c '^+[^+]')" = "$(grep -c '"was"' $STATE)" ]
	# what was mended is not found again
	doctor 1 --iface tsn0 --cpu 1 --for 250us --brief
	absent -E '^  (warn|bad)  *(rt-throttling|coalescing|rings|bundling|queue-length|busy-poll|irq-affinity|fair-server)' "$out"
	doctor 0 --undo
	settings >"$out.after"
	diff "$out.before" "$out.after"
	[ ! -e $STATE ]
	[ "$(tsnpub doctor --undo)" = "nothing to undo" ]
}

@test "what fails half-way is put back, and the others hold" {
	settings >"$out.before"
	# the second of the two settings of one finding can be read, and not be written to
	mkdir -p /tmp/guarded
	mount -t tmpfs none /tmp/guarded
	echo 0 >/tmp/guarded/busy_read
	mount -o remount,ro /tmp/guarded
	mount --bind /tmp/guarded/busy_read /proc/sys/net/core/busy_read
	doctor 3 --iface tsn0 --cpu 1 --for 250us --fix --yes
	umount /proc/sys/net/core/busy_read
	umount /tmp/guarded
	grep -q '^busy-poll  *failed, put back: cannot write /proc/sys/net/core/busy_read: Read-only file system' "$out"
	[ "$(cat /proc/sys/net/core/busy_poll)" = 0 ]
	[ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = -1 ]
	absent busy_ $STATE
	doctor 0 --undo
	settings >"$out.after"
	diff "$out.before" "$out.after"
}

@test "a run that is killed between two changes can be undone" {
	settings >"$out.before"
	# as it stands after the first half of a run, with the record of a change that was not made yet
	tsnpub doctor --cpu 1 --fix --yes >/dev/null 2>&1 || true
	echo 950000 >/proc/sys/kernel/sched_rt_runtime_us
	doctor 0 --undo
	settings >"$out.after"
	diff "$out.before" "$out.after"
}

@test "what somebody else has set since is left alone" {
	tsnpub doctor --cpu 1 --fix --yes >/dev/null 2>&1 || true
	echo 900000 >/proc/sys/kernel/sched_rt_runtime_us
	doctor 0 --undo
	grep -q 'sched_rt_runtime_us: left at 900000' "$out"
	[ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = 900000 ]
	echo 950000 >/proc/sys/kernel/sched_rt_runtime_us
}

@test "irqbalance is stopped through its service, and started again" {
	# the service, as systemd would keep it
	cp /bin/bash /tmp/irqbalance
	cat >/usr/bin/systemctl <<-'END'
		#!/bin/bash
		echo "$*" >>/tmp/systemctl.log
		case $1 in
		stop) kill "$(cat /tmp/irqbalance.pid)" ;;
		start) /tmp/irqbalance -c 'trap exit TERM; while :; do read -rt 1000 <> <(:); done' >/dev/null 2>&1 & echo $! >/tmp/irqbalance.pid ;;
		esac
	END
	chmod +x /usr/bin/systemctl
	# running yes|no: it comes to that, within 10 s
	running() {
		local is
		for _ in $(seq 100); do
			grep -qsx irqbalance /proc/[0-9]*/comm && is=yes || is=no
			[ $is != "$1" ] || return 0
			sleep 0.1
		done
		echo "irqbalance runs: $is"
		return 1
	}
	systemctl start irqbalance 3>&-
	running yes
	doctor 1 --cpu 1 --fix --yes
	grep -q '^irqbalance  *1 changed' "$out"
	running no
	doctor 0 --undo 3>&-
	grep -q '^irqbalance: running again' "$out"
	running yes
	[ "$(cat /tmp/systemctl.log)" = "start irqbalance
stop irqbalance
start irqbalance" ]
	# without systemd: said, and nothing is left half done
	rm /usr/bin/systemctl
	doctor 3 --cpu 1 --fix --yes
	grep -q '^irqbalance  *failed, put back: systemctl stop irqbalance: No such file' "$out"
	running yes
	absent irqbalance $STATE
	doctor 0 --undo
	kill "$(cat /tmp/irqbalance.pid)"
}
