# SPDX-License-Identifier: GPL-2.0-only
# Culprits made on purpose are named, with the time that they held the CPU to 10 us in virtual time. (That a quiet run names
# nobody is in latency.bats, a thread that spins in blame-spin.bats, what takes a second CPU in
# blame-cpus.bats.) Strikes come every 7.01 ms: against a cycle of 1 ms
# their phase moves by 10 us each, and in 0.8 s through all of it.
# vm: --timeout 900

load blame

@test "an interrupt that holds the CPU for 300 us is named, and that there is nowhere to move it" {
	echo "mmc0 0 300 100000 7010" >$C/irq
	blame 0 800
	named "mmc0 held the CPU for "
	irq=$(sed -n 's/.*IRQ \([0-9]*\) mmc0.*/\1/p' <<<"$worst")
	[[ $worst == *": IRQ $irq mmc0 held"*"there is no other CPU to move it to"* ]]
	# the histogram of that interrupt: the strikes of 0.8 s, each between 256 us and 1 ms
	awk -v irq="$irq" '$1 == "IRQ" && $2 == irq { count = $12 } END { exit !(count >= 100) }' "$out"
}

@test "a section with interrupts off is named by its function" {
	echo "0 300 100000 7010" >$C/irqs_off
	blame 0 800
	named ": timer callback culprit_timer [tsnsim] held the CPU for "
}

@test "a soft interrupt that holds the CPU is named by its vector" {
	echo "0 300 100000 7010" >$C/softirq
	blame 0 800
	named ": softirq HI held the CPU for "
	# a flood of short ones: 40 us in each 101
	echo "0 40 100000 101" >$C/softirq
	blame 0 100 --blame-over 15us
	echo "0 1 1 1000" >$C/softirq
	# Wake-ups come at ten places of it: the latest ones waited for the whole rest of one of them, or for two in a row. All
	# parts add up, and four of the five at least are named (the rest of one strike may be that of two).
	awk '/ us late: / { blocks++; late = $1; flood = /: softirq HI held the CPU for /; held = $0; sub(/.* for /, "", held); held += 0; sum = 0; next }
		blocks && /^ +[0-9.]+ us  / { sum += $1; next }
		blocks > ended && NF == 0 {
			ended++
			whole += sum >= late - 0.4 && sum <= late + 0.4
			named += flood && held >= 30 && held <= 90 && late - held <= 30
		}
		END { print blocks, "shown,", whole, "whole,", named, "named"; exit !(blocks == 5 && whole == 5 && named >= 4) }' "$out"
	# each of them by the histogram, which nothing else has a part in
	awk '$1 == "softirq" && $2 == "HI" { print; seen = $3 >= 500 && $4 >= 39.5 && $4 <= 42 } END { exit !seen }' "$out"
}

@test "a SCHED_FIFO 99 hog is named with its priority, and what to do" {
	echo "0 1 1 1000" >$C/softirq
	hog 0 99 300 7010 400 &
	pid=$!
	blame 0 800
	kill $pid 2>/dev/null || true
	wait $pid || true
	named ": thread hog[$pid] SCHED_FIFO 99 held the CPU for "
	[[ $worst == *"lower its priority: chrt -f -p 1 $pid"* ]]
}

@test "--stop-over ends the run at the first offender" {
	echo "mmc0 0 300 100000 7010" >$C/irq
	blame 0 20000 --stop-over 200us
	echo "0 1 1 1000" >$C/softirq
	grep -q '^Ended at the first wake-up later than 200us' "$out"
	[[ $worst == *"mmc0"* ]]
	[ "$(awk '$1 == "wake-ups" { print $2 }' "$out")" -lt 3000 ]
}

@test "nothing stays behind a SIGKILL" {
	programs() { bpftool prog list | grep -c blame_ || true; }
	[ "$(programs)" = 0 ]
	tsnpub latency --cycle 1ms --cpu 0 --blame >/dev/null 2>&1 &
	pid=$!
	for _ in $(seq 20); do
		sleep 0.5
		[ "$(programs)" -lt 10 ] || break
	done
	[ "$(programs)" -ge 10 ]
	kill -9 $pid
	wait $pid || true
	# the kernel frees them a while after their last holder has gone
	for _ in $(seq 20); do
		[ "$(programs)" != 0 ] || break
		sleep 0.5
	done
	[ "$(programs)" = 0 ]
}

@test "a tracer that this kernel lacks is named, and the run goes on" {
	tsnpub latency --cycle 1ms --count 100 --cpu 0 --tracer hwlat >"$out" 2>"$out.err"
	grep -q "tracer hwlat: this kernel has none (it lacks CONFIG_HWLAT_TRACER)" "$out.err"
	grep -q '^  wake-ups  *100' "$out"
	[ -z "$(ls /sys/kernel/tracing/instances)" ]
}
