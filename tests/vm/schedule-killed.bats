# SPDX-License-Identifier: GPL-2.0-only
# An apply that is killed at each of its steps, and one that nobody confirms.
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

@test "killed at each step: show says so, a second apply is refused, clear restores" {
	sim ideal
	tc qdisc replace dev tsn0 root handle 55: fq_codel limit 77
	dump >before
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	# each record is put in place by a rename: one before each step
	steps=$(strace -f -e trace=rename -o trace tsnpub schedule apply a.yaml >/dev/null 2>&1; grep -c 'schedule.*json' trace)
	tsnpub schedule clear
	[ "$steps" -ge 7 ]
	for step in $(seq "$steps"); do
		strace -o /dev/null -e trace=rename -e inject=rename:signal=KILL:when="$step" \
			tsnpub schedule apply a.yaml >/dev/null 2>&1 || true
		if [ "$step" = 1 ]; then # nothing is changed before there is a record
			dump | diff before -
			continue
		fi
		run tsnpub schedule show tsn0
		echo "$step: $output"
		[[ $output == *"was cut off at"* ]]
		run tsnpub schedule apply a.yaml
		[ "$status" = 3 ]
		[[ $output == *"an earlier apply was cut off"* ]]
		tsnpub schedule clear
		dump | diff before -
	done
	# nothing of ours is left to be cleared
	run tsnpub schedule clear
	[ "$status" = 2 ]
	dump | diff before -
}

@test "--confirm: comes back by itself, also when its process is killed; stays when it is confirmed" {
	sim ideal
	dump >before
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	tsnpub schedule apply a.yaml --confirm 5s
	dump | grep -q taprio
	run tsnpub schedule show tsn0
	[[ $output == *"taken back in "*"unless"* ]]
	sleep 6
	dump | diff before -
	run tsnpub schedule confirm tsn0
	[ "$status" = 2 ]
	[[ $output == *"nothing to confirm"* ]]
	# confirmed in time
	tsnpub schedule apply a.yaml --confirm 5s
	tsnpub schedule confirm
	sleep 6
	dump | grep -q taprio
	# on top of one that stands: that one comes back
	sed 's/duration: 300us/duration: 250us/; s/duration: 500us/duration: 550us/' a.yaml >b.yaml
	tsnpub schedule apply b.yaml --confirm 5s
	tsnpub schedule check b.yaml
	sleep 6
	tsnpub schedule check a.yaml
	tsnpub schedule clear
	dump | diff before -
	# killed while it was at work: taken back at once
	strace -o /dev/null -e trace=rename -e inject=rename:signal=KILL:when=4 \
		tsnpub schedule apply a.yaml --confirm 60s >/dev/null 2>&1 || true
	sleep 1
	dump | diff before -
	[[ $(tsnpub schedule show tsn0) != *"cut off"* ]]
}
