# SPDX-License-Identifier: GPL-2.0-only
# What the tests of the simulated ports share. Runs inside the laboratory VM; all times are virtual.

knobs=/sys/kernel/debug/tsnsim
four_classes="num_tc 4 map 0 1 2 3 queues 1@0 1@1 1@2 1@3"

# ports [PARAMETER=VALUE...]: loads the module afresh and brings tsn0 and tsn1 up.
ports()
{
	local i

	grep -q '^tsnsim ' /proc/modules && rmmod tsnsim
	for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done
	insmod /lab/modules/tsnsim.ko "$@" || return
	ip link set tsn0 up
	ip link set tsn1 up
	carrier tsn0
}

# carrier PORT: waits for it.
carrier()
{
	local i

	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ] && return
		sleep 0.05
	done
	echo "no carrier on $1"
	return 1
}

# probe ARGUMENTS...: simprobe; its lines in $lines, its values in ${F[FRAME.KEY]} for the first 20 frames and the last, and
# the least and the greatest TX stamp minus launch time of all in ${F[least]} and ${F[most]}
declare -gA F
probe()
{
	lines=$(simprobe -s /tmp/probe.words "$@") || { echo "$lines"; return 1; }
	. /tmp/probe.words
}

# same WHAT GOT WANTED
same()
{
	[ "$2" = "$3" ] && return
	echo "$1: got $2, wanted $3"
	echo "$lines"
	return 1
}

# fails COMMAND...: it does.
fails()
{
	"$@" || return 0
	echo "did not fail: $*"
	return 1
}

# stat PORT NAME: one of ethtool's counters.
stat() { ethtool -S "$1" | awk -F': ' -v name="$2" '{ sub(/^ +/, "", $1) } $1 == name { print $2 }'; }

# refused ERRNO COMMAND...: the kernel answers COMMAND's netlink request or ioctl with that error.
refused()
{
	local wanted=$1 told

	shift
	told=$(LD_PRELOAD=/lab/bin/kernel_answers.so "$@" 2>&1) || true
	[[ $told$'\n' == *"answer $wanted"$'\n'* ]] && return
	echo "not refused with $wanted: $*"
	echo "$told"
	return 1
}

# taprio [BASE] [WORDS...] -- ENTRY...: a full-offload schedule with four classes on tsn0.
taprio()
{
	local base=$1 words=() entry

	shift
	while [ "$1" != -- ]; do words+=("$1"); shift; done
	shift
	for entry; do words+=(sched-entry S ${entry/:/ }); done
	tc qdisc replace dev tsn0 parent root handle 100: stab overhead 24 taprio $four_classes \
		base-time "$base" ${words[@]+"${words[@]}"} flags 2
}

# etf QUEUE [DELTA_NS]: mqprio (offloaded where launch times work with it) and etf offload on that queue of tsn0.
etf()
{
	local hw=1

	case $(ethtool -i tsn0) in
	*": i2"*) hw=0 ;;	# i210 has none, and with that of igc no launch time is kept
	esac
	tc qdisc replace dev tsn0 parent root handle 100: mqprio $four_classes hw $hw || return
	tc qdisc replace dev tsn0 parent "100:$(($1 + 1))" etf clockid CLOCK_TAI delta "${2:-300000}" offload || return
	sleep 0.3
	carrier tsn0
}
