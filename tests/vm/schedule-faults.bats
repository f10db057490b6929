# SPDX-License-Identifier: GPL-2.0-only
# Schedules that go wrong: refused by the kernel or the driver, killed in the middle, not confirmed, two at once, and those
# that would cut their user off.
# vm: --timeout 200

load schedule

@test "one TX queue: refused with the fix, before the kernel is asked" {
	ip link add v0 type veth peer name v1
	ip link set v0 up; ip link set v1 up
	file software "$FULL" '' '' v0 >a.yaml
	run tsnpub schedule apply a.yaml
	refused 2 'a.yaml: line 1: interface: the interface has one TX queue, taprio needs at least two'
}

@test "a bare refusal of the driver is explained: too many gates on LS1028A" {
	sim ls1028a
	{
		printf 'interface: tsn0\ncycle: 1ms\nschedule:\n  mode: full-offload\n  classes:\n'
		printf '  - {name: a, priorities: [7], queues: 0, max-frame: 200}\n  - {name: b, priorities: [0], queues: 1, max-frame: 200}\n  gates:\n'
		for i in $(seq 50); do
			printf '  - {open: [a], duration: 10us}\n  - {open: [b], duration: 10us}\n'
		done
	} >a.yaml
	dump >before
	run tsnpub schedule apply a.yaml
	refused 3 'taprio refused' 'Device failed to setup taprio offload' 'EINVAL' \
		"more gate entries than the hardware's list holds" 'everything is as it was'
	dump | diff before -
	[ "$(tsnpub schedule show tsn0 | grep -c 'no schedule; installed is mq')" = 1 ]
}

@test "etf against taprio on LS1028A in the kernel's words, where the file's check is passed by" {
	sim ls1028a
	# etf offload needs classes in hardware first: mqprio gives them, and with them taprio answers EBUSY
	file mqprio '' "$LAUNCH" >a.yaml
	tsnpub schedule apply a.yaml
	tsnpub schedule check a.yaml
	file full-offload "$FULL" "$LAUNCH" >b.yaml
	dump >before
	run tsnpub schedule apply b.yaml
	[ "$status" = 2 ]
	[[ $output == *"cannot do launch times and gates in hardware at once (EBUSY)"* ]]
	dump | diff before -
}

