# SPDX-License-Identifier: GPL-2.0-only
# Schedules on simulated NICs and on veth, with the kernel's own taprio, etf and mqprio: what is installed, seen by tc and by
# the time of arrival of frames (virtual time); what comes back, and when.
# vm: --timeout 200

load schedule

# in_windows TOLERANCE_NS [CLASSES] < gatewatch's lines: every frame came, in [0, 200), [200, 500), [500, 1000) us (a tolerance
# of 2 is to the nanosecond, see gatewatch)
in_windows() {
	awk -v t="$1" -v classes="${2:-3}" '
		BEGIN { from[7] = 0; to[7] = 200000; from[5] = 200000; to[5] = 500000; from[0] = 500000; to[0] = 1000000 }
		{ lines++ }
		$3 < 30 || $5 != $3 || $7 < from[$1] || $9 >= to[$1] + t { print; bad = 1 }
		END { exit bad || lines != classes }'
}

@test "full offload: frames of each class leave in their windows to the nanosecond, tc reads what is installed" {
	sim ls1028a
	file full-offload "$FULL" >a.yaml
	tsnpub schedule apply a.yaml
	gatewatch tsn0 tsn1 1000000 40 37000 7 5 0+500000 | in_windows 2
	tsnpub schedule check a.yaml
	dump >installed
	grep -q 'taprio 100: root .*tc 3 map 2 2 2 2 2 1 1 0 2' installed
	grep -q 'index 1 cmd S gatemask 0x2 interval 300000' installed
	tsnpub schedule clear
}

@test "igc: reset of the adapter is waited for, the PHC's step moves the gates with it" {
	sim i226
	file full-offload "$FULL" >a.yaml
	tsnpub schedule apply a.yaml
	gatewatch tsn0 tsn1 1000000 40 37000 7 5 0+500000 | in_windows 2
}

@test "gates in the kernel: to the microseconds of an interrupt, on a simulated NIC beside launch times, and on veth" {
	sim ideal
	# the kernel stops the gates' timer when etf is put on a queue
	file software "$FULL" "$LAUNCH" >a.yaml
	tsnpub schedule apply a.yaml
	# the tick, up to 9 us, may come between the look at the gate and the frame
	gatewatch tsn0 tsn1 1000000 40 37000 5 0+500000 | in_windows 10000 2
	veth
	file software "$FULL" '' '' v0 >b.yaml
	tsnpub schedule apply b.yaml
	gatewatch v0 v1 1000000 40 37000 7 5 0+500000 | in_windows 20000
	tsnpub schedule clear v0
}

@test "txtime-assist: the NIC launches in the windows" {
	sim ideal
	file txtime-assist "$FULL" "$LAUNCH" "$LAUNCH" >a.yaml
	tsnpub schedule apply a.yaml --force
	gatewatch tsn0 tsn1 1000000 40 37000 7 5 0+500000 | in_windows 2
	dump | grep -q 'etf 103: parent 100:3 .*delta 200000 offload on .*skip_sock_check on'
	tsnpub schedule clear
	rmmod tsnsim
	# here etf's offload resets the adapter a second time
	sim i226
	tsnpub schedule apply a.yaml --force
	gatewatch tsn0 tsn1 1000000 40 37000 7 5 0+500000 | in_windows 2
}

@test "--prove sees gates by TX stamps, in hardware and in software, with launch times too" {
	sim ideal
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	run tsnpub schedule apply a.yaml --prove
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"proof: 40 frames of class 'control' left between"*"TX stamp hw"* ]]
	[[ $output == *"of class 'video' left between 200us and "* ]]
	tsnpub schedule clear
	# behind etf without offload the kernel takes the NIC's stamps for its own
	file software "$FULL" "$LAUNCH" >b.yaml
	run tsnpub schedule apply b.yaml --prove
	good
	says "of class 'control' left between" '(TX stamp sw)' '(TX stamp hw)'
	run tsnpub --iface tsn0 --priority 7 --cycle 1ms --offset 50us --sync ignore --count 50
	says 'tsn0: no hardware TX stamps: no NIC takes the launch time off a frame (etf without offload)'
	[[ $output != *'stamps that did not come'* ]]
	tsnpub schedule clear
	file full-offload "$FULL" ', launch-time: {delta: 200us, offload: off}' >c.yaml
	run tsnpub schedule apply c.yaml --prove
	refused 3 "the gates of class 'control' cannot be proven: behind etf without offload" 'everything is as it was'
}

