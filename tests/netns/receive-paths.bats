#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The ways frames come in, what is in the way, and what the system does meanwhile.

load receive-common.bash

setup() {
	make_namespaces
}

teardown() {
	remove_namespaces
}

# Sends, and checks that all arrived in this way with these stamps.
arrives() {
	local path=$1 stamps=$2

	sender send 50 lose 2 send 3 last
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json .path)" = "$path" ]
	[ "$(json .stamps)" = "$stamps" ]
	[ "$(json .received.frames)" -eq 54 ]
	[ "$(json .received.lost)" -eq 2 ]
	[ "$(json '.figures[] | select(.figure == "latency" and .source == "'"$stamps"'") | .count')" -eq 54 ]
}

@test "receive: generic XDP" {
	start_receiver --json --xdp generic
	arrives xdp-generic xdp
}

@test "receive: a veth pair with more TX queues than RX queues has no native XDP; what to do is said" {
	ip -n "$rx_ns" link add many numtxqueues 4 type veth peer name few
	run ip netns exec "$rx_ns" "$tsnpub" receive --iface few --duration 10ms
	[[ $output == *"few: native XDP is not to be had here (No space left on device (ENOSPC): fewer RX queues than "*"numrxqueues"* ]]
	[[ $output == *"XDP generic"* ]]
}

@test "receive: software stamps through a socket" {
	start_receiver --json --timestamps sw
	arrives socket sw
}

@test "receive: hw-socket without hardware stamps falls back, and says so" {
	start_receiver --json --timestamps hw-socket
	arrives socket sw
	grep -q "no hardware stamps" "$work/err"
}

@test "receive: --timestamps hw without hardware is refused with what works" {
	run in_rx "$tsnpub" receive --iface vrx --timestamps hw
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"--timestamps xdp or sw"* ]]
}

@test "receive: one and two VLAN tags, in XDP and through a socket" {
	local way

	for way in xdp sw; do
		start_receiver --json --timestamps "$way"
		sender --run 1 --vlan 5 send 10 last
		finish_receiver
		[ "$(json .received.frames)" -eq 11 ]
		[ "$(json .counters.tagged)" -eq 11 ]
		start_receiver --json --timestamps "$way"
		sender --run 2 --vlan 5 --vlan 6 send 10 last
		finish_receiver
		[ "$(json .received.frames)" -eq 11 ]
		[ "$(json .counters.tagged)" -eq 11 ]
	done
}

@test "receive: a program that is attached already is named, and stays" {
	start_receiver --json
	local id

	id=$(in_rx ip -j link show dev vrx | jq '.[0].xdp.prog.id')
	run in_rx "$tsnpub" receive --iface vrx
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"XDP program $id 'receive_xdp'"* ]]
	[ "$(in_rx ip -j link show dev vrx | jq '.[0].xdp.prog.id')" -eq "$id" ]
	arrives xdp-native xdp
}

@test "receive: matched frames are consumed, unless --pass is given" {
	local passed

	for passed in 0 11; do
		[ "$passed" -eq 0 ] || set -- --pass
		start_receiver --json --stay "$@"
		local taker=$receiver

		mv "$work/out" "$work/taken"
		start_receiver --timestamps sw
		sender send 10 last
		# that one has no frame whose number could end it
		[ "$passed" -gt 0 ] || kill -INT "$receiver"
		finish_receiver
		mv "$work/out" "$work/beside"
		mv "$work/taken" "$work/out"
		receiver=$taker
		kill -INT "$receiver"
		finish_receiver
		[ "$(json .received.frames)" -eq 11 ]
		if [ "$passed" -eq 0 ]; then
			grep '^0 frames received' "$work/beside"
			# who takes them is named
			grep 'XDP program [0-9]* on vrx comes before any socket.*--pass' "$work/beside"
		else
			grep -E "^ +frames +$passed\$" "$work/beside"
		fi
	done
}

