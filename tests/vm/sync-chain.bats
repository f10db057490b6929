# SPDX-License-Identifier: GPL-2.0-only
# tsnpub sync on hardware stamps, in virtual time: real ptp4l and phc2sys between two simulated ports, and each link of the
# chain broken in turn. The talker follows the listener's clock; the system clock follows the talker's.
# vm: --timeout 200

load lab
load sync
bats_require_minimum_version 1.5.0

setup_file() {
	lab-up >/tmp/lab-up.log 2>&1 3>&-
}

setup() {
	sync="talker tsnpub sync --iface tsn0"
}

start_listener() {
	listener ptp4l -f /lab/configs/gptp.cfg -i tsn1 --priority1 100 -m "$@" >>/tmp/ptp4l-listener.log 2>&1 3>&- &
}

start_talker() {
	talker ptp4l -f /lab/configs/gptp.cfg -i tsn0 -m "$@" >>/tmp/ptp4l-talker.log 2>&1 3>&- &
}

# watch_begin / watch_end: a watch in the background while something happens; its lines in /tmp/watch
watch_begin() {
	$sync --watch "$@" >/tmp/watch 2>&1 3>&- &
	watch=$!
	sleep 3
}

watch_end() {
	kill -TERM "$watch"
	wait "$watch" || true
	cat /tmp/watch
}

@test "locked: every link is good, to the nanosecond that the model gives; on the grandmaster itself, too" {
	check
	echo "$output"
	[ "$status" -eq 0 ]
	equal verdict "${V[verdict]}" good
	equal socket "${V[socket]}" /var/run/ptp4l
	equal specific "${V[transport_specific]}" 1
	equal state "${V[port_state]}" SLAVE
	equal stamps "${V[timestamping]}" hardware
	equal steps "${V[steps_removed]}" 1
	equal class "${V[grandmaster_class]}" 6
	within "path delay of 500 ns of cable" "${V[path_delay_ns]}" 497 503
	equal "UTC offset" "${V[utc_offset_s]}" 37
	equal "TAI offset" "${V[tai_offset_s]}" 37
	within "offset from master" "${V[master_offset_ns]}" -5 5
	within "PHC - TAI" "${V[tai_offset_ns]}" -50 50
	equal PHC "${V[PHC.value]}" "/dev/ptp0 tsn0"
	# both clocks are latched by the simulated hardware
	equal method "${V[method]}" precise
	equal window "${V[window_ns]}" 0
	equal steering "${V[steering.result]}" ok
	[[ ${V[steering.value]} == *"steers the system clock"* ]]
	# the last sync is no older than the interval of 125 ms, the master's lateness with the next and what the slave does with it
	within "age of the last sync" "${V[sync_age_ns]}" -1000000 135000000
	within uncertainty "${V[uncertainty_ns]}" 0 60

	run listener tsnpub sync --iface tsn1 --json
	read_verdict
	equal state "${V[port_state]}" MASTER
	equal present "${V[grandmaster_present]}" false
	equal offset "${V[offset from master.result]}" n/a
	within "PHC - TAI" "${V[tai_offset_ns]}" -60 60
}

@test "12 s of it: the PHC runs as the grandmaster's crystal, 7.654 ppm slow; the log gives rms, MTIE, TDEV and ADEV" {
	run $sync --watch --duration 12s --json --log /tmp/sync.tsnlog
	[ "$status" -eq 0 ]
	read_verdict
	within "frequency, ppb" "${V[frequency_ppb]}" -7674 -7634
	equal "good seconds" "${V[good_seconds]}" 12
	# of both courses
	equal extremes "$(grep -c '"m[axin]*_ns"' <<<"$output")" 4
	while read -r _ extreme; do within extreme "${extreme%,}" -50 50; done < <(grep '"m[axin]*_ns"' <<<"$output")
	equal "size of the log" "$(stat -c %s /tmp/sync.tsnlog)" $((4096 + 12 * 64))
	run tsnpub report /tmp/sync.tsnlog
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"12 records, 0 of them not in sync"*rms*MTIE*TDEV*ADEV* ]]
}

@test "wrong domain and wrong transportSpecific are met with silence" {
	check --domain 1 --timeout 50ms
	[ "$status" -eq 1 ]
	equal state "${V[state]}" silent
	[[ ${V[ptp4l.fix]} == *"--domain or --transport-specific"* ]]
	check --transport-specific 0 --timeout 50ms
	[ "$status" -eq 1 ]
	equal state "${V[state]}" silent
}

