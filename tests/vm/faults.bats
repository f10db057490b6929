# SPDX-License-Identifier: GPL-2.0-only
# Each fault that the simulated NIC can inject is found, counted and attributed to the right frame, and nothing else is.
# vm: --timeout 240

load lab

setup_file()
{
	fresh_nic ideal
	deploy_etf ideal
}

# run_with_fault COMMAND: 100 frames with one fault; COMMAND counts frames from 1, sequence numbers from 0
run_with_fault()
{
	echo clear >$SIM/tsn0/faults
	echo 0x88b5 >$SIM/tsn0/fault_ethertype
	[ -z "$1" ] || echo "$1" >$SIM/tsn0/faults
	publish_and_receive --cycle 250us --count 100 || true
}

# Each counter of the report, as "name=value ..." of those that are not 0 and not the number of frames
odd_counters()
{
	jq -r '[(.tx.streams[0].sent | to_entries[] | select(.key | IN("due", "sent", "unsynced") | not)),
		(.rx.streams[0].received | to_entries[] | select(.key | IN("frames", "unique", "unsynced") | not))]
		| map(select(.value != 0) | "\(.key)=\(.value)") | join(" ")' report.json
}

@test "no fault: nothing is found" {
	run_with_fault ""
	equal counters "$(odd_counters)" ""
	equal received "$(counter rx frames)" 100
}

@test "a lost frame is lost, and no other" {
	run_with_fault "lose 31"
	equal counters "$(odd_counters)" "lost=1"
	equal "sequence numbers" "$(column result lost)" "30 "
}

@test "a duplicated frame is one duplicate" {
	run_with_fault "duplicate 41"
	equal counters "$(odd_counters)" "duplicate=1"
	equal frames "$(counter rx frames)" 101
	equal unique "$(counter rx unique)" 100
}

@test "two frames that change places are one reordering" {
	run_with_fault "reorder 51"
	equal counters "$(odd_counters | sed 's/ reordered_by=.*//')" "reordered=1"
	equal received "$(counter rx unique)" 100
}

@test "a frame with a damaged FCS is lost and counted by the port" {
	run_with_fault "corrupt 21"
	equal counters "$(odd_counters)" "lost=1"
	equal "sequence numbers" "$(column result lost)" "20 "
	errors=$(listener ip -s -s -j link show tsn1 | jq '.[0].stats64.rx.crc_errors')
	within "CRC errors" "$errors" 1 1
}

@test "a frame that is late on the cable is the one with the highest latency, by that much" {
	run_with_fault "delay 61 100000"
	equal counters "$(odd_counters)" ""
	low=$(figure rx latency hw min_ns)
	within latency "$(figure rx latency hw max_ns)" $((low + 100000)) $((low + 100001))
	equal "sequence number" "$(figure rx latency hw max_seq)" 60
	equal "launch error" "$(figure tx launch_error hw max_ns)" 0
}

@test "a late launch is the launch error of that frame, and its latency too" {
	run_with_fault "late 71 7000"
	within "launch error" "$(figure tx launch_error hw max_ns)" 6999 7001
	equal "sequence number" "$(figure tx launch_error hw max_seq)" 70
	equal "sequence number" "$(figure rx latency hw max_seq)" 70
	equal "path of it" "$(figure rx path hw-hw max_ns)" "$(figure rx path hw-hw min_ns)"
}

@test "a lost TX stamp is missing for that frame only" {
	run_with_fault "stamp-lose 11"
	equal received "$(counter rx unique)" 100
	equal lost "$(counter rx lost)" 0
	equal stamps "$(figure tx launch_error hw count)" 99
	equal "frame without stamp" "$(column tx_hw_ns "")" "10 "
}

@test "a repeated and a delayed TX stamp change no figure" {
	run_with_fault "stamp-repeat 11"
	equal stamps "$(figure tx launch_error hw count)" 100
	equal "launch error" "$(figure tx launch_error hw max_ns)" 0
	run_with_fault "stamp-delay 11 2000000"
	equal stamps "$(figure tx launch_error hw count)" 100
	equal "launch error" "$(figure tx launch_error hw max_ns)" 0
}
