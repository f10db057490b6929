# SPDX-License-Identifier: GPL-2.0-only
# The publisher with launch times on hardware, in virtual time: it is held to the clock chain without being asked. What
# leaves is counted by the other port.
# vm: --timeout 600

debug=/sys/kernel/debug/tsnsim
load lab

setup_file() {
	lab-up >/tmp/lab-up.log 2>&1 3>&-
	# etf on the queue of priority 3 alone: it would drop the frames of ptp4l, which have no launch time
	# through bash: nsenter of busybox would take its own tc
	talker bash -c 'tc qdisc replace dev tsn0 parent root handle 100 mqprio num_tc 2 \
		map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 hw 0
		tc qdisc replace dev tsn0 parent 100:1 etf clockid CLOCK_TAI delta 300000 offload'
}

# frames of ours that reach the listener: receive counts them
count_begin() {
	listener tsnpub receive --iface tsn1 --quiet --json --stay --log /tmp/rx.tsnlog >/tmp/rx.json 2>/tmp/rx.err 3>&- &
	receiver=$!
	sleep 2
}

count_end() {
	kill -INT "$receiver"
	wait "$receiver" || true
	frames=$(awk '$1 == "\"ours\":" { print $2 + 0; exit }' /tmp/rx.json)
}

recover() {
	talker tsnpub sync --iface tsn0 --wait 120s --settle 5 >/tmp/recover 2>&1 || { cat /tmp/recover; return 1; }
}

publish() {
	talker tsnpub --iface tsn0 --cycle 5ms --priority 3 "$@"
}

# The TX log's frames, one a line: launch within its 5 ms cycle (ns), status, TX stamp minus launch (ns; "-" without a
# stamp). awk's numbers are exact to 2^53 only: times are put together from 16 bits each.
frames_of() {
	od -A n -v -t u2 -w64 -j 4096 "$1" | awk '$29 != 65535 {
		phase = ((($8 * 65536 + $7) % 5000000 * 65536 + $6) % 5000000 * 65536 + $5) % 5000000
		late = (($28 - $8) * 65536 + ($27 - $7)) * 4294967296 + ($26 - $6) * 65536 + $25 - $5
		print phase, $30, $27 + $28 ? late : "-" }'
}

@test "in sync: required by default, good, and frames leave on their launch time" {
	run publish --duration 2s --log /tmp/tx.tsnlog
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"pacing launch-time"* ]]
	[[ $output == *"clocks: good"* ]]
	frames_of /tmp/tx.tsnlog >/tmp/frames
	[ "$(wc -l </tmp/frames)" -eq 400 ]
	# the NIC launches by its PHC: within the PHC's distance from CLOCK_TAI
	awk '$3 != "-" { d = $3; if (d < 0) d = -d; if (d > worst) worst = d; n++ }
		END { print n, "stamps, worst", worst, "ns (virtual time)"; exit !(n > 200 && worst <= 1000) }' /tmp/frames
}

@test "no ptp4l: refused, and no frame leaves" {
	count_begin
	run publish --duration 1s --sync-wait 3s --sync-domain 9
	count_end
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *"not in sync: ptp4l: it takes messages and answers none"* ]]
	[ "$frames" -eq 0 ]
}

@test "TAI offset 0: refused with the fix, and no frame leaves" {
	talker tsnpub sync --set-tai-offset=0
	count_begin
	run publish --duration 1s --sync-wait 3s
	count_end
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *"fix: tsnpub sync --set-tai-offset"* ]]
	[ "$frames" -eq 0 ]
	talker tsnpub sync --set-tai-offset
	recover
}

@test "waits for the clocks, then sends" {
	talker tsnpub sync --set-tai-offset=0
	count_begin
	publish --duration 1s --sync-wait 60s >/tmp/out 2>&1 3>&- &
	publisher=$!
	sleep 10
	talker tsnpub sync --set-tai-offset
	wait "$publisher"
	count_end
	cat /tmp/out
	grep -q "waiting for the clocks" /tmp/out
	[ "$frames" -eq 200 ]
	recover
}

@test "the PHC is stepped in mid-run: paused, gone on in phase, and only good frames in the statistics" {
	count_begin
	publish --duration 20s --log /tmp/tx.tsnlog >/tmp/out 2>&1 3>&- &
	publisher=$!
	sleep 5
	echo 3000000 >$debug/tsn0/phc_step_ns
	wait "$publisher" || true
	count_end
	cat /tmp/out
	grep -q "clocks out of sync (pausing)" /tmp/out
	grep -q "clocks in sync again after" /tmp/out
	frames_of /tmp/tx.tsnlog >/tmp/frames
	# all launches are multiples of the cycle; TX_PAUSED 256
	awk '$1 { wrong++ } int($2 / 256) % 2 { paused++ } $2 % 2 { sent++ }
		END { print wrong + 0, "out of phase,", paused, "paused,", sent, "sent"
			exit !(!wrong && paused > 400 && sent > 800) }' /tmp/frames
	# after the pause frames leave on their launch time again
	tail -n 200 /tmp/frames | awk '$3 != "-" { d = $3; if (d < 0) d = -d; if (d > worst) worst = d; n++ }
		END { print n, "stamps, worst", worst, "ns (virtual time)"; exit !(n > 100 && worst <= 1000) }'
	recover
}

@test "phc2sys stopped in mid-run, --on-sync-loss stop: the run ends with status 1" {
	publish --duration 60s --on-sync-loss stop >/tmp/out 2>&1 3>&- &
	publisher=$!
	sleep 3
	for process in /proc/[0-9]*; do
		tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -q '^phc2sys' && kill "${process#/proc/}"
	done
	result=0
	wait "$publisher" || result=$?
	cat /tmp/out
	[ "$result" -eq 1 ]
	grep -q "clocks out of sync (stopping): steering: the system clock does not follow the PHC: no phc2sys" /tmp/out
	talker phc2sys -a -r --transportSpecific 1 -m >>/tmp/phc2sys.log 2>&1 3>&- &
	recover
}

@test "a crystal that runs away, --on-sync-loss warn: marked frames are counted apart" {
	publish --duration 20s --on-sync-loss warn --log /tmp/tx.tsnlog >/tmp/out 2>&1 3>&- &
	publisher=$!
	sleep 3
	echo 100000 >$debug/tsn0/phc_drift_ppb
	wait "$publisher" || true
	echo 4321 >$debug/tsn0/phc_drift_ppb
	cat /tmp/out
	grep -q "clocks out of sync (frames are marked" /tmp/out
	frames_of /tmp/tx.tsnlog | awk 'int($2 / 32) % 2 { marked++ } { n++ }
		END { print marked, "of", n, "marked"; exit !(marked > 20 && marked < n - 400) }'
	grep -q "unsynced" /tmp/out
	recover
}
