# SPDX-License-Identifier: GPL-2.0-only
# Every refusal that the kernel has for taprio, mqprio and etf, provoked with tc: its own words are still those that the table
# of NICs explains, and the explanation is the right one.
# vm: --timeout 200

setup_file() {
	ip link add v0 numtxqueues 4 type veth peer name v1
	ip link add s0 type veth peer name s1
	for link in v0 v1 s0 s1; do ip link set $link up; done
	insmod /lab/modules/tsnsim.ko model="${MODEL:-ideal},ideal" length_ns=0
	ip link set tsn0 up; ip link set tsn1 up
	sleep 0.3
}

teardown_file() {
	ip link del v0; ip link del s0
	rmmod tsnsim
}

MAP='num_tc 2 map 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1'
GATES='sched-entry S 1 500000 sched-entry S 2 500000'

# says NIC EXPLANATION TC-WORDS...: tc is refused; what the kernel said is explained so
says() {
	local nic=$1 explanation=$2 words meaning
	shift 2
	# shellcheck disable=SC2068
	words=$(tc qdisc replace dev $@ 2>&1) && { echo "tc was not refused: $*"; return 1; }
	words=$(sed -n 's/^Error: //p; s/^Warning: //p' <<<"$words" | head -1)
	echo "$* -> $words"
	[ -n "$words" ]
	meaning=$(explain "$nic" 22 "$words") || { echo "no explanation"; return 1; }
	echo "   $meaning"
	[[ $meaning == *"$explanation"* ]]
}

@test "taprio: the kernel's own checks" {
	says generic 'one TX queue' s0 root handle 1: taprio $MAP base-time 0 $GATES clockid CLOCK_TAI
	tc qdisc replace dev v0 root handle 7: mq
	says generic 'attaches at the root' v0 parent 7:1 handle 1: taprio $MAP base-time 0 $GATES clockid CLOCK_TAI
	tc qdisc del dev v0 root
	says generic 'without a PHC' v0 root handle 1: taprio $MAP base-time 0 $GATES flags 2
	says generic 'the PHC is the clock' tsn0 root handle 1: taprio $MAP base-time 0 $GATES flags 2 clockid CLOCK_TAI
	says generic 'needs to be told the clock' v0 root handle 1: taprio $MAP base-time 0 $GATES
	says generic 'exclude each other' tsn0 root handle 1: taprio $MAP base-time 0 $GATES flags 3
	says generic 'shorter than 60 bytes' tsn0 root handle 1: taprio $MAP base-time 0 sched-entry S 1 100 clockid CLOCK_TAI
	says generic 'shorter than its entries' tsn0 root handle 1: taprio $MAP base-time 0 $GATES cycle-time 500 clockid CLOCK_TAI
	says generic '2^31 ns' tsn0 root handle 1: taprio $MAP base-time 0 $GATES cycle-time 3000000000 clockid CLOCK_TAI
	says generic '2^31 ns' tsn0 root handle 1: taprio $MAP base-time 0 sched-entry S 1 1500000000 sched-entry S 2 1500000000 \
		clockid CLOCK_TAI
	says generic 'more classes than the device has' v0 root handle 1: taprio num_tc 5 map 0 1 2 3 4 0 0 0 0 0 0 0 0 0 0 0 \
		queues 1@0 1@1 1@2 1@3 1@4 base-time 0 $GATES clockid CLOCK_TAI
	says generic 'a class that does not exist' v0 root handle 1: taprio num_tc 2 map 0 1 5 1 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 \
		base-time 0 $GATES clockid CLOCK_TAI
	says generic 'a queue that the device has not' v0 root handle 1: taprio num_tc 2 map 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 9@1 \
		base-time 0 $GATES clockid CLOCK_TAI
	says generic 'belongs to mode txtime-assist' v0 root handle 1: taprio $MAP base-time 0 $GATES clockid CLOCK_TAI txtime-delay 1000
}

@test "taprio: what of a running schedule cannot be changed" {
	tc qdisc replace dev tsn0 root handle 1: taprio $MAP base-time 0 $GATES clockid CLOCK_TAI
	says generic 'delete the schedule first' tsn0 root handle 1: taprio $MAP base-time 0 $GATES clockid CLOCK_MONOTONIC
	says generic 'cannot be changed: delete it first' tsn0 root handle 1: taprio $MAP base-time 0 $GATES clockid CLOCK_TAI flags 1
	says generic 'classes of a running schedule cannot be changed' tsn0 root handle 1: taprio num_tc 2 \
		map 1 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 1@1 base-time 0 $GATES clockid CLOCK_TAI
	tc qdisc del dev tsn0 root
}

@test "etf" {
	tc qdisc replace dev v0 root handle 1: mqprio $MAP hw 0
	says generic 'cannot launch by time' v0 parent 1:1 handle 9: etf clockid CLOCK_TAI delta 1000 offload
	tc qdisc replace dev v0 parent 1:1 handle 9: etf clockid CLOCK_TAI delta 1000
	says generic 'delete, then add' v0 parent 1:1 handle 9: etf clockid CLOCK_TAI delta 2000
	says generic 'CLOCK_TAI only' v0 parent 1:2 handle 8: etf clockid CLOCK_MONOTONIC delta 1000
	says generic 'must not be negative' v0 parent 1:2 handle 8: etf clockid CLOCK_TAI delta -5
	tc qdisc del dev v0 root
}