@test "receive: no frame is read before it came in" {
	# frames that come in while those before them are taken out of the ring
	start_receiver --json --log "$work/rx.tsnlog"
	in_tx "$tsnpub" --iface vtx --cycle 31.25us --duration 1s --quiet --timestamps none >/dev/null 2>&1
	finish_receiver
	[ "$(json '.received.frames > 100')" = true ]
	# a microsecond: the kernel reads the clock for BPF in a way of its own
	"$tsnpub" report "$work/rx.tsnlog" --csv - |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$at["rx_user_ns"] - $at["rx_xdp_ns"] < -1000 { print; early = 1 } END { exit early || NR < 100 }'
}

@test "receive: streams and runs are told apart and filtered" {
	start_receiver --json
	sender --run a --stream 1 send 10
	sender --run a --stream 2 send 20
	sender --run b --stream 1 send 5 last
	sender --run a --stream 1 jump 10 last
	sender --run a --stream 2 jump 20 last
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json '[.streams[] | [.run, .stream, .received.frames, .received.lost]] | sort | tostring')" = \
		'[["0000000a",1,11,0],["0000000a",2,21,0],["0000000b",1,6,0]]' ]

	start_receiver --json --stream 2 --run a --log "$work/log"
	sender --run a --stream 1 send 10
	sender --run b --stream 2 send 4
	sender --run a --stream 2 send 20 last
	finish_receiver
	[ "$(json .received.frames)" -eq 21 ]
	[ "$(json .counters.other_streams)" -eq 10 ]
	[ "$(json .counters.other_runs)" -eq 4 ]
	# for whoever joins its log with the sender's
	"$tsnpub" report --json "$work/log" >"$work/out"
	[ "$(json '.logs.rx.options | [.only_run, .only_streams] | tostring')" = '[10,[2]]' ]
}

@test "receive: --count, --duration and --stay decide the end" {
	start_receiver --json --count 7
	sender send 20
	finish_receiver
	[ "$(json .ended_by)" = "the count of frames" ]
	[ "$(json .received.frames)" -eq 7 ]

	start_receiver --json --stay
	sender --run 1 send 10 last
	sleep 0.4
	sender --run 2 send 10 last
	kill -INT "$receiver"
	finish_receiver
	[ "$(json .ended_by)" = "an interrupt" ]
	[ "$(json .received.frames)" -eq 22 ]

	start_receiver --json --stay --duration 800ms
	sender --run 1 send 10 last
	finish_receiver
	[ "$(json .ended_by)" = "the duration" ]
}

@test "receive: the bars decide the exit status" {
	start_receiver --json --deadline 1ms
	sender early -2000000 send 1 early 0 last
	finish_receiver
	[ "$receiver_status" -eq 1 ]
	[ "$(json .verdict.late)" -ge 1 ]
	[ "$(json .verdict.met)" = false ]

	start_receiver --json --sla 90%
	sender send 10 lose 1 send 10 last
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json '.verdict | [.met, .due, .missed, .required] | tojson')" = "[true,22,1,0.9]" ]

	start_receiver --json --sla 99%
	sender send 10 lose 1 send 10 last
	finish_receiver
	[ "$receiver_status" -eq 1 ]
	[ "$(json .verdict.met)" = false ]
}

@test "receive: the bar is in the log, and the report's verdict on it is the receiver's" {
	for sla in 90% 99%; do
		start_receiver --sla "$sla" --log "$work/bar.tsnlog"
		sender send 10 lose 1 send 10 last
		finish_receiver
		status=0
		"$tsnpub" report "$work/bar.tsnlog" >"$work/report" || status=$?
		[ "$status" -eq "$receiver_status" ]
		[ "$(grep -c '^Verdict: ' "$work/report")" -eq 1 ]
		[ "$(grep '^Verdict: ' "$work/report")" = "$(grep '^Verdict: ' "$work/out")" ]
	done
	[ "$status" -eq 1 ] # of the second
}

