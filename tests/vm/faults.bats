# SPDX-License-Identifier: GPL-2.0-only
# Each fault that the simulated NIC can inject is found, counted and attributed to the right frame, and nothing else is.
# Three runs of 100 frames, which the tests look at: a clean one, and two with faults that do not hide each other.
# vm: --timeout 240

load lab

# with_faults NAME [COMMAND...]: COMMANDs count frames, or stamps, from 1; sequence numbers are from 0
with_faults()
{
	local fault
	echo clear >$SIM/tsn0/faults
	for fault in "${@:2}"; do echo "$fault" >$SIM/tsn0/faults; done
	record_run "$1" --cycle 250us --count 100
}

setup_file()
{
	fresh_nic ideal
	deploy_etf ideal
	echo 0x88b5 >$SIM/tsn0/fault_ethertype
	with_faults clean
	with_faults frames "lose 31" "duplicate 41" "corrupt 21" "delay 61 100000" "stamp-lose 11"
	listener ethtool -S tsn1 >"$BATS_FILE_TMPDIR/frames/counters"
	with_faults launches "reorder 51" "late 71 7000" "stamp-repeat 11" "stamp-delay 15 2000000"
}

# Each counter of the report, as "name=value ..." of those that are not 0 and not the number of frames
odd_counters()
{
	local path odd=''
	for path in $members; do
		case $path in
		*.due | *.unsynced | tx.streams.0.sent.sent | rx.streams.0.received.frames | rx.streams.0.received.unique) ;;
		tx.streams.0.sent.* | rx.streams.0.received.*)
			[ "${value[$path]}" = 0 ] || odd+="${path##*.}=${value[$path]} " ;;
		esac
	done
	echo "${odd% }"
}

@test "no fault: nothing is found" {
	recorded_run clean
	equal counters "$(odd_counters)" ""
	equal received "$(counter rx frames)" 100
	equal "launch errors" "$(launch_errors)" ""
	equal latency "$(figure rx latency hw min_ns) $(figure rx latency hw max_ns)" "500 500"
}

@test "two lost frames and a duplicate are two lost frames and a duplicate" {
	recorded_run frames
	equal counters "$(odd_counters)" "lost=2 duplicate=1 gaps=2 gap_max=1"
	equal frames "$(counter rx frames)" 99
	equal unique "$(counter rx unique)" 98
}

@test "a frame that the cable loses and one with a damaged FCS are the lost ones, and the port counts the latter" {
	recorded_run frames
	equal "sequence numbers" "$(column result lost)" "20 30 "
	equal "CRC errors" "$(awk '$1 == "rx_crc_errors:" { print $2 }' counters)" 1
}

@test "a frame that is late on the cable is the one with the highest latency, by that much" {
	recorded_run frames
	equal latency "$(figure rx latency hw max_ns)" 100500
	equal "sequence number" "$(figure rx latency hw max_seq)" 60
	equal "lowest" "$(figure rx latency hw min_ns)" 500
	# a percentile is the upper end of its class of the histogram
	within "others" "$(figure rx latency hw p90_ns)" 500 501
	equal "launch errors" "$(launch_errors)" ""
}

@test "a lost TX stamp is missing for that frame only" {
	recorded_run frames
	equal stamps "$(figure tx launch_error hw count)" 99
	equal "frame without stamp" "$(column tx_hw_ns "")" "10 "
}

@test "two frames that change places are one reordering" {
	recorded_run launches
	equal counters "$(odd_counters | sed 's/ reordered_by=.*//')" "reordered=1"
	equal received "$(counter rx unique)" 100
}

@test "a late launch is the launch error of that frame, and its latency too" {
	recorded_run launches
	equal "launch errors" "$(launch_errors)" "70:7000 "
	equal "sequence number" "$(figure tx launch_error hw max_seq)" 70
	low=$(figure rx path hw-hw min_ns)
	# the frame that changed places was on the way until the one behind it had left
	within "path of all but that" "$(figure rx path hw-hw p90_ns)" "$low" $((low + 1))
	latency=$(tsnpub report --csv - tx.tsnlog rx.tsnlog | gawk -M -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["seq"] == 70 { printf "%d", $column["rx_hw_ns"] - $column["launch_ns"] }')
	within "latency of it" "$latency" $((low + 7000 - 1)) $((low + 7000 + 1))
}

@test "a repeated and a delayed TX stamp change no figure" {
	recorded_run launches
	equal stamps "$(figure tx launch_error hw count)" 100
	equal "launch errors" "$(launch_errors)" "70:7000 "
}
