# SPDX-License-Identifier: GPL-2.0-only
# The publisher's pacings where time is virtual, so that it can be asserted: software etf, software taprio, and a NIC that
# launches by itself.
# vm: --timeout 600 --copy build/tsnpub:usr/bin/tsnpub

four="num_tc 4 map 0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 0 queues 1@0 1@1 1@2 1@3"

pair() {
	ip link add va numtxqueues 4 numrxqueues 4 type veth peer name vb numtxqueues 4 numrxqueues 4
	ip link set va up
	ip link set vb up
}

sim() {
	insmod /lab/modules/tsnsim.ko model="${1:-ideal}"
	ip link set tsn0 up
	ip link set tsn1 up
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(cat /sys/class/net/tsn0/carrier)" = 1 ] && return
		sleep 0.1
	done
}

teardown() {
	ip link del va 2>/dev/null || true
	rmmod tsnsim 2>/dev/null || true
}

publish() {
	status=0
	tsnpub --sync ignore --json "$@" >/tmp/out.json 2>/tmp/err || status=$?
	cat /tmp/err >&2
}

# members of the one document: flat enough for awk
value() { awk -F '[:,]' -v key="\"$1\"" '$1 ~ key { gsub(/[ "]/, "", $2); print $2; exit }' /tmp/out.json; }

# figure NAME SOURCE MEMBER
figure() {
	awk -v name="$1" -v source="$2" -v member="$3" -F '[:,]' '
		{ gsub(/[ "]/, "") }
		$1 == "figure" { here = $2 == name }
		$1 == "source" { right = here && $2 == source }
		right && $1 == member { print int($2); exit }' /tmp/out.json
}

# between LOW VALUE HIGH
between() {
	[ "$1" -le "$2" ] && [ "$2" -le "$3" ] && return
	echo "$2 is not in $1 to $3"
	cat /tmp/out.json
	return 1
}

@test "timer: released at the wake-up, microseconds after the launch" {
	pair
	publish --iface va --cycle 250us --count 200
	[ "$status" -eq 0 ]
	[ "$(value pacing)" = timer ]
	[ "$(value sent)" -eq 200 ] || grep -q '"sent": 200' /tmp/out.json
	between 2000 "$(figure wakeup user p50_ns)" 9000
	between 4000 "$(figure launch_error sw p50_ns)" 20000
}

@test "timer with --spin: released within a microsecond of the launch" {
	pair
	publish --iface va --cycle 250us --count 200 --spin 40us
	[ "$status" -eq 0 ]
	# but for the launches at which the kernel's tick comes, each 4 ms: one of 16 at most
	between 0 "$(figure wakeup user p90_ns)" 1000
}

@test "software etf: on the frame's queue it is found, and releases at launch - delta" {
	pair
	tc qdisc replace dev va parent root handle 100 mqprio $four hw 0
	tc qdisc replace dev va parent 100:4 etf clockid CLOCK_TAI delta 300000
	publish --iface va --cycle 250us --count 200 --priority 3
	[ "$status" -eq 0 ]
	[ "$(value pacing)" = launch-time ]
	[ "$(value lead_ns)" -eq 800000 ]
	between -298000 "$(figure launch_error sw p50_ns)" -294000
	# another queue of the same interface has none
	publish --iface va --cycle 250us --count 20 --priority 2
	[ "$(value pacing)" = timer ]
}

@test "etf that is removed in mid-run: said, since what was read back at the start is no longer so" {
	sim
	tc qdisc replace dev tsn0 root handle 1: mqprio $four hw 0
	tc qdisc replace dev tsn0 parent 1:4 etf clockid CLOCK_TAI delta 300000 offload
	{ sleep 1; tc qdisc del dev tsn0 root; } &
	publish --iface tsn0 --cycle 1ms --priority 3 --duration 2s --quiet
	[ "$(value pacing)" = launch-time ]
	[ "$(grep -c 'tsn0: its qdiscs were changed in mid-run: that frames leave by pacing launch-time is not known' /tmp/err)" -eq 1 ]
	# and nothing of it where they stay, and the link goes
	{ sleep 1; ip link set tsn1 down; sleep 0.2; ip link set tsn1 up; } &
	publish --iface tsn0 --cycle 1ms --duration 2s --quiet
	grep -q 'the link is back' /tmp/err
	[ "$(grep -c qdiscs /tmp/err)" -eq 0 ]
}

@test "etf whose launches are missed: counted for their frame, status 1" {
	pair
	tc qdisc replace dev va parent root handle 100 mqprio $four hw 0
	# it hands over 2 us before the launch: on a busy queue that is too late
	tc qdisc replace dev va parent 100:4 etf clockid CLOCK_TAI delta 0
	publish --iface va --cycle 1ms --count 50 --stream id=1,priority=3,frames=4,size=1500
	sent=$(value sent) missed=$(value missed)
	[ "$missed" -gt 0 ]
	[ "$status" -eq 1 ]
}

@test "software taprio: base and slot are the gates', and the frame leaves inside of it" {
	pair
	tc qdisc replace dev va parent root handle 100 taprio $four base-time 1000300000 \
		sched-entry S 1 100000 sched-entry S 8 150000 sched-entry S 7 750000 clockid CLOCK_TAI
	publish --iface va --cycle 1ms --count 200 --priority 3 --offset 110us
	[ "$status" -eq 0 ]
	[ "$(value pacing)" = gate ]
	! grep -q "does not fit" /tmp/err || false
	between 4000 "$(figure launch_error sw p50_ns)" 30000
	between 0 "$(figure launch_error sw max_ns)" 140000
	publish --iface va --cycle 1ms --count 10 --priority 3 --offset 300us
	grep -q "stream 0 does not fit its slot" /tmp/err
	tc qdisc del dev va root
	tc qdisc replace dev va parent root handle 100 taprio $four base-time 0 \
		sched-entry S 7 1000000 clockid CLOCK_TAI
	publish --iface va --cycle 1ms --count 10 --priority 3
	[ "$status" -eq 3 ]
	grep -q "its frames would never leave" /tmp/err
}

@test "a NIC that launches: each frame leaves at its launch time, by its own stamp" {
	sim ideal
	tc qdisc replace dev tsn0 parent root handle 100 mqprio $four hw 0
	tc qdisc replace dev tsn0 parent 100:4 etf clockid CLOCK_TAI delta 200000 offload
	publish --iface tsn0 --cycle 250us --count 200 --stream id=1,priority=3,offset=30us \
		--stream id=2,priority=3,offset=200us,every=4 --timestamp-every 1
	[ "$(value pacing)" = launch-time ]
	grep -q "etf with offload: the NIC launches" /tmp/err
	between 0 "$(figure launch_error hw min_ns)" 0
	between 0 "$(figure launch_error hw p99_ns)" 0
	between 240 "$(figure launch_error hw count)" 252
	# what was switched on is off again
	ethtool -T tsn0 >/dev/null
	[ "$(value stamps_missing)" -eq 0 ]
}

@test "I226: the lead keeps within the cycle of its gates" {
	sim i226
	tc qdisc replace dev tsn0 parent root handle 100 stab overhead 24 taprio $four base-time 0 \
		sched-entry S 9 300000 sched-entry S 6 200000 flags 2
	tc qdisc replace dev tsn0 parent 100:4 etf clockid CLOCK_TAI delta 150000 offload
	sleep 3	# the mode switch resets the port
	publish --iface tsn0 --cycle 500us --count 100 --priority 3 --offset 50us
	[ "$(value pacing)" = launch-time ]
	between 150000 "$(value lead_ns)" 500000
	between -300 "$(figure launch_error hw p50_ns)" 300
}
