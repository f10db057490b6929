# SPDX-License-Identifier: GPL-2.0-only
# Wake-up latency in virtual time: the distribution, other timers, and what is written of it.
# vm: --timeout 900

setup() {
	out=$BATS_TEST_TMPDIR/out
}

figure() { # NAME: of the last table
	awk -v name="$1" '$1 == name && $2 == "ns" { value = $3 } END { print value }' "$out"
}

@test "the distribution of 2,000 wake-ups at 250 us" {
	tsnpub latency --cycle 250us --count 2000 --deadline 50us --sla 99.99% >"$out"
	cat "$out"
	grep -q '^SCHED_FIFO 80 on CPU 0, memory locked, CPU sleep states held off, nanosleep every 250us' "$out"
	grep -q '^  wake-ups  *2000' "$out"
	[ "$(figure P50)" -ge 1500 ]
	[ "$(figure P50)" -le 6000 ]
	[ "$(figure P99)" -le 12000 ]
	[ "$(figure max)" -le 50000 ]
	grep -q '^Verdict: met: 0 of 2000' "$out"
}

@test "an event loop's timer is late by half a millisecond on average, clock_nanosleep and a spin are not" {
	tsnpub latency --cycle 10300us --count 150 --timer epoll >"$out"
	awk -v v="$(figure mean)" 'BEGIN { exit !(v > 300000 && v < 1000000) }'
	tsnpub latency --cycle 10300us --count 50 --timer timerfd >"$out"
	awk -v v="$(figure mean)" 'BEGIN { exit !(v < 20000) }'
	tsnpub latency --cycle 10300us --count 50 --timer nanosleep >"$out"
	sleeps=$(figure P50)
	awk -v v="$(figure mean)" 'BEGIN { exit !(v < 20000) }'
	# no interrupt and no scheduler on its way
	tsnpub latency --cycle 500us --count 100 --timer spin >"$out"
	cat "$out"
	[ "$(figure P50)" -lt $((sleeps / 2)) ]
	grep -q 'spin every 500us$' "$out"
}

@test "the CSV has index, actual, predicted and jitter of each wake-up" {
	tsnpub latency --cycle 1ms --count 200 --csv "$out.csv" >"$out"
	[ "$(head -1 "$out.csv")" = index,actual_ns,predicted_ns,jitter_ns ]
	[ "$(wc -l <"$out.csv")" = 201 ]
	# awk's numbers have 53 bits: the last 12 digits are compared
	awk -F, 'NR > 1 { a = substr($2, 8); p = substr($3, 8); if (a - p != $4 || $1 != NR - 2) exit 1 }' "$out.csv"
	# predicted times are whole cycles apart
	awk -F, 'NR > 2 && substr($3, 8) - last != 1000000 { exit 1 } { last = substr($3, 8) }' "$out.csv"
}

@test "the log holds the same, and can be compared with another" {
	tsnpub latency --cycle 1ms --count 500 --log "$out.tsnlog" >"$out"
	tsnpub report "$out.tsnlog" >"$out.report"
	was=$(figure max)
	[ "$(awk '$1 == "max" && $2 == "ns" { print $3; exit }' "$out.report")" = "$was" ]
	tsnpub latency --cycle 1ms --count 500 --baseline "$out.tsnlog" >"$out"
	cat "$out"
	# A is the log; in the table of both, B is what this run found; no more is asked of two runs that may differ
	[ "$(awk '$1 == "max" && $2 == "ns" && NF == 4 { print $3 }' "$out")" = "$was" ]
	difference=$(awk '/^B against A/ { below = 1 } below && $1 == "max" { print $3 + 0 }' "$out")
	[ "$difference" = $(($(awk '$1 == "max" && $2 == "ns" && NF == 4 { print $4 }' "$out") - was)) ]
	# of 500 values five lie above the P99: too few for an interval
	grep -q '^  P99  *ns .*  too few samples to tell it from noise$' "$out"
	[ -z "$(ls "${TMPDIR:-/tmp}"/tsnpub-latency-* 2>/dev/null)" ]
}

@test "a deadline that cannot be met is exit status 1" {
	status=0
	tsnpub latency --cycle 1ms --count 100 --deadline 100ns >"$out" || status=$?
	[ "$status" = 1 ]
	grep -q '^Verdict: MISSED: 100 of 100' "$out"
}

@test "blame makes a wake-up less than 1 us later, and says so; a quiet run blames nobody" {
	tsnpub latency --cycle 250us --count 2000 >"$out"
	without=$(figure P50)
	tsnpub latency --cycle 250us --count 2000 --blame --blame-over 100us >"$out"
	grep '^Blame makes' "$out"
	grep -q '^  nobody: no wake-up was later than 100us' "$out"
	difference=$(($(figure P50) - without))
	stated=$(sed -n 's/^Blame makes a wake-up \([0-9]*\) ns later: .*/\1/p' "$out")
	echo "found $difference ns, stated $stated ns"
	[ "$difference" -lt 1000 ]
	[ "$stated" -lt 1000 ]
	[ $((stated - difference)) -lt 100 ] && [ $((difference - stated)) -lt 100 ]
}