@test "--prove fails on gates that do not hold, and everything is as it was" {
	sim ideal
	dump >before
	file full-offload "$FULL" >a.yaml
	# somebody turns the gates round while they are looked at
	(
		until dump | grep -q taprio; do sleep 0.01; done
		sleep 0.06
		tc qdisc replace dev tsn0 root handle 100: taprio num_tc 3 map 2 2 2 2 2 1 1 0 2 2 2 2 2 2 2 2 queues 1@0 1@1 2@2 \
			base-time 0 sched-entry S 4 500000 sched-entry S 2 300000 sched-entry S 1 200000 flags 2
	) &
	run tsnpub schedule apply a.yaml --prove
	wait
	echo "$output"
	[ "$status" = 3 ]
	[[ $output == *"proof failed"*"left outside of its windows"*"everything is as it was"* ]]
	dump | diff before -
	file mqprio '' >b.yaml
	run tsnpub schedule apply b.yaml --prove
	# known beforehand: nothing is touched
	refused 2 '--prove: mode mqprio has no gates to prove; leave --prove out'
	[[ $output != *"everything is as it was"* ]]
	dump | diff before -
	file full-offload "  base-time: $(($(date +%s) + 600))s
$FULL" >c.yaml
	run tsnpub schedule apply c.yaml --prove
	refused 2 '--prove: the base time lies ' ' ahead, and the gates cannot be seen before'
	[[ $output != *"everything is as it was"* ]]
	dump | diff before -
}

@test "each configuration for a NIC is applied on the simulation of it" {
	for config in /lab/configs/*.yaml; do
		grep -q '^schedule:' "$config" || continue
		driver=$(sed -n 's/^  driver: *//p' "$config")
		case $driver in
		veth) veth; sed 's/^interface:.*/interface: v0/' "$config" >c.yaml; port=v0 ;;
		*) sim "${driver,,}" speed_mbps="$(sed -n 's/^  speed: 2.5G.*/2500/p; s/^  speed: 1G.*/1000/p' "$config")"
		   sed 's/^interface:.*/interface: tsn0/' "$config" >c.yaml; port=tsn0 ;;
		esac
		dump "$port" >before
		echo "$config"
		tsnpub schedule apply c.yaml
		tsnpub schedule check c.yaml
		tsnpub schedule clear "$port"
		dump "$port" | diff before -
		case $driver in veth) ip link del v0 ;; *) rmmod tsnsim ;; esac
	done
}

@test "a running schedule is changed in place where the NIC can, without losing a frame" {
	sim i226
	file full-offload "$FULL" >a.yaml
	tsnpub schedule apply a.yaml
	file full-offload "$OTHER" >b.yaml
	run tsnpub schedule apply b.yaml
	[ "$status" = 0 ]
	[[ $output == *"the running schedule goes on until the base time"* ]]
	tsnpub schedule check b.yaml
	run tsnpub schedule check a.yaml
	[ "$status" = 1 ]
	[[ $output == *"duration of gate 1: wanted 300us, installed is 250us"* ]]
	# the way back leads over two resets of the adapter: with the link down the kernel tells other largest frames
	dump >before
	file full-offload "$FULL" "$LAUNCH" >c.yaml
	tsnpub schedule apply c.yaml --confirm 2s
	sleep 5
	run tsnpub schedule show tsn0
	says 'applied by tsnpub from b.yaml'
	dump | diff before -
	tsnpub schedule check b.yaml
}

@test "software: the schedule to come is shown beside the one that runs" {
	veth
	file software "$FULL" '' '' v0 >a.yaml
	tsnpub schedule apply a.yaml
	file software "$OTHER" '' '' v0 >b.yaml
	tsnpub schedule apply b.yaml
	run tsnpub schedule show v0
	[[ $output == *"to come: cycle 1ms"* ]]
	[ "$(tsnpub schedule show v0 --json | grep -c '"admin"')" = 1 ]
	sleep 0.5
	run tsnpub schedule show v0
	[[ $output != *"to come"* ]]
	tsnpub schedule check b.yaml
	tsnpub schedule clear v0
}