@test "a module that is missing" {
	sim ideal
	file full-offload "$FULL" >a.yaml
	rmmod sch_taprio 2>/dev/null || true
	mv /lib/modules/*/kernel/net/sched/sch_taprio.ko* "$BATS_TEST_TMPDIR/" 2>/dev/null ||
		find / -xdev -name 'sch_taprio.ko*' -exec mv {} "$BATS_TEST_TMPDIR/" \;
	run tsnpub schedule apply a.yaml
	find "$BATS_TEST_TMPDIR" -name 'sch_taprio.ko*' -exec cp {} "$(dirname "$(find / -xdev -name 'sch_etf.ko*' | head -1)")" \;
	refused 3 'taprio refused' 'Specified qdisc' 'the kernel module is missing' 'everything is as it was'
}

@test "no carrier: said, and the interface is switched off again" {
	insmod /lab/modules/tsnsim.ko length_ns=0
	file full-offload "$FULL" >a.yaml
	run tsnpub schedule apply a.yaml --carrier-timeout 2s
	[ "$status" = 3 ]
	[[ $output == *"no carrier within 2s"* ]]
	[[ $(ip -o link show tsn0) != *",UP"* ]]
}

@test "VLAN, bridge, bond, dummy and switch members are named with the interface to use" {
	sim ideal
	ip link add link tsn0 name tsn0.5 type vlan id 5
	ip link add br0 type bridge
	ip link set tsn1 master br0
	file full-offload "$FULL" '' '' tsn0.5 >a.yaml
	run tsnpub schedule apply a.yaml
	refused 2 "'tsn0.5': a vlan device" 'use interface: tsn0'
	file full-offload "$FULL" '' '' br0 >a.yaml
	run tsnpub schedule apply a.yaml
	refused 2 "a bridge, frames leave through its ports" 'use one of them: tsn1'
	file full-offload "$FULL" '' '' tsn1 >a.yaml
	run tsnpub schedule apply a.yaml
	[ "$status" = 0 ]
	[[ $output == *"'tsn1' is a port of bridge 'br0'"* ]]
	tsnpub schedule clear tsn1
	file full-offload "$FULL" '' '' lo >a.yaml
	run tsnpub schedule apply a.yaml
	refused 2 "not Ethernet"
}

@test "a schedule that closes PTP's class, or drops its frames, is refused without --force" {
	sim ideal
	file full-offload '  gates:
  - {open: [control, video], duration: 1ms}' >a.yaml
	dump >before
	run tsnpub schedule apply a.yaml
	[ "$status" = 2 ]
	[[ $output == *"class 'rest', which carries PTP (priority 0), never opens"* ]]
	file full-offload "$FULL" '' "$LAUNCH" >b.yaml
	run tsnpub schedule apply b.yaml
	[ "$status" = 2 ]
	[[ $output == *"drops frames without a launch time (etf)"* ]]
	dump | diff before -
	tsnpub schedule apply a.yaml --force
}

@test "a schedule that closes the class of the ssh session's way is refused without --force" {
	sim ideal
	ip address add 192.0.2.1/24 dev tsn0
	file full-offload '  ptp-priority: 7
  gates:
  - {open: [control, video], duration: 1ms}' >a.yaml
	export SSH_CONNECTION='192.0.2.9 50000 192.0.2.1 22'
	run tsnpub schedule apply a.yaml
	[ "$status" = 2 ]
	[[ $output == *"carries this ssh session (from 192.0.2.9)"*"you would be locked out"* ]]
	# as under sudo, which does not pass the variable on
	run bash -c 'env -u SSH_CONNECTION tsnpub schedule apply a.yaml; exit $?'
	[ "$status" = 2 ]
	[[ $output == *"you would be locked out"* ]]
	# the session comes another way
	SSH_CONNECTION='127.0.0.1 50000 127.0.0.1 22' tsnpub schedule apply a.yaml
	tsnpub schedule clear
	# over a VLAN on it
	ip link add link tsn0 name tsn0.5 type vlan id 5
	ip link set tsn0.5 up
	ip address add 198.51.100.1/24 dev tsn0.5
	export SSH_CONNECTION='198.51.100.9 50000 198.51.100.1 22'
	run tsnpub schedule apply a.yaml
	[ "$status" = 2 ]
	[[ $output == *"you would be locked out"* ]]
	# over a bridge, one of whose ports is that VLAN
	ip address del 198.51.100.1/24 dev tsn0.5
	ip link add br0 type bridge
	ip link set tsn0.5 master br0
	ip link set br0 up
	ip address add 198.51.100.1/24 dev br0
	run tsnpub schedule apply a.yaml
	[ "$status" = 2 ]
	says 'tsn0 carries this ssh session (from 198.51.100.9)' 'you would be locked out'
	tsnpub schedule apply a.yaml --force
}

@test "a qdisc with classes and filters stays: it could not be put back" {
	sim ideal
	tc qdisc replace dev tsn0 root handle 1: htb default 1
	tc class add dev tsn0 parent 1: classid 1:1 htb rate 100mbit
	dump >before
	file full-offload "$FULL" >a.yaml
	run tsnpub schedule apply a.yaml
	refused 3 "'htb' is installed, whose classes and filters could not be put back"
	dump | diff before -
}

@test "two at once: the second is refused and the first named, for apply and for clear" {
	sim ideal
	file full-offload "$FULL" >a.yaml
	# the first one has to wait for carrier
	ip link set tsn1 down
	tsnpub schedule apply a.yaml >first 2>&1 3>&- &
	first=$!
	sleep 0.5
	run tsnpub schedule apply a.yaml
	refused 3 "tsn0: another tsnpub schedule is at work on it (process $first)"
	run tsnpub schedule clear tsn0
	refused 3 "(process $first)"
	ip link set tsn1 up
	wait "$first"
	tsnpub schedule check a.yaml
	# and the lock of one that is gone is none
	run tsnpub schedule apply a.yaml
	good
}

@test "frame preemption: refused where there is none, verified with the peer, taken back" {
	EXPRESS='  gates:
  - {open: [control, video, rest], duration: 1ms}'
	sim ls1028a,i226
	file full-offload "$EXPRESS" ', preemptible: true' >a.yaml
	dump >before
	# here the peer has none
	run tsnpub schedule apply a.yaml
	refused 3 'tsn0: frame preemption is on, but the peer did not confirm it (verify status: failed)' 'everything is as it was'
	dump | diff before -
	[[ $(tsnpub schedule show tsn0) == *"frame preemption: off, verify disabled"* ]]
	sed 's/tsn0/tsn1/' a.yaml >b.yaml
	run tsnpub schedule apply b.yaml
	[ "$status" = 3 ]
	says 'tsn1: this port or kernel has no frame preemption (MAC merge); remove preemptible' 'everything is as it was'
	rmmod tsnsim
	sim ls1028a
	# two ports, one after the other: the first one has no peer yet
	run tsnpub schedule apply b.yaml --force
	good
	says 'the peer did not confirm frame preemption (verify status: failed)'
	run tsnpub schedule apply a.yaml
	good
	run tsnpub schedule show tsn0
	says 'frame preemption: on, verify succeeded, sent preemptibly now: yes'
	tsnpub schedule check a.yaml
	tsnpub schedule clear tsn0
	[[ $(tsnpub schedule show tsn0) == *"frame preemption: off"* ]]
	dump | diff before -
	tsnpub schedule clear tsn1
}

@test "interrupted: everything is as it was" {
	sim ideal
	dump >before
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	run strace -o /dev/null -e trace=rename -e inject=rename:signal=INT:when=4 tsnpub schedule apply a.yaml
	[ "$status" = 3 ]
	[[ $output == *"interrupted; everything is as it was"* ]]
	dump | diff before -
}

@test "igc beside mqprio in hardware ignores launch times: show, check, doctor and the publisher say so" {
	sim i225
	tc qdisc replace dev tsn0 root handle 100: mqprio num_tc 4 map 1 1 1 1 1 1 2 0 3 1 1 1 1 1 1 1 queues 1@0 1@1 1@2 1@3 hw 1
	tc qdisc replace dev tsn0 parent 100:1 etf clockid CLOCK_TAI delta 200000 offload
	ignored='mqprio stands there with hw 1, a mode in which this NIC ignores launch times'
	run tsnpub schedule show tsn0
	says "launch times are ignored: $ignored"
	run tsnpub doctor --iface tsn0
	says "launch times are ignored: $ignored"
	run tsnpub --iface tsn0 --priority 7 --cycle 1ms --sync ignore --count 20
	says "tsn0: $ignored"
	file mqprio '' "$LAUNCH" >a.yaml
	run tsnpub schedule check a.yaml
	[ "$status" = 1 ]
	says 'mqprio in hardware: wanted 0, installed is 1' "$ignored"
	# as the tool sets it up nothing is to be said, and the launch is kept
	tsnpub schedule apply a.yaml --force
	[[ $(tsnpub schedule show tsn0) != *'launch times are ignored'* ]]
	run tsnpub --iface tsn0 --priority 7 --cycle 1ms --sync ignore --count 20
	[[ $output != *"$ignored"* ]]
}
