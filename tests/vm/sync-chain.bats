# SPDX-License-Identifier: GPL-2.0-only
# tsnpub sync on hardware stamps, in virtual time: real ptp4l and phc2sys between two simulated ports, and each link of the
# chain broken in turn. The talker follows the listener's clock; the system clock follows the talker's.
# vm: --timeout 900

debug=/sys/kernel/debug/tsnsim

setup_file() {
	lab-up >/tmp/lab-up.log 2>&1 3>&-
}

setup() {
	sync="talker tsnpub sync --iface tsn0"
}

# check [OPTION...]: the verdict as JSON in $output
check() {
	run $sync --json "$@"
}

# The guest has no jq: the document has one member a line.
# value NAME: the first member of that name; row CHECK NAME: a member of a row of the table of checks
value() {
	awk -v name="\"$1\":" '$1 == name { sub(/^[^:]*: /, ""); gsub(/^"|"?,?$/, ""); print; exit }' <<<"$output"
}
row() {
	awk -v check="\"name\": \"$1\"," -v name="\"$2\":" 'index($0, check) { found = 1 }
		found && $1 == name { sub(/^[^:]*: /, ""); gsub(/^"|"?,?$/, ""); print; exit }' <<<"$output"
}
# within NUMBER LIMIT [AROUND]: |number - around| <= limit
within() {
	awk -v n="$1" -v limit="$2" -v around="${3:-0}" 'BEGIN { d = n - around; exit !(n != "" && d <= limit && -d <= limit) }' ||
		{ echo "'$1' is not within $2 of ${3:-0}"; return 1; }
}

# good again before the next test breaks something else
recover() {
	$sync --wait 120s --settle 5 >/tmp/recover 2>&1 || { cat /tmp/recover; return 1; }
}

start_listener() {
	listener ptp4l -f /lab/configs/gptp.cfg -i tsn1 --priority1 100 -m "$@" >>/tmp/ptp4l-listener.log 2>&1 3>&- &
}

start_talker() {
	talker ptp4l -f /lab/configs/gptp.cfg -i tsn0 -m "$@" >>/tmp/ptp4l-talker.log 2>&1 3>&- &
}

start_phc2sys() {
	talker phc2sys -a -r --transportSpecific 1 -m >>/tmp/phc2sys.log 2>&1 3>&- &
}

pid_of() {
	for process in /proc/[0-9]*; do
		tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -q "^$1" && echo "${process#/proc/}"
	done
	true
}

# watch_begin / watch_end: a watch in the background while something happens; its lines in /tmp/watch
watch_begin() {
	$sync --watch "$@" >/tmp/watch 2>&1 3>&- &
	watch=$!
	sleep 5
}

watch_end() {
	kill -INT "$watch"
	wait "$watch" || true
}

@test "locked: every link is good, to the nanosecond that the model gives" {
	check
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(value verdict)" = good ]
	[ "$(value socket)" = /var/run/ptp4l ]
	[ "$(value transport_specific)" = 1 ]
	[ "$(value port_state)" = SLAVE ]
	[ "$(value timestamping)" = hardware ]
	[ "$(value steps_removed)" = 1 ]
	[ "$(value grandmaster_class)" = 6 ]
	within "$(value path_delay_ns)" 3 500
	[ "$(value utc_offset_s)" = 37 ]
	[ "$(value tai_offset_s)" = 37 ]
	within "$(value master_offset_ns)" 5
	within "$(value tai_offset_ns)" 50
	[ "$(row PHC value)" = "/dev/ptp0 tsn0" ]
	[ "$(row steering result)" = ok ]
	[[ $(row steering value) == *"steers the system clock"* ]]
	# the last sync is less than the interval of 125 ms old
	within "$(value sync_age_ns)" 125000000
	within "$(value uncertainty_ns)" 60
}

@test "the PHC runs as the grandmaster's crystal does, 7.654 ppm slow" {
	run $sync --watch --duration 3s --json
	[ "$status" -eq 0 ]
	within "$(value frequency_ppb)" 20 -7654
	[ "$(value good_seconds)" = 3 ]
	[ "$(grep -c '"max_ns"' <<<"$output")" = 2 ]
	while read -r _ max; do within "${max%,}" 50; done < <(grep '"m[axin]*_ns"' <<<"$output")
}

@test "--log: a record each second, which the report turns into rms and MTIE" {
	$sync --log /tmp/sync.tsnlog --duration 30s >/dev/null
	[ "$(stat -c %s /tmp/sync.tsnlog)" -eq $((4096 + 30 * 64)) ]
	run tsnpub report /tmp/sync.tsnlog
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"30 records"* ]]
	[[ $output == *MTIE* ]]
}

@test "the grandmaster itself is good, too, and has no offset" {
	run listener tsnpub sync --iface tsn1 --json
	echo "$output"
	[ "$(value port_state)" = MASTER ]
	[ "$(value grandmaster_present)" = false ]
	[ "$(row 'offset from master' result)" = n/a ]
	within "$(value tai_offset_ns)" 60
}

@test "wrong domain and wrong transportSpecific are met with silence" {
	check --domain 1
	[ "$status" -eq 1 ]
	[ "$(value state)" = silent ]
	check --transport-specific 0
	[ "$status" -eq 1 ]
	[ "$(value state)" = silent ]
}

