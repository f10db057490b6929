# SPDX-License-Identifier: GPL-2.0-only
# Gate schedules on the simulated parts: what is enforced, what is refused. Virtual time.
# vm: --timeout 300 --copy tests/vm/sim.bash:lab/tests/sim.bash --copy build/tools/simprobe:lab/bin/simprobe

load sim.bash

setup_file() { modprobe sch_taprio; modprobe sch_etf; modprobe sch_mqprio; ports; }
teardown_file() { rmmod tsnsim; }

# inside FROM TO CYCLE CLASS: each stamped frame of the class starts at or after FROM in the cycle, and its last bit (FCS
# included) leaves by TO. Prints how many there were.
inside()
{
	gawk -M -v from="$1" -v to="$2" -v cycle="$3" -v class="$4" '
		$2 == "prio=" class && $5 != "tx=-" {
			split($3, len, "="); split($5, tx, "=")
			at = tx[2] % cycle
			if (at < from || at + (8 + len[2] + 4) * 8 > to) { print "outside: " $0 " at " at; exit 1 }
			n++
		}
		END { print n + 0 }' <<<"$lines"
}

@test "gates are kept: no frame starts before its gate opens or ends after it closes" {
	taprio 0 -- 8:100000 7:150000
	probe tsn0 tsn1 prio=3,len=100,n=20 prio=0,len=1514,n=40 prio=1,len=700,n=20
	same "class 3" "$(inside 0 100000 250000 3)" 20
	same "class 0" "$(inside 100000 250000 250000 0)" 40
	same "class 1" "$(inside 100000 250000 250000 1)" 20
}

@test "guard band: what does not fit before the gate closes waits, what fits exactly goes" {
	# room for one full frame and 100 ns: 1526 * 8 = 12208
	taprio 0 -- 1:12308 e:100000
	probe tsn0 tsn1 prio=0,len=1514,n=3
	same "frames in their window" "$(inside 0 12308 112308 0)" 3
	same "one a cycle" $((${F[2.tx]} - ${F[1.tx]})) 112308
	taprio 0 -- 1:12208 e:100000
	probe tsn0 tsn1 prio=0,len=1514,n=2
	same "exact fit" "$(inside 0 12208 112208 0)" 2
}

@test "a frame that fits no window is dropped and counted for its queue" {
	taprio 0 -- 1:12207 e:100000
	before=$(stat tsn0 "Tx window drop  0 frames")
	probe tsn0 tsn1 prio=0,len=1514,n=3 prio=0,len=60
	same "drops" $(($(stat tsn0 "Tx window drop  0 frames") - before)) 3
	same "the small one" ${F[3.nrx]} 1
	same "the big one" ${F[0.nrx]} 0
}

@test "an admin schedule takes over at its base time, not before" {
	taprio 0 -- 1:100000 e:100000
	sleep 0.01
	probe tsn0 tsn1 prio=0,len=60		# its base is a second away
	change=$((${lines:5:19} + 1000000000))
	taprio $change -- e:100000 1:100000
	probe -b "$change" tsn0 tsn1 prio=0,len=60,n=4
	# sent 100 ms before the change: by the old schedule
	same "old windows" "$(inside 0 100000 200000 0)" 4
	probe tsn0 tsn1 prio=0,len=60,n=4
	# counted from the new base, class 0 has the second half
	lines=$(gawk -M -v base="$change" '$5 ~ /^tx=[0-9]/ { split($5, tx, "="); $5 = "tx=" tx[2] - base } { print }' <<<"$lines")
	same "new windows" "$(inside 100000 200000 200000 0)" 4
}

@test "a frame that waits over a change of schedules does not leave in the past of the new one" {
	local change

	tc qdisc del dev tsn0 root
	taprio 0 -- 1:500000000 e:500000000
	sleep 1.1	# in force
	change=$((($(date +%s) + 2) * 1000000000 + 800000000))
	taprio $change -- e:100000000 1:100000000
	# it comes 100 ms before the change, to a closed gate; a frame of the other direction arrives 50 ms after the change
	simprobe -e 0x88b6 -w 0 -b $((change + 150000000)) tsn1 tsn0 prio=0,len=60 >/dev/null 3>&- &
	probe -b $change tsn0 tsn1 prio=0,len=60
	wait
	same "left" $((${F[0.tx]} - change)) 100000000
	tc qdisc del dev tsn0 root
}

