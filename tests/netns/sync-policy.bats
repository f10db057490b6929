#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What publisher and receiver do about the clock chain: --sync, --on-sync-loss. The chain is a ptp4l of the test's own
# that says what the test wants; what leaves is counted on the wire, by the kernel, at the other end of a veth pair.

load wait.bash

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	tsnpub=$top/build/tsnpub
	dir=$(mktemp -d)
	netns=tsnsync$$
	ip netns add "$netns"
	ip -n "$netns" link add a0 type veth peer name a1
	# nothing but the publisher's frames on the wire
	for name in a0 a1; do
		ip netns exec "$netns" sysctl -qw net.ipv6.conf.$name.disable_ipv6=1
		ip -n "$netns" link set $name up
	done
	tai=$("$tsnpub" sync --json --socket "$dir/none" | jq .kernel.tai_offset_s || true)
	pids=()
	facts
	"$top/build/tools/fake_ptp4l" "$dir/ptp4l" good "$dir/facts" >"$dir/ready" 3>&- &
	pids+=($!)
	eventually test -s "$dir/ready"
}

teardown() {
	[ -n "${netns:-}" ] || return 0
	for pid in ${pids[@]+"${pids[@]}"}; do kill "$pid" 2>/dev/null || true; done
	wait
	ip netns del "$netns"
	rm -rf "$dir"
}

# other_ptp4l MODE: in the place of the one that setup() started; what it says goes to $dir/MODE
other_ptp4l() {
	kill "${pids[0]}"
	wait "${pids[0]}" || true
	"$top/build/tools/fake_ptp4l" "$dir/ptp4l" "$1" "$dir/facts" >"$dir/$1" 3>&- &
	pids+=($!)
	eventually test -s "$dir/$1"
}

