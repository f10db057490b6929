# SPDX-License-Identifier: GPL-2.0-only
# tsnpub doctor on this machine and on made-up trees: input, JSON, --fix and --undo of a veth device's settings.

load wait.bash

TSNPUB=${TSNPUB:-$BATS_TEST_DIRNAME/../../build/tsnpub}

refused() { # STATUS TEXT ARGUMENT...
	local wanted=$1 text=$2 status=0
	shift 2
	"$TSNPUB" doctor "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null || status=$?
	cat "$BATS_TEST_TMPDIR/err"
	[ "$status" = "$wanted" ]
	grep -qF -- "$text" "$BATS_TEST_TMPDIR/err"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" = 1 ]
}

@test "wrong input is refused in one line" {
	refused 2 "interface 'nothere': there is none of that name" --iface nothere
	refused 2 "too long" --iface averyveryverylonginterfacename
	refused 2 "not a list of CPUs" --cpu a-b
	refused 2 "not a list of CPUs from 0 to 1023" --cpu 0,5000
	refused 2 "not online" --cpu 900
	refused 2 "needs a unit" --for 250
	refused 2 "out of range" --rt-priority 100
	refused 2 "goes with --fix" --yes
	refused 2 "asks on a terminal" --fix
	for option in "--iface lo" "--cpu 0" "--for 1ms" "--rt-priority 80" --brief --json --fix --yes; do
		# shellcheck disable=SC2086
		refused 2 "--undo goes without other options" --undo $option
	done
	refused 2 "--root '/nowhere': No such file or directory" --root /nowhere
	refused 2 "--root '/nowhere': No such file or directory" --root /nowhere --undo
	refused 3 "is /sys mounted?" --root /etc
	refused 2 "--brief is for the text" --brief --json
}

# A machine with one thing to mend.
make_tree() {
	root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root"/proc/sys/kernel/random "$root"/sys/devices/system/cpu/cpu1/cpufreq "$root"/run
	echo 0-1 >"$root"/sys/devices/system/cpu/online
	echo 1 >"$root"/sys/devices/system/cpu/isolated
	echo powersave >"$root"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor
	echo 950000 >"$root"/proc/sys/kernel/sched_rt_runtime_us
	echo 1000000 >"$root"/proc/sys/kernel/sched_rt_period_us
	echo 1234 >"$root"/proc/sys/kernel/random/boot_id
	echo 'quiet' >"$root"/proc/cmdline
}

@test "a recorded machine is examined, mended and restored" {
	make_tree
	"$TSNPUB" doctor --root "$root" --json >"$BATS_TEST_TMPDIR/json" || [ $? = 1 ]
	[ "$(jq -r '.findings[] | select(.name == "governor").verdict' "$BATS_TEST_TMPDIR/json")" = warn ]
	[ "$(jq -r .boot_parameters "$BATS_TEST_TMPDIR/json")" = "threadirqs nohz_full=1 rcu_nocbs=1" ]
	"$TSNPUB" doctor --root "$root" --fix --yes >"$BATS_TEST_TMPDIR/out" || [ $? = 1 ]
	[ "$(cat "$root"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor)" = performance ]
	[ "$(cat "$root"/proc/sys/kernel/sched_rt_runtime_us)" = -1 ]
	"$TSNPUB" doctor --root "$root" --undo >"$BATS_TEST_TMPDIR/out"
	grep -q '^2 put back' "$BATS_TEST_TMPDIR/out"
	[ "$(cat "$root"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor)" = powersave ]
	[ "$(cat "$root"/proc/sys/kernel/sched_rt_runtime_us)" = 950000 ]
	[ ! -e "$root"/run/tsnpub/doctor.json ]
}

# The shell that script starts is replaced: one that waits for the program (dash) would take the Ctrl-C too, and its status
# would be of the signal. $SHELL may be none (nologin).
export SHELL=/bin/sh
# answers TEXT OPTION...: the doctor on a terminal, with what is typed there
answers() {
	local typed=$1
	shift
	printf "$typed" | timeout 120 script -qec "exec $TSNPUB doctor --root $root $*" /dev/null >"$BATS_TEST_TMPDIR/out"
}

