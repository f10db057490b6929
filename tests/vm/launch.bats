# SPDX-License-Identifier: GPL-2.0-only
# Publisher and receiver on a simulated NIC, in virtual time: when frames leave, and how long they are on the way.
# vm: --timeout 240

load lab

launch_within()
{
	fresh_nic "$1"
	deploy_etf "$1"
	publish_and_receive --cycle 250us --count 100 || { show; return 1; }
	equal sent "$(counter tx sent)" 100
	equal missed "$(counter tx missed)" 0
	equal received "$(counter rx unique)" 100
	within "stamps of launches" "$(figure tx launch_error hw count)" 1 100
	within "launch error, lowest" "$(figure tx launch_error hw min_ns)" "$2" "$3"
	within "launch error, highest" "$(figure tx launch_error hw max_ns)" "$2" "$3"
}

@test "ideal: each frame leaves at its launch time, to the nanosecond" {
	launch_within ideal 0 0
	equal "launches with a stamp" "$(figure tx launch_error hw count)" 100
}

@test "i210: each frame leaves within its step of 32 ns" {
	launch_within i210 -32 32
}

@test "ls1028a: each frame leaves within its step of 32 ns" {
	launch_within ls1028a -32 32
}

@test "i225: each frame leaves at its launch time" {
	launch_within i225 -8 8
}

@test "i226: each frame leaves at its launch time" {
	launch_within i226 -8 8
}

@test "the latency is exactly that of the cable, and with stamps at the frame's end cable plus serialisation" {
	fresh_nic ideal length_ns=1234 speed_mbps=1000
	deploy_etf ideal
	publish_and_receive --cycle 250us --count 50 --size 100 || { show; return 1; }
	equal "latency" "$(figure rx latency hw min_ns) $(figure rx latency hw max_ns)" "1234 1234"
	equal "path" "$(figure rx path hw-hw min_ns) $(figure rx path hw-hw max_ns)" "1234 1234"
	# XDP sees a frame when its last bit is there, never before. Preamble 8, frame 100, FCS 4 bytes at 1 Gb/s: 8 ns a byte.
	within "XDP" "$(figure rx latency xdp min_ns)" $((1234 + 112 * 8)) $((1234 + 112 * 8 + 20000))

	echo end >$SIM/pair0/rx_stamp_at
	publish_and_receive --cycle 250us --count 50 --size 100 || { show; return 1; }
	both=$((1234 + 112 * 8))
	equal "cable and serialisation" "$(figure rx latency hw min_ns) $(figure rx latency hw max_ns)" "$both $both"
}

@test "a PHC that is 5 us from TAI launches 5 us away, and the report says so" {
	fresh_nic ideal phc_offset_ns=5000,0
	deploy_etf ideal
	publish_and_receive --cycle 250us --count 50 || true
	# Earlier or later, by the sign of the PHC's error: the stamps are the PHC's and agree with the launch time.
	within "launch error by the NIC's own clock" "$(figure tx launch_error hw max_ns)" -1 1
	within "arrival by the other clock" "$(figure rx latency hw max_ns)" $((500 - 5002)) $((500 - 4998))
}
