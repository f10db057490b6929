# SPDX-License-Identifier: GPL-2.0-only
# tsnpub sync --start on hardware stamps, in virtual time: the set-up that it makes locks, with both generations of linuxptp
# and both profiles.
# vm: --timeout 600

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

value() {
	awk -v name="\"$1\":" '$1 == name { sub(/^[^:]*: /, ""); gsub(/^"|"?,?$/, ""); print; exit }' <<<"$output"
}

# locks PROFILE BIN TRANSPORT_SPECIFIC
locks() {
	listener tsnpub sync --start --iface tsn1 --role master --profile "$1" --ptp4l "$2/ptp4l" \
		--phc2sys /tmp/no-phc2sys >/tmp/listener.log 2>&1 3>&- &
	talker tsnpub sync --start --iface tsn0 --role slave --profile "$1" --ptp4l "$2/ptp4l" \
		--phc2sys "$2/phc2sys" --set-tai-offset >/tmp/talker.log 2>&1 3>&- &
	run talker tsnpub sync --iface tsn0 --role slave --wait 120s --settle 10 --json
	echo "$output"
	tail -n 5 /tmp/talker.log /tmp/listener.log
	[ "$status" -eq 0 ]
	run talker tsnpub sync --iface tsn0 --role slave --json
	[ "$status" -eq 0 ]
	[ "$(value verdict)" = good ]
	[ "$(value port_state)" = SLAVE ]
	[ "$(value transport_specific)" = "$3" ]
	delay=$(($(value path_delay_ns) - 500))
	[ "${delay#-}" -le 3 ]
	offset=$(value master_offset_ns)
	[ "${offset#-}" -le 5 ]
	offset=$(value tai_offset_ns)
	[ "${offset#-}" -le 50 ]
	grep -q "kernel TAI offset: 37 s" /tmp/talker.log
}

@test "linuxptp 3.1.1, gPTP" {
	locks gptp /usr/sbin 1
}

@test "linuxptp 3.1.1, default profile" {
	locks default /usr/sbin 0
}

@test "linuxptp 4, gPTP" {
	locks gptp /opt/linuxptp4/bin 1
}

@test "linuxptp 4, default profile" {
	locks default /opt/linuxptp4/bin 0
}

@test "linuxptp 4 tells the PHC of each port, and has a read-only socket" {
	talker tsnpub sync --start --iface tsn0 --role master --ptp4l /opt/linuxptp4/bin/ptp4l \
		--phc2sys /tmp/no-phc2sys >/tmp/talker.log 2>&1 3>&- &
	run talker tsnpub sync --iface tsn0 --role master --wait 30s --json
	run talker tsnpub sync --iface tsn0 --socket /var/run/ptp4lro --json
	echo "$output"
	[ "$(value state)" = fine ]
	[ "$(value read_only)" = true ]
	# one port: it must be this interface's, though its name is not told
	[ "$(value port_state)" = MASTER ]
}

@test "--print-setup names the version and its options" {
	run talker tsnpub sync --print-setup --iface tsn0 --role slave --ptp4l /opt/linuxptp4/bin/ptp4l
	[[ $output == *"linuxptp 4."* ]]
	[[ $output == *"clientOnly               1"* ]]
	[[ $output == *"/dev/ptp0 tsn0, hardware time stamps"* ]]
	[[ $output == *"phc2sys -s tsn0 -c CLOCK_REALTIME -w --transportSpecific 1"* ]]
	run talker tsnpub sync --print-setup --iface tsn0 --role slave
	[[ $output == *"linuxptp 3.1.1"* ]]
	[[ $output == *"slaveOnly                1"* ]]
}
