#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What comes in from outside must not crash the receiver, fill its memory or spoil an honest stream.

load receive-common.bash

setup() {
	make_namespaces
}

teardown() {
	remove_namespaces
}

# The summary of one stream of one run.
stream() {
	jq -r ".streams[] | select(.run == \"$1\" and .stream == $2) | $3" "$work/out"
}

@test "receive: frames that are not ours are counted by kind, and passed on" {
	start_receiver --json
	sender send 10 short 4 zero 5 other 0x88b5 6 other 0x0800 7 version 9 send 8 version 1 last
	sender --ethertype 0x88b6 send 3
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json .counters.ours)" -eq 11 ]
	[ "$(json .counters.too_short)" -eq 4 ]
	[ "$(json .counters.all_zero)" -eq 5 ]
	[ "$(json .counters.wrong_magic)" -eq 6 ]
	[ "$(json '.counters.foreign_ethertypes["0x0800"]')" -eq 7 ]
	[ "$(json .counters.wrong_version)" -eq 8 ]
	[ "$(json .counters.wrong_ethertype)" -eq 3 ]
	json '.explanation[]' | grep -q 'version 9'
	json '.explanation[]' | grep -q -- '--ethertype 0x88b6'
}

@test "receive: through a socket frames of the same kinds are counted" {
	start_receiver --json --timestamps sw
	sender send 10 short 4 zero 5 other 0x88b5 6 version 9 send 8 version 1
	sender --ethertype 0x88b6 send 3
	sender jump 10 last
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json '.counters | [.ours, .too_short, .all_zero, .wrong_magic, .wrong_version, .wrong_ethertype] | tostring')" = \
		'[11,4,5,6,8,3]' ]
}

@test "receive: forged numbers in an honest stream are strays, not loss" {
	start_receiver --json
	sender send 200 jump 0xffffffffffffffff send 1 jump 200 send 200 jump 9000000000 send 1 jump 400 send 200 last
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json .received.frames)" -eq 603 ]
	[ "$(json .received.lost)" -eq 0 ]
	[ "$(json .received.stray)" -eq 2 ]
	[ "$(json .received.duplicate)" -eq 0 ]
}

@test "receive: a flood of forged runs and streams leaves an honest stream exact" {
	start_receiver --json --stay
	# it is known before the flood: who begins amid one is the next test's matter
	sender --run 600d --stream 7 send 100
	sender --run 600d --stream 7 jump 100 sleep 200 send 100 sleep 1000 send 100 last &
	honest=$!
	sender forge 150000 forge-streams 150000
	wait "$honest"
	sleep 0.1
	resident=$(awk '/VmRSS/ { print $2 }' "/proc/$receiver/status")
	kill -INT "$receiver"
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(stream 0000600d 7 .received.frames)" -eq 301 ]
	[ "$(stream 0000600d 7 .received.lost)" -eq 0 ]
	[ "$(stream 0000600d 7 .received.stray)" -eq 0 ]
	# none is uncounted: in a stream's statistics or ignored
	[ "$(json '.counters.ours')" -le 300301 ]
	# (reserved stream numbers count as somebody else's payload)
	[ "$(json '.counters.ours + .counters.too_many_runs + .counters.wrong_magic')" -eq 300301 ]
	[ "$resident" -lt 65536 ]
}

@test "receive: an honest stream that begins amid a flood of forged runs is taken" {
	start_receiver --json
	sender forge 20000
	sender forge 200000 &
	sender --run 600d --stream 7 gap 1000 send 500 last
	kill $! 2>/dev/null || true
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	# while it proves itself its first frames are ignored
	[ "$(stream 0000600d 7 .received.frames)" -ge 490 ]
	[ "$(stream 0000600d 7 .received.lost)" -eq 0 ]
}

@test "receive: a full ring loses records, and no figure" {
	start_receiver --json --ring-size 4K
	kill -STOP "$receiver"
	sender send 5000 lose 7 send 1000 duplicate 3 jump 99999999999 send 2 jump 206007 send 99 \
		new-stream 2 send 100 last new-stream 1 jump 206106 last
	kill -CONT "$receiver"
	# the record of the last frame is lost, too
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json .ended_by)" = "the last frame" ]
	[ "$(json .counters.records_lost)" -gt 5000 ]
	[ "$(json .counters.ours)" -eq 6206 ]
	[ "$(json .received.frames)" -eq 6206 ]
	[ "$(json .received.lost)" -eq 200007 ]
	[ "$(json .received.duplicate)" -eq 3 ]
	[ "$(json .received.stray)" -eq 2 ]
	[ "$(json .received.restarts)" -eq 0 ]
	# of duplicates and strays no time counts, nor of the 15 frames that were none only with the 16th
	[ "$(json '.figures[] | select(.figure == "latency" and .source == "xdp") | .count')" -eq 6186 ]
	# of this stream no record came
	[ "$(json '.streams[] | select(.stream == 2) | .received.frames')" -eq 101 ]
	[ "$(json '.streams[] | select(.stream == 2) | .received.lost')" -eq 0 ]
	json '.explanation[]' | grep -q 'the ring was full'
}

@test "receive: frames without a record count for --count" {
	start_receiver --json --ring-size 4K --count 5000 --duration 20s
	kill -STOP "$receiver"
	sender send 5000
	kill -CONT "$receiver"
	finish_receiver
	[ "$(json .counters.records_lost)" -gt 4000 ]
	[ "$(json .received.frames)" -eq 5000 ]
	[ "$(json .ended_by)" = "the count of frames" ]
}

@test "receive: what a socket drops is counted" {
	start_receiver --json --timestamps sw --stay
	kill -STOP "$receiver"
	sender flood 60000
	kill -CONT "$receiver"
	sleep 1.2
	kill -INT "$receiver"
	finish_receiver
	[ "$(json .counters.socket_drops)" -gt 0 ]
	[ "$(json '.counters.ours + .counters.socket_drops')" -eq 60000 ]
	json '.explanation[]' | grep -q "the socket's buffer was full"
}
