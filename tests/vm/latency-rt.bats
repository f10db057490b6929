# SPDX-License-Identifier: GPL-2.0-only
# The rt kernel: wake-up latency and blame in virtual time, and its tracers driven and taken away again.
# vm: --timeout 900 --kernel rt

T=/sys/kernel/tracing

setup_file() {
	insmod /lab/modules/tsnsim.ko
}

setup() {
	out=$BATS_TEST_TMPDIR/out
	cpus=$(cat $T/osnoise/cpus)
	mode=$(cat $T/hwlat_detector/mode)
}

figure() {
	awk -v name="$1" '$1 == name && $2 == "ns" { value = $3 } END { print value }' "$out"
}

# How many threads of a tracer are there?
threads() {
	grep -lsE '^(timerlat|osnoise|hwlat)' /proc/[0-9]*/comm | wc -l
}

tracing_is_clean() {
	[ -z "$(ls $T/instances)" ]
	[ "$(cat $T/osnoise/cpus)" = "$cpus" ]
	[ "$(cat $T/hwlat_detector/mode)" = "$mode" ]
	[ "$(cat $T/osnoise/stop_tracing_us)$(cat $T/osnoise/stop_tracing_total_us)" = 00 ]
	[ "$(threads)" = 0 ]
}

# strikes: an interrupt that holds CPU 0 for 300 us each 7.01 ms from now on
strikes() { echo "mmc0 0 300 100000 7010" >/sys/kernel/debug/tsnsim/culprit/irq; }
no_strikes() { echo "0 1 1 1000" >/sys/kernel/debug/tsnsim/culprit/softirq; }

@test "the distribution on the rt kernel" {
	tsnpub latency --cycle 250us --count 2000 --deadline 50us >"$out"
	cat "$out"
	[ "$(figure P50)" -ge 1500 ]
	[ "$(figure P50)" -le 9000 ]
	[ "$(figure max)" -le 50000 ]
	grep -q '^Verdict: met: 0 of 2000' "$out"
	tsnpub doctor | grep -q '^  ok  *rt-kernel  *PREEMPT_RT'
}

@test "blame on the rt kernel: the interrupt that held the CPU, to 10 us; nobody without it" {
	tsnpub latency --cycle 1ms --count 300 --blame --blame-over 100us >"$out"
	grep -q '^  nobody: no wake-up was later than 100us' "$out"
	strikes
	tsnpub latency --cycle 1ms --count 800 --blame --blame-over 100us >"$out"
	no_strikes
	cat "$out"
	worst=$(grep -m 1 ' us late: ' "$out")
	[[ $worst == *": IRQ "*" mmc0 held the CPU for "* ]]
	held=$(sed -n 's/.* for \([0-9.]*\) us.*/\1/p' <<<"$worst")
	awk -v held="$held" 'BEGIN { exit !(held >= 290 && held <= 310) }'
	# the parts of each one add up to it
	awk '/ us late: / { if (n && (sum < late - 0.4 || sum > late + 0.4)) exit 1; late = $1; sum = 0; n++; next }
		n && /^ +[0-9.]+ us  / { sum += $1 }
		END { exit !(n >= 3 && sum >= late - 0.4 && sum <= late + 0.4) }' "$out"
}

@test "timerlat runs in an instance of its own, gives its verdict, and is gone" {
	tsnpub latency --cycle 1ms --count 300 --tracer timerlat >"$out"
	cat "$out"
	line=$(grep "^The kernel's tracer timerlat: timer to interrupt" "$out")
	irq=$(sed -n 's/.*interrupt \([0-9.]*\) us, timer to thread \([0-9.]*\) us.*/\1/p' <<<"$line")
	thread=$(sed -n 's/.*timer to thread \([0-9.]*\) us.*/\1/p' <<<"$line")
	awk -v i="$irq" -v t="$thread" 'BEGIN { exit !(i > 0 && i < t && t < 200) }'
	[ "$(sed -n 's/.*(\([0-9]*\) samples).*/\1/p' <<<"$line")" -ge 300 ]
	tracing_is_clean
}

@test "--stop-over freezes timerlat's trace at the first offender" {
	strikes
	tsnpub latency --cycle 10ms --count 1000 --tracer timerlat --stop-over 200us >"$out"
	no_strikes
	cat "$out"
	grep -qE '^Ended (because timerlat saw more|at the first wake-up later) than 200us' "$out"
	[ "$(awk '$1 == "wake-ups" { print $2 }' "$out")" -lt 900 ]
	# the end of the trace has the kernel's own view of it: who held the CPU, and for how long
	grep -q '  its trace, frozen there, ends:' "$out"
	grep -qE 'irq_noise: mmc0:[0-9]+ .* duration 30[0-9]{4} ns' "$out"
	tracing_is_clean
}