@test "the schedule follows the PHC, forward and far back" {
	local step

	taprio 0 -- 1:100000 e:100000
	sleep 0.01
	for step in 33333 -5000066666; do
		echo $step >$knobs/tsn0/phc_step_ns
		probe tsn0 tsn1 prio=0,len=1000,n=30
		same "by its own clock" "$(inside 0 100000 200000 0)" 30
	done
	echo 5000033333 >$knobs/tsn0/phc_step_ns
}

@test "ideal: a gate that is never closed passes any frame, one that never opens holds it" {
	echo 100 >$knobs/pair0/speed_mbps
	carrier tsn0
	taprio 0 -- 5:10000 5:10000	# a frame of 1514 bytes needs 122 us
	before=$(stat tsn0 tx_queue_1_packets)
	probe tsn0 tsn1 prio=0,len=1514,n=2 prio=1,len=60
	same "open all the time" $((${F[1.tx]} - ${F[0.tx]})) $((1538 * 80))
	same "never open" "${F[2.nrx]} $(stat tsn0 tx_queue_1_packets) $(stat tsn0 "Tx window drop  1 frames")" "0 $before 0"
	tc qdisc del dev tsn0 root
	same "without a schedule" "$(stat tsn0 tx_queue_1_packets)" $((before + 1))
	echo 1000 >$knobs/pair0/speed_mbps
	carrier tsn0
}

@test "ideal: etf under taprio launches inside the window" {
	taprio 0 -- 8:100000 7:100000
	tc qdisc replace dev tsn0 parent 100:4 etf clockid CLOCK_TAI delta 300000 offload
	probe tsn0 tsn1 prio=3,len=100,at=50000,n=5,step=1000000 prio=3,len=100,at=6150000
	for i in 0 1 2 3 4; do same "frame $i" ${F[$i.tx]} ${F[$i.launch]}; done
	same "a launch time outside the window waits for the next one" $((${F[5.tx]} - ${F[5.launch]})) 50000
	tc qdisc del dev tsn0 root
}

@test "cycle time extension: the rest before a change belongs to the last cycle, if it is short enough" {
	# the change comes 50 us into a cycle; class 0 is open there, unless the cycle before is stretched over it
	local extension change
	for extension in 49999 50000; do
		taprio 0 cycle-time-extension $extension -- 1:100000 e:100000
		tc qdisc replace dev tsn0 parent 100:1 etf clockid CLOCK_TAI delta 300000 offload
		change=$((($(date +%s) + 2) * 1000000000 + 50000))
		taprio $change -- e:100000 1:100000
		probe -b $change tsn0 tsn1 prio=0,len=60,at=-40000
		if [ $extension = 49999 ]; then
			same "in the cut cycle" $((${F[0.tx]} - change)) -40000
		else
			same "in the window of the new schedule" $((${F[0.tx]} - change)) 100000
		fi
		tc qdisc del dev tsn0 root
	done
}

@test "queueMaxSDU: a longer frame is dropped and counted, by each part's own way to count" {
	# Debian 12's tc cannot set it. 214 bytes of frame are an SDU of 200; igc is told 202
	cat >$BATS_TEST_TMPDIR/limit.yaml <<-END
		interface: tsn0
		cycle: 200us
		schedule:
		  mode: full-offload
		  classes:
		  - {name: a, priorities: [3], queues: 0, max-frame: 214}
		  - {name: b, priorities: [0], queues: 1, max-frame: 214}
		  gates:
		  - {open: [a, b], duration: 200us}
	END
	# MODEL GOES DROPPED TAGGED-GOES TAGGED-DROPPED: lengths around the limit
	while read -r model goes dropped tagged_goes tagged_dropped; do
		ports model=$model
		tsnpub schedule apply $BATS_TEST_TMPDIR/limit.yaml
		probe tsn0 tsn1 prio=3,len=$goes prio=3,len=$dropped prio=3,len=$tagged_goes,vid=5 prio=3,len=$tagged_dropped,vid=5
		same "$model: received" "${F[0.nrx]}${F[1.nrx]}${F[2.nrx]}${F[3.nrx]}" 1010
		same "$model: counted" "$(stat tsn0 sim_tx_queue_0_sdu_drops)" 2
	done <<-END
		ideal    214 215  218 219
		i226     214 215  214 215
		ls1028a  218 219  218 219
	END
}

