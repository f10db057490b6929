# SPDX-License-Identifier: GPL-2.0-only
# How a schedule ends that nobody clears: killed at each step of the apply, not confirmed, with the publisher that deployed it.
# vm: --timeout 200

load schedule

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
		if [ "$step" = 3 ]; then
			run tsnpub schedule apply a.yaml
			refused 3 'an earlier apply was cut off; `tsnpub schedule clear tsn0` restores first'
			# a clear that is killed too: the next one does its work
			strace -o /dev/null -e trace=sendto -e inject=sendto:signal=KILL:when=6 tsnpub schedule clear >/dev/null 2>&1 || true
		fi
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
	file full-offload "$OTHER" "$LAUNCH" >b.yaml
	tsnpub schedule apply b.yaml --confirm 5s
	tsnpub schedule check b.yaml
	sleep 6
	tsnpub schedule check a.yaml
	tsnpub schedule clear
	dump | diff before -
	# the terminal goes away, and all that ran in it
	setsid bash -c 'tsnpub schedule apply a.yaml --confirm 5s; sleep 100' >/dev/null 2>&1 3>&- &
	terminal=$!
	sleep 1
	dump | grep -q taprio
	kill -HUP -- -"$terminal"
	sleep 6
	dump | diff before -
	# killed while it was at work: taken back at once
	strace -o /dev/null -e trace=rename -e inject=rename:signal=KILL:when=4 \
		tsnpub schedule apply a.yaml --confirm 60s >/dev/null 2>&1 || true
	sleep 1
	dump | diff before -
	[[ $(tsnpub schedule show tsn0) != *"cut off"* ]]
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
	run tsnpub schedule apply a.yaml
	refused 3 "tsn0: a publisher (process $!, a.yaml) has deployed its schedule for as long as it runs"
	run tsnpub schedule confirm tsn0
	refused 2 "nothing to confirm: the schedule is a publisher's (process $!)"
	kill -KILL $!
	sleep 1
	dump | diff before -
}

@test "--confirm: a guard that was stopped and goes on still waits; a file of any name" {
	sim ideal
	dump >before
	file full-offload "$FULL" "$LAUNCH" >$'\xff\e[31m.yaml'
	tsnpub schedule apply $'\xff\e[31m.yaml' --confirm 5s
	run tsnpub schedule show tsn0
	says 'applied from ??[31m.yaml; taken back in '
	guard=$(jq .guard.pid /run/tsnpub/schedule-*-tsn0.json)
	kill -STOP "$guard"
	sleep 0.2
	kill -CONT "$guard"
	sleep 0.5
	dump | grep -q taprio
	sleep 5
	dump | diff before -
}

@test "what is wrong with a publisher by itself is found before --apply changes anything" {
	sim ideal
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	printf 'streams:\n- {id: 1, priority: 7, offset: 20us, size: 100}\n' >>a.yaml
	dump >before
	run tsnpub --config a.yaml --sync ignore --apply --count 20 --log none/tx.tsnlog
	refused 3 "log 'none/tx.tsnlog': cannot create it" 'mkdir -p'
	run tsnpub --config a.yaml --sync ignore --apply --count 20 --stream id=1,priority=7,offset=20us,size=2000
	refused 2 'stream 1: size 2000 exceeds the MTU 1500 of tsn0'
	dump | diff before -
	[ -z "$(ls ./*.tmp 2>/dev/null)" ]
	# nor leaves the look at the log anything behind, where the rest is good
	run tsnpub --config a.yaml --sync ignore --apply --count 20 --log tx.tsnlog
	good
	[ "$(ls -- *tx.tsnlog*)" = tx.tsnlog ]
}

@test "a clear under a publisher: it says so, ends with 1, and leaves alone what another installs then" {
	sim ideal
	dump >before
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	{ cat a.yaml; printf 'streams:\n- {id: 1, priority: 7, offset: 20us, size: 100}\n'; } >p.yaml
	tsnpub --config p.yaml --sync ignore --apply --quiet --duration 4s >out 2>&1 3>&- &
	publisher=$!
	sleep 1.5
	tsnpub schedule clear tsn0
	dump | diff before -
	tsnpub schedule apply a.yaml
	status=0
	wait "$publisher" || status=$?
	cat out
	[ "$status" = 1 ]
	grep 'warning: tsn0: another process took the schedule back (tsnpub schedule clear): frames leave without it from here on' out
	grep "tsn0: the schedule is no longer this run's to take back" out
	tsnpub schedule check a.yaml
	tc qdisc replace dev tsn0 root pfifo
	run tsnpub schedule show tsn0
	says 'applied by tsnpub from a.yaml' 'no schedule, another program removed it; installed is pfifo'
	tsnpub schedule clear
	dump | diff before -
}

