#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The publisher over veth: what it says it sent is what the receiver got. Counts only: this machine's wake-ups may be
# late, so a cycle may be skipped, and must then be counted.

load publish-common.bash

setup() {
	make_namespaces
}

teardown() {
	remove_publisher
}

@test "publish: sent, skipped and received add up, and the last frame ends the receiver" {
	start_receiver --json
	publish --cycle 2ms --count 200 --json --quiet
	[ "$publisher_status" -eq 0 ]
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json .ended_by)" = "the last frame" ]
	# a skipped last cycle is made up for by one more frame
	due=$(tx .sent.due)
	[ "$due" -ge 200 ] && [ "$due" -le 216 ]
	[ $(($(tx .sent.sent) + $(tx .sent.skipped))) -eq "$due" ]
	[ "$(json .received.frames)" -eq "$(tx .sent.sent)" ]
	[ "$(json .received.lost)" -eq 0 ]
	[ "$(json .received.duplicate)" -eq 0 ]
	[ "$(tx .pacing)" = timer ]
	[ "$(tx '.figures[] | select(.source == "sw") | .count')" -gt 0 ]
}

@test "publish: the frame on the wire is the one of the manual" {
	cat >"$work/capture.py" <<'END'
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(("vrx", 0))
s.setsockopt(263, 8, 1)  # PACKET_AUXDATA: the tag, which veth may strip
s.settimeout(60)
print("ready", flush=True)
while True:
    data, aux, _, _ = s.recvmsg(2048, 256)
    tci = next((int.from_bytes(d[16:18], "little") for _, t, d in aux if t == 8 and d[0] & 16), -1)
    if data[12:14] == b"\x81\x00":
        tci, data = int.from_bytes(data[14:16], "big"), data[:12] + data[16:]
    if data[12:14] == b"\x88\xb6":
        break
print(data[:6].hex(), data[6:12].hex(), tci, len(data), data[14:18].decode(), data[18], *data[20:22], len(data[34:]))
print(int.from_bytes(data[30:38], "big"), int.from_bytes(data[38:46], "big") % 4000000)
END
	in_rx python3 "$work/capture.py" >"$work/capture" 3>&- &
	capture=$!
	eventually grep -q ready "$work/capture"
	publish --cycle 4ms --count 50 --stream id=9,vlan=5,priority=6,offset=1ms,size=100 --ethertype 0x88b6 --quiet
	wait "$capture"
	mac=$(in_tx cat /sys/class/net/vtx/address | tr -d :)
	# 100 bytes less the tag of 4; PCP 6, VID 5; version 1; stream id 9
	[ "$(sed -n 2p "$work/capture")" = "91e0f000fe09 $mac $((6 << 13 | 5)) 96 TSNP 1 0 9 62" ]
	# some number, and a launch 1 ms into its cycle, which is a multiple of 4 ms since the TAI epoch
	[ "$(sed -n 3p "$work/capture" | cut -d ' ' -f 2)" -eq 1000000 ]
}

@test "publish: several streams, each with its own repetition, frames and numbers" {
	start_receiver --json
	publish --cycle 2ms --count 120 --json --quiet --base-time 0 --stream id=1 --stream id=2,every=4,phase=1,offset=200us \
		--stream id=3,every=10,frames=3,size=300,priority=5
	finish_receiver
	[ "$publisher_status" -eq 0 ]
	for id in 1 2 3; do
		sent=$(tx ".streams[] | select(.stream == $id) | .sent.sent")
		due=$(tx ".streams[] | select(.stream == $id) | .sent.due")
		[ "$(json ".streams[] | select(.stream == $id) | .received.frames")" -eq "$sent" ]
		[ "$(json ".streams[] | select(.stream == $id) | .received.lost")" -eq 0 ]
		case $id in
		1) [ "$due" -ge 120 ] ;;
		2) [ "$due" -ge 30 ] && [ "$due" -le 46 ] ;;
		3) [ "$due" -ge 36 ] && [ "$due" -le 84 ] ;;
		esac
	done
}

@test "publish: of a thousand streams no stamp is lost for want of room" {
	local streams=()

	for id in $(seq 0 1023); do
		streams+=(--stream "id=$id,dest=02:00:00:00:$(printf '%02x:%02x' $((id >> 8)) $((id & 255))),offset=$((id * 9))us")
	done
	publish --cycle 10ms --count 100 --timestamps sched,sw "${streams[@]}" --json --quiet
	tx '[.sent.sent, .counters.events_lost, .counters.stamps_foreign, .counters.stamps_missing] | tojson'
	# stamps that come before it is known that their frame was sent wait for that
	[ "$(tx '.sent.sent > 10000')" = true ]
	# (on a machine too slow for the events themselves nothing can be said)
	[ "$(tx '.counters | .events_lost > 0 or .stamps_foreign == 0')" = true ]
}