@test "software: the kernel stops the gates when the link goes down; show and check say so, apply starts them" {
	veth
	file software "$FULL" '' '' v0 >a.yaml
	tsnpub schedule apply a.yaml
	ip link set v1 down
	ip link set v1 up
	sleep 0.1
	run tsnpub schedule show v0
	says 'the gates stand still: the link went down'
	run tsnpub schedule check a.yaml
	[ "$status" = 1 ]
	says 'v0: the gates stand still' 'apply again'
	tsnpub --iface v0 --cycle 10ms --priority 7 --duration 1s --sync ignore >out 2>&1 3>&- &
	publisher=$!
	sleep 0.5
	ip link set v1 down
	ip link set v1 up
	wait "$publisher" || true
	grep 'v0: the kernel stopped its gates for good when the link went' out || { cat out; false; }
	gatewatch v0 v1 1000000 30 37000 7 5 0 | awk '$5 == $3 { exit 1 }' # some are held back for good
	run tsnpub schedule apply a.yaml
	good
	says 'has to be removed first (the link went down meanwhile, and the kernel stopped the gates)'
	gatewatch v0 v1 1000000 30 37000 7 5 0+500000 | in_windows 20000
	tsnpub schedule check a.yaml
	tsnpub schedule clear v0
}

@test "software: the publisher that deployed the gates starts them again when the link is back" {
	veth
	file software "$FULL" '' '' v0 >a.yaml
	printf 'streams:\n- {id: 1, priority: 7, offset: 20us, size: 100}\n' >>a.yaml
	dump v0 >before
	tsnpub --config a.yaml --sync ignore --apply --duration 3s >out 2>&1 3>&- &
	publisher=$!
	sleep 1
	ip link set v1 down
	ip link set v1 up
	sleep 0.2
	gatewatch v0 v1 1000000 30 37000 7 5 0+500000 | in_windows 20000
	tsnpub schedule check a.yaml
	[[ $(tsnpub schedule show v0) != *'stand still'* ]]
	wait "$publisher" || true
	grep 'v0: the gates, which the kernel stopped when the link went, run again' out || { cat out; false; }
	dump v0 | diff before -
}

@test "I225 and changed classes: deleted and added, said beforehand" {
	sim i225
	file full-offload "$FULL" >a.yaml
	tsnpub schedule apply a.yaml
	run tsnpub schedule apply a.yaml
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"has to be removed first (this NIC takes no second schedule while one runs)"*"the link is down for seconds"* ]]
	[[ $output == *"between the former schedule and this one: "* ]]
	file full-offload "$FULL" "$LAUNCH" >b.yaml
	run tsnpub schedule apply b.yaml
	[[ $output == *"has to be removed first (etf cannot be changed, only deleted and added)"* ]]
	tsnpub schedule check b.yaml
}

@test "what stood there before comes back exactly: fq_codel by hand, another taprio, a line of changes" {
	sim ideal
	tc qdisc replace dev tsn0 root handle 55: fq_codel limit 77
	dump >before
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	tsnpub schedule apply a.yaml
	file full-offload "$OTHER" "$LAUNCH" >b.yaml
	tsnpub schedule apply b.yaml
	tsnpub schedule clear
	dump | diff before -
	tc qdisc del dev tsn0 root
	tc qdisc replace dev tsn0 root handle 200: taprio num_tc 2 map 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 queues 1@0 1@1 \
		base-time 0 sched-entry S 1 300000 sched-entry S 2 300000 clockid CLOCK_TAI
	tc qdisc replace dev tsn0 parent 200:2 handle 9: etf clockid CLOCK_TAI delta 123000
	dump >before
	tsnpub schedule apply a.yaml
	run tsnpub schedule clear
	echo "$output"
	[ "$status" = 0 ]
	dump | diff before -
}

@test "the publisher says which streams leave outside of their slots" {
	sim ideal
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	tsnpub schedule apply a.yaml
	printf 'streams:\n- {id: 3, priority: 7, offset: 261.2us, size: 100}\n' >>a.yaml
	run tsnpub --config a.yaml --sync warn --count 10
	[[ $output == *"stream 3 leaves at 261.2us, its class 'control' is open from 0ns to 200us"* ]]
	run tsnpub --config a.yaml --sync warn --count 10 --strict
	[ "$status" = 2 ]
	[[ $output == *"stream 3 leaves at 261.2us"* ]]
}