@test "an interface that is removed and made anew under a publisher gets its schedule again, and loses it at the end" {
	veth
	file software "$FULL" '' '' v0 >a.yaml
	printf 'streams:\n- {id: 1, priority: 7, offset: 20us, size: 100}\n' >>a.yaml
	dump v0 >before
	tsnpub --config a.yaml --sync ignore --apply --quiet --duration 5s >out 2>&1 3>&- &
	publisher=$!
	sleep 1
	ip link del v0
	sleep 0.3
	veth
	sleep 0.5
	cat out
	tsnpub schedule check a.yaml
	[[ $(tsnpub schedule show v0) == *"applied from a.yaml for as long as process $publisher runs"* ]]
	wait "$publisher" || true
	cat out
	grep 'v0: the interface was made anew, and the schedule is installed on it again' out
	dump v0 | diff before -
	# for good
	tsnpub --config a.yaml --sync ignore --apply --quiet --duration 2s >out 2>&1 3>&- &
	publisher=$!
	sleep 1
	ip link del v0
	wait "$publisher" || true
	grep 'v0: the interface is gone, and the schedule with it' out
}

@test "an interface that gets another name under a publisher loses schedule and hardware stamps under that one" {
	sim i226
	file full-offload "$FULL" >a.yaml
	printf 'streams:\n- {id: 1, priority: 7, offset: 20us, size: 100}\n' >>a.yaml
	dump >before
	hwstamp_ctl -i tsn0 >stamps
	grep -q 'tx_type 0' stamps
	tsnpub --config a.yaml --sync ignore --apply --quiet --duration 5s >out 2>&1 3>&- &
	publisher=$!
	for look in {1..200}; do
		if hwstamp_ctl -i tsn0 | grep -q 'tx_type 1'; then break; fi
		sleep 0.1
	done
	[ "$look" -lt 200 ]
	ip link set tsn0 name port0
	# its old name is another's now, which is none of the publisher's business
	ip link add tsn0 type veth peer name v0
	dump tsn0 >other
	wait "$publisher" || true
	cat out
	grep 'port0: schedule taken back' out
	dump port0 | diff before -
	hwstamp_ctl -i port0 | diff stamps -
	dump tsn0 | diff other -
	# of a publisher that another test killed there may be one
	[ -z "$(ls /run/tsnpub/schedule-*.json /run/tsnpub/hwtstamp.*."$(cat /sys/class/net/port0/ifindex)" 2>/dev/null)" ]
	ip link del tsn0
	ip link set port0 name tsn0
}

@test "the link is switched off in the middle: taken back all the same" {
	sim ideal
	file full-offload "$FULL" "$LAUNCH" >a.yaml
	strace -f -o trace -e trace=rename -e inject=rename:delay_enter=3s:when=3 \
		tsnpub schedule apply a.yaml --carrier-timeout 1s >out 2>&1 &
	apply=$!
	sleep 1.5
	ip link set tsn0 down
	status=0
	wait "$apply" || status=$?
	cat out
	[ "$status" = 3 ]
	grep 'tsn0: switched off meanwhile, and not on again within 1s; ip link set tsn0 up; everything is as it was' out
	[ -z "$(tsnpub schedule show tsn0 | grep -e 'rollback failed' -e 'cut off')" ]
}

@test "the record of a namespace that is gone is not that of the next one with its number" {
	for turn in 1 2; do
		unshare -n bash -c '. /lab/tests/schedule.bash; veth; file software "$FULL" "" "" v0 >n.yaml
			tsnpub schedule show v0 >>shown; tsnpub schedule apply n.yaml' >/dev/null
		sleep 0.5
	done
	[ "$(grep -c 'no schedule; installed is noqueue' shown)" = 2 ]
	[ "$(grep -c applied shown)" = 0 ]
}