@test "publish: Ctrl-C sends a flagged last frame, and a second one ends at once" {
	start_receiver --json
	start_publisher --cycle 10ms --json
	sleep 0.3
	kill -INT "$publisher"
	finish_publisher
	finish_receiver
	[ "$publisher_status" -eq 0 ]
	[ "$(json .ended_by)" = "the last frame" ]
	[ "$(json .received.frames)" -eq "$(tx .sent.sent)" ]
	# a cycle of 10 s that has just begun: the first one announces the last frame of the next, the second one ends without
	start_publisher --cycle 10s --base-time "$(($(date +%s) + $(tx .tai_offset_s) - 1))s" --json
	kill -INT "$publisher"
	wait_for "once more to end at once"
	kill -INT "$publisher"
	finish_publisher
	[ "$(tx .sent.sent)" -eq 0 ]
}

@test "publish: under nohup the end of the terminal is not the end of the run" {
	ip netns exec "$tx_ns" nohup "$tsnpub" --iface vtx --cycle 10ms --json >"$work/tx.out" 2>"$work/tx.err" 3>&- &
	publisher=$!
	wait_for "cyclic thread"
	kill -HUP "$publisher"
	wait_for "0:02 "
	kill -TERM "$publisher"
	finish_publisher
	[ "$publisher_status" -eq 0 ]
	[ "$(tx .sent.due)" -ge 100 ]
}

@test "publish: a run that is killed leaves a log that can be read" {
	start_publisher --cycle 2ms --log "$work/tx.tsnlog" --timestamps none
	eventually larger "$work/tx.tsnlog" 4096
	kill -KILL "$publisher"
	wait "$publisher" || true
	publisher=
	"$tsnpub" report --json "$work/tx.tsnlog" >"$work/tx.out"
	[ "$(jq '[.. | .sent? | numbers] | max' "$work/tx.out")" -gt 0 ]
}

@test "publish: without the cyclic thread's policy it says so, and --strict refuses" {
	command -v setpriv >/dev/null || skip "setpriv is missing"
	cp "$tsnpub" "$work/tsnpub"
	chmod 755 "$work" "$work/tsnpub"
	# only the raw socket is allowed
	unprivileged() {
		in_tx setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+net_raw \
			--ambient-caps=-all,+net_raw --bounding-set=-all,+net_raw "$work/tsnpub" --iface vtx --cycle 2ms \
			--count 20 "$@" 3>&-
	}
	unprivileged --json >"$work/tx.out" 2>"$work/tx.err"
	grep -q "runs as SCHED_OTHER, not as SCHED_FIFO: .*CAP_SYS_NICE" "$work/tx.err"
	[[ $(tx .realtime) == SCHED_OTHER* ]]
	run unprivileged --strict --quiet
	[ "$status" -eq 3 ]
	[[ $output == *"--strict: "* ]]
	# and without the raw socket it names what is missing
	run in_tx setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$work/tsnpub" --iface vtx --cycle 2ms
	[ "$status" -eq 3 ]
	[[ $output == *"CAP_NET_RAW is missing"* ]]
}

@test "publish: in force means in force: policy, CPU, locked memory, dropped capabilities" {
	start_publisher --cycle 2ms --cpu 0 --rt-priority 61
	for task in "/proc/$publisher"/task/*; do
		grep -q '^NoNewPrivs:	1' "$task/status"
		# CAP_IPC_LOCK at most: no network, no scheduling
		[ $((0x$(awk '/^CapEff/ { print $2 }' "$task/status") & ~(1 << 14))) -eq 0 ]
		policy=$(chrt -p "${task##*/}" | sed -n 's/.*policy: //p')
		[ "$policy" != SCHED_FIFO ] || cyclic=${task##*/}
	done
	if grep -q "cyclic thread: SCHED_FIFO 61 on CPU 0, memory locked" "$work/tx.err"; then
		[[ $(chrt -p "$cyclic") == *"priority: 61"* ]]
		[ "$(awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$publisher/task/$cyclic/status")" = 0 ]
		[ "$(awk '/^VmLck/ { print $2 }' "/proc/$publisher/status")" -gt 0 ]
	else
		grep -q "warning: the cyclic thread runs as" "$work/tx.err"
	fi
	[ "$(awk '/^VmHWM/ { print $2 }' "/proc/$publisher/status")" -lt 65536 ]
	kill -INT "$publisher"
	finish_publisher
	[ "$publisher_status" -eq 0 ]
}

@test "publish: two at once on one interface" {
	start_publisher --cycle 2ms --stream id=1 --json
	first=$publisher
	mv "$work/tx.out" "$work/first.out"
	publish --cycle 2ms --count 50 --stream id=2 --json --quiet
	[ "$publisher_status" -eq 0 ]
	[ "$(tx .sent.sent)" -gt 0 ]
	[ "$(tx .counters.stamps_foreign)" -eq 0 ]
	kill -INT "$first"
	wait "$first"
	publisher=
	[ "$(jq .sent.sent "$work/first.out")" -gt 0 ]
	[ "$(jq -r .run "$work/first.out")" != "$(tx .run)" ]
}