@test "receive: the link down and up again is said, and the run goes on" {
	start_receiver --json
	sender send 10
	in_rx ip link set vrx down
	sleep 0.3
	in_rx ip link set vrx up
	# the kernel may hold such news back for a second
	eventually grep -q "the link is up" "$work/err"
	sender jump 10 send 10 last
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json .received.frames)" -eq 21 ]
	[ "$(json .received.lost)" -eq 0 ]
	grep -q "vrx: the link is down" "$work/err"
	grep -q "vrx: the link is up" "$work/err"
}

@test "receive: an interface that goes away ends the run with its summary" {
	start_receiver --json --log "$work/log"
	sender send 10
	in_rx ip link del vrx
	finish_receiver
	[ "$receiver_status" -eq 3 ]
	[ "$(json .received.frames)" -eq 10 ]
	[ "$(stat -c %s "$work/log")" -eq $((4096 + 10 * 64)) ]
	grep -q "vrx: the interface is gone" "$work/err"
}

@test "receive: no frames at all is explained" {
	in_tx ip link set vtx down
	start_receiver --duration 300ms
	finish_receiver
	[ "$receiver_status" -eq 1 ]
	grep -q "vrx has no carrier" "$work/out"
	in_rx ip link set vrx down
	start_receiver --duration 300ms
	finish_receiver
	grep -q "ip link set dev vrx up" "$work/out"
	in_rx ip link set vrx up
	in_tx ip link set vtx up
	start_receiver
	sender --ethertype 0x88b6 send 3
	kill -INT "$receiver"
	finish_receiver
	[ "$receiver_status" -eq 1 ]
	grep -q -- "--ethertype 0x88b6" "$work/out"
}

@test "receive: a full disk stops the log, not the run" {
	[ -w /dev/full ] || skip "/dev/full is missing"
	mkdir "$work/small"
	mount -t tmpfs -o size=16k tmpfs "$work/small" || skip "cannot mount a tmpfs"
	start_receiver --json --log "$work/small/log"
	sender send 5000 last
	finish_receiver
	umount "$work/small"
	[ "$receiver_status" -eq 0 ]
	[ "$(json .received.frames)" -eq 5001 ]
	[ "$(json .log_lost)" -gt 4000 ]
	[ "$(grep -c "No space left on device.*goes on without a log" "$work/err")" -eq 1 ]
}

@test "receive: of a log on a full disk the report says that records are missing, and takes no frame for lost" {
	mkdir "$work/small"
	mount -t tmpfs -o size=16k tmpfs "$work/small" || skip "cannot mount a tmpfs"
	start_receiver --json --log "$work/small/rx"
	in_tx "$tsnpub" --iface vtx --cycle 1ms --count 1000 --log "$work/tx" --quiet >/dev/null 2>&1 3>&-
	finish_receiver
	cp "$work/small/rx" "$work/rx"
	umount "$work/small"
	[ "$receiver_status" -eq 0 ]
	lost=$(json .log_lost)
	[ "$lost" -gt 500 ]
	status=0
	"$tsnpub" report --json --sla 60% "$work/rx" "$work/tx" >"$work/report" 2>"$work/report.err" || status=$?
	[ "$status" -eq 1 ]
	jq -e --argjson lost "$lost" '.verdict | .is == "not known" and .unlogged == $lost' "$work/report"
	grep -q "rx': $lost records are missing in it" "$work/report.err"
	# without the sender's log they are no gap, and were due all the same
	"$tsnpub" report --json --sla 60% "$work/rx" >"$work/report" 2>/dev/null && return 1
	jq -e --argjson lost "$lost" --argjson frames "$(json .received.frames)" \
		'.verdict | .is == "not known" and .due == $frames and .unlogged == $lost' "$work/report"
}

@test "receive: a disk that is full between two frames is said too, once, and counted" {
	mkdir "$work/small"
	mount -t tmpfs -o size=4k tmpfs "$work/small" || skip "cannot mount a tmpfs"
	start_receiver --json --log "$work/small/log"
	sender send 50 sleep 1500 send 49 last
	finish_receiver
	umount "$work/small"
	[ "$receiver_status" -eq 0 ]
	[ "$(json .log_lost)" -eq 100 ]
	[ "$(grep -c "No space left on device.*goes on without a log" "$work/err")" -eq 1 ]
}

