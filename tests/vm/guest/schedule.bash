# SPDX-License-Identifier: GPL-2.0-only
# For the bats files on schedules that run in the laboratory VM: load schedule

FULL='  gates:
  - {open: [control], duration: 200us}
  - {open: [video], duration: 300us}
  - {open: [rest], duration: 500us}'
# the same cycle, divided in another way
OTHER='  gates:
  - {open: [control], duration: 200us}
  - {open: [video], duration: 250us}
  - {open: [rest], duration: 550us}'
LAUNCH=', launch-time: {delta: 200us}'

setup() { cd "$BATS_TEST_TMPDIR"; }

teardown() {
	if [ -e /sys/module/tsnsim ]; then
		if compgen -G '/run/tsnpub/schedule-*-tsn0.json' >/dev/null; then
			tsnpub schedule clear tsn0 >/dev/null 2>&1 || true
		fi
		rmmod tsnsim
	fi
	for link in v0 br0 bond0; do
		[ ! -e "/sys/class/net/$link" ] || ip link del "$link"
	done
	rm -f /run/tsnpub/schedule-*
}

# sim MODEL[,MODEL] [PARAMETER=VALUE...]: tsn0 and tsn1, up, on a cable without length; a reset does not step the PHC
sim() {
	insmod /lab/modules/tsnsim.ko model="$1" length_ns=0 reset_step_ns=0 "${@:2}"
	ip link set tsn0 up
	ip link set tsn1 up
	sleep 0.3
}

# veth: v0 with four TX queues, and v1
veth() {
	ip link add v0 numtxqueues 4 type veth peer name v1
	ip link set v0 up
	ip link set v1 up
}

# file MODE GATES [CONTROL [OTHERS [INTERFACE]]] > FILE: three classes; CONTROL and OTHERS are keys of theirs, such as $LAUNCH
file() {
	cat <<-END
	interface: ${5:-tsn0}
	cycle: 1ms
	schedule:
	  mode: $1
	  classes:
	  - {name: control, priorities: [7], queues: 0$3}
	  - {name: video, priorities: [5, 6], queues: 1$4}
	  - {name: rest, priorities: [0, 1, 2, 3, 4], queues: 2-3$4}
	$2
	END
}

# dump [INTERFACE]: what tc reads of it
dump() { tc -d qdisc show dev "${1:-tsn0}" | sed 's/refcnt [0-9]*//'; }

# good: `run` ended with 0
good() {
	echo "$output"
	[ "$status" = 0 ]
}

# says WORDS...: the output of `run` has all these words
says() {
	local word
	echo "$output"
	for word; do
		[[ $output == *"$word"* ]] || { echo "-- not said: $word"; return 1; }
	done
}

# refused STATUS WORDS...: `run` ended so, in one line that has all these words
refused() {
	says "${@:2}"
	[ "$status" = "$1" ]
	[ "${#lines[@]}" = 1 ]
}
