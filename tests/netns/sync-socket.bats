#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tsnpub sync on sockets behind which something else than a healthy ptp4l is: each is told apart, in bounded time.

load wait.bash

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	tsnpub=$top/build/tsnpub
	fake=$top/build/tools/fake_ptp4l
	dir=$(mktemp -d)
	fake_pid=
}

teardown() {
	[ -z "$fake_pid" ] || kill "$fake_pid" 2>/dev/null || true
	rm -rf "$dir"
}

start_fake() {
	"$fake" "$dir/ptp4l" "$@" >"$dir/ready" 3>&- &
	fake_pid=$!
	eventually test -s "$dir/ready"
}

# waited for: it removes its socket on the way out
stop_fake() {
	kill "$fake_pid"
	wait "$fake_pid" || true
	fake_pid=
	: >"$dir/ready"
}

# check SOCKET [OPTION...]: the verdict in $output as JSON. Who answers is waited for, however slow the machine is.
check() {
	run timeout 60 "$tsnpub" sync --json --timeout 20s --socket "$@"
}

# the same where a question's time is waited for to its end, but something comes within it: 10 s at most
check_in_vain() {
	run timeout 10 "$tsnpub" sync --json --timeout 2s --socket "$@"
}

# where nothing comes, so that the time does not matter: 5 s at most
check_silent() {
	run timeout 5 "$tsnpub" sync --json --timeout 200ms --socket "$@"
	[ "$status" -eq 1 ]
	[ "$(ptp4l_state)" = silent ]
}

ptp4l_state() { jq -r '.ptp4l.state' <<<"$output"; }
# row NAME KEY: of the table of checks
row() { jq -r --arg name "$1" ".checks[] | select(.name == \$name) | .$2" <<<"$output"; }

# no directory of a socket but those of programs that run: these hold a lock
nothing_left() {
	for left in /run/tsnpub-ptp.* /tmp/tsnpub-ptp.*; do
		if [ -d "$left" ] && flock -n "$left" test -d "$left"; then
			echo "left behind: $left"
			return 1
		fi
	done
}

@test "no socket" {
	check "$dir/none"
	[ "$status" -eq 1 ]
	[ "$(ptp4l_state)" = absent ]
	[[ $(row ptp4l fix) == *"--socket"* ]]
	nothing_left
}

@test "a socket that was left behind" {
	start_fake good
	kill -KILL "$fake_pid"
	wait "$fake_pid" || true
	check "$dir/ptp4l"
	[ "$status" -eq 1 ]
	[ "$(ptp4l_state)" = stale ]
	[[ $(row ptp4l reason) == *"left behind"* ]]
}

@test "a file, a directory and a stream socket are not ptp4l's socket" {
	touch "$dir/file"
	check "$dir/file"
	[ "$status" -eq 1 ]
	[ "$(ptp4l_state)" = "not a socket" ]
	check "$dir"
	[ "$(ptp4l_state)" = "not a socket" ]
	perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die; print "ready\n"; STDOUT->flush; sleep 60' \
		"$dir/stream" >"$dir/ready" 3>&- &
	fake_pid=$!
	eventually test -s "$dir/ready"
	check "$dir/stream"
	[ "$status" -eq 1 ]
	[ "$(ptp4l_state)" = "not a socket" ]
	nothing_left
}

@test "a socket that is not permitted: cannot tell" {
	[ "$(id -u)" = 0 ] || skip "needs root to become someone else"
	start_fake good
	chmod 0600 "$dir/ptp4l"
	chmod 0755 "$dir"
	cp "$tsnpub" "$dir/tsnpub"
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/tsnpub" sync --json --timeout 20s --socket "$dir/ptp4l"
	[ "$(ptp4l_state)" = forbidden ]
	[[ $(row ptp4l fix) == *uds_file_mode* ]]
	# permitted, it works without privileges
	chmod 0666 "$dir/ptp4l"
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/tsnpub" sync --json --timeout 20s --socket "$dir/ptp4l"
	[ "$(ptp4l_state)" = fine ]
	[ "$(row port result)" = ok ]
	nothing_left
}

@test "a path that is too long for a socket is the user's error" {
	run "$tsnpub" sync --socket "/$(printf 'x%.0s' $(seq 120))"
	[ "$status" -eq 2 ]
	[[ $output == *"at most 107 characters"* ]]
}

@test "peers that never answer" {
	for mode in silent deaf; do
		start_fake "$mode"
		check_silent "$dir/ptp4l"
		[[ $(row ptp4l fix) == *"--domain"* ]]
		stop_fake
	done
	nothing_left
}

# answers_badly STATE MODE REASON: what is told of a peer that answers so
answers_badly() {
	start_fake "$2"
	check_in_vain "$dir/ptp4l"
	[ "$status" -eq 1 ]
	[ "$(ptp4l_state)" = "$1" ]
	[[ $(row ptp4l reason) == *"$3"* ]]
	stop_fake
}

