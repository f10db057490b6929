# SPDX-License-Identifier: GPL-2.0-only
# tsnpub sync --print-setup and --start on hardware stamps, in virtual time: the set-up that is made locks, with both
# generations of linuxptp and both profiles, and what is printed is what they take.
# vm: --timeout 200

load lab
load sync

setup_file() {
	lab-up --no-ptp >/tmp/lab-up.log 2>&1 3>&-
	# the listener's PHC is the reference as it is: both machines share the system clock, which follows the talker
	printf '#!/bin/sh\nexec sleep 1000000\n' >/tmp/no-phc2sys
	chmod +x /tmp/no-phc2sys
}

teardown() {
	kill %1 %2 2>/dev/null || true
	wait || true
	# as after boot, for the next
	talker tsnpub sync --set-tai-offset=0 >/dev/null
}

# locks PROFILE BIN TRANSPORT_SPECIFIC
locks() {
	listener tsnpub sync --start --iface tsn1 --role master --profile "$1" --ptp4l "$2/ptp4l" \
		--phc2sys /tmp/no-phc2sys >/tmp/listener.log 2>&1 3>&- &
	talker tsnpub sync --start --iface tsn0 --role slave --profile "$1" --ptp4l "$2/ptp4l" \
		--phc2sys "$2/phc2sys" --set-tai-offset >/tmp/talker.log 2>&1 3>&- &
	run talker tsnpub sync --iface tsn0 --role slave --wait 120s --settle 5 --json
	echo "$output"
	tail -n 5 /tmp/talker.log /tmp/listener.log
	[ "$status" -eq 0 ]
	read_verdict
	equal verdict "${V[verdict]}" good
	equal state "${V[port_state]}" SLAVE
	equal specific "${V[transport_specific]}" "$3"
	equal stamps "${V[timestamping]}" hardware
	within "offset from master" "${V[master_offset_ns]}" -50 50
	within "path delay of 500 ns of cable" "${V[path_delay_ns]}" 490 510
	grep -q "kernel TAI offset: 37 s" /tmp/talker.log
}

@test "linuxptp 3.1.1, gPTP" {
	locks gptp /usr/sbin 1
}

@test "linuxptp 3.1.1, default profile" {
	locks default /usr/sbin 0
}

@test "linuxptp 4, default profile" {
	locks default /opt/linuxptp4/bin 0
}

@test "linuxptp 4, gPTP; Ctrl-C ends it with its children, and leaves nothing" {
	locks gptp /opt/linuxptp4/bin 1
	# background jobs of a script ignore SIGINT: by SIGTERM
	kill %2
	wait %2
	run pgrep -f 'linuxptp4.*tsn0'
	[ "$status" -ne 0 ]
	[ -z "$(ls -d /run/lab/talker/tsnpub-* 2>/dev/null)" ]
	grep -q "ptp4l: \[" /tmp/talker.log || grep -q "^ptp4l\[" /tmp/talker.log
}

# config_of FILE: the configuration within a printed set-up; command_of FILE PROGRAM: a command of it
config_of() { sed -n '/^\[global\]/,/^# 2\./{/^# 2\./d;p}' "$1"; }
command_of() { sed -n "s|^    \(.*$2 .*\)|\1|p" "$1"; }

@test "what --print-setup prints is taken by ptp4l and phc2sys of both generations, in each role and profile" {
	for bin in /usr/sbin /opt/linuxptp4/bin; do
		for options in "--profile "{gptp,default}{,\ --role\ slave,\ --role\ master}; do
			# shellcheck disable=SC2086
			talker tsnpub sync --print-setup --iface tsn0 $options --ptp4l $bin/ptp4l --phc2sys $bin/phc2sys >/tmp/setup
			config_of /tmp/setup >/tmp/tsn0.cfg
			ptp4l=$(command_of /tmp/setup ptp4l) phc2sys=$(command_of /tmp/setup phc2sys)
			# shellcheck disable=SC2086
			talker ${ptp4l/\/etc\/linuxptp/\/tmp} >/tmp/ptp4l.log 2>&1 3>&- &
			first=$!
			sleep 0.5
			# shellcheck disable=SC2086
			talker $phc2sys >/tmp/phc2sys.log 2>&1 3>&- &
			second=$!
			sleep 1
			# both run until they are ended
			kill "$second" && kill "$first" ||
				{ echo "$bin $options"; cat /tmp/setup /tmp/ptp4l.log /tmp/phc2sys.log; return 1; }
			wait "$first" "$second" || true
			grep -q "port 1.*INITIALIZING to LISTENING" /tmp/ptp4l.log || { cat /tmp/setup /tmp/ptp4l.log; return 1; }
		done
	done
	# the last one: linuxptp 4, default, master
	grep -q "^serverOnly  *1" /tmp/tsn0.cfg
	grep -q "linuxptp 4" /tmp/setup
	grep -q "/dev/ptp0 tsn0, hardware time stamps" /tmp/setup
	run talker tsnpub sync --print-setup --iface tsn0 --role slave
	[[ $output == *"linuxptp 3.1.1"*"slaveOnly                1"* ]]
	[[ $output == *"phc2sys -s tsn0 -c CLOCK_REALTIME -w --transportSpecific 1"* ]]
}

@test "linuxptp 4 has a read-only socket; a NIC without cross time stamps is read within a window, which is told" {
	lab-down
	LAB_NIC=ls1028a lab-up --no-ptp >/tmp/lab-up.log 2>&1 3>&-
	talker tsnpub sync --set-tai-offset=37 >/dev/null
	talker tsnpub sync --start --iface tsn0 --role master --ptp4l /opt/linuxptp4/bin/ptp4l \
		--phc2sys /tmp/no-phc2sys >/tmp/talker.log 2>&1 3>&- &
	# the PHC is where it was put: 12.345 us from TAI, and away at 4.321 ppm
	run talker tsnpub sync --iface tsn0 --role master --wait 10s --json
	run talker tsnpub sync --iface tsn0 --socket /var/run/ptp4lro --json
	echo "$output"
	# one port: it must be this interface's, though its name is not told
	read_verdict
	equal ptp4l "${V[state]} ${V[read_only]} ${V[port_state]}" "fine true MASTER"
	equal method "${V[method]}" extended
	offset=${V[tai_offset_ns]} window=${V[window_ns]}
	within "reading window" "$window" 1 20000
	# half of the window is the uncertainty: shown, and part of the sum (own grandmaster: PHC and window alone)
	equal uncertainty "${V[uncertainty_ns]}" $(((offset < 0 ? -offset : offset) + (window + 1) / 2))
	[[ $output == *" to CLOCK_TAI, "*"(extended)"* ]]
	# what the module knows: the reading was true within the window (4.321 ppm: some ns since)
	truth=$(cat $SIM/tsn0/phc_to_tai_ns)
	echo "PHC - TAI: read $offset, true $truth some ms later, window $window"
	within "error of the reading" $((offset - truth)) $((-window / 2 - 4000)) $((window / 2 + 4000))
}
