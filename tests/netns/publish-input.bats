#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Wrong input to the publisher: one line each, status 2 or 3, nothing changed. What needs no interface is in the unit test of
# the options.

load publish-common.bash

setup() {
	make_namespaces
}

teardown() {
	remove_publisher
}

@test "input: interfaces that are none, are down, or are no Ethernet" {
	refused 2 "interface 'nope': there is none of that name" --iface nope --cycle 1ms
	refused 2 "interface 'a/b': not an interface name" --iface a/b --cycle 1ms
	refused 2 "interface 'averylonginterfacename': not an interface name" --iface averylonginterfacename --cycle 1ms
	in_tx ip link set lo up
	refused 2 "interface 'lo': not an Ethernet interface" --iface lo --cycle 1ms
	in_tx ip link set vtx down
	refused 3 "interface 'vtx' is down; switch it on: ip link set vtx up" --cycle 1ms
}

@test "input: sizes beyond the MTU and cycles that are too short for their frames" {
	refused 2 "size 1515 exceeds the MTU 1500 of vtx: at most 1514 bytes" --cycle 1ms --size 1515
	in_tx ip link set vtx mtu 4000
	in_rx ip link set vrx mtu 4000
	publish --cycle 4ms --size 4014 --count 3 --json --quiet
	[ "$publisher_status" -eq 0 ]
	refused 2 "size 4015 exceeds the MTU 4000" --cycle 1ms --size 4015
	refused 2 "--cycle 31.25us is shorter than its frames take on the wire" --cycle 31.25us \
		--stream id=1,size=1500,frames=30
}

@test "input: a pacing that nothing installed would honour" {
	refused 2 "--pacing launch-time: no etf on vtx" --cycle 1ms --pacing launch-time
	refused 2 "--pacing gate: no taprio on vtx" --cycle 1ms --pacing gate
	refused 2 "--deadline-mode: it belongs to pacing launch-time" --cycle 1ms --deadline-mode on
}

@test "input: logs that cannot be written" {
	refused 3 "log '$work/none/x': cannot create it: No such file or directory (ENOENT); make its directory first: mkdir -p '$work/none'" \
		--cycle 1ms --log "$work/none/x"
	refused 2 "log '$work': a directory; name a regular file or a new one" --cycle 1ms --log "$work"
	echo precious >"$work/log"
	refused 2 "vtx" --cycle 1ms --log "$work/log" --pacing gate
	refused 2 "log '$work/log': there is a file of that name that is no log, and it is not overwritten" --cycle 1ms --log "$work/log"
	[ "$(cat "$work/log")" = precious ]
	mkdir "$work/fixed"
	mount -t tmpfs -o ro,size=64k none "$work/fixed" || skip "cannot mount a tmpfs"
	refused 3 "'$work/fixed' is mounted read-only: name a file elsewhere" --cycle 1ms --log "$work/fixed/x"
	umount "$work/fixed"
}

@test "input: a full disk ends the log, not the run" {
	mkdir "$work/small"
	mount -t tmpfs -o size=64k none "$work/small" || skip "cannot mount a tmpfs"
	publish --cycle 1ms --count 3000 --json --quiet --log "$work/small/tx.tsnlog"
	"$tsnpub" report --json "$work/small/tx.tsnlog" >"$work/report"
	umount "$work/small"
	[ "$publisher_status" -eq 0 ]
	grep -q "warning: .*No space left on device.*the run goes on without a log" "$work/tx.err"
	[ $(($(tx .sent.sent) + $(tx .sent.skipped))) -ge 3000 ]
	[ "$(tx .counters.log_lost)" -gt 1000 ]
	[ "$(jq '[.. | .sent? | numbers] | max' "$work/report")" -gt 0 ]
}

