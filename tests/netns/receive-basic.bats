#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The receiver over veth: what the test's sender sends is what the summary says.

load receive-common.bash

setup() {
	make_namespaces
}

teardown() {
	remove_namespaces
}

@test "receive: loss, duplicates and reordering are counted, and the run ends with the last frame" {
	start_receiver --json
	sender send 100 lose 3 send 10 duplicate 2 reorder 3 send 5 last
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json .received.frames)" -eq 121 ]
	[ "$(json .received.lost)" -eq 3 ]
	[ "$(json .received.duplicate)" -eq 2 ]
	[ "$(json .received.reordered)" -eq 2 ]
	[ "$(json .ended_by)" = "the last frame" ]
	[ "$(json .counters.ours)" -eq 121 ]
	[ "$(json .stamps)" = xdp ]
	[ "$(json .path)" = xdp-native ]
}

@test "receive: nothing of the XDP program is left behind, even after SIGKILL" {
	start_receiver --json
	[ "$(in_rx ip -j link show dev vrx | jq '.[0].xdp.prog.id // 0')" -gt 0 ]
	kill -KILL "$receiver"
	wait "$receiver" || true
	receiver=
	detached() { [ "$(in_rx ip -j link show dev vrx | jq '.[0].xdp.prog.id // 0')" -eq 0 ]; }
	eventually detached
}

# Waits until the log holds $1 records: it is written once a second.
log_holds() {
	for _ in $(seq 200); do
		[ "$(stat -c %s "$work/rx.tsnlog")" -lt $((4096 + $1 * 64)) ] || return 0
		sleep 0.1
	done
	return 1
}

@test "receive: memory does not grow with the latencies that come" {
	local spread=() ns before after

	# with the sign in turn: latencies, their variation and the path's of all sizes below 8 s
	for ((ns = 1; ns < 8000000000; ns *= 2)); do
		spread+=(early "$ns" send 2 early "-$ns" send 2)
	done
	start_receiver --log "$work/rx.tsnlog" --stay --duration 120s
	sender stamp 1 send 100
	log_holds 100
	before=$(awk '/^VmRSS/ { print $2 }' "/proc/$receiver/status")
	sender stamp 1 jump 100 "${spread[@]}"
	log_holds $((100 + 2 * ${#spread[@]} / 4))
	after=$(awk '/^VmRSS/ { print $2 }' "/proc/$receiver/status")
	kill -TERM "$receiver"
	finish_receiver
	echo "resident: $before KiB, then $after KiB"
	[ "$((after - before))" -le 64 ]
}
