# SPDX-License-Identifier: GPL-2.0-only
# An apply beside a real ptp4l: igc's adapter resets, the link goes, the PHC steps; the apply waits until the clocks are
# synchronised again, and takes everything back when they do not come.
# vm: --timeout 200

load lab

gates() {
	cat <<-END
	interface: tsn0
	cycle: 1ms
	schedule:
	  classes:
	  - {name: control, priorities: [7], queues: 0, launch-time: {delta: 200us}}
	  - {name: rest, priorities: [0, 1, 2, 3, 4, 5, 6], queues: 1-3}
	  gates:
	  - {open: [control], duration: $1}
	  - {open: [$2], duration: $3}
	END
}

setup_file() {
	LAB_NIC=i226 lab-up reset_step_ns=100000 >/tmp/lab-up.log 2>&1 3>&-
}

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "ptp4l has locked again when the apply returns, after a step of 100 us" {
	talker tsnpub sync --iface tsn0 --wait 30s
	gates 200us rest 800us >a.yaml
	run talker tsnpub schedule apply a.yaml
	echo "$output"
	[ "$status" = 0 ]
	# the link went, ptp4l took itself for the master, and now follows again
	awk '/link down/ { went = 1 } went && /to MASTER/ { master = 1 } master && /UNCALIBRATED to SLAVE/ { back = 1 }
		END { exit !back }' /tmp/ptp4l-talker.log
	within "talker's PHC - listener's" $(($(cat $SIM/tsn0/phc_to_tai_ns) - $(cat $SIM/tsn1/phc_to_tai_ns))) -1000 1000
	talker tsnpub sync --iface tsn0
	talker tsnpub schedule check a.yaml
}

@test "a schedule that shuts ptp4l out is taken back, when it was forced, also where it is changed in place" {
	# gates stand from the test before: the link stays, and ptp4l sees nothing until the new ones take over
	talker tsnpub sync --iface tsn0 --wait 60s
	talker tc -d qdisc show dev tsn0 >before
	gates 500us '' 500us >b.yaml
	run talker tsnpub schedule apply b.yaml
	[ "$status" = 2 ]
	[[ $output == *"class 'rest', which carries PTP (priority 0), never opens"* ]]
	run talker tsnpub schedule apply b.yaml --force
	echo "$output"
	[ "$status" = 3 ]
	[[ $output == *"the clocks were synchronised, and are not again after 60 s ("*"everything is as it was"* ]]
	talker tc -d qdisc show dev tsn0 | diff before -
	talker tsnpub sync --iface tsn0 --wait 60s
}
