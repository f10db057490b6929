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

# One port of each part. A pair whose ends differ: I225 and LS1028A, then I226 and I210.
ports() {
	rmmod tsnsim
	insmod /lab/modules/tsnsim.ko model="$1" length_ns=0 reset_step_ns=0
	ip link set tsn0 up; ip link set tsn1 up
	sleep 0.3
}

# bare NIC ERRNO EXPLANATION TC-WORDS...: the driver's errno, which tc does not tell, is seen in its answer and explained
bare() {
	local nic=$1 errno=$2 explanation=$3 words meaning number
	shift 3
	# shellcheck disable=SC2068
	LD_PRELOAD=/lab/bin/kernel_answers.so tc qdisc replace dev $@ >words 2>&1 && { echo "tc was not refused: $*"; return 1; }
	[ "$(sed -n 's/^answer //p' words | tail -n 1)" = "$errno" ] || { echo "$*:"; cat words; return 1; }
	case $errno in EBUSY) number=16 ;; EINVAL) number=22 ;; ERANGE) number=34 ;; EOPNOTSUPP) number=95 ;; EALREADY) number=114 ;; esac
	words=$(sed -n 's/^Error: //p' words | head -1)
	echo "$* -> $errno $words"
	meaning=$(explain "$nic" "$number" "$words") || { echo "no explanation"; return 1; }
	echo "   $meaning"
	[[ $meaning == *"$explanation"* ]]
}

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

# wordless IFACE WHAT VALUE ANSWER NIC EXPLANATION: what tc has no word for is refused so, and explained so
wordless() {
	local answer meaning
	answer=$(command wordless "$1" "$2" "$3")
	echo "$2 $3 -> $answer"
	[ "$answer" = "$4" ]
	meaning=$(explain "$5" "${answer%% *}" "${answer#* }")
	echo "   $meaning"
	[[ $meaning == *"$6"* ]]
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
	says generic 'a class has no queue' v0 root handle 1: taprio num_tc 2 map 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 queues 1@0 0@1 \
		base-time 0 $GATES clockid CLOCK_TAI
	says generic 'needs at least one gate' tsn0 root handle 1: taprio $MAP base-time 0 clockid CLOCK_TAI
	wordless tsn0 single-entry 0 '524 Adding a single entry is not supported' generic 'the kernel does not support this request'
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
	# the clock of a PHC
	wordless v0 etf-clock -29 '524 Dynamic clockids are not supported' generic 'a PHC cannot be the clock of etf'
	tc qdisc del dev v0 root
}

@test "the drivers' own refusals: I225 and LS1028A" {
	ports i225,ls1028a
	far=$(($(date +%s) * 1000000000 + 600000000000))
	bare I225 ERANGE 'no negative base time' tsn0 root handle 1: taprio $MAP base-time -5 $GATES flags 2
	bare I225 EINVAL 'to a base time in the future' tsn0 root handle 1: taprio $MAP base-time $far $GATES flags 2
	bare I225 EINVAL 'opens twice in a cycle' tsn0 root handle 1: taprio $MAP base-time 0 sched-entry S 1 300000 \
		sched-entry S 2 300000 sched-entry S 1 400000 flags 2
	bare I225 EINVAL 'cycle-time-extension' tsn0 root handle 1: taprio $MAP base-time 0 $GATES cycle-time-extension 1000 flags 2
	wordless tsn0 gate-command 1 '22 Device failed to setup taprio offload' I225 'other than SetGateStates'
	tc qdisc replace dev tsn0 root handle 1: taprio $MAP base-time 0 $GATES flags 2
	bare I225 EALREADY 'no second schedule while one runs' tsn0 root handle 1: taprio $MAP base-time 0 $GATES flags 2
	tc qdisc del dev tsn0 root
	# etf offload without classes
	tc qdisc replace dev tsn1 root handle 1: mq
	bare LS1028A EOPNOTSUPP 'mqprio with hw 1' tsn1 parent 1:1 handle 9: etf clockid CLOCK_TAI delta 100000 offload
	tc qdisc del dev tsn1 root
	# etf, then taprio; and the other way round
	tc qdisc replace dev tsn1 root handle 1: taprio $MAP base-time 0 $GATES flags 2
	bare LS1028A EBUSY 'cannot do etf and taprio in hardware at once' tsn1 parent 1:1 handle 9: etf clockid CLOCK_TAI delta 100000 \
		offload
	tc qdisc del dev tsn1 root
	tc qdisc replace dev tsn1 root handle 1: mqprio $MAP hw 1
	tc qdisc replace dev tsn1 parent 1:1 handle 9: etf clockid CLOCK_TAI delta 100000 offload
	bare LS1028A EBUSY 'cannot do etf and taprio in hardware at once' tsn1 root handle 2: taprio $MAP base-time 0 $GATES flags 2
	tc qdisc del dev tsn1 root
	# XDP takes a queue for each CPU
	tc qdisc replace dev tsn1 root handle 1: mqprio num_tc 8 map 0 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0 \
		queues 1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7 hw 1
	run tsnpub receive --iface tsn1 --timestamps xdp --duration 1s
	echo "$output"
	[ "$status" = 3 ]
	[[ $output == *'the classes that are installed leave too few; start the receiver before the schedule, or use --xdp generic: '*'(EBUSY)'* ]]
	tc qdisc del dev tsn1 root
}

@test "the drivers' own refusals: I226 and I210" {
	ports i226,i210
	# what the I225 refuses
	far=$(($(date +%s) * 1000000000 + 600000000000))
	tc qdisc replace dev tsn0 root handle 1: taprio $MAP base-time $far $GATES flags 2
	tc qdisc replace dev tsn0 root handle 1: taprio $MAP base-time $far $GATES flags 2
	tc qdisc del dev tsn0 root
	bare I210 EOPNOTSUPP 'no gates' tsn1 root handle 1: taprio $MAP base-time 0 $GATES flags 2
	tc qdisc replace dev tsn1 root handle 1: mq
	bare I210 EINVAL 'queues 0 and 1 only' tsn1 parent 1:3 handle 9: etf clockid CLOCK_TAI delta 100000 offload
	tc qdisc del dev tsn1 root
}