@test "window drops are counted by class where the part counts them, and nowhere else" {
	ports model=ls1028a
	taprio 0 -- 1:12207 e:100000
	probe tsn0 tsn1 prio=0,len=1514,n=3 prio=1,len=1514
	same "received" "${F[0.nrx]} ${F[3.nrx]}" "0 1"
	shown=$(tsnpub schedule show --iface tsn0)
	[[ $shown == *"queue 0: "*", window drops 3"*"queue 1: "*", window drops 0"* ]] || { echo "$shown"; false; }
	same "its own name for it" "$(stat tsn0 "Tx window drop  0 frames")" 3
	tc qdisc del dev tsn0 root
	same "forgotten with the schedule" "$(stat tsn0 "Tx window drop  0 frames")" 0
	fails grep -q . <<<"$(stat tsn0 tx_hwtstamp_skipped)$(stat tsn0 qbv_config_change_errors)"
	entries=$(for i in {1..65}; do echo "sched-entry S f 10000"; done)
	refused EINVAL tc qdisc replace dev tsn0 parent root handle 100: taprio $four_classes base-time 0 $entries flags 2
}

@test "i225: what it refuses, and with which errno" {
	ports model=i225
	q="tc qdisc replace dev tsn0 parent root handle 100: taprio $four_classes flags 2"
	refused EINVAL $q base-time 4000000000000000000 sched-entry S 8 100000 sched-entry S 7 100000
	refused EINVAL $q base-time 0 sched-entry S 8 100000 sched-entry S 7 100000 sched-entry S 8 100000
	refused EINVAL $q base-time 0 cycle-time-extension 1000 sched-entry S 8 100000 sched-entry S 7 100000
	refused ERANGE $q base-time -1 sched-entry S 8 100000 sched-entry S 7 100000
	taprio 0 -- 8:100000 7:100000
	refused EALREADY $q base-time 0 sched-entry S 8 100000 sched-entry S 7 100000
	tc qdisc del dev tsn0 root
	refused EOPNOTSUPP tc qdisc replace dev tsn1 parent root handle 100: mqprio num_tc 2 map 0 1 queues 1@0 1@1 hw 1
	[[ $(tc qdisc replace dev tsn1 parent root handle 100: mqprio num_tc 2 map 0 1 queues 1@0 1@1 hw 1 2>&1) == \
		*"Only 4 traffic classes supported"* ]]
	fails grep -q . <<<"$(stat tsn0 "Tx window drop  0 frames")"
}

@test "i226: a future base time and a live replace work; a queue that never opens drops" {
	ports model=i226
	taprio 4000000000000000000 -- 8:100000 3:100000
	sleep 0.3
	same "before" "$(stat tsn0 qbv_config_change_errors)" 0
	probe tsn0 tsn1 prio=2,len=60
	same "a queue that is closed from then on" ${F[0.nrx]} 1
	taprio 0 -- 8:100000 3:100000
	carrier tsn0
	same "a base time that has passed" "$(stat tsn0 qbv_config_change_errors)" 1
	[[ $(tsnpub schedule show --iface tsn0) == *"window drops not counted by this driver"* ]]
	probe tsn0 tsn1 prio=2,len=60,n=2 prio=0,len=60
	same "closed queue" ${F[0.nrx]} 0
	same "counted" "$(stat tsn0 sim_tx_queue_2_closed_drops)" 2
	same "open queue" ${F[2.nrx]} 1
}

@test "i226: a frame does not cross the end of the cycle, though its gate stays open" {
	taprio 0 -- f:100000 f:100000
	probe tsn0 tsn1 prio=0,len=1514,n=40
	same "inside the cycle" "$(inside 0 200000 200000 0)" 40
	# no jumbo frames in TSN mode
	ip link set tsn0 mtu 4000
	ip link set tsn1 mtu 4000
	probe tsn0 tsn1 prio=0,len=1600 prio=0,len=1601
	same "received" "${F[0.nrx]} ${F[1.nrx]}" "1 0"
}

@test "ls1028a: taprio and etf exclude each other, in both directions" {
	ports model=ls1028a
	taprio 0 -- 8:100000 7:100000
	refused EBUSY tc qdisc replace dev tsn0 parent 100:1 etf clockid CLOCK_TAI delta 300000 offload
	tc qdisc del dev tsn0 root
	etf 1
	refused EBUSY tc qdisc replace dev tsn0 parent root handle 200: taprio $four_classes base-time 0 \
		sched-entry S f 100000 flags 2
	tc qdisc del dev tsn0 root
}
