# SPDX-License-Identifier: GPL-2.0-only
# The laboratory itself: what the other tests in this directory rely on.
# vm: --timeout 60

@test "virtual time: 100 s of sleep end on time and cost next to nothing" {
	read -r before _ </proc/uptime
	sleep 100
	read -r after _ </proc/uptime
	elapsed=$(awk -v a="$after" -v b="$before" 'BEGIN { printf "%.0f", (a - b) * 10 }')
	[ "$elapsed" -ge 1000 ]
	[ "$elapsed" -le 1001 ]
}

@test "the clock source is the TSC, which counts virtual nanoseconds" {
	[ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" = tsc ]
	# told, not measured: no clock of the kernel has fractions of nanoseconds, in no boot
	dmesg | grep 'tsc: .* MHz' | tee /dev/stderr | grep -q 'tsc: Detected 1000.000 MHz TSC'
	[ -z "$(dmesg | grep 'tsc: Refined')" ]
}

@test "debugfs, tracefs, bpf and cgroup file systems are mounted" {
	[ -d /sys/kernel/debug/tracing ]
	[ -e /sys/kernel/tracing/available_tracers ]
	grep -q ' /sys/fs/bpf bpf ' /proc/mounts
	grep -q ' /sys/fs/cgroup cgroup2 ' /proc/mounts
	[ -s /sys/kernel/btf/vmlinux ]
}

@test "taprio, etf and mqprio load on demand" {
	modprobe -r sch_taprio sch_etf sch_mqprio
	ip link add va$$ numtxqueues 4 numrxqueues 4 type veth peer name vb$$ numtxqueues 4 numrxqueues 4
	tc qdisc replace dev va$$ parent root handle 100 mqprio num_tc 2 map 0 1 queues 1@0 3@1 hw 0
	tc qdisc replace dev va$$ parent 100:1 etf clockid CLOCK_TAI delta 300000
	tc qdisc show dev va$$ | grep -q 'qdisc etf .* clockid TAI delta 300000 offload off'
	tc qdisc replace dev vb$$ parent root handle 100 taprio num_tc 2 map 0 1 queues 1@0 3@1 base-time 0 \
		sched-entry S 1 500000 sched-entry S 2 500000 clockid CLOCK_TAI
	tc qdisc show dev vb$$ | grep -q 'cycle-time 1000000'
	ip link del va$$
}

@test "both generations of linuxptp run" {
	[[ $(ptp4l -v) == 3.1.1* ]]
	[[ $(/opt/linuxptp4/bin/ptp4l -v) == 4.* ]]
}
