# SPDX-License-Identifier: GPL-2.0-only
# The publisher with launch times on hardware, in virtual time: it is held to the clock chain without being asked. What
# leaves is counted, and stamped, by a receiver at the other port that runs all along.
# vm: --timeout 200

load lab
load sync

rx=/tmp/rx.tsnlog

setup_file() {
	lab-up >/tmp/lab-up.log 2>&1 3>&-
	# etf on the queue of priority 3 alone: it would drop the frames of ptp4l, which have no launch time
	# through bash: nsenter of busybox would take its own tc
	talker bash -c 'tc qdisc replace dev tsn0 parent root handle 100 mqprio num_tc 2 \
		map 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 hw 0
		tc qdisc replace dev tsn0 parent 100:1 etf clockid CLOCK_TAI delta 300000 offload'
	listener tsnpub receive --iface tsn1 --quiet --stay --log $rx >/tmp/rx.out 2>&1 3>&- &
	sleep 2
}

# arrived: frames of ours that have reached the other port so far. The log is written each second; it has records of the
# clocks, too, whose stream is 0xffff
arrived() {
	sleep 1.5
	od -A n -v -t u2 -w64 -j 4096 $rx | awk '$25 != 65535 { n++ } END { print n + 0 }'
}

publish() {
	talker tsnpub --iface tsn0 --cycle 10ms --priority 3 "$@"
}

# judge PAUSED UNSYNCED GOOD [LIMIT]: what both logs say about each frame of /tmp/tx.tsnlog, sender's status and stamps of either
# side. At least so many cycles were paused, frames marked, and frames good. No frame was received, by the receiver's
# stamp, in a pause, nor one whose launch lies in it. Of those that are not marked each one arrived on its launch time plus
# the cable's 500 ns, within the limit (ns; 200 if not given). Launch times stay on the cycle's grid. TX_SENT 1, TX_UNSYNCED 32, TX_PAUSED 256.
judge() {
	sleep 1.5
	tsnpub report --csv - /tmp/tx.tsnlog $rx | gawk -M -F, -v want_paused="$1" -v want_marked="$2" -v want_good="$3" -v limit="${4:-200}" '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["tx_status"] == "" { next } # of another run
		{
			status = $column["tx_status"]; launch = $column["launch_ns"]; arrival = $column["rx_hw_ns"]
			if (launch % 10000000) off_grid++
			if (int(status / 256) % 2) {
				paused++
				if (!from || launch < from) from = launch
				if (launch > to) to = launch
			}
			if (arrival == "") next
			received[++n] = arrival; launches[n] = launch
			if (int(status / 32) % 2) { marked++; next }
			good++
			d = arrival - launch
			if (good == 1 || d < least) least = d
			if (good == 1 || d > most) most = d
		}
		END {
			# what was handed over when the pause began leaves within the lead, 800 us
			for (i = 1; i <= n && paused; i++)
				leaked += (launches[i] >= from && launches[i] <= to) ||
					(received[i] > from && received[i] <= to)
			printf "%d paused, %d marked, %d good, arrival %d to %d ns after launch, %d leaked, %d off the grid\n",
				paused, marked, good, least, most, leaked, off_grid
			exit !(paused >= want_paused && marked >= want_marked && good >= want_good && !leaked && !off_grid &&
				least >= 500 - limit && most <= 500 + limit)
		}'
}

@test "in sync: required by default, good, and frames leave on their launch time" {
	run publish --cycle 1ms --count 500 --log /tmp/tx.tsnlog
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"pacing launch-time"* ]]
	[[ $output == *"clocks: good"* ]]
	[ "$(arrived)" -eq 500 ]
}

@test "no ptp4l, or TAI offset 0: refused with the fix, and no frame leaves; set right meanwhile: it waits, then sends" {
	before=$(arrived)
	run publish --duration 1s --sync-wait 1s --sync-domain 9
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *"not in sync: ptp4l: it takes messages and answers none"* ]]
	talker tsnpub sync --set-tai-offset=0
	run publish --duration 1s --sync-wait 1s
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *"fix: tsnpub sync --set-tai-offset"* ]]
	[ "$(arrived)" -eq "$before" ]
	publish --duration 1s --sync-wait 60s >/tmp/out 2>&1 3>&- &
	publisher=$!
	sleep 4
	[ "$(arrived)" -eq "$before" ]
	talker tsnpub sync --set-tai-offset
	wait "$publisher"
	cat /tmp/out
	grep -q "waiting for the clocks" /tmp/out
	[ "$(arrived)" -eq $((before + 100)) ]
}

@test "the PHC is stepped in mid-run: no frame leaves while it is paused; what left before it was noticed is marked" {
	recover
	publish --duration 10s --log /tmp/tx.tsnlog >/tmp/out 2>&1 3>&- &
	publisher=$!
	sleep 3.033
	echo 3000000 >$SIM/tsn0/phc_step_ns
	wait "$publisher" || true
	cat /tmp/out
	grep -q "clocks out of sync (pausing)" /tmp/out
	grep -q "clocks in sync again after" /tmp/out
	# at least three seconds of pause; the PHC is seen to be off within 100 ms
	judge 290 1 400
}

@test "a crystal that runs away, --on-sync-loss warn: frames that leave at the wrong time are marked" {
	recover
	publish --duration 9s --on-sync-loss warn --log /tmp/tx.tsnlog >/tmp/out 2>&1 3>&- &
	publisher=$!
	sleep 3
	echo 100000 >$SIM/tsn0/phc_drift_ppb
	wait "$publisher" || true
	echo 4321 >$SIM/tsn0/phc_drift_ppb
	cat /tmp/out
	grep -q "clocks out of sync (frames are marked" /tmp/out
	grep -q "unsynced" /tmp/out
	# what drifts off within the limit of 1 us is good
	judge 0 100 200 1000
}

@test "phc2sys stopped in mid-run, --on-sync-loss stop: the run ends with status 1" {
	recover
	publish --duration 60s --on-sync-loss stop >/tmp/out 2>&1 3>&- &
	publisher=$!
	sleep 3
	kill "$(pgrep -f '^phc2sys -a')"
	result=0
	wait "$publisher" || result=$?
	cat /tmp/out
	[ "$result" -eq 1 ]
	grep -q "clocks out of sync (stopping): steering: the system clock does not follow the PHC: no phc2sys" /tmp/out
}