@test "peers that answer garbage" {
	answers_badly garbage garbage "not a management message"
	answers_badly garbage truncated "shorter than its kind"
	answers_badly garbage length "does not fit the datagram"
	nothing_left
}

@test "peers that answer something else" {
	answers_badly strange sequence "wrong sequence number"
	answers_badly strange foreign "someone else"
	answers_badly strange request "not a response"
	answers_badly strange flood "wrong sequence number"
	nothing_left
}

@test "late and repeated answers do no harm" {
	start_fake repeat
	check "$dir/ptp4l"
	[ "$(ptp4l_state)" = fine ]
	[ "$(row port result)" = ok ]
	[ "$(row 'offset from master' value)" = "+0ns" ]
}

@test "error statuses leave the rest of the table to be judged" {
	start_fake error
	check "$dir/ptp4l"
	[ "$(ptp4l_state)" = fine ]
	[ "$(row port result)" = unknown ]
	[ "$(row 'kernel TAI offset' result)" != unknown ]
}

@test "a ptp4l that dies between two questions" {
	start_fake dies
	check "$dir/ptp4l"
	[ "$status" -eq 1 ]
	[ "$(ptp4l_state)" = gone ]
	[[ $(row ptp4l reason) == "ptp4l went away: it closed its socket" ]]
}

@test "domain and transportSpecific are found; the wrong ones are met with silence" {
	printf 'domain 44\ntransport_specific 1\n' >"$dir/facts"
	start_fake good "$dir/facts"
	check_in_vain "$dir/ptp4l"
	[ "$(jq .ptp4l.domain <<<"$output")" = 44 ]
	[ "$(jq .ptp4l.transport_specific <<<"$output")" = 1 ]
	check_silent "$dir/ptp4l" --domain 0
	check_silent "$dir/ptp4l" --domain 44 --transport-specific 0
}

@test "what a healthy one says decides the verdict" {
	tai=$("$tsnpub" sync --json --socket "$dir/none" | jq .kernel.tai_offset_s || true)
	printf 'utc %s\n' "$tai" >"$dir/facts"
	start_fake good "$dir/facts"
	# with software stamps and the kernel's own TAI offset all is well
	check "$dir/ptp4l"
	[ "$status" -eq 0 ]
	[ "$(jq -r .verdict <<<"$output")" = good ]
	printf 'utc %s\noffset -100001\n' "$tai" >"$dir/facts"
	check "$dir/ptp4l"
	[ "$status" -eq 1 ]
	[ "$(jq -r .decided_by <<<"$output")" = "offset from master" ]
	check "$dir/ptp4l" --limit 101us
	[ "$status" -eq 0 ]
	printf 'utc %s\nstate 2\n' "$tai" >"$dir/facts"
	check "$dir/ptp4l"
	[ "$status" -eq 1 ]
	[[ $(row port value) == *FAULTY* ]]
	printf 'utc %s\nsync_age_ms 10000\n' "$tai" >"$dir/facts"
	check "$dir/ptp4l"
	[ "$status" -eq 1 ]
	[ "$(jq -r .decided_by <<<"$output")" = "sync messages" ]
	printf 'utc %s\n' $((tai + 1)) >"$dir/facts"
	check "$dir/ptp4l"
	[ "$status" -eq 1 ]
	[ "$(jq -r .decided_by <<<"$output")" = "kernel TAI offset" ]
	[ "$(row 'kernel TAI offset' fix)" = "tsnpub sync --set-tai-offset" ]
}

@test "ports that do not answer leave the others to be judged; a negative path delay is wrong" {
	tai=$("$tsnpub" sync --json --socket "$dir/none" | jq .kernel.tai_offset_s || true)
	printf 'utc %s\nports 3\n' "$tai" >"$dir/facts"
	start_fake good "$dir/facts"
	check_in_vain "$dir/ptp4l"
	[ "$status" -eq 0 ]
	[ "$(ptp4l_state)" = fine ]
	printf 'utc %s\ndelay -100001\n' "$tai" >"$dir/facts"
	check "$dir/ptp4l"
	[ "$status" -eq 1 ]
	[ "$(jq -r .decided_by <<<"$output")" = "path delay" ]
	[[ $(row 'path delay' reason) == *"a negative path delay"* ]]
	printf 'utc %s\noffset -9223372036854775808\n' "$tai" >"$dir/facts"
	check "$dir/ptp4l" --limit 10s
	[ "$status" -eq 1 ]
	[ "$(jq -r .decided_by <<<"$output")" = "offset from master" ]
}

