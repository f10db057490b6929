#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The demonstration: what it shows, and that nothing is left behind however it ends.

bats_require_minimum_version 1.5.0

load wait.bash

setup() {
	[ "$(id -u)" = 0 ] || skip 'needs root (network namespaces)'
	tsnpub=$BATS_TEST_DIRNAME/../../build/tsnpub
	export TMPDIR=$BATS_TEST_TMPDIR
}

# no process, namespace, interface or file of it is there any more
nothing_left() {
	[ -z "$(find "$TMPDIR" -name 'tsnpub-demo-*')" ]
	[ "$(ip -o link | grep -c tsnpub-)" = 0 ]
	for process in /proc/[0-9]*/environ; do
		! grep -qsz "^TMPDIR=$BATS_TEST_TMPDIR\$" "$process" || [ "$(echo "$process" | cut -d/ -f3)" = "$$" ] ||
			! tr '\0' ' ' 2>/dev/null <"${process%environ}cmdline" | grep -q '^tsnpub'
	done
}

@test 'one joined report of what was sent and received' {
	run --separate-stderr "$tsnpub" demo --duration 1s --cycle 10ms --json
	[ "$status" = 0 ]
	# a skipped last cycle is made up for by one more frame
	due=$(jq .tx.sent.due <<<"$output")
	[ "$due" -ge 100 ] && [ "$due" -le 116 ]
	[ "$(jq '.tx.sent.sent + .tx.sent.skipped' <<<"$output")" = "$due" ]
	[ "$(jq '.tx.sent.sent' <<<"$output")" = "$(jq '.rx.received.frames' <<<"$output")" ]
	[ "$(jq '.rx.received.lost' <<<"$output")" = 0 ]
	# the latency is measured, by XDP
	[ "$(jq '[.rx.figures[] | select(.figure == "latency" and .source == "xdp") | .count] | first' <<<"$output")" \
		= "$(jq '.rx.received.frames' <<<"$output")" ]
	nothing_left
}

@test '--keep keeps the logs, and report reads them' {
	run "$tsnpub" demo --duration 200ms --cycle 10ms --keep "$BATS_TEST_TMPDIR/kept"
	[ "$status" = 0 ]
	run --separate-stderr "$tsnpub" report "$BATS_TEST_TMPDIR"/kept/*.tsnlog --json
	[ "$status" = 0 ]
	due=$(jq '.tx.sent.due' <<<"$output")
	[ "$due" -ge 20 ] && [ "$due" -le 36 ]
}

@test 'an empty TMPDIR is none' {
	TMPDIR='' run "$tsnpub" demo --duration 100ms --cycle 10ms
	[ "$status" = 0 ]
	[[ $output == *" --log /tmp/tsnpub-demo-"* ]]
}

@test 'make demo asks sudo for what only root can, where it is not root' {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho 1000\n' >"$BATS_TEST_TMPDIR/bin/id"
	touch "$BATS_TEST_TMPDIR/bin/sudo"
	chmod +x "$BATS_TEST_TMPDIR"/bin/*
	run env -u MAKEFLAGS -u MAKELEVEL make -n -C "$BATS_TEST_DIRNAME/../.." demo
	grep -qx ' *build/tsnpub demo' <<<"$output"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run env -u MAKEFLAGS -u MAKELEVEL make -n -C "$BATS_TEST_DIRNAME/../.." demo
	grep -qx "$BATS_TEST_TMPDIR/bin/sudo build/tsnpub demo" <<<"$output"
}

@test 'SIGTERM ends it early, with the report, and leaves nothing' {
	"$tsnpub" demo --duration 60s --cycle 10ms >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	demo=$!
	has_records() { larger "$(echo "$TMPDIR"/tsnpub-demo-*/tx.tsnlog)" 4096; }
	eventually has_records
	kill -TERM "$demo"	# a shell's background process ignores SIGINT
	status=0
	wait "$demo" || status=$?
	[ "$status" = 143 ]
	grep -q 'frames sent' "$BATS_TEST_TMPDIR/out"
	nothing_left
}

@test 'a signal while it waits for the receiver is 128 + N too' {
	# the receiver alone asks which CPUs are possible, before it says that it is ready: a pipe there holds it
	possible=/sys/devices/system/cpu/possible
	mkfifo "$BATS_TEST_TMPDIR/held"
	unshare -m sh -c "mount --bind '$BATS_TEST_TMPDIR/held' $possible && exec '$tsnpub' demo --duration 60s --cycle 10ms" \
		>"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	demo=$!
	# open for both, so that this does not wait for a receiver that may never come
	exec 9<>"$BATS_TEST_TMPDIR/held"
	held() {
		for fd in $(cat "/proc/$demo/task/$demo/children" | sed -E 's|([0-9]+)|/proc/\1/fd/*|g'); do
			[ ! "$fd" -ef "$BATS_TEST_TMPDIR/held" ] || return 0
		done
		return 1
	}
	eventually held || { cat "$BATS_TEST_TMPDIR/out"; false; }
	kill -TERM "$demo"
	# the demonstration, once it has seen that, hands it on; the receiver does not take signals yet
	handed_on() {
		for child in $(cat "/proc/$demo/task/$demo/children"); do
			! grep -qs '^ShdPnd:.*[4-7c-f]...$' "/proc/$child/status" || return 0
		done
		return 1
	}
	eventually handed_on
	cat $possible >&9
	exec 9>&-
	status=0
	wait "$demo" || status=$?
	[ "$status" = 143 ]
	cat "$BATS_TEST_TMPDIR/out"
	grep -q 'interrupted before anything was sent' "$BATS_TEST_TMPDIR/out"
	nothing_left
}

@test 'SIGKILL leaves no process and no interface' {
	"$tsnpub" demo --duration 60s --cycle 10ms >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	demo=$!
	has_log() { [ -e "$TMPDIR"/tsnpub-demo-*/tx.tsnlog ]; }
	eventually has_log
	children=$(cat "/proc/$demo/task/$demo/children")
	[ -n "$children" ]
	kill -KILL "$demo"
	for child in $children; do
		dead() { grep -qs '^State:.Z' "/proc/$child/status" || [ ! -d "/proc/$child" ]; }
		eventually dead
	done
	# nor a namespace: theirs have no names, and live as long as the processes in them
	[ "$(ip -o link | grep -c tsnpub-)" = 0 ]
}

@test 'wrong input is refused in one line, and nothing is made' {
	while IFS='|' read -r arguments expected says; do
		# shellcheck disable=SC2086
		run "$tsnpub" demo $arguments
		[ "$status" = "$expected" ]
		[ "${#lines[@]}" = 1 ]
		[[ "$output" == *"$says"* ]]
	done <<-'CASES'
		--cycle 5|2|a time needs a unit; write 5us
		--cycle 1us|2|out of range; 31.25us to 10s
		--duration 0s|2|out of range
		--duration 1ms --cycle 2ms|2|no frame would be sent
		--keep /proc/1/x/y|3|cannot make the directory: No such file or directory (ENOENT); make its directory first
		--keep /dev/null|2|there is a file of that name; name a directory
		--nonsense|2|unrecognized option '--nonsense'; `tsnpub demo --help` lists the options
		x|2|'x': takes no argument
	CASES
	nothing_left
}
