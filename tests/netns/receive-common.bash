# SPDX-License-Identifier: GPL-2.0-only
# Shared by the receiver's tests: two namespaces joined by a veth pair, tx in one and rx in the other.

load wait.bash

make_namespaces() {
	[ "$(id -u)" = 0 ] || skip "needs root for network namespaces"
	command -v jq >/dev/null || skip "jq is missing"
	here=$BATS_TEST_DIRNAME/../..
	tsnpub=$here/build/tsnpub
	tx_ns=tsnpub-t$$-$BATS_TEST_NUMBER
	rx_ns=tsnpub-r$$-$BATS_TEST_NUMBER
	work=$(mktemp -d)
	receiver=
	ip netns add "$tx_ns"
	ip netns add "$rx_ns"
	ip link add vtx netns "$tx_ns" type veth peer name vrx netns "$rx_ns"
	ip -n "$tx_ns" link set vtx up
	ip -n "$rx_ns" link set vrx up
}

remove_namespaces() {
	[ -z "${receiver:-}" ] || { kill -KILL "$receiver" && wait "$receiver"; } 2>/dev/null || true
	[ -z "${tx_ns:-}" ] || ip netns del "$tx_ns" 2>/dev/null || true
	[ -z "${rx_ns:-}" ] || ip netns del "$rx_ns" 2>/dev/null || true
	[ -z "${work:-}" ] || rm -rf "$work"
}

in_tx() {
	ip netns exec "$tx_ns" "$@"
}

in_rx() {
	ip netns exec "$rx_ns" "$@"
}

sender() {
	in_tx "$here/build/tools/sender" vtx "$@" 3>&-
}

# Starts a receiver on vrx with these options and waits until it takes frames. Ends after a minute at the latest.
start_receiver() {
	local ready=$work/ready

	rm -f "$ready"
	mkfifo "$ready"
	ip netns exec "$rx_ns" "$tsnpub" receive --iface vrx --duration 60s --quiet --ready-fd 7 "$@" \
		>"$work/out" 2>"$work/err" 7>"$ready" 3>&- &
	receiver=$!
	if ! read -r -t 60 <"$ready"; then
		receiver_status=0
		wait "$receiver" || receiver_status=$?
		receiver=
		cat "$work/err" >&2
		return 1
	fi
}

# Waits for its end; sets receiver_status. Its output is in $work/out and $work/err.
finish_receiver() {
	receiver_status=0
	wait "$receiver" || receiver_status=$?
	receiver=
	# shown by bats where the test fails
	[ "$receiver_status" -eq 0 ] || tail -n 60 "$work/err" "$work/out"
}

json() {
	jq -r "$1" "$work/out"
}