@test "osnoise finds the noise of an interrupt" {
	strikes
	tsnpub latency --cycle 10ms --count 120 --tracer osnoise >"$out"
	no_strikes
	cat "$out"
	line=$(grep "^The kernel's tracer osnoise: " "$out")
	single=$(sed -n 's/.*at most \([0-9.]*\) us at once.*/\1/p' <<<"$line")
	# threads of this machine may make more noise than the strikes do
	awk -v s="$single" 'BEGIN { exit !(s >= 300) }'
	[ "$(sed -n 's/.* threads, \([0-9]*\) interrupts.*/\1/p' <<<"$line")" -ge 100 ]
	tracing_is_clean
}

@test "hwlat finds no firmware in an emulator, and is gone" {
	tsnpub latency --cycle 10ms --count 30 --tracer hwlat >"$out"
	cat "$out"
	grep -q "^The kernel's tracer hwlat: no gap of 10 us or more: no sign of SMIs" "$out"
	tracing_is_clean
}

@test "a tracer that is busy, or not in this kernel, is named, and the run goes on" {
	mkdir $T/instances/other
	echo timerlat >$T/instances/other/current_tracer
	echo 1 >$T/instances/other/tracing_on
	echo 20000 >$T/osnoise/stop_tracing_total_us
	# the kernel would let a second timerlat run, with its CPUs and its stop changed under the first
	for tracer in timerlat osnoise; do
		tsnpub latency --cycle 1ms --count 100 --tracer $tracer >"$out.$tracer" 2>&1
	done
	[ "$(cat $T/osnoise/stop_tracing_total_us)" = 20000 ]
	echo 0 >$T/osnoise/stop_tracing_total_us
	echo nop >$T/instances/other/current_tracer
	rmdir $T/instances/other
	cat "$out.timerlat" "$out.osnoise"
	for tracer in timerlat osnoise; do
		grep -q "tracer $tracer: timerlat is active in $T/instances/other, whose settings it would change; going on without it" "$out.$tracer"
		grep -q '^  wake-ups  *100' "$out.$tracer"
	done
	tsnpub latency --cycle 1ms --count 100 --tracer irqsoff >"$out" 2>&1
	grep -q "tracer irqsoff: this kernel has none (it lacks CONFIG_IRQSOFF_TRACER); it has: .*timerlat" "$out"
	grep -q '^  wake-ups  *100' "$out"
	umount $T
	tsnpub latency --cycle 1ms --count 100 --tracer timerlat >"$out" 2>&1
	mount -t tracefs none $T
	cat "$out"
	grep -q '^  wake-ups  *100' "$out"
	tracing_is_clean
}

@test "a SIGKILL leaves no tracer behind, and what a killed watch left is removed by the next run" {
	mkdir $T/instances/tsnpub-4194300
	mkdir $T/instances/other
	tsnpub latency --cycle 10ms --tracer timerlat --stop-over 10ms >/dev/null 2>&1 3>&- &
	pid=$!
	for _ in $(seq 50); do
		sleep 0.2
		[ ! -e $T/instances/tsnpub-$pid ] || break
	done
	sleep 0.5
	[ "$(ls $T/instances | tr '\n' ' ')" = "other tsnpub-$pid " ]
	[ "$(threads)" -ge 1 ]
	# a second one would take the first one's settings for those to go back to
	tsnpub latency --cycle 1ms --count 100 --tracer timerlat >"$out" 2>&1
	grep -q "tracer timerlat: another tsnpub drives a tracer; wait for its end; going on without it" "$out"
	grep -q '^  wake-ups  *100' "$out"
	kill -9 $pid
	wait $pid 2>/dev/null || true
	sleep 1
	rmdir $T/instances/other
	tracing_is_clean
	# run and watch killed together: the next run with a tracer finds what they left
	tsnpub latency --cycle 10ms --tracer timerlat --stop-over 10ms >/dev/null 2>&1 3>&- &
	pid=$!
	for _ in $(seq 50); do
		sleep 0.2
		[ "$(cat $T/osnoise/stop_tracing_total_us)" != 10000 ] || break
	done
	watch=$(pgrep -P $pid)
	kill -9 $watch $pid
	wait $pid 2>/dev/null || true
	[ "$(cat $T/osnoise/stop_tracing_total_us)" = 10000 ]
	tsnpub latency --cycle 1ms --count 100 --tracer timerlat >"$out" 2>&1
	grep -q "put back what a killed run had left: osnoise/stop_tracing_total_us" "$out"
	tracing_is_clean
}
