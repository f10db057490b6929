# SPDX-License-Identifier: GPL-2.0-only
# The clock is really set while the publisher runs (the guest's: never this machine's): told, back in phase, no burst, no
# hang. Time is virtual, so how long a run takes can be asserted.
# vm: --timeout 60 --copy build/tsnpub:usr/bin/tsnpub

load lab

setup_file()
{
	ip link add va numtxqueues 4 numrxqueues 4 type veth peer name vb numtxqueues 4 numrxqueues 4
	ip link set va up
	ip link set vb up
}

teardown_file() { ip link del va; }

setup() { cd "$BATS_TEST_TMPDIR"; }

# step SECONDS: of the guest's clock
step() { phc_ctl -q CLOCK_REALTIME -- adj "$1"; }

# In units of 10 ms since the boot, which nothing sets
uptime_cs() { awk '{ print $1 * 100 }' /proc/uptime; }

# run_with_steps CYCLES OPTION... -- COMMAND...: each command while it runs, 50 ms apart. Sets `status`, `took_cs` and what
# the summary says.
run_with_steps()
{
	local cycles=$1 options=() begin
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	tsnpub --iface va --cycle 1ms --count "$cycles" --sync ignore --json --log tx.tsnlog "${options[@]}" >tx.json 2>tx.err 3>&- &
	begin=$(uptime_cs)
	sleep 0.05
	for command; do
		$command
		sleep 0.05
	done
	status=0
	wait $! || status=$?
	took_cs=$(($(uptime_cs) - begin))
	tsnpub report --csv tx.csv tx.tsnlog >/dev/null
	read -r sent skipped refused unsynced clock_steps largest_ns < <(jq -r '[(.sent | .sent, .skipped, .refused, .unsynced),
		.counters.clock_steps, ([.figures[].max_ns] | max)] | @tsv' tx.json)
}

# Each launch lies in its phase, each number comes once, and from one launch to the next it is one cycle or, where some were
# skipped, a few; but for the steps, which it prints in ns.
steps_in_log()
{
	awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ launch = substr($c["launch_ns"], length($c["launch_ns"]) - 14) + 0 } # the last 15 digits: exact
		launch % 1000000 != 0 { print "out of phase: " $c["launch_ns"]; exit }
		NR > 2 && launch == former { print "launched twice: " launch; exit }
		NR > 2 && (launch - former < 1000000 || launch - former > 20000000) { printf "%.0f\n", launch - former }
		{ former = launch }' tx.csv
}

@test "steps of a second and of an hour, both ways, and a TAI offset that is set" {
	run_with_steps 450 -- "step 1" "step -1" "step 3600" "step -3600" "tsnpub sync --set-tai-offset=37"
	cat tx.err
	equal status "$status" 0
	equal "clock steps" "$clock_steps" 5
	for told in 1s -1s 3600s -3600s 37s; do
		grep -q "warning: the clock was stepped by $told; going on in the same phase" tx.err
	done
	# as many cycles as were asked for, in their time: neither a burst nor a hang
	within "frames sent and skipped" $((sent + skipped)) 450 466
	within "frames skipped" "$skipped" 0 60
	within "duration in 10 ms" "$took_cs" 45 65
	# no figure has a time from before a step and one from after it
	within "frames kept out of the figures" "$unsynced" 1 120
	within "largest of all figures" "$largest_ns" 4000 600000
	steps_in_log >steps
	cat steps
	equal "jumps of the launch" "$(wc -l <steps)" 5
	equal "their sizes in s" "$(awk '{ printf "%.0f ", $1 / 1e9 }' steps)" "1 -1 3600 -3600 37 "
}

@test "software etf: after a step back it refuses what lies before its last launch, which is told; then it goes on" {
	tc qdisc replace dev va parent root handle 100 mqprio num_tc 4 map 0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 0 queues 1@0 1@1 1@2 1@3 hw 0
	tc qdisc replace dev va parent 100:4 etf clockid CLOCK_TAI delta 300000
	run_with_steps 250 --priority 3 -- "step 1" "step -0.05"
	cat tx.err
	tc qdisc del dev va root
	equal "clock steps" "$clock_steps" 2
	grep -q "stepped by -50ms; going on in the same phase (etf refuses launch times before its last one" tx.err
	equal status "$status" 1
	within "frames refused" "$refused" 40 60
	within "frames sent" "$sent" 170 210
	within "duration in 10 ms" "$took_cs" 25 40
	steps_in_log >steps
	cat steps
	equal "jumps of the launch" "$(wc -l <steps)" 2
}
