#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What happens to the link in mid-run is counted, said, and survived.

load publish-common.bash

setup() {
	make_namespaces
}

teardown() {
	remove_publisher
}

@test "link: switched off and on again" {
	start_publisher --cycle 5ms --json
	sleep 0.2
	in_tx ip link set vtx down
	wait_for "vtx: the interface was switched off; frames are withheld"
	wait_for "  link down [1-9][0-9]" # more than were refused before it was seen
	in_tx ip link set vtx up
	wait_for "vtx: the link is back after"
	sleep 0.2
	kill -INT "$publisher"
	finish_publisher
	[ "$publisher_status" -eq 1 ]
	[ "$(tx .counters.link_losses)" -eq 1 ]
	[ "$(tx .sent.link_down)" -gt 0 ]
	[ "$(tx .sent.sent)" -gt 0 ]
	[ $(($(tx .sent.sent) + $(tx .sent.skipped) + $(tx .sent.link_down) + $(tx .sent.refused))) -eq "$(tx .sent.due)" ]
}

@test "link: the peer goes away, and nothing is missing for the receiver afterwards" {
	start_publisher --cycle 5ms --json
	sleep 0.2
	in_rx ip link set vrx down
	wait_for "vtx: the link was lost (no carrier)"
	wait_for "  link down [1-9][0-9]" # more than were refused before it was seen
	in_rx ip link set vrx up
	wait_for "vtx: the link is back after"
	start_receiver --json
	sleep 0.3
	kill -INT "$publisher"
	finish_publisher
	finish_receiver
	[ "$(tx .sent.link_down)" -gt 0 ]
	[ "$(json .received.lost)" -eq 0 ]
	[ "$(json .received.frames)" -gt 0 ]
}

# Until the publisher has shown two further seconds: all before them is counted.
two_seconds_more() {
	local shown

	shown=$(grep -c "  sent [0-9]" "$work/tx.err") || true
	for _ in $(seq 200); do
		[ "$(grep -c "  sent [0-9]" "$work/tx.err")" -lt $((shown + 2)) ] || return 0
		sleep 0.1
	done
	return 1
}

@test "link: frames that are refused before the kernel tells of the loss are the link's" {
	start_publisher --cycle 1ms --json
	# it tells of the second one, within a second of other news, only later
	for loss in 1 2; do
		in_rx ip link set vrx down
		two_seconds_more
		[ "$(grep -c "vtx: the link was lost (no carrier)" "$work/tx.err")" -eq $loss ]
		in_rx ip link set vrx up
		wait_for "vtx: the link is back after"
	done
	kill -INT "$publisher"
	finish_publisher
	[ "$(tx .sent.refused)" -eq 0 ]
	[ "$(tx .sent.link_down)" -gt 0 ]
}

@test "link: each loss is counted, however soon the link is back" {
	start_publisher --cycle 5ms --json
	sleep 0.2
	for _ in 1 2 3 4 5; do
		in_rx ip link set vrx down
		in_rx ip link set vrx up
	done
	# at once, though the kernel may not have told yet
	kill -INT "$publisher"
	finish_publisher
	[ "$publisher_status" -eq 1 ]
	[ "$(tx .counters.link_losses)" -eq 5 ]
	start_publisher --cycle 5ms --json --on-link-loss stop
	sleep 0.2
	in_rx ip link set vrx down
	in_rx ip link set vrx up
	finish_publisher
	[ "$publisher_status" -eq 1 ]
	[ "$(tx .counters.link_losses)" -eq 1 ]
}

@test "link: another name in mid-run does not matter" {
	start_publisher --cycle 5ms --json
	in_tx ip link set vtx down
	wait_for "vtx: the interface was switched off"
	in_tx ip link set vtx name other
	# looked for meanwhile, under its number
	sleep 0.3
	in_tx ip link set other up
	wait_for "other: the link is back after"
	! grep "was removed" "$work/tx.err" || false
	kill -INT "$publisher"
	finish_publisher
	[ "$(tx .counters.link_losses)" -eq 1 ]
	in_tx ip link set other down
	in_tx ip link set other name vtx
}

@test "link: removed and made anew under another number" {
	start_publisher --cycle 5ms --json
	sleep 0.2
	in_tx ip link del vtx
	wait_for "vtx: the interface was removed"
	ip link add vtx netns "$tx_ns" type veth peer name vrx netns "$rx_ns"
	in_rx ip link set vrx up
	start_receiver --json
	in_tx ip link set vtx up
	wait_for "vtx: the link is back after"
	sleep 0.3
	kill -INT "$publisher"
	finish_publisher
	finish_receiver
	[ "$(json .received.frames)" -gt 0 ]
	[ "$(json .received.lost)" -eq 0 ]
}

@test "link: what an interface refuses while it is being removed is lost to the link" {
	for _ in 1 2 3; do
		start_publisher --cycle 31.25us --json
		sleep 0.1
		in_rx ip link del vrx
		wait_for "  link down [1-9]"
		kill -INT "$publisher"
		finish_publisher
		[ "$(tx .sent.refused)" -eq 0 ]
		[ "$(tx .sent.link_down)" -gt 0 ]
		[ "$publisher_status" -eq 1 ]
		ip link add vtx netns "$tx_ns" type veth peer name vrx netns "$rx_ns"
		in_rx ip link set vrx up
		in_tx ip link set vtx up
	done
}

@test "link: --on-link-loss stop ends the run with status 1" {
	start_publisher --cycle 5ms --json --on-link-loss stop
	in_tx ip link set vtx down
	finish_publisher
	[ "$publisher_status" -eq 1 ]
	grep -q "stopping (--on-link-loss stop)" "$work/tx.err"
}

@test "link: none at the start is waited for, or refused" {
	in_rx ip link set vrx down
	refused 3 "interface 'vtx' has no link (no carrier)" --cycle 5ms --on-link-loss stop
	start_publisher --cycle 5ms --json
	wait_for "frames are withheld until it is there"
	in_rx ip link set vrx up
	wait_for "the link is back"
	sleep 0.2
	kill -INT "$publisher"
	finish_publisher
	[ "$(tx .sent.sent)" -gt 0 ]
}
