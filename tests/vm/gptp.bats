# SPDX-License-Identifier: GPL-2.0-only
# ptp4l and phc2sys on a simulated NIC under configs/gptp.cfg, in virtual time: they lock, how well, and what the tool says.
# vm: --timeout 240

load lab

# The end of a log of ptp4l or phc2sys: the largest absolute value behind FIELD in its last N lines that have it
largest() { awk -v f="$2" -v n="$3" '
	{ for (i = 1; i < NF; i++) if ($i == f) v[++c] = $(i + 1) < 0 ? -$(i + 1) : $(i + 1) }
	END { m = 0; for (i = c - n + 1; i <= c; i++) if (i < 1 || v[i] > m) m = i < 1 ? "too few lines" : v[i]; print m + 0 == m ? m : 999999999 }' "$1"; }

clocks_agree()
{
	# What the module knows and no program: PHC minus TAI at one instant.
	within "talker's PHC - TAI" "$(cat $SIM/tsn0/phc_to_tai_ns)" -100 100
	within "listener's PHC - TAI" "$(cat $SIM/tsn1/phc_to_tai_ns)" -100 100
}

@test "ptp4l and phc2sys lock: PHCs, system clock and TAI agree" {
	lab-up
	sleep 20
	within "ptp4l, ns from the master" "$(largest /tmp/ptp4l-talker.log max 10)" 0 10
	within "path delay of 500 ns of cable" "$(largest /tmp/ptp4l-talker.log delay 10)" 499 501
	within "phc2sys, ns from the PHC" "$(largest /tmp/phc2sys.log offset 10)" 0 50
	clocks_agree
}

@test "sync finds the chain good on both machines" {
	talker tsnpub sync --iface tsn0 --json >sync.json
	read_json sync.json
	equal verdict "${value[verdict]}" good
	listener tsnpub sync --iface tsn1 --role master
}

@test "with locked clocks the publisher launches on TAI, and the one-way latency is that of the cable" {
	deploy_etf ideal
	SYNC=default publish_and_receive --cycle 250us --count 100 || { show; return 1; }
	equal missed "$(counter tx missed)" 0
	equal unsynced "$(counter tx unsynced)" 0
	within "launch error" "$(figure tx launch_error hw max_ns)" -1 1
	within "lowest latency" "$(figure rx latency hw min_ns)" 490 510
	within "highest latency" "$(figure rx latency hw max_ns)" 490 510
	talker tc qdisc del dev tsn0 root
}

@test "a step of the talker's PHC by 1 ms is seen by sync and recovered by ptp4l" {
	echo 1000000 >$SIM/tsn0/phc_step_ns
	run -1 talker tsnpub sync --iface tsn0
	[[ $output == *"Verdict: not good"* ]]
	sleep 30
	clocks_agree
	talker tsnpub sync --iface tsn0
}

@test "without a grandmaster sync says so" {
	kill "$(pgrep -f '^ptp4l .*-i tsn1')"
	sleep 5
	run -1 talker tsnpub sync --iface tsn0 --role slave
	[[ $output == *"Verdict: not good"* ]]
}

@test "linuxptp 4 locks under the same settings" {
	lab-down
	PTP_BIN=/opt/linuxptp4/bin lab-up
	sleep 10
	within "ptp4l, ns from the master" "$(largest /tmp/ptp4l-talker.log max 5)" 0 10
	clocks_agree
	talker tsnpub sync --iface tsn0
}
