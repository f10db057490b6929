# SPDX-License-Identifier: GPL-2.0-only
# The shortest cycle, for 10 s of virtual time. The dearest test of the laboratory: the guest is busy nearly all of the time.
# vm: --timeout 400

load lab

@test "a cycle of 31.25 us for 10 s without a missed launch" {
	fresh_nic ideal
	deploy_etf ideal
	cd "$BATS_TEST_TMPDIR"
	talker tsnpub --iface tsn0 --priority 7 --sync ignore --cycle 31.25us --duration 10s --json >tx.json 2>tx.err ||
		{ cat tx.json tx.err; return 1; }
	jq . tx.json
	equal sent "$(jq '.sent.sent' tx.json)" 320000
	equal skipped "$(jq '.sent.skipped' tx.json)" 0
	equal missed "$(jq '.sent.missed' tx.json)" 0
	equal "launch error of the frames with a stamp" "$(jq -c '[.. | objects | select(.figure == "launch_error" and .source == "hw")]
		| .[0] | [.count, .min_ns, .max_ns]' tx.json)" "[40000,0,0]"
	# All were on the wire: the other port saw them, and dropped them since nobody there asked for them.
	equal "frames at the other port" "$(listener ethtool -S tsn1 | awk '$1 == "sim_rx_filtered:" { print $2 }')" 320000
}
