# SPDX-License-Identifier: GPL-2.0-only
# The rt kernel: wake-up latency in virtual time, and its timerlat tracer driven and taken away again.
# vm: --timeout 900 --kernel rt

setup() {
	out=$BATS_TEST_TMPDIR/out
}

figure() {
	awk -v name="$1" '$1 == name && $2 == "ns" { value = $3 } END { print value }' "$out"
}

# Are timerlat's threads there?
threads() {
	grep -qs '^timerlat/' /proc/[0-9]*/comm
}

tracing_is_clean() {
	[ -z "$(ls /sys/kernel/tracing/instances)" ]
	[ "$(cat /sys/kernel/tracing/osnoise/cpus)" = "$cpus_before" ]
	! threads
}

@test "the distribution on the rt kernel" {
	tsnpub latency --cycle 250us --count 4000 --deadline 50us >"$out"
	cat "$out"
	[ "$(figure P50)" -le 9000 ]
	[ "$(figure max)" -le 50000 ]
	grep -q '^Verdict: met: 0 of 4000' "$out"
	tsnpub doctor | grep -q '^  ok  *rt-kernel  *PREEMPT_RT'
}

@test "timerlat runs in an instance of its own, gives its verdict, and is gone" {
	cpus_before=$(cat /sys/kernel/tracing/osnoise/cpus)
	tsnpub latency --cycle 1ms --count 1000 --tracer timerlat >"$out"
	cat "$out"
	line=$(grep "^The kernel's tracer timerlat: timer to interrupt" "$out")
	irq=$(sed -n 's/.*interrupt \([0-9.]*\) us, timer to thread \([0-9.]*\) us.*/\1/p' <<<"$line")
	thread=$(sed -n 's/.*timer to thread \([0-9.]*\) us.*/\1/p' <<<"$line")
	awk -v i="$irq" -v t="$thread" 'BEGIN { exit !(i > 0 && i < t && t < 200) }'
	samples=$(sed -n 's/.*(\([0-9]*\) samples).*/\1/p' <<<"$line")
	[ "$samples" -ge 1000 ]
	tracing_is_clean
}

@test "a SIGKILL leaves no tracer behind" {
	cpus_before=$(cat /sys/kernel/tracing/osnoise/cpus)
	tsnpub latency --cycle 1ms --tracer timerlat >/dev/null 2>&1 3>&- &
	pid=$!
	for _ in $(seq 100); do
		[ -z "$(ls /sys/kernel/tracing/instances)" ] || break
		sleep 0.1
	done
	sleep 0.5
	[ "$(ls /sys/kernel/tracing/instances)" = tsnpub-$pid ]
	threads
	kill -9 $pid
	wait $pid 2>/dev/null || true
	sleep 1
	tracing_is_clean
}

@test "an instance that a killed run left is removed by the next" {
	cpus_before=$(cat /sys/kernel/tracing/osnoise/cpus)
	mkdir /sys/kernel/tracing/instances/tsnpub-4194300
	mkdir /sys/kernel/tracing/instances/other
	tsnpub latency --cycle 1ms --count 100 --tracer timerlat >"$out"
	[ "$(ls /sys/kernel/tracing/instances)" = other ]
	rmdir /sys/kernel/tracing/instances/other
	tracing_is_clean
}
