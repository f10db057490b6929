#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tsnpub sync against the real ptp4l with software stamps, between two namespaces. Both sides share this machine's clock,
# which nothing here may steer: free_running. No figure of time is asserted, only what is said.

load wait.bash

setup_file() {
	[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
	command -v ptp4l >/dev/null || skip "ptp4l is missing: apt install linuxptp"
	export top dir gm slave
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	dir=$(mktemp -d)
	gm=tsngm$$ slave=tsnsl$$
	ip netns add "$gm"
	ip netns add "$slave"
	ip link add v0 netns "$gm" type veth peer name v1 netns "$slave"
	ip -n "$gm" link set v0 up
	ip -n "$slave" link set v1 up
	start_pair
}

# Both by tsnpub itself: --start makes the configuration that fits an interface without a PHC.
start_pair() {
	ip netns exec "$gm" "$top/build/tsnpub" sync --start --iface v0 --role master --socket "$dir/gm" \
		>"$dir/gm.log" 2>&1 3>&- &
	echo $! >"$dir/gm.pid"
	ip netns exec "$slave" "$top/build/tsnpub" sync --start --iface v1 --role slave --socket "$dir/slave" \
		>"$dir/slave.log" 2>&1 3>&- &
	echo $! >"$dir/slave.pid"
}

stop() {
	[ ! -e "$dir/$1.pid" ] || kill "$(cat "$dir/$1.pid")" 2>/dev/null || true
	rm -f "$dir/$1.pid"
}

teardown_file() {
	[ -n "${dir:-}" ] || return 0
	stop gm
	stop slave
	sleep 1 # what they started ends as well
	ip netns del "$gm"
	ip netns del "$slave"
	rm -rf "$dir"
}

check() {
	run ip netns exec "$slave" "$top/build/tsnpub" sync --timeout 5s --iface v1 --socket "$dir/slave" --json
}

row() { jq -r --arg name "$1" ".checks[] | select(.name == \$name) | .$2" <<<"$output"; }

# directories of --start whose owner, who would hold a lock, is dead
dead_setups() {
	local count=0
	for left in /run/tsnpub-setup.*; do
		if [ -d "$left" ] && flock -n "$left" test -d "$left"; then count=$((count + 1)); fi
	done
	echo $count
}

is_true() {
	check
	jq -e "$1" <<<"$output" >/dev/null
}

# until FILTER is true of a check
until_true() {
	eventually is_true "$1" || { echo "$output" && return 1; }
}

@test "the grandmaster is found, its offset and delay are told" {
	# the delay may be known before the first sync message came
	until_true '.ptp4l.grandmaster_present and (.ptp4l.path_delay_ns > 0) and
		any(.checks[]; .name == "sync messages" and .result == "ok")'
	[ "$(jq .ptp4l.transport_specific <<<"$output")" = 1 ]
	[ "$(jq .ptp4l.steps_removed <<<"$output")" = 1 ]
	[ "$(jq -r .ptp4l.delay_mechanism <<<"$output")" = P2P ]
	[ "$(jq -r .ptp4l.timestamping <<<"$output")" = software ]
	[ "$(row timestamping result)" = ok ]
	[ "$(row PHC result)" = n/a ]
	identity=$(jq -r .ptp4l.grandmaster <<<"$output")
	[ "$(ip netns exec "$gm" "$top/build/tsnpub" sync --timeout 5s --socket "$dir/gm" --json | jq -r .ptp4l.clock_identity)" = "$identity" ]
}

@test "a servo that is not allowed to steer stays UNCALIBRATED: the offset decides, and the port is good" {
	until_true '.ptp4l.port_state == "UNCALIBRATED" and .ptp4l.path_delay_ns != 0'
	[ "$(row port result)" = ok ]
	[[ $(row port reason) == *"free_running"*"the offset tells" ]]
	# what --print-setup ends with: good, but for the kernel's TAI offset, which no test may set
	[ "$(row 'offset from master' limit)" = 100us ]
	[[ $(row 'offset from master' result) == ok || $(row 'offset from master' reason) == *limit* ]]
}

@test "the grandmaster's own port is good" {
	run ip netns exec "$gm" "$top/build/tsnpub" sync --timeout 5s --socket "$dir/gm" --iface v0 --role master --json
	[ "$(jq -r .ptp4l.port_state <<<"$output")" = MASTER ]
	[ "$(row port result)" = ok ]
	[ "$(row grandmaster result)" = ok ]
	run ip netns exec "$gm" "$top/build/tsnpub" sync --timeout 5s --socket "$dir/gm" --iface lo --json
	[ "$status" -eq 1 ]
	[[ $(row port reason) == "ptp4l does not run on lo" ]]
}

@test "--start refuses a second ptp4l on the same socket" {
	run ip netns exec "$slave" "$top/build/tsnpub" sync --start --iface v1 --socket "$dir/slave"
	[ "$status" -eq 3 ]
	[[ $output == *"answers at $dir/slave already"* ]]
}

@test "--watch hears of a grandmaster that goes away" {
	# lines BEGIN: how many of the watch's lines begin so. On a machine that stalls ptp4l may lose its master before.
	lines() { grep -c "^$1" "$dir/watch" || true; }
	more_lines() { [ "$(lines "$1")" -gt "$2" ]; }
	until_true '.ptp4l.grandmaster_present and .ptp4l.port_state == "UNCALIBRATED"'
	ip netns exec "$slave" "$top/build/tsnpub" sync --timeout 5s --iface v1 --socket "$dir/slave" --watch --duration 120s >"$dir/watch" 3>&- &
	watch=$!
	eventually more_lines ".* UNCALIBRATED  master " 0
	# slave-only: the last offset, which ptp4l goes on telling, is shown no longer
	gone="not good    LISTENING  *port: the port does not synchronise"
	before=$(lines "$gone")
	stop gm
	eventually more_lines "$gone" "$before"
	kill -INT "$watch"
	wait "$watch" || true
	! grep "LISTENING.*master" "$dir/watch" || false
}

@test "--start: a ptp4l that is killed comes back; none outlives tsnpub, whatever ends it" {
	child() { tr '\0' ' ' <"/proc/$1/task/$1/children" 2>/dev/null | cut -d ' ' -f 1; }
	started=$(cat "$dir/slave.pid")
	first=$(child "$started")
	[ -n "$first" ]
	kill -KILL "$first"
	comes_back() {
		second=$(child "$started")
		[ -n "$second" ] && [ "$second" != "$first" ]
	}
	eventually comes_back
	grep -q "ptp4l: ended by signal 9" "$dir/slave.log"
	kill -KILL "$started"
	rm "$dir/slave.pid"
	eventually fails kill -0 "$second"
	# its configuration is left, until the next --start
	[ "$(dead_setups)" = 1 ]
	timeout 60 ip netns exec "$slave" "$top/build/tsnpub" sync --start --iface v1 --role slave --socket "$dir/slave" \
		--duration 1s
	[ "$(dead_setups)" = 0 ]
}

@test "--start without ptp4l installed says so" {
	run ip netns exec "$slave" "$top/build/tsnpub" sync --start --iface v1 --socket "$dir/none" --ptp4l /nonexistent/ptp4l
	[ "$status" -eq 3 ]
	[[ $output == *"no program '/nonexistent/ptp4l': install linuxptp"* ]]
	[ "$(dead_setups)" = 0 ]
}

@test "--print-setup: software stamps, and never a clock that is steered by surprise" {
	run ip netns exec "$slave" "$top/build/tsnpub" sync --print-setup --iface v1 --role slave
	[ "$status" -eq 0 ]
	[[ $output == *"linuxptp $(ptp4l -v)"* ]]
	[[ $output == *"time_stamping            software"* ]]
	[[ $output == *"free_running             1"* ]]
	[[ $output == *"Nothing to do without a PTP clock."* ]]
}

@test "systemd takes the units" {
	command -v systemd-analyze >/dev/null || skip "systemd-analyze is missing: apt install systemd"
	mkdir "$dir/units"
	for unit in "$top"/configs/systemd/*.service; do
		sed "s|/usr/local/bin/tsnpub|$top/build/tsnpub|" "$unit" >"$dir/units/${unit##*/}"
	done
	# unknown settings, programs that are not there: it says so and does not fail
	run systemd-analyze verify --man=no "$dir"/units/*.service
	echo "$output"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}
