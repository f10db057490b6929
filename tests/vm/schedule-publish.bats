# SPDX-License-Identifier: GPL-2.0-only
# The publisher and schedules: deployed for the length of a run, and streams held against the slots that are installed.
# vm: --timeout 300

load schedule

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
