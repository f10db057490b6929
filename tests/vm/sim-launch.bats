# SPDX-License-Identifier: GPL-2.0-only
# Launch times on the simulated parts. Virtual time.
# vm: --timeout 400 --copy tests/vm/sim.bash:lab/tests/sim.bash --copy build/tools/simprobe:lab/bin/simprobe

load sim.bash

setup_file() { modprobe sch_etf; modprobe sch_mqprio; }
teardown_file() { rmmod tsnsim; }

@test "ideal: 100 frames each leave at their launch time, to the nanosecond" {
	ports
	etf 3
	probe tsn0 tsn1 prio=3,len=100,at=0,n=100,step=31251
	same most ${F[most]} 0
	same least ${F[least]} 0
	same late "$(stat tsn0 sim_launch_late)" 0
}

@test "ideal: a launch time beats other traffic's queue, and waits only for the frame on the wire" {
	probe -l 300000 tsn0 tsn1 prio=0,len=1514,n=3 prio=3,len=100,at=0,n=3,step=2000000 prio=3,len=60,at=500
	for i in 3 4 5; do same "frame $i" ${F[$i.tx]} ${F[$i.launch]}; done
	# the last of the list is launched 500 ns after frame 3, whose wire time is (8+100+4+12)*8 = 992
	same "behind frame 3" $((${F[6.tx]} - ${F[3.tx]})) 992
}

@test "ideal: a PHC that is 5 us ahead launches 5 us early by the system clock" {
	echo 5000 >$knobs/tsn0/phc_step_ns
	probe tsn0 tsn1 prio=3,len=100,at=0
	same "by its own clock" ${F[0.tx]} ${F[0.launch]}
	same "by the peer's" $((${F[0.rx]} - ${F[0.launch]})) $((500 - 5000))
	echo -5000 >$knobs/tsn0/phc_step_ns
}

@test "i210 and ls1028a: the 32 ns step is cut off, never more" {
	for model in i210 ls1028a; do
		ports model=$model
		etf 1
		probe tsn0 tsn1 prio=1,len=100,at=0,n=40,step=1000007
		[ ${F[most]} -le 0 ]
		[ ${F[least]} -ge -31 ]
		[ ${F[least]} -lt -20 ]	# 40 odd launch times cannot all be near a multiple of 32
	done
}

@test "i210 and ls1028a: a launch time beyond half of the field's range is taken for a past one" {
	for model in i210 ls1028a; do
		ports model=$model
		etf 1 700000000
		probe -l 650000000 tsn0 tsn1 prio=1,len=100,at=1000000000
		early=$((${F[0.launch]} - ${F[0.tx]}))
		echo "$model: $early ns early"
		[ $early -gt 640000000 ] && [ $early -le 650000000 ]	# at once when it was handed over
	done
}

@test "i210: etf offload on queues 0 and 1 only; no mqprio, no taprio offload" {
	ports model=i210
	tc qdisc replace dev tsn0 parent root handle 100: mqprio $four_classes hw 0
	refused EINVAL tc qdisc replace dev tsn0 parent 100:3 etf clockid CLOCK_TAI delta 300000 offload
	refused EOPNOTSUPP tc qdisc replace dev tsn1 parent root handle 100: mqprio $four_classes hw 1
	tc qdisc del dev tsn0 root
	refused EOPNOTSUPP tc qdisc replace dev tsn0 parent root handle 100: taprio $four_classes base-time 0 \
		sched-entry S f 100000 flags 2
}

@test "ls1028a: etf offload needs traffic classes" {
	ports model=ls1028a
	tc qdisc replace dev tsn0 root handle 100: mq
	refused EOPNOTSUPP tc qdisc replace dev tsn0 parent 100:1 etf clockid CLOCK_TAI delta 300000 offload
}

