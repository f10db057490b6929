# SPDX-License-Identifier: GPL-2.0-only
# The shortest cycle, for 10 s of virtual time. The dearest test of the laboratory: the guest is busy nearly all of the time.
# vm: --timeout 400

load lab

@test "a cycle of 31.25 us for 10 s without a missed launch" {
	fresh_nic ideal
	deploy_etf ideal
	cd "$BATS_TEST_TMPDIR"
	talker tsnpub --iface tsn0 --priority 7 --sync ignore --cycle 31.25us --duration 10s --timestamp-every 100 --json \
		>tx.json 2>tx.err || { cat tx.json tx.err; return 1; }
	cat tx.json
	read_json tx.json
	equal sent "${value[sent.sent]}" 320000
	equal skipped "${value[sent.skipped]}" 0
	equal missed "${value[sent.missed]}" 0
	equal "frames with a stamp" "${value[figures.launch_error.hw.count]}" 3200
	equal "their launch error, lowest" "${value[figures.launch_error.hw.min_ns]}" 0
	equal "their launch error, highest" "${value[figures.launch_error.hw.max_ns]}" 0
	# All were on the wire: the other port saw them, and dropped them since nobody there asked for them.
	equal "frames at the other port" "$(listener ethtool -S tsn1 | awk '$1 == "sim_rx_filtered:" { print $2 }')" 320000
}
