# SPDX-License-Identifier: GPL-2.0-only
# The publisher and schedules: deployed for the length of a run, and streams held against the slots that are installed.
# vm: --timeout 300

setup() {
	cd "$BATS_TEST_TMPDIR"
	FULL='  gates:
  - {open: [control], duration: 200us}
  - {open: [video], duration: 300us}
  - {open: [rest], duration: 500us}'
	LAUNCH=', launch-time: {delta: 200us}'
}

teardown() {
	if [ -e /sys/module/tsnsim ]; then
		tsnpub schedule clear tsn0 >/dev/null 2>&1 || true
		rmmod tsnsim
	fi
	for link in v0 br0 bond0; do
		ip link del $link 2>/dev/null || true
	done
	rm -f /run/tsnpub/schedule-*
}

sim() {
	insmod /lab/modules/tsnsim.ko model="$1,$1" length_ns=0 reset_step_ns=0 "${@:2}"
	ip link set tsn0 up
	ip link set tsn1 up
	sleep 0.3
}

file() {
	cat <<-END
	interface: ${5:-tsn0}
	cycle: 1ms
	schedule:
	  mode: $1
	  classes:
	  - {name: control, priorities: [7], queues: 0$3}
	  - {name: video, priorities: [5, 6], queues: 1$4}
	  - {name: rest, priorities: [0, 1, 2, 3, 4], queues: 2-3$4}
	$2
	END
}

dump() {
	tc -d qdisc show dev "${1:-tsn0}" | sed 's/refcnt [0-9]*//'
}

@test "the publisher deploys with --apply, and takes back at its end, also when it is killed" {
	sim ideal
	dump >before
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	printf 'streams:\n- {id: 1, priority: 7, offset: 20us, size: 100}\n' >>a.yaml
	run tsnpub --config a.yaml --sync warn --apply --count 200
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"applied, taken back at the end"*"schedule taken back"* ]]
	dump | diff before -
	tsnpub --config a.yaml --sync warn --apply --quiet --duration 60s 2>/dev/null &
	sleep 2
	dump | grep -q taprio
	kill -KILL $!
	sleep 1
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
