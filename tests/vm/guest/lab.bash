# SPDX-License-Identifier: GPL-2.0-only
# For the bats files that run in the laboratory VM: load lab

SIM=/sys/kernel/debug/tsnsim

# The daemons of the last test must not outlive the file: bats waits for what holds its output.
teardown_file() { lab-down; }

# fresh_nic MODEL [PARAMETER=VALUE...]: both machines with ports of that model, PHCs that count TAI without error, no PTP
fresh_nic()
{
	local model=$1
	shift
	lab-down
	LAB_NIC=$model lab-up --no-ptp phc_offset_ns=0,0 phc_drift_ppb=0,0 "$@"
	sleep 1
}

# deploy_etf MODEL [DELTA_NS]: two classes on the talker's port, launch times for priority 7. Intel's parts favour queue 0,
# the others their last one.
deploy_etf()
{
	local class map queues hw
	case $1 in
	ideal) class=4 map="0 0 0 0 0 0 0 1" queues="3@0 1@3" hw=1 ;;
	ls1028a) class=2 map="0 0 0 0 0 0 0 1" queues="1@0 1@1" hw=1 ;;
	i225 | i226 | i210) class=1 map="1 1 1 1 1 1 1 0" queues="1@0 3@1" hw=0 ;;
	esac
	# shellcheck disable=SC2086
	talker tc qdisc replace dev tsn0 parent root handle 100 mqprio num_tc 2 map $map queues $queues hw $hw
	talker tc qdisc replace dev tsn0 parent 100:$class etf clockid CLOCK_TAI delta "${2:-500000}" offload
}

# publish_and_receive WORD...: a run of the publisher with these options beside the receiver; tx.tsnlog, rx.tsnlog and
# report.json are in the test's directory, and the report is read. $RECEIVE holds more options of the receiver,
# $SYNC the publisher's policy (default: its own choice). Gives the publisher's status.
publish_and_receive()
{
	local status=0 receiver sync=(--sync "${SYNC:-ignore}")
	[ "${SYNC:-}" != default ] || sync=()
	[ -z "${BATS_TEST_TMPDIR:-}" ] || cd "$BATS_TEST_TMPDIR"
	# shellcheck disable=SC2086
	listener tsnpub receive --iface tsn1 --log rx.tsnlog --json ${RECEIVE:-} >rx.json 2>rx.err 3>&- &
	receiver=$!
	# In virtual time the receiver, given half a second, is there.
	sleep 0.5
	talker tsnpub publish --iface tsn0 --priority 7 ${sync[@]+"${sync[@]}"} --log tx.tsnlog --json "$@" \
		>tx.json 2>tx.err || status=$?
	wait "$receiver" || receiver_status=$?
	tsnpub report --json tx.tsnlog rx.tsnlog >report.json
	read_json report.json
	return "$status"
}

# show: everything that a run said, for a test that fails
show() { tail -n 20 ./*.err; cat report.json; }

# record_run NAME WORD...: in setup_file, a run that several tests look at; recorded_run NAME: in a test, reads it
record_run()
{
	mkdir -p "$BATS_FILE_TMPDIR/$1"
	cd "$BATS_FILE_TMPDIR/$1"
	publish_and_receive "${@:2}" || true
}

recorded_run()
{
	cd "$BATS_FILE_TMPDIR/$1"
	read_json report.json
}

# value[PATH]: the members of a document that read_json has read, by the names on the way to them, such as
# tx.streams.0.sent.sent; a figure by its name and source, such as tx.figures.launch_error.hw.max_ns. members: the paths in
# the document's order, as words.
declare -gA value
members=

# read_json FILE: the program's own output, which has one member a line, by tests/vm/members.c: jq by itself takes 175 ms of
# virtual time.
read_json() { eval "$(members "$1")"; }

# figure SIDE FIGURE SOURCE FIELD: one value of the report, such as: figure tx launch_error hw max_ns
figure() { echo "${value[$1.figures.$2.$3.$4]}"; }

# counter SIDE NAME: of the run's first stream, such as: counter rx lost
counter()
{
	case $1 in
	tx) echo "${value[tx.streams.0.sent.$2]}" ;;
	rx) echo "${value[rx.streams.0.received.$2]}" ;;
	esac
}

# launch_errors: "SEQ:NS" of each frame whose hardware stamp is not at its launch time. Exact, beyond the 53 bits of a double.
launch_errors()
{
	tsnpub report --csv - tx.tsnlog rx.tsnlog | gawk -M -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["tx_hw_ns"] != "" && $column["tx_hw_ns"] != $column["launch_ns"] {
			printf "%s:%d ", $column["seq"], $column["tx_hw_ns"] - $column["launch_ns"] }'
}

# column NAME RESULT: the sequence numbers of the joined table whose column NAME (such as result) has that value
column()
{
	tsnpub report --csv - tx.tsnlog rx.tsnlog | awk -F, -v name="$1" -v value="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column[name] == value { print $column["seq"] }' | tr '\n' ' '
}

# equal WHAT GOT WANTED, within WHAT GOT LOW HIGH: assertions that say what they saw
equal() { [ "$2" = "$3" ] || { echo "$1: $2, wanted $3"; return 1; }; }
within() { [ -n "$2" ] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || { echo "$1: '$2', wanted $3 to $4"; return 1; }; }