@test "receive: a missing capability is named, and none is kept" {
	command -v setpriv >/dev/null || skip "setpriv (util-linux) is missing"
	local as="setpriv --reuid 65534 --regid 65534 --clear-groups"

	# shellcheck disable=SC2086
	run in_rx $as --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon "$tsnpub" receive --iface vrx
	[ "$status" -eq 3 ]
	[[ $output == *"needs CAP_NET_ADMIN"* ]]
	[ "${#lines[@]}" -eq 1 ]
	start_receiver --json
	[ "$(awk '/CapEff|CapPrm/ { print $2 }' "/proc/$receiver/status" | sort -u)" = 0000000000000000 ]
	arrives xdp-native xdp
}

@test "receive: wrong input is one line with the value and the fix" {
	local arguments

	while read -r arguments; do
		# shellcheck disable=SC2086
		run in_rx "$tsnpub" receive $arguments
		echo "$arguments: $status: $output"
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
	done <<-'END'
		--duration 1s
		--iface nosuch
		--iface waytoolonginterfacename
		--iface vrx --duration 5
		--iface vrx --duration -1s
		--iface vrx --deadline 0
		--iface vrx --count 0
		--iface vrx --count -1
		--iface vrx --sla 99.99
		--iface vrx --sla 101%
		--iface vrx --stream 65536
		--iface vrx --run xyz
		--iface vrx --run 123456789
		--iface vrx --dest 91:e0:f0
		--iface vrx --ethertype 0x8100
		--iface vrx --ethertype 5
		--iface vrx --timestamps best
		--iface vrx --xdp fast
		--iface vrx --ring-size 5000
		--iface vrx --ring-size 2G
		--iface vrx extra
	END
	run in_rx "$tsnpub" receive --iface vrx --log /nowhere/log
	[ "$status" -eq 3 ]
	[ "${#lines[@]}" -eq 1 ]
	[ "$(in_rx ip -j link show dev vrx | jq '.[0].xdp.prog.id // 0')" -eq 0 ]
}

@test "receive: --blame splits late frames completely, and says which CPU it followed" {
	local blame

	if [ "$(id -u)" != 0 ] || [ ! -e /sys/kernel/btf/vmlinux ]; then skip "/sys/kernel/btf/vmlinux is missing"; fi
	run in_rx "$tsnpub" receive --iface vrx --blame-over 1ms
	[ "$status" -eq 2 ]
	start_receiver --json --blame --blame-over 3ms
	# a frame that is 5 ms late, with nothing on this machine to hold it
	sender gap 1000 send 3500 early -5000000 send 1 early 0 send 100 last
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	blame=$(json '.blame | tojson')
	jq -e '.cpu >= 0 and .late >= 1 and .threshold_ns == 3000000' <<<"$blame"
	jq -e '[.worst[] | .late_ns == ([.parts[].ns] | add)] | all' <<<"$blame"
	jq -e '[.culprits[] | select(.category == "away") | .worst_ns] | max > 4000000' <<<"$blame"
	jq -e '[.interrupts[].name] | index("softirq NET_RX")' <<<"$blame"
	# what it costs comes from the same frames
	jq -e '.cost | .frames == 1000 and .with_ns - .without_ns == .stamp_later_ns' <<<"$blame"
	[ "$(in_rx ip -j link show dev vrx | jq '.[0].xdp.prog.id // 0')" -eq 0 ]
}

@test "receive: frames before the first are told from lost ones" {
	start_receiver --json
	sender jump 500 send 20 lose 2 send 20 last
	finish_receiver
	[ "$(json .received.before_first)" -eq 500 ]
	[ "$(json .received.lost)" -eq 2 ]
	start_receiver
	sender --run 5 jump 500 send 20 last
	finish_receiver
	grep -q "joined late *500  numbers before the first" "$work/out"
}
