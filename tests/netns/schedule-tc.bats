# SPDX-License-Identifier: GPL-2.0-only
# The requests that install a schedule are byte for byte those that tc sends for the command that `plan` prints. What is
# expected is made by tc here and now; that this machine's kernel may refuse it does not matter.

setup_file() {
	command -v strace >/dev/null || skip 'strace is missing'
	strace -o /dev/null true 2>/dev/null || skip 'strace may not trace here'
	command -v tc >/dev/null || skip 'tc (iproute2) is missing'
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	export DIR=$BATS_FILE_TMPDIR IFACE=st$$
	ip link add "$IFACE" numtxqueues 8 type veth peer name "${IFACE}b"
}

teardown_file() {
	ip link del "$IFACE" 2>/dev/null || true
}

# sent COMMAND: the bytes that tc hands to sendmsg, without sequence number and port
sent() {
	# shellcheck disable=SC2086
	strace -e trace=sendmsg -e write=all -o "$DIR/trace" $1 2>/dev/null || true
	grep '^ | ' "$DIR/trace" | cut -c 11-59 | tr -d ' \n' | sed 's/^\(.\{16\}\).\{16\}/\1/'
}

same_as_tc() {
	local command bytes count=0
	build/tools/schedule_requests "$1" "$2" "$IFACE" >"$DIR/requests"
	while read -r command && read -r bytes; do
		expected=$(sent "$command")
		got=$(sed 's/^\(.\{16\}\).\{16\}/\1/' <<<"$bytes")
		[ -n "$expected" ]
		if [ "$expected" != "$got" ]; then
			printf '%s\n tc: %s\nour: %s\n' "$command" "$expected" "$got" >&2
			return 1
		fi
		count=$((count + 1))
	done <"$DIR/requests"
	[ "$count" = "$3" ]
}

head_of_file() {
	printf 'interface: eth0\ncycle: 500us\nschedule:\n'
}

@test "full offload with two launch-time queues" {
	{
		head_of_file
		cat <<-'END'
		  classes:
		  - {name: a, priorities: [7], queues: 0-1, launch-time: {delta: 150us}}
		  - {name: b, priorities: [0, 1, 2, 3, 4, 5, 6], queues: 2-3}
		  gates:
		  - {open: [a], duration: 100us}
		  - {open: [b], duration: 200us}
		  - {open: [], duration: 200us}
		END
	} >"$DIR/full.yaml"
	same_as_tc "$DIR/full.yaml" I226 3
}

@test "software gates, cycle-time-extension" {
	{
		head_of_file
		cat <<-'END'
		  mode: software
		  cycle-extension: 3us
		  classes:
		  - {name: a, priorities: [7], queues: 0}
		  - {name: b, priorities: [0, 5], queues: 1-6}
		  gates:
		  - {open: [a], duration: 100us}
		  - {open: [a, b], duration: 400us}
		END
	} >"$DIR/software.yaml"
	same_as_tc "$DIR/software.yaml" veth 1
}

@test "txtime-assist with etf that does not ask the socket" {
	{
		head_of_file
		cat <<-'END'
		  mode: txtime-assist
		  txtime-delay: 400us
		  classes:
		  - {name: a, priorities: [7], queues: 0, launch-time: {delta: 300us}}
		  - {name: b, priorities: [0], queues: 0, launch-time: {delta: 300us}}
		  gates:
		  - {open: [a], duration: 100us}
		  - {open: [b], duration: 400us}
		END
	} >"$DIR/assist.yaml"
	same_as_tc "$DIR/assist.yaml" ideal 3
}

@test "mqprio in hardware with etf offload" {
	{
		head_of_file
		cat <<-'END'
		  mode: mqprio
		  classes:
		  - {name: rest, priorities: [0, 1, 2, 3, 4, 5, 6], queues: 0-5}
		  - {name: a, priorities: [7], queues: 6-7, launch-time: {delta: 300us}}
		END
	} >"$DIR/mqprio.yaml"
	same_as_tc "$DIR/mqprio.yaml" LS1028A 3
}

@test "each file in configs" {
	for config in configs/*.yaml; do
		grep -q '^schedule:' "$config" || continue
		grep -q 'max-frame\|preemptible' "$config" && continue # this tc has no words for them
		nic=$(sed -n 's/^  driver: *//p' "$config")
		build/tools/schedule_requests "$config" "${nic:-generic}" "$IFACE" >"$DIR/requests"
		same_as_tc "$config" "${nic:-generic}" "$(($(wc -l <"$DIR/requests") / 2))"
	done
}
