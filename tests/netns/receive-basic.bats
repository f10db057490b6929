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
	sleep 0.1
	[ "$(in_rx ip -j link show dev vrx | jq '.[0].xdp.prog.id // 0')" -eq 0 ]
}