@test "i225: the switch to TSN mode and back bounces the link and moves the PHC" {
	ports model=i225
	tc qdisc replace dev tsn0 parent root handle 100: mqprio $four_classes hw 1
	[ "$(cat /sys/class/net/tsn0/carrier)" = 0 ]
	[ "$(cat /sys/class/net/tsn1/carrier)" = 0 ]
	sleep 0.2
	carrier tsn0
	same "PHC" "$(cat $knobs/tsn0/phc_to_tai_ns)" 1000
	# already in TSN mode: no second bounce
	tc qdisc replace dev tsn0 parent 100:1 etf clockid CLOCK_TAI delta 300000 offload
	[ "$(cat /sys/class/net/tsn0/carrier)" = 1 ]
	tc qdisc del dev tsn0 root
	[ "$(cat /sys/class/net/tsn0/carrier)" = 0 ]
	sleep 0.2
	echo -2000 >$knobs/tsn0/phc_step_ns
}

@test "i225: launches exactly, with an empty frame in front of the first of the next second" {
	ports model=i225
	etf 0
	echo -1000 >$knobs/tsn0/phc_step_ns
	ip link set tsn1 promisc on
	probe tsn0 tsn1 prio=0,len=100,at=100,n=20,step=1000003
	same most ${F[most]} 0
	same least ${F[least]} 0
	same "empty frames" "$(stat tsn0 sim_tx_empty_frames)" 1
	[[ $lines == *"zero=1" ]]
	# etf hands frames over 300 us before; some of these come within the last 5 us of the second
	fails grep -q "may not be honoured" <(dmesg)
	probe tsn0 tsn1 prio=0,len=60,at=290000,n=20,step=500
	grep -q "Packet with txtime=.* may not be honoured" <(dmesg)
}

@test "i225: a reset lets it launch again after its PHC was set back" {
	echo -5000000000 >$knobs/tsn0/phc_step_ns
	ethtool --set-eee tsn0 eee on	# resets it
	sleep 0.2
	carrier tsn0
	probe tsn0 tsn1 prio=0,len=60,at=100
	same "received" ${F[0.nrx]} 1
	same "of a second" $(((${F[0.launch]} - ${F[0.tx]}) % 1000000000)) 0
	ethtool --set-eee tsn0 eee off
	echo $((5000000000 - 2000)) >$knobs/tsn0/phc_step_ns	# each reset moved it by 1000
	sleep 0.2
	carrier tsn0
}

@test "i225: a launch more than a cycle ahead leaves in the wrong cycle" {
	# Without taprio the cycle is one second; this one is 1.9 s ahead of its hand-over, and 2.1 s after the start of
	# the running cycle: the driver's offset has 32 bits and a sign.
	tc qdisc del dev tsn0 parent 100:1
	tc qdisc replace dev tsn0 parent 100:1 etf clockid CLOCK_TAI delta 2000000000 offload
	probe -l 1900000000 tsn0 tsn1 prio=0,len=100,at=3100000000
	early=$((${F[0.launch]} - ${F[0.tx]}))
	echo "$early ns early"
	[ $early -ge 1000000000 ]
	same "whole seconds" $((early % 1000000000)) 0
}

@test "i225: with mqprio offload the part knows no launch times, and frames leave at once" {
	ports model=i225
	tc qdisc replace dev tsn0 parent root handle 100: mqprio $four_classes hw 1
	tc qdisc replace dev tsn0 parent 100:1 etf clockid CLOCK_TAI delta 300000 offload
	sleep 0.2
	carrier tsn0
	probe tsn0 tsn1 prio=0,len=100,at=100000
	early=$((${F[0.launch]} - ${F[0.tx]}))
	echo "$early ns early"
	[ $early -gt 250000 ] && [ $early -lt 300000 ]	# etf hands it over delta before its launch time
}

@test "i225: four TX stamps at a time; i210: one; ideal and ls1028a: no limit" {
	for want in i225:4:4 i210:1:7 ideal:8:0 ls1028a:8:0; do
		IFS=: read -r model stamps skipped <<<"$want"
		ports model=$model
		etf 1
		probe tsn0 tsn1 prio=1,len=100,at=100,n=8,step=1000
		got=0
		for i in 0 1 2 3 4 5 6 7; do got=$((got + ${F[$i.ntx]})); done
		same "$model: stamps" $got "$stamps"
		[ $model = ls1028a ] || same "$model: tx_hwtstamp_skipped" "$(stat tsn0 tx_hwtstamp_skipped)" $((8 - stamps))
	done
}
