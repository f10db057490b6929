# SPDX-License-Identifier: GPL-2.0-only
# Shared by the publisher's tests: the receiver tests' two namespaces, and a publisher on vtx.

load receive-common.bash

# publish OPTION...: in the foreground, output in $work/tx.out and $work/tx.err; sets publisher_status
publish() {
	publisher_status=0
	in_tx "$tsnpub" --iface vtx "$@" >"$work/tx.out" 2>"$work/tx.err" 3>&- || publisher_status=$?
}

# start_publisher OPTION...: in the background; returns once it says that it runs
start_publisher() {
	: >"$work/tx.err" # what another one said
	ip netns exec "$tx_ns" "$tsnpub" --iface vtx "$@" >"$work/tx.out" 2>"$work/tx.err" 3>&- &
	publisher=$!
	wait_for "cyclic thread"
}

# wait_for TEXT: until the publisher's messages hold it, or it has ended
wait_for() {
	said_or_ended() { grep -q -- "$1" "$work/tx.err" || ! kill -0 "$publisher" 2>/dev/null; }
	eventually said_or_ended "$1"
	grep -q -- "$1" "$work/tx.err" || { cat "$work/tx.err" >&2; return 1; }
}

finish_publisher() {
	publisher_status=0
	wait "$publisher" || publisher_status=$?
	publisher=
}

remove_publisher() {
	[ -z "${publisher:-}" ] || { kill -KILL "$publisher" && wait "$publisher"; } 2>/dev/null || true
	remove_namespaces
}

tx() {
	jq -r "$1" "$work/tx.out"
}

# refused STATUS TEXT OPTION...: fails with this status and one line that holds the text
refused() {
	local status=$1 text=$2

	shift 2
	publish "$@"
	[ "$publisher_status" -eq "$status" ] || { echo "status $publisher_status: $*"; cat "$work/tx.err"; return 1; }
	[ "$(wc -l <"$work/tx.err")" -eq 1 ] || { echo "not one line: $*"; cat "$work/tx.err"; return 1; }
	grep -qF -- "$text" "$work/tx.err" || { echo "not said: $text"; cat "$work/tx.err"; return 1; }
	[ ! -s "$work/tx.out" ]
}
