# SPDX-License-Identifier: GPL-2.0-only
# Blame where there is a second CPU. The CPUs of this guest take turns: no time is exact.
# vm: --timeout 900 --cpus 2

load blame

@test "what a thread that spins has waited for is named as well" {
	# it cannot spin for long (real-time throttling): all phases within 70 ms
	echo "mmc0 1 300 100000 7110" >$C/irq
	blame 1 300 --timer spin
	[[ $worst == *"mmc0 held the CPU for "* ]]
	irq=$(sed -n 's/.*IRQ \([0-9]*\) mmc0.*/\1/p' <<<"$worst")
	[[ $worst == *"move it: echo 0 > /proc/irq/$irq/smp_affinity_list"* ]]
	awk -v late="$late" -v sum="$sum" 'BEGIN { exit !(late >= 100 && sum >= late - 0.4 && sum <= late + 0.4) }'
}

@test "a SCHED_DEADLINE thread, which cannot be pinned, though the others keep off one CPU" {
	tsnpub latency --policy deadline --count 100 >"$out" 2>&1
	cat "$out"
	grep -q '^SCHED_DEADLINE 500us in 1ms on any CPU, ' "$out"
}

@test "a thread whose CPU goes offline: what comes late elsewhere is counted, and not blamed on what ran where it was" {
	# later than a nanosecond: all of them
	tsnpub latency --cpu 1 --count 4000 --blame --blame-over 1ns --json >"$out" 2>"$out.err" 3>&- &
	pid=$!
	# its first live line: it has run for a second
	for _ in $(seq 300); do
		sleep 0.1
		! grep -q '^0:01' "$out.err" || break
	done
	echo 0 >/sys/devices/system/cpu/cpu1/online
	wait $pid
	echo 1 >/sys/devices/system/cpu/cpu1/online
	jq '{wakeups: .wake.wakeups, late: .blame.late, unkept: .blame.unkept}' "$out"
	jq -e '.blame.late > 0 and .blame.unkept > 100 and .blame.late + .blame.unkept == .wake.wakeups' "$out"
}

@test "a CPU that is offline is refused in one line" {
	echo 0 >/sys/devices/system/cpu/cpu1/online
	latency=0 doctor=0
	tsnpub latency --cpu 1 --count 100 >"$out" 2>&1 || latency=$?
	tsnpub doctor --cpu 1 >>"$out" 2>&1 || doctor=$?
	echo 1 >/sys/devices/system/cpu/cpu1/online
	cat "$out"
	[ "$latency $doctor" = "2 2" ]
	[ "$(wc -l <"$out")" = 2 ]
	grep -q "^tsnpub: --cpu '1': this CPU is offline; echo 1 > /sys/devices/system/cpu/cpu1/online" "$out"
	grep -q "^tsnpub: --cpu: CPU 1 is not online; 0 are" "$out"
}