@test "--wait ends when it has been good for --settle seconds, and not before" {
	tai=$("$tsnpub" sync --json --socket "$dir/none" | jq .kernel.tai_offset_s || true)
	printf 'utc %s\nstate 4\n' "$tai" >"$dir/facts"
	start_fake good "$dir/facts"
	run timeout 60 "$tsnpub" sync --timeout 5s --socket "$dir/ptp4l" --wait 1s
	[ "$status" -eq 1 ]
	[[ $output == *"waiting: port: the port does not synchronise"* ]]
	[[ $output == *LISTENING* ]]
	# good at last, but not for long enough: verdict and status say the same
	printf 'utc %s\n' "$tai" >"$dir/facts"
	run timeout 60 "$tsnpub" sync --timeout 5s --socket "$dir/ptp4l" --wait 1s --settle 60 --json
	[ "$status" -eq 1 ]
	[[ $output == *"s only, --settle asks for 60 s in a row"* ]]
	[ "$(sed -n '/^{/,$p' <<<"$output" | jq -r .verdict)" = "not good" ]
	printf 'utc %s\nstate 4\n' "$tai" >"$dir/facts"
	(sleep 1.5 && printf 'utc %s\n' "$tai" >"$dir/facts.new" && mv "$dir/facts.new" "$dir/facts") 3>&- &
	run timeout 60 "$tsnpub" sync --timeout 5s --socket "$dir/ptp4l" --wait 50s --settle 2
	[ "$status" -eq 0 ]
	[[ $output == *"Verdict: good"* ]]
}

@test "--watch prints a line each second, --log a record; a bad second sets the exit status" {
	tai=$("$tsnpub" sync --json --socket "$dir/none" | jq .kernel.tai_offset_s || true)
	printf 'utc %s\noffset 1234\n' "$tai" >"$dir/facts"
	start_fake good "$dir/facts"
	run timeout 60 "$tsnpub" sync --timeout 5s --socket "$dir/ptp4l" --watch --duration 3s --log "$dir/log"
	[ "$status" -eq 0 ]
	[ "$(grep -c 'good.*SLAVE.*master +1234 ns' <<<"$output")" -eq 3 ]
	[[ $output == *"3 s watched: 3 good, 0 not good, 0 cannot tell"* ]]
	[ "$(stat -c %s "$dir/log")" -eq $((4096 + 3 * 64)) ]
	# the offset of the second record: bytes 8 to 15 of it
	[ "$(od -A n -t d8 -j $((4096 + 64 + 8)) -N 8 "$dir/log" | tr -d ' ')" = 1234 ]
	printf 'utc %s\noffset 1000000\n' "$tai" >"$dir/facts"
	run timeout 60 "$tsnpub" sync --timeout 5s --socket "$dir/ptp4l" --watch --duration 2s --json
	[ "$status" -eq 1 ]
	[ "$(jq .good_seconds <<<"$output")" = 0 ]
	[ "$(jq .master_offset.max_ns <<<"$output")" = 1000000 ]
}

@test "Ctrl-C ends --watch with its summary, and leaves nothing behind" {
	printf 'state 4\n' >"$dir/facts"
	start_fake good "$dir/facts"
	"$tsnpub" sync --timeout 5s --socket "$dir/ptp4l" --watch >"$dir/out" 3>&- &
	watch=$!
	eventually test -s "$dir/out"
	kill -INT "$watch"
	result=0
	wait "$watch" || result=$?
	[ "$result" -eq 1 ] # of the verdict, not of the signal
	grep -q "s watched" "$dir/out"
	nothing_left
}

@test "killed, it leaves its socket's directory behind; the next one removes it" {
	start_fake good
	"$tsnpub" sync --timeout 5s --socket "$dir/ptp4l" --watch >"$dir/out" 3>&- &
	watch=$!
	eventually test -s "$dir/out"
	kill -KILL "$watch"
	wait "$watch" || true
	left=$(nothing_left) || true
	[[ $left == *"left behind"* ]]
	check "$dir/ptp4l"
	[ "$(ptp4l_state)" = fine ]
	nothing_left
}

@test "wrong options are refused with what to write" {
	run "$tsnpub" sync --limit 5
	[ "$status" -eq 2 ]
	[[ $output == *"--limit"*us* ]]
	run "$tsnpub" sync --iface nosuch0
	[ "$status" -eq 2 ]
	[[ $output == *"interface 'nosuch0': there is none of that name"* ]]
	run "$tsnpub" sync --role boss
	[ "$status" -eq 2 ]
	run "$tsnpub" sync --settle 5
	[ "$status" -eq 2 ]
	[ "$output" = 'tsnpub: --settle goes with --wait' ]
	run "$tsnpub" sync --domain 256
	[ "$status" -eq 2 ]
	run "$tsnpub" sync --print-setup
	[ "$status" -eq 2 ]
	[[ $output == *"--iface"* ]]
	run "$tsnpub" sync --duration 5s
	[ "$status" -eq 2 ]
	# nothing that is asked for is left out without a word
	run "$tsnpub" sync --print-setup --iface lo --start
	[ "$status" -eq 2 ]
	[[ $output == *"--print-setup only prints"* ]]
	for what in "--print-setup --iface lo" "--start --iface lo" --set-tai-offset=37; do
		run "$tsnpub" sync $what --json
		[ "$status" -eq 2 ]
		[[ $output == *"--json is the verdict's"* ]]
	done
	run "$tsnpub" sync surplus
	[ "$status" -eq 2 ]
}
