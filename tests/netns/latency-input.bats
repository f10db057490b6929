# SPDX-License-Identifier: GPL-2.0-only
# tsnpub latency: wrong input, missing privileges, and what is left behind. No assertion on times: this machine is noisy.

load wait.bash

TSNPUB=${TSNPUB:-$BATS_TEST_DIRNAME/../../build/tsnpub}

refused() { # STATUS TEXT ARGUMENT...: exit status, and one line on stderr that holds TEXT
	local wanted=$1 text=$2 status=0
	shift 2
	"$TSNPUB" latency "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
	cat "$BATS_TEST_TMPDIR/err"
	[ "$status" = "$wanted" ]
	grep -qF -- "$text" "$BATS_TEST_TMPDIR/err"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" = 1 ]
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
}

@test "wrong input is refused in one line" {
	refused 2 "needs a unit" --cycle 250
	refused 2 "out of range" --cycle 1us
	refused 2 "leave one out" --count 5 --duration 1s
	refused 2 "unknown; use nanosleep" --timer sundial
	refused 2 "out of range" --rt-priority 100
	refused 2 "out of range" --rt-priority 0
	refused 2 "--cpu" --cpu 4000
	refused 2 "--cpu" --cpu x
	refused 2 "unknown policy" --policy best
	refused 2 "needs a --deadline" --sla 99%
	refused 2 "not a percentage" --deadline 1ms --sla 99
	refused 2 "goes with --blame" --blame-over 1ms
	refused 2 "goes with --blame or --tracer" --stop-over 1ms
	refused 2 "unknown; use timerlat" --tracer wireshark
	refused 2 "name a file" --json --csv -
	for option in --blame "--tracer hwlat" --histogram "--baseline x"; do
		# shellcheck disable=SC2086
		refused 2 "--csv - leaves no place for what ${option%% *} prints" --csv - $option
	done
	refused 2 "cannot be pinned to a CPU" --policy deadline --cpu 0
	refused 2 "--blame looks at one CPU" --policy deadline --blame
	refused 2 "--tracer looks at one CPU" --policy deadline --tracer hwlat
	refused 2 "only --policy fifo and rr have a priority" --policy deadline --rt-priority 5
	refused 2 "only --policy fifo and rr have a priority" --policy other --rt-priority 5
	refused 2 "the command is empty" --load '' -n 1
}

@test "files that are no baseline are refused before the run" {
	echo rubbish >"$BATS_TEST_TMPDIR/rubbish"
	refused 2 "rubbish" --baseline "$BATS_TEST_TMPDIR/rubbish" ||
		refused 3 "rubbish" --baseline "$BATS_TEST_TMPDIR/rubbish"
	[ -z "$(ls "$BATS_TEST_TMPDIR"/tsnpub-latency-* 2>/dev/null)" ]
}

@test "what is compared with is not written over, nor the log by the CSV" {
	before=$BATS_TEST_TMPDIR/before.tsnlog
	"$TSNPUB" latency -n 20 --log "$before" >"$BATS_TEST_TMPDIR/out" 2>/dev/null
	ln -s "$before" "$BATS_TEST_TMPDIR/link.tsnlog"
	sum=$(cksum <"$before")
	refused 2 "would be written over; give --log another name" -n 20 --baseline "$before" --log "$BATS_TEST_TMPDIR/link.tsnlog"
	refused 2 "would be written over; give --csv another name" -n 20 --baseline "$before" --csv "$before"
	[ "$(cksum <"$before")" = "$sum" ]
	refused 2 "name one file" -n 20 --log "$BATS_TEST_TMPDIR/one" --csv "$BATS_TEST_TMPDIR/one"
	[ ! -e "$BATS_TEST_TMPDIR/one" ]
}

@test "text, JSON and CSV tell the same" {
	"$TSNPUB" latency -n 200 --json --histogram --csv "$BATS_TEST_TMPDIR/csv" >"$BATS_TEST_TMPDIR/json" 2>/dev/null
	rows=$(tail -n +2 "$BATS_TEST_TMPDIR/csv" | wc -l)
	[ "$(jq .wake.wakeups "$BATS_TEST_TMPDIR/json")" = "$rows" ]
	[ $((rows + $(jq .wake.skipped "$BATS_TEST_TMPDIR/json"))) -le 200 ]
	max=$(tail -n +2 "$BATS_TEST_TMPDIR/csv" | cut -d, -f4 | sort -n | tail -1)
	[ "$(jq '.wake.figures[0].max_ns' "$BATS_TEST_TMPDIR/json")" = "$max" ]
	jq -e --argjson rows "$rows" --argjson max "$max" '([.histogram[].count] | add) == $rows and
		.histogram[-1].low_ns <= $max and $max <= .histogram[-1].high_ns' "$BATS_TEST_TMPDIR/json"
	[ "$(jq .latency.cycle_ns "$BATS_TEST_TMPDIR/json")" = 1000000 ]
	[ "$(jq '.latency.overhead_ns > 0' "$BATS_TEST_TMPDIR/json")" = true ]
}