# facts [NAME VALUE]...: what ptp4l says from now on; all is well without any
facts() {
	printf 'utc %s\niface a0\n' "$tai" >"$dir/facts.new"
	[ $# -eq 0 ] || printf '%s %s\n' "$@" >>"$dir/facts.new"
	mv "$dir/facts.new" "$dir/facts"
}

# exec: in the background the process that is ended is the publisher, not a shell that leaves it to run on
publish() {
	exec ip netns exec "$netns" timeout 150 "$tsnpub" --iface a0 --cycle 10ms --sync-socket "$dir/ptp4l" "$@"
}

# start_publisher OPTION...: in the background, without an end of its own; what it says goes to $dir/out
start_publisher() {
	: >"$dir/out" # what another one said
	publish --duration 120s "$@" >"$dir/out" 2>&1 3>&- &
	publisher=$!
	pids+=("$publisher")
}

# start_sending OPTION...: the same, and frames have left
start_sending() {
	start_publisher "$@"
	wait_for "$dir/out" " sent [1-9]"
}

end_publisher() {
	kill -TERM "$publisher"
	wait "$publisher" || true
}

# the publisher ends by itself, since the clocks were lost
stops() {
	result=0
	wait "$publisher" || result=$?
	[ "$result" -eq 1 ]
	grep -q "clocks out of sync (stopping)${1:-}" "$dir/out"
}

# frames that have arrived at the other end
arrived() {
	ip netns exec "$netns" cat /sys/class/net/a1/statistics/rx_packets
}

# wait_for FILE TEXT
wait_for() {
	eventually grep -q "$2" "$1" || { cat "$1" && return 1; }
}

# counted FILE WORD COUNT: at least so many lines of it
counted() {
	[ "$(grep -c "$2" "$1")" -ge "$3" ]
}

# record LOG NUMBER: offset from master and status of a sync record in a log
sync_records() {
	perl -e 'open my $f, "<:raw", $ARGV[0] or die; seek $f, 4096, 0;
		while (read($f, my $r, 64) == 64) {
			my ($time, $master, @rest) = unpack "q<7", $r;
			my ($stream, $status) = unpack "S<2", substr $r, 56;
			print "$master $status\n" if $stream == 0xffff }' "$1"
}

@test "require: refuses with the failing link and its fix, and no frame leaves" {
	facts state 4
	run publish --duration 1s --sync require --sync-wait 2s
	[ "$status" -eq 3 ]
	[[ $output == *"waiting for the clocks: port"* ]]
	[[ $output == *"not in sync: port: the port does not synchronise"*LISTENING*"fix: no master is heard"* ]]
	[ "$(arrived)" -eq 0 ]
}

@test "require: no ptp4l at all" {
	run ip netns exec "$netns" "$tsnpub" --iface a0 --cycle 10ms --duration 1s --sync require --sync-wait 0 \
		--sync-socket "$dir/none"
	[ "$status" -eq 3 ]
	[[ $output == *"no ptp4l: there is no such socket"* ]]
	[ "$(arrived)" -eq 0 ]
}

@test "require: waits until the clocks are good, and only then sends" {
	facts state 4
	publish --duration 500ms --sync require --sync-wait 30s >"$dir/out" 2>&1 3>&- &
	publisher=$!
	wait_for "$dir/out" "waiting for the clocks"
	sleep 1.5
	[ "$(arrived)" -eq 0 ]
	facts
	wait "$publisher"
	[ "$(arrived)" -gt 0 ]
	grep -q "clocks: good" "$dir/out"
}

@test "Ctrl-C while it waits: ends at once, nothing is left" {
	facts state 4
	ip netns exec "$netns" "$tsnpub" --iface a0 --cycle 10ms --sync require --sync-wait 60s \
		--sync-socket "$dir/ptp4l" >"$dir/out" 2>&1 3>&- &
	publisher=$!
	wait_for "$dir/out" "waiting for the clocks"
	kill -TERM "$publisher"
	result=0
	wait "$publisher" || result=$?
	[ "$result" -eq $((128 + 15)) ]
	for left in /run/tsnpub-ptp.*; do
		if [ -d "$left" ] && flock -n "$left" test -d "$left"; then false; fi
	done
	[ "$(arrived)" -eq 0 ]
}

@test "warn: starts all the same; what it sends is marked and not in the statistics" {
	facts offset 200000
	run publish --duration 1s --sync warn --json --log "$dir/log"
	[ "$status" -eq 0 ]
	json=$(sed -n '/^{/,$p' <<<"$output")
	[[ $output == *"warning: the clocks are not in sync: offset from master"* ]]
	[ "$(jq .sent.unsynced <<<"$json")" -eq "$(jq .sent.sent <<<"$json")" ]
	[ "$(jq .sent.sent <<<"$json")" -gt 0 ]
	[ "$(jq '[.figures[]? | select(.count > 0)] | length' <<<"$json")" -eq 0 ]
	[[ $(jq -r .sync <<<"$json") == "not good: offset from master"* ]]
	[ "$(sync_records "$dir/log" | head -1)" = "200000 10" ]
}

@test "warn, not good at the start: with pause frames are withheld, and that is said; stop ends only what has been good" {
	facts offset 200000
	start_publisher --sync warn --on-sync-loss pause
	wait_for "$dir/out" "frames are withheld until the clocks are in sync"
	wait_for "$dir/out" " paused [1-9]"
	[ "$(arrived)" -eq 0 ]
	# the fix names the publisher's own option; the verdict for the log is not cut
	grep -q "set --sync-limit to what they give" "$dir/out"
	grep -q "clocks: not good: offset from master: too far from the master (+200.000us, limit 100us)$" "$dir/out"
	end_publisher
	start_sending --sync warn --on-sync-loss stop
	facts
	wait_for "$dir/out" "clocks in sync again"
	facts offset 200000
	stops
}

@test "warn: what left before the loss was noticed is marked, too" {
	start_sending --sync require --on-sync-loss warn --log "$dir/log"
	facts offset 200000
	lost=$(date +%s%N) # from now on at the latest
	wait_for "$dir/out" "clocks out of sync"
	sleep 0.3
	end_publisher
	run perl -e 'open my $f, "<:raw", $ARGV[0] or die; seek $f, 4096, 0;
		while (read($f, my $r, 64) == 64) {
			my ($seq, $launch) = unpack "q<2", $r;
			my ($stream, $status) = unpack "S<2", substr $r, 56;
			next if $stream == 0xffff or !($status & 1);
			$good++ unless $status & 32;
			$marked++ if $status & 32;
			$missed++ if $launch > $ARGV[1] && !($status & 32) }
		printf "good %s marked %s unmarked in the loss %d\n", $good > 0 ? "some" : 0, $marked > 0 ? "some" : 0, $missed' \
		"$dir/log" $((lost + tai * 1000000000))
	[ "$output" = "good some marked some unmarked in the loss 0" ]
}

@test "pause: frames stop with the loss, and go on in phase with the recovery" {
	start_sending --sync require --log "$dir/log"
	facts offset 200000
	wait_for "$dir/out" "clocks out of sync (pausing): offset from master"
	wait_for "$dir/out" " paused [1-9]" # what was handed over before has arrived
	count=$(arrived)
	[ "$count" -gt 0 ]
	wait_for "$dir/out" " paused [1-9][0-9][0-9]"
	[ "$(arrived)" -eq "$count" ]
	facts
	wait_for "$dir/out" "clocks in sync again after"
	goes_on() { [ "$(arrived)" -gt "$count" ]; }
	eventually goes_on
	end_publisher
	# launches are multiples of the cycle before and after; the pause is in the log, and each second of the clocks
	run perl -e 'open my $f, "<:raw", $ARGV[0] or die; seek $f, 4096, 0;
		while (read($f, my $r, 64) == 64) {
			my ($seq, $launch) = unpack "q<2", $r;
			my ($stream, $status) = unpack "S<2", substr $r, 56;
			next if $stream == 0xffff;
			$wrong++ if $launch % 10000000;
			$paused++ if $status & 256; $sent++ if $status & 1;
			# a withheld frame takes no number: on the wire nothing is missing
			$gap++ if ($status & 1) && defined $last && $seq != $last + 1; $last = $seq if $status & 1 }
		printf "wrong %d gap %d paused %s sent %s\n", $wrong, $gap, $paused > 100 ? "many" : $paused, $sent > 0 ? "some" : 0' \
		"$dir/log"
	[ "$output" = "wrong 0 gap 0 paused many sent some" ]
	[ "$(sync_records "$dir/log" | grep -c '^200000 10$')" -ge 1 ]
	[ "$(sync_records "$dir/log" | grep -c '^0 3$')" -ge 1 ]
}

@test "stop: the run ends with the loss, status 1" {
	start_sending --sync require --on-sync-loss stop
	facts state 2
	stops ": port: the port does not synchronise"
}

@test "each loss is noticed: gone, another grandmaster, stale syncs" {
	start_sending --sync require --on-sync-loss warn
	facts gm 7
	wait_for "$dir/out" "another grandmaster took over from 000000.0000.000042"
	facts gm 7 sync_age_ms 60000
	wait_for "$dir/out" "no sync message arrives"
	facts gm 7
	wait_for "$dir/out" "in sync again"
	kill "${pids[0]}"
	wait_for "$dir/out" "ptp4l"
	wait_for "$dir/out" "went away\|no such socket"
	end_publisher
	[ "$(grep -c 'losses of clock sync' "$dir/out")" -eq 1 ]
}

@test "ptp4l is restarted: a loss, however quick it was, and good again with the new one" {
	start_sending --sync require --on-sync-loss warn
	kill "${pids[0]}"
	wait "${pids[0]}" || true
	"$top/build/tools/fake_ptp4l" "$dir/ptp4l" good "$dir/facts" >"$dir/again" 3>&- &
	pids+=($!)
	wait_for "$dir/out" "clocks in sync again after"
	end_publisher
	grep -q "clocks out of sync (frames are marked.*: ptp4l: " "$dir/out"
}

@test "what ptp4l tells of is looked at at once, not in the next second" {
	start_sending --sync require --log "$dir/log"
	# ten times: the next look either follows, or is that of the second, which writes a record of the clocks
	for _ in $(seq 10); do
		asked=$(grep -c asked "$dir/ready")
		kill -USR1 "${pids[0]}"
		eventually counted "$dir/ready" asked $((asked + 1))
	done
	facts gm 7
	kill -USR1 "${pids[0]}"
	wait_for "$dir/out" "clocks out of sync (pausing): grandmaster: another grandmaster took over"
	end_publisher
	asked=$(grep -c asked "$dir/ready")
	echo "$asked looks, $(sync_records "$dir/log" | wc -l) of them each second"
	# one at the start, one at the end, and most of the ten
	[ "$asked" -ge $(($(sync_records "$dir/log" | wc -l) + 7)) ]
}

@test "a subscription that is not answered in time is asked for again" {
	other_ptp4l late
	start_publisher --sync warn
	eventually counted "$dir/late" subscribed 2
	end_publisher
	# the last one ends it
	[ "$(grep -c subscribed "$dir/late")" -ge 3 ]
}

@test "notifications between the answers are told from them" {
	other_ptp4l chatty
	start_publisher --sync require --log "$dir/log"
	eventually counted "$dir/chatty" asked 6
	quiet=$(grep -c asked "$dir/chatty")
	# a sync message that tells of an offset beyond the limit is a reason to look
	facts offset 200000
	wait_for "$dir/out" "clocks out of sync (pausing): offset from master"
	# each look hears of it again: the next one follows at once, and not in the next second, which writes a record
	asked=$(grep -c asked "$dir/chatty")
	eventually counted "$dir/chatty" asked $((asked + 12))
	end_publisher
	[ "$(grep -c "out of sync" "$dir/out")" -eq 1 ]
	[ "$(sync_records "$dir/log" | head -1)" = "0 3" ]
	asked=$(grep -c asked "$dir/chatty")
	echo "$asked looks, $(sync_records "$dir/log" | wc -l) of them each second; $quiet before the loss"
	[ "$asked" -ge $(($(sync_records "$dir/log" | wc -l) + 7)) ]
	# one that tells of nothing new is no reason, also where it comes in the midst of a look
	[ "$quiet" -le $(($(sync_records "$dir/log" | grep -c "^0 3$") + 2)) ]
}

@test "ignore, and no PHC: nothing is asked, nothing is marked" {
	run ip netns exec "$netns" "$tsnpub" --iface a0 --cycle 10ms --duration 300ms --json
	[ "$status" -eq 0 ]
	json=$(sed -n '/^{/,$p' <<<"$output")
	[ "$(jq -r .sync <<<"$json")" = "not applicable" ]
	[ "$(jq .sent.unsynced <<<"$json")" -eq 0 ]
}

@test "receiver: frames that come while its clock is lost are marked; its log has the clocks" {
	facts offset 200000 iface a1
	ip netns exec "$netns" timeout 150 "$tsnpub" receive --iface a1 --sync warn --sync-socket "$dir/ptp4l" \
		--log "$dir/rx" --json --ready-fd 7 7>"$dir/receiving" >"$dir/out" 2>"$dir/err" 3>&- &
	receiver=$!
	pids+=($receiver)
	eventually test -s "$dir/receiving"
	ip netns exec "$netns" "$tsnpub" --iface a0 --cycle 10ms --duration 1500ms --quiet
	wait "$receiver" || true
	grep -q "warning: the clocks are not in sync: offset from master" "$dir/err"
	[ "$(jq .received.unsynced "$dir/out")" -eq "$(jq .received.frames "$dir/out")" ]
	[ "$(jq .received.frames "$dir/out")" -gt 0 ]
	[ "$(jq .receiver_uncertainty_ns "$dir/out")" -eq 200000 ]
	[ "$(sync_records "$dir/rx" | sort -u)" = "200000 10" ]
}

@test "receiver: a loss under require does not claim that it pauses" {
	facts iface a1
	ip netns exec "$netns" timeout 150 "$tsnpub" receive --iface a1 --sync require --sync-socket "$dir/ptp4l" \
		--ready-fd 7 7>"$dir/receiving" >"$dir/out" 2>"$dir/err" 3>&- &
	receiver=$!
	pids+=($receiver)
	eventually test -s "$dir/receiving"
	facts iface a1 offset 200000
	wait_for "$dir/err" "clocks out of sync (frames are marked and not counted in the statistics): offset from master"
	kill -TERM "$receiver"
	wait "$receiver" || true
}

@test "wrong options are refused" {
	run publish --duration 1s --sync maybe
	[ "$status" -eq 2 ]
	[[ $output == *"--sync 'maybe': one of require, warn, ignore"* ]]
	run publish --duration 1s --on-sync-loss panic
	[ "$status" -eq 2 ]
	run publish --duration 1s --sync-limit 3
	[ "$status" -eq 2 ]
	run ip netns exec "$netns" "$tsnpub" receive --iface a1 --sync maybe
	[ "$status" -eq 2 ]
}