@test "input: a file's limit ends the log, not the run; where not even the header fits it is an error" {
	local limit

	for limit in 2 8; do
		publisher_status=0
		(ulimit -f "$limit"; in_tx "$tsnpub" --iface vtx --cycle 1ms --count 1500 --quiet --log "$work/tx$limit.tsnlog" \
			2>&1 >/dev/null | cat >"$work/err"; exit "${PIPESTATUS[0]}") || publisher_status=$?
		cat "$work/err"
		[ "$publisher_status" -eq $((limit == 2 ? 3 : 0)) ]
		grep -q 'File too large (EFBIG); `ulimit -f` is the limit' "$work/err"
		ls "$work"/*.tmp 2>/dev/null && false
	done
	[ ! -e "$work/tx2.tsnlog" ]
	grep -q "stopped after 64 records: .*the run goes on without a log" "$work/err"
}

@test "input: a summary that cannot be written is an error, on both sides" {
	local status=0

	[ -w /dev/full ] || skip "/dev/full is missing"
	in_tx "$tsnpub" --iface vtx --cycle 1ms --count 10 >/dev/full 2>"$work/err" || status=$?
	[ "$status" -eq 3 ]
	grep -q "cannot write to stdout: No space left on device" "$work/err"
	# a closed one as well: the text must not go into what took its number
	status=0
	in_tx "$tsnpub" --iface vtx --cycle 1ms --count 10 --log "$work/tx.tsnlog" >&- 2>"$work/err" || status=$?
	[ "$status" -eq 3 ]
	grep -q "cannot write to stdout: Bad file descriptor" "$work/err"
	[ $((($(stat -c %s "$work/tx.tsnlog") - 4096) % 64)) -eq 0 ]
	status=0
	in_rx "$tsnpub" receive --iface vrx --duration 50ms >/dev/full 2>"$work/err" || status=$?
	[ "$status" -eq 3 ]
	grep -q "cannot write to stdout: No space left on device" "$work/err"
}

@test "input: a log of any name is named in the JSON of both sides" {
	local name

	name=$(printf '%s/x\377.tsnlog' "$work")
	publish --cycle 1ms --count 10 --json --quiet --log "$name"
	[ "$publisher_status" -eq 0 ]
	[ "$(tx .log)" = "$work/x?.tsnlog" ]
	in_rx "$tsnpub" receive --iface vrx --duration 1ms --json --quiet --log "$name" >"$work/rx.json" 2>/dev/null || true
	[ "$(jq -r .log "$work/rx.json")" = "$work/x?.tsnlog" ]
}

@test "input: options that contradict each other on this interface" {
	refused 2 "--lead 2ms: not shorter than the cycle (1ms)" --cycle 1ms --lead 2ms
	refused 2 "--spin 1ms: not shorter than the cycle (1ms)" --cycle 1ms --spin 1ms
	publish --cycle 2ms --count 5 --lead 1ms --spin 20us --quiet
	[ "$publisher_status" -eq 0 ]
}

@test "input: configuration files that are none" {
	config() { printf "$1" >"$work/c.yaml"; }
	config 'iface: vtx\ncycle: 1ms\nspeed: 3\n'
	refused 2 "c.yaml: line 3: unknown key 'speed'" --config "$work/c.yaml"
	head -c 100000 /bin/sh >"$work/c.yaml"
	refused 2 "a binary file, not YAML" --config "$work/c.yaml"
	truncate -s 100M "$work/c.yaml"
	refused 2 "larger than" --config "$work/c.yaml"
	refused 2 "$work/none.yaml" --config "$work/none.yaml"
	# wholly, also what the command line overrides and what is not asked for
	config 'cycle: 1ms\npriority: 9\n'
	refused 2 "c.yaml: line 2: priority '9'" --config "$work/c.yaml" --priority 3
	config 'cycle: 1ms\nschedule:\n  mode: anything\n'
	refused 2 "c.yaml: line 3: schedule.mode 'anything'" --config "$work/c.yaml"
	config ''
	refused 2 "the file is empty" --config "$work/c.yaml"
	config 'count: 5\ncycle: 2ms\nquiet: true\njson: true\nstreams:\n- id: 4\n  size: 90\n- id: 5\n  every: 5\n'
	publish --config "$work/c.yaml"
	[ "$publisher_status" -eq 0 ]
	[ "$(tx '.streams | length')" -eq 2 ]
	for file in "$BATS_TEST_DIRNAME"/../../configs/veth-*.yaml; do
		[ -e "$file" ] || continue
		publish --config "$file" --duration 50ms --quiet --json
		[ "$publisher_status" -eq 0 ]
	done
}