@test "--quiet leaves warnings and the summary" {
	# the live line comes after a second, and a wake-up is never early
	"$TSNPUB" latency -n 3000 >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	grep -q 'wake-up(user)' "$BATS_TEST_TMPDIR/err"
	"$TSNPUB" latency -n 1500 --quiet >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	! grep -v '^tsnpub: warning: ' "$BATS_TEST_TMPDIR/err" || false
	grep -q '^Wake-ups' "$BATS_TEST_TMPDIR/out"
}

@test "the bar is in the log, and the report's verdict on it is the run's" {
	# no wake-up is in time; all are, but for those slept through: three quarters of 2 s may be
	for deadline in 1ns 10s; do
		status=0
		"$TSNPUB" latency -n 2000 --deadline "$deadline" --sla 25% --log "$BATS_TEST_TMPDIR/$deadline.tsnlog" \
			>"$BATS_TEST_TMPDIR/out" 2>/dev/null || status=$?
		[ "$deadline $status" = "1ns 1" ] || [ "$deadline $status" = "10s 0" ]
		reported=0
		"$TSNPUB" report "$BATS_TEST_TMPDIR/$deadline.tsnlog" --json >"$BATS_TEST_TMPDIR/report" || reported=$?
		[ "$reported" -eq "$status" ]
		[ "$(jq .verdict.required "$BATS_TEST_TMPDIR/report")" = 0.25 ]
	done
}

@test "SIGINT ends it with a result, a closed log and nothing left" {
	load="sleep 7654.$$" # this run's own
	"$TSNPUB" latency --duration 120s --log "$BATS_TEST_TMPDIR/a.tsnlog" --load "$load" >"$BATS_TEST_TMPDIR/out" 2>/dev/null 3>&- &
	pid=$!
	# there are records
	eventually larger "$BATS_TEST_TMPDIR/a.tsnlog" 4096
	pgrep -xf "$load"
	kill -INT $pid
	wait $pid
	grep -q '^Wake-ups' "$BATS_TEST_TMPDIR/out"
	"$TSNPUB" report "$BATS_TEST_TMPDIR/a.tsnlog" | grep -q '^Wake-ups'
	! pgrep -xf "$load" || false
}

@test "a load does not outlive a SIGKILL" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	load="sleep 8765.$$" # this run's own
	"$TSNPUB" latency --duration 120s --load "$load & $load" >/dev/null 2>&1 3>&- &
	pid=$!
	both() { [ "$(pgrep -cxf "$load")" = 2 ]; }
	eventually both
	kill -9 $pid
	wait $pid || true
	eventually fails pgrep -xf "$load"
}

# public_copy: of the program, where another user may run it; $public is its directory, to be removed
public_copy() {
	command -v setpriv >/dev/null || skip "setpriv is not installed"
	[ "$(id -u)" = 0 ] || skip "needs root to give privileges up"
	public=$(mktemp -d)
	chmod 755 "$public"
	cp "$TSNPUB" "$public/tsnpub"
}

# unprivileged OPTION...: as another user, who cannot make a PID namespace; in the background, as $pid
unprivileged() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$public/tsnpub" latency "$@" >/dev/null 2>&1 3>&- &
	pid=$!
}

@test "without root neither: daemons of a load end with it, with a SIGKILL, and with its first process" {
	public_copy
	load="sleep 9876.$$" # this run's own
	all() { [ "$(pgrep -cxf "$load")" = 3 ]; }
	# a daemon: in a session of its own, and its parent is gone
	for signal in INT KILL; do
		unprivileged --load "(setsid sh -c '$load & $load' &); $load"
		eventually all
		kill -s $signal $pid
		wait $pid || true
		eventually fails pgrep -xf "$load"
	done
	unprivileged --load "(setsid sh -c '$load & $load' &); $load & until [ -e $public/go ]; do sleep 0.05; done"
	eventually all
	touch "$public/go"
	eventually fails pgrep -xf "$load"
	kill -INT $pid
	wait $pid || true
	rm -rf "$public"
}

@test "a load that fails is said, and the measurement goes on" {
	"$TSNPUB" latency --duration 120s --load 'exit 7' >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	pid=$!
	eventually grep -q 'it ended with status 7' "$BATS_TEST_TMPDIR/err"
	# a live line of the time after
	eventually larger "$BATS_TEST_TMPDIR/err" "$(stat -c %s "$BATS_TEST_TMPDIR/err")"
	kill -INT $pid
	wait $pid
	grep -q '^Wake-ups' "$BATS_TEST_TMPDIR/out"
}

@test "without privileges it says what is missing, and measures" {
	public_copy
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		prlimit --memlock=65536:65536 --rtprio=0:0 "$public/tsnpub" latency -n 100 --blame \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	rm -rf "$public"
	cat "$BATS_TEST_TMPDIR/err"
	grep -q 'runs as SCHED_OTHER, not as SCHED_FIFO: .*CAP_SYS_NICE' "$BATS_TEST_TMPDIR/err"
	grep -q 'memory is not locked' "$BATS_TEST_TMPDIR/err"
	grep -q -- '--blame is not available: .*CAP_BPF' "$BATS_TEST_TMPDIR/err"
	grep -q '^  wake-ups' "$BATS_TEST_TMPDIR/out"
}