@test "TAI offset 0 and wrong: said, and set right from ptp4l" {
	run talker tsnpub sync --set-tai-offset=0
	[ "$status" -eq 0 ]
	check
	[ "$status" -eq 1 ]
	[[ $(row 'kernel TAI offset' reason) == *"nobody has set it"* ]]
	[[ $(row 'PHC to system clock' reason) == *"0 s instead of 37 s"* ]]
	talker tsnpub sync --set-tai-offset=36
	check
	[ "$status" -eq 1 ]
	[[ $(row 'kernel TAI offset' reason) == *"not what the grandmaster means"* ]]
	[[ $(row 'PHC to system clock' reason) == *"36 s instead of 37 s"* ]]
	run talker tsnpub sync --set-tai-offset
	[ "$status" -eq 0 ]
	[[ $output == *"37 s set (was 36 s), as ptp4l says"* ]]
	run talker tsnpub sync --set-tai-offset
	[[ $output == *"37 s already"* ]]
	recover
}

@test "phc2sys stopped: named at once; later the clocks are apart" {
	kill "$(pid_of 'phc2sys -a')"
	sleep 1
	check
	[ "$status" -eq 1 ]
	[[ $(row steering reason) == *"no phc2sys"* ]]
	# the grandmaster's crystal now runs 1 ppm slower; the PHC follows it, the system clock no longer does
	echo -8654 >$debug/tsn1/phc_drift_ppb
	sleep 10
	check
	echo "$output"
	echo -7654 >$debug/tsn1/phc_drift_ppb
	[ "$(row 'offset from master' result)" = ok ]
	[[ $(row 'PHC to system clock' reason) == *"they are apart"* ]]
	within "$(value tai_offset_ns)" 5000 -10000
	start_phc2sys
	recover
}

@test "drift over the limit: the crystal changes by 50 ppm under the servo" {
	watch_begin
	echo 54321 >$debug/tsn0/phc_drift_ppb
	sleep 4
	watch_end
	echo 4321 >$debug/tsn0/phc_drift_ppb
	cat /tmp/watch
	grep -q "^not good.*offset from master: too far" /tmp/watch
	recover
}

@test "the PHC is stepped: seen within a second, and over when the servos have settled" {
	watch_begin
	echo 5000000 >$debug/tsn0/phc_step_ns
	sleep 3
	watch_end
	cat /tmp/watch
	grep -q "^not good" /tmp/watch
	recover
}

@test "cable cut: the port is no slave; and good again with the cable" {
	echo 0 >$debug/pair0/carrier
	sleep 5
	check
	[ "$status" -eq 1 ]
	[[ $(row port value) != *SLAVE* ]]
	echo 1 >$debug/pair0/carrier
	recover
}

@test "an NTP daemon beside phc2sys: a fight; one that only watches is none" {
	chronyd -n -x -f /dev/null >/tmp/chronyd.log 2>&1 3>&- &
	sleep 2
	check
	kill %+
	wait || true
	[ "$(row 'NTP daemon' result)" = ok ]
	chronyd -n -f /dev/null >>/tmp/chronyd.log 2>&1 3>&- &
	sleep 2
	check
	kill %+
	wait || true
	cat /tmp/chronyd.log
	[ "$status" -eq 1 ]
	[[ $(row 'NTP daemon' reason) == *"chronyd and phc2sys"*"both steer"* ]]
	recover
}

@test "grandmaster lost: holdover is told from being grandmaster" {
	watch_begin
	kill "$(pid_of 'ptp4l.*-i tsn1')"
	sleep 10
	watch_end
	cat /tmp/watch
	grep -q "^not good.*is lost: this clock runs free (holdover)" /tmp/watch
	check --role slave
	[ "$status" -eq 1 ]
	[[ $(row port value) == *MASTER* ]]
	start_listener
	recover
}

@test "another grandmaster takes over: seen, then good again" {
	check
	before=$(value grandmaster)
	watch_begin
	kill "$(pid_of 'ptp4l.*-i tsn1')"
	sleep 0.3
	printf '[global]\nclockIdentity 0a0b0c.fffe.0d0e0f\n' | cat /lab/configs/gptp.cfg - >/tmp/other.cfg
	listener ptp4l -f /tmp/other.cfg -i tsn1 --priority1 100 -m >>/tmp/ptp4l-listener.log 2>&1 3>&- &
	sleep 20
	watch_end
	cat /tmp/watch
	grep -q "another grandmaster took over from $before" /tmp/watch
	check
	[ "$(value grandmaster)" = 0a0b0c.fffe.0d0e0f ]
	recover
}

@test "master only: good as grandmaster, not where a slave is asked for" {
	kill "$(pid_of 'ptp4l.*-i tsn0')"
	sleep 1
	start_talker --masterOnly 1
	sleep 8
	check --role slave
	[ "$status" -eq 1 ]
	[ "$(value decided_by)" = port ]
	[[ $(row port value) == *MASTER* ]]
	kill "$(pid_of 'ptp4l.*-i tsn0')"
	sleep 1
	start_talker
	recover
}

@test "no ptp4l, and a socket that one left behind" {
	kill "$(pid_of 'ptp4l.*-i tsn0')"
	sleep 1
	check
	[ "$status" -eq 1 ]
	[ "$(value state)" = absent ]
	start_talker
	sleep 1
	kill -KILL "$(pid_of 'ptp4l.*-i tsn0')"
	sleep 1
	check
	[ "$status" -eq 1 ]
	[ "$(value state)" = stale ]
	start_talker
	recover
}