@test "--fix asks before each, and only a yes changes anything" {
	command -v script >/dev/null || skip "script (bsdutils) is not installed"
	make_tree
	governor=$root/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor
	throttling=$root/proc/sys/kernel/sched_rt_runtime_us
	# the end of the input, an empty line and other words are a no
	answers '' --fix || [ $? = 1 ]
	answers '\nnever\n' --fix || [ $? = 1 ]
	[ "$(grep -c 'change this (1 setting)? \[y/N\]' "$BATS_TEST_TMPDIR/out")" = 2 ]
	[ "$(cat "$governor")" = powersave ]
	[ "$(cat "$throttling")" = 950000 ]
	[ ! -e "$root/run/tsnpub/doctor.json" ]
	answers 'n\ny\n' --fix || [ $? = 1 ]
	[ "$(cat "$throttling")" = 950000 ]
	[ "$(cat "$governor")" = performance ]
	"$TSNPUB" doctor --root "$root" --undo
	[ "$(cat "$governor")" = powersave ]
}

@test "Ctrl-C at a question puts back what was changed before it" {
	command -v script >/dev/null || skip "script (bsdutils) is not installed"
	make_tree
	status=0
	: >"$BATS_TEST_TMPDIR/out"
	asked() { # N: so many questions have been asked
		[ "$(grep -c 'change this' "$BATS_TEST_TMPDIR/out")" -ge "$1" ]
	}
	{ eventually asked 1; printf 'y\n'; eventually asked 2; printf '\003'; sleep 0.2; } |
		timeout 120 script -qefc "exec $TSNPUB doctor --root $root --fix" "$BATS_TEST_TMPDIR/out" >/dev/null || status=$?
	[ "$status" = 3 ]
	grep -q 'interrupted: all changes of this run are put back' "$BATS_TEST_TMPDIR/out"
	[ "$(cat "$root/proc/sys/kernel/sched_rt_runtime_us")" = 950000 ]
	[ ! -e "$root/run/tsnpub/doctor.json" ]
}

@test "the same findings weigh more for a shorter cycle" {
	make_tree
	verdict() {
		"$TSNPUB" doctor --root "$root" --for "$1" --json | jq -r '.findings[] | select(.name == "governor").verdict'
	}
	[ "$(verdict 10ms)" = ok ]
	[ "$(verdict 1ms)" = warn ]
	[ "$(verdict 250us)" = bad ]
}

@test "a real run: valid JSON, every finding complete" {
	"$TSNPUB" doctor --iface lo --json >"$BATS_TEST_TMPDIR/json" || [ $? = 1 ]
	jq -e '.findings | length > 40' "$BATS_TEST_TMPDIR/json"
	jq -e '[.findings[] | (.value | length > 0) and (.why | length > 0)] | all' "$BATS_TEST_TMPDIR/json"
	jq -e '[.findings[] | select(.verdict == "bad" or .verdict == "warn") | .fix | length > 0] | all' \
		"$BATS_TEST_TMPDIR/json"
	jq -e '.ok + .warn + .bad + .unknown == (.findings | length)' "$BATS_TEST_TMPDIR/json"
}

@test "a damaged state file is refused, and nothing is changed" {
	make_tree
	mkdir -p "$root"/run/tsnpub
	echo '{"version": 1, "boot_id": "1234", "changes": [{"kind": "file", "target": "/etc/passwd", "key": "",
		"was": "x", "set": "y"}]}' >"$root"/run/tsnpub/doctor.json
	chmod 600 "$root"/run/tsnpub/doctor.json
	touch "$root"/run/tsnpub/doctor.json.lock
	refused 3 "change 0 is none of the doctor's" --root "$root" --undo
	[ "$(cat "$root"/proc/sys/kernel/sched_rt_runtime_us)" = 950000 ]
}