@test "TAI offset 0 and wrong: said, and set right from ptp4l" {
	run talker tsnpub sync --set-tai-offset=0
	[ "$status" -eq 0 ]
	check
	[ "$status" -eq 1 ]
	[[ ${V[kernel TAI offset.reason]} == *"nobody has set it"* ]]
	[[ ${V[PHC to system clock.reason]} == *"0 s instead of 37 s"* ]]
	talker tsnpub sync --set-tai-offset=36
	check
	[ "$status" -eq 1 ]
	[[ ${V[kernel TAI offset.reason]} == *"not what the grandmaster means"* ]]
	[[ ${V[PHC to system clock.reason]} == *"36 s instead of 37 s"* ]]
	run talker tsnpub sync --set-tai-offset
	[ "$status" -eq 0 ]
	[[ $output == *"37 s set (was 36 s), as ptp4l says"* ]]
	run talker tsnpub sync --set-tai-offset
	[[ $output == *"37 s already"* ]]
	recover
}

@test "phc2sys stopped: named at once; later the clocks are apart. An NTP daemon beside it: a fight, or none" {
	kill "$(pgrep -f '^phc2sys -a')"
	sleep 1
	check
	[ "$status" -eq 1 ]
	[[ ${V[steering.reason]} == *"no phc2sys"* ]]
	# the grandmaster's crystal now runs 1 ppm slower; the PHC follows it, the system clock no longer does
	echo -8654 >$SIM/tsn1/phc_drift_ppb
	sleep 10
	check
	echo "$output"
	echo -7654 >$SIM/tsn1/phc_drift_ppb
	equal "offset from master" "${V[offset from master.result]}" ok
	[[ ${V[PHC to system clock.reason]} == *"they are apart"* ]]
	within "PHC - TAI after 10 s of 1 ppm" "${V[tai_offset_ns]}" -15000 -5000
	talker phc2sys -a -r --transportSpecific 1 -m >>/tmp/phc2sys.log 2>&1 3>&- &
	recover
	# one that only watches
	chronyd -n -x -f /dev/null >/tmp/chronyd.log 2>&1 3>&- &
	sleep 1
	check
	kill $!
	equal "NTP daemon" "${V[NTP daemon.result]}" ok
	wait $! || true
	chronyd -n -f /dev/null >>/tmp/chronyd.log 2>&1 3>&- &
	sleep 1
	check
	kill $!
	wait $! || true
	[ "$status" -eq 1 ]
	[[ ${V[NTP daemon.reason]} == *"chronyd and phc2sys"*"both steer"* ]]
	recover
}

@test "drift over the limit, and a step of the PHC: seen, and over when the servos have settled" {
	watch_begin
	# the crystal changes by 50 ppm under the servo
	echo 54321 >$SIM/tsn0/phc_drift_ppb
	sleep 4
	watch_end
	echo 4321 >$SIM/tsn0/phc_drift_ppb
	grep -q "^not good.*offset from master: too far" /tmp/watch
	recover
	watch_begin
	# over and over: ptp4l sets a single one right with its next message, between two looks of the watch
	for ((i = 0; i < 20; i++)); do
		echo 5000000 >$SIM/tsn0/phc_step_ns
		sleep 0.15
	done
	watch_end
	grep -q "^not good" /tmp/watch
	recover
}

@test "cable cut: the port is no slave; and good again with the cable" {
	echo 0 >$SIM/pair0/carrier
	sleep 4
	check
	echo 1 >$SIM/pair0/carrier
	[ "$status" -eq 1 ]
	[[ ${V[port.value]} != *SLAVE* ]]
	recover
}

@test "grandmaster lost: holdover is told from being grandmaster; another one takes over" {
	check
	before=${V[grandmaster]}
	watch_begin
	kill "$(pgrep -f '^ptp4l.*-i tsn1')"
	sleep 8
	check --role slave
	[ "$status" -eq 1 ]
	[[ ${V[port.value]} == *MASTER* ]]
	printf '[global]\nclockIdentity 0a0b0c.fffe.0d0e0f\n' | cat /lab/configs/gptp.cfg - >/tmp/other.cfg
	listener ptp4l -f /tmp/other.cfg -i tsn1 --priority1 100 -m >>/tmp/ptp4l-listener.log 2>&1 3>&- &
	sleep 8
	watch_end
	grep -q "^not good.*is lost: this clock runs free (holdover)" /tmp/watch
	grep -q "another grandmaster took over from $before" /tmp/watch
	recover
	check
	equal grandmaster "${V[grandmaster]}" 0a0b0c.fffe.0d0e0f
}

@test "no ptp4l; master only: good as grandmaster, not where a slave is asked for; a socket that one left behind" {
	kill "$(pgrep -f '^ptp4l.*-i tsn0')"
	sleep 1
	check
	[ "$status" -eq 1 ]
	equal state "${V[state]}" absent
	start_talker --masterOnly 1
	sleep 6
	check --role slave
	[ "$status" -eq 1 ]
	equal "decided by" "${V[decided_by]}" port
	[[ ${V[port.value]} == *MASTER* ]]
	kill -KILL "$(pgrep -f '^ptp4l.*-i tsn0')"
	sleep 1
	check
	[ "$status" -eq 1 ]
	equal state "${V[state]}" stale
}