@test "publish: the log tells the whole command line; refused frames are told with the kernel's reason" {
	in_tx tc qdisc add dev vtx root tbf rate 8kbit burst 200 limit 200
	# so many that also a machine that stalls for a while sends more than the queue takes
	publish --cycle 2ms --count 600 --stream id=3,offset=20us --quiet --log "$work/tx.tsnlog"
	[ "$publisher_status" -eq 1 ]
	grep -q "the kernel refused: .*ENOBUFS.*a queue on the way was full" "$work/tx.err"
	"$tsnpub" report "$work/tx.tsnlog" >"$work/report"
	grep -q -- "--count 600 --stream id=3,offset=20us --quiet" "$work/report"
}

@test "publish: --deadline and --sla give a miss rate and the exit status, in the report of the log as well" {
	# none leaves within 1 ns of its launch
	start_publisher --cycle 2ms --deadline 1ns --json --log "$work/tx.tsnlog"
	wait_for "  late [1-9]" # the live line
	kill -INT "$publisher"
	finish_publisher
	[ "$publisher_status" -eq 1 ]
	[ "$(tx .verdict.met)" = false ]
	[ "$(tx .verdict.late)" -eq "$(tx .sent.sent)" ]
	[ "$(tx .verdict.missed)" -eq "$(tx .verdict.due)" ]
	[ "$(tx .sent.late.source)" = sw ]
	[ "$(tx .sent.late.deadline_ns)" -eq 1 ]
	[ "$(tx .sent.late.miss_rate)" = 1 ]
	run "$tsnpub" report "$work/tx.tsnlog"
	[ "$status" -eq 1 ]
	[[ $output == *"Verdict: MISSED: "*"(100 %), 0 % in time, demanded 100 %"* ]]
	# all leave within 10 s, and with one in a hundred that is enough, whatever was skipped
	publish --cycle 2ms --count 50 --deadline 10s --sla 1% --log "$work/tx.tsnlog"
	[ "$publisher_status" -eq 0 ]
	# the log carries the bar
	"$tsnpub" report --json "$work/tx.tsnlog" >"$work/report"
	[ "$(jq -c '[.verdict | .met, .required]' "$work/report")" = "[true,0.01]" ]
	grep -q "^Verdict: met: .* demanded 1 %" "$work/tx.out"
	grep -q "late *0  0 % of .* beyond 10s (sw stamps)" "$work/tx.out"
}

@test "publish: with a bar frames that were withheld count, and without one the loss of the link does" {
	start_publisher --cycle 5ms --sla 1% --json
	sleep 0.2
	in_tx ip link set vtx down
	wait_for "switched off"
	in_tx ip link set vtx up
	wait_for "the link is back"
	sleep 0.1
	kill -INT "$publisher"
	finish_publisher
	# within the bar
	[ "$publisher_status" -eq 0 ]
	[ "$(tx .verdict.missed)" -eq $(($(tx .sent.due) - $(tx .sent.sent))) ]
	[ "$(tx .verdict.missed)" -ge "$(tx .sent.link_down)" ]
	[ "$(tx .counters.link_losses)" -eq 1 ]
}

@test "publish: --quiet leaves warnings and the summary; the summary tells the settings of the run" {
	publish --cycle 2ms --count 600 --quiet
	[ "$publisher_status" -eq 0 ]
	! grep -v "^tsnpub: warning: " "$work/tx.err" || false
	grep -q "frames sent" "$work/tx.out"
	start_publisher --cycle 2ms --count 50 --json
	finish_publisher
	[ "cyclic thread: $(tx .realtime)" = "$(sed -n 's/^tsnpub: cyclic thread/cyclic thread/p' "$work/tx.err")" ]
}

@test "publish: a log that another run writes is left alone; after SIGKILL the next run replaces it" {
	start_publisher --cycle 2ms --log "$work/tx.tsnlog"
	# what it goes on saying is not the other one's
	mv "$work/tx.err" "$work/first.err"
	refused 2 "log '$work/tx.tsnlog': another process is writing it" --cycle 2ms --count 5 --log "$work/tx.tsnlog"
	kill -KILL "$publisher"
	wait "$publisher" || true
	publisher=
	publish --cycle 2ms --count 5 --json --quiet --log "$work/tx.tsnlog"
	[ "$publisher_status" -eq 0 ]
	"$tsnpub" report --json "$work/tx.tsnlog" >"$work/report"
	[ "$(jq .tx.sent.due "$work/report")" -eq "$(tx .sent.due)" ]
	[ -z "$(find "$work" -name '*.tmp')" ]
}
