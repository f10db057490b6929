# SPDX-License-Identifier: GPL-2.0-only
# The receiver on ports with hardware stamps: simulated ones, in virtual time.
# vm: --timeout 400 --copy build/tools/sender:lab/sender

load_ports() {
	insmod /lab/modules/tsnsim.ko model="$1"
	ip link set tsn0 up
	ip link set tsn1 up
	for _ in $(seq 50); do
		[ "$(cat /sys/class/net/tsn1/carrier 2>/dev/null)" != 1 ] || break
		sleep 0.1
	done
	# the kernel's TAI offset is 0 after boot, and so is that of the simulated clocks
	out=$(mktemp)
	err=$(mktemp)
}

teardown() {
	[ -z "${receiver:-}" ] || kill -KILL "$receiver" 2>/dev/null || true
	rmmod tsnsim 2>/dev/null || true
}

start_receiver() {
	local ready

	ready=$(mktemp -u)
	mkfifo "$ready"
	tsnpub receive --iface tsn1 --json --quiet --duration 60s --ready-fd 7 "$@" >"$out" 2>"$err" 7>"$ready" 3>&- &
	receiver=$!
	read -r -t 20 <"$ready" || { cat "$err" >&2; return 1; }
}

finish_receiver() {
	receiver_status=0
	wait "$receiver" || receiver_status=$?
	receiver=
}

# The first member of that name (the guest has no jq).
json() {
	tr -d ' \n' <"$out" | grep -o "\"$1\":[^,}]*" | head -n 1 | sed 's/^[^:]*://; s/"//g'
}

# A value of the first latency of that source.
latency() {
	tr -d ' \n' <"$out" | grep -o "{\"figure\":\"latency\",\"formula\":\"RX-launch\",\"source\":\"$1\"[^}]*" | head -n 1 |
		grep -o "\"$2\":[^,}]*" | sed 's/^[^:]*://'
}

# "TX RX" as numbers: what hardware timestamping of tsn1 is set to
stamping() {
	hwstamp_ctl -i tsn1 | awk '/tx_type/ { tx = $2 } /rx_filter/ { rx = $2 } END { print tx, rx }'
}

@test "an i226 port: hardware stamps in XDP, and timestamping is put back" {
	load_ports i226
	[ "$(stamping)" = "0 0" ]
	start_receiver
	[ "$(stamping)" = "0 1" ]
	/lab/sender tsn0 gap 1000 send 100 last 3>&-
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json path)" = xdp-native ]
	[ "$(json stamps)" = hw ]
	[ "$(json frames)" -eq 101 ]
	[ "$(json without_hw_stamp)" -eq 0 ]
	[ "$(latency hw count)" -eq 101 ]
	# on the wire: 672 ns for the frame, 500 ns of cable, and the sender's own time before
	[ "$(latency hw min_ns)" -gt 500 ]
	[ "$(latency hw p50_ns)" -lt 100000 ]
	[ "$(stamping)" = "0 0" ]
}

@test "an LS1028A port: hardware stamps through a socket, since XDP has none there" {
	load_ports ls1028a
	start_receiver
	/lab/sender tsn0 --vlan 5 gap 1000 send 100 last 3>&-
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json path)" = socket ]
	[ "$(json stamps)" = hw ]
	[ "$(json frames)" -eq 101 ]
	[ "$(json tagged)" -eq 101 ]
	[ "$(json without_hw_stamp)" -eq 0 ]
	grep -q "not to be had in XDP" "$err"
	[ "$(stamping)" = "0 0" ]

	start_receiver --timestamps xdp
	/lab/sender tsn0 --vlan 5 gap 1000 send 100 last 3>&-
	finish_receiver
	[ "$(json path)" = xdp-native ]
	[ "$(json stamps)" = xdp ]
	[ "$(json frames)" -eq 101 ]
	# the NIC took the tags off before XDP: said, since "tagged" does not count them
	[ "$(json nic_strips_tags)" = true ]
	[ "$(json tagged)" -eq 0 ]

	run tsnpub receive --iface tsn1 --timestamps hw
	[ "$status" -eq 3 ]
	[[ $output == *"use --timestamps hw-socket"* ]]
	[ "$(stamping)" = "0 0" ]
}

@test "a NIC's VLAN filter is named where it lets nothing through, and opened as the words say" {
	load_ports i210
	start_receiver --duration 2s
	/lab/sender tsn0 --vlan 5 gap 1000 send 20 last 3>&-
	finish_receiver
	[ "$receiver_status" -eq 1 ]
	grep -q "VLAN filter: the NIC drops tagged frames of VLANs it does not know: --promisc, or .ip link add link tsn1 name tsn1.5 type vlan id 5" "$out"

	# untagged ones are not held up
	start_receiver
	/lab/sender tsn0 gap 1000 send 20 last 3>&-
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json frames)" -eq 21 ]

	start_receiver --promisc
	/lab/sender tsn0 --vlan 5 gap 1000 send 20 last 3>&-
	finish_receiver
	[ "$(json frames)" -eq 21 ]
	! grep -q "VLAN filter" "$out" || false

	ip link add link tsn1 name tsn1.5 type vlan id 5
	start_receiver
	/lab/sender tsn0 --vlan 5 gap 1000 send 20 last 3>&-
	finish_receiver
	[ "$receiver_status" -eq 0 ]
	[ "$(json frames)" -eq 21 ]
	# another VLAN than that stays out
	start_receiver --duration 2s
	/lab/sender tsn0 --vlan 6 gap 1000 send 20 last 3>&-
	finish_receiver
	[ "$receiver_status" -eq 1 ]
}

@test "timestamping is put back on a port that was renamed meanwhile" {
	load_ports i226
	start_receiver
	[ "$(stamping)" = "0 1" ]
	ip link set tsn1 down
	ip link set tsn1 name lan1
	kill -INT "$receiver"
	finish_receiver
	[ "$receiver_status" -eq 1 ]
	grep -q "tsn1 is called lan1 now" "$out"
	ip link set lan1 name tsn1
	[ "$(stamping)" = "0 0" ]
}

@test "what ptp4l has switched on stays as it was" {
	load_ports i226
	hwstamp_ctl -i tsn1 -t 1 -r 12 >/dev/null
	before=$(stamping)
	start_receiver
	/lab/sender tsn0 send 10 last 3>&-
	finish_receiver
	[ "$(json stamps)" = hw ]
	[ "$(stamping)" = "$before" ]
}

@test "two receivers in turn: the last one puts timestamping back; after SIGKILL the next one does" {
	load_ports i226
	start_receiver
	first=$receiver
	first_out=$out
	out=$(mktemp)
	start_receiver --timestamps hw-socket
	kill -INT "$first"
	wait "$first" || true
	[ "$(stamping)" = "0 1" ]
	kill -INT "$receiver"
	finish_receiver
	[ "$(stamping)" = "0 0" ]

	start_receiver
	kill -KILL "$receiver"
	wait "$receiver" || true
	[ "$(stamping)" = "0 1" ]
	start_receiver
	kill -INT "$receiver"
	finish_receiver
	[ "$(stamping)" = "0 0" ]
}

@test "what a receiver adds to a publisher's timestamping is put back by whoever ends last" {
	load_ports i226
	tsnpub --iface tsn1 --cycle 10ms --timestamps hw --quiet >/dev/null 2>&1 3>&- &
	publisher=$!
	for _ in $(seq 100); do
		[ "$(stamping)" != "1 0" ] || break
		sleep 0.1
	done
	[ "$(stamping)" = "1 0" ]
	start_receiver
	[ "$(stamping)" = "1 1" ]
	kill -INT "$receiver"
	finish_receiver
	[ "$(stamping)" = "1 1" ]
	kill -INT "$publisher"
	wait "$publisher" || true
	[ "$(stamping)" = "0 0" ]
	[ -z "$(find /run/tsnpub -name 'hwtstamp.*')" ]
}

@test "a run that is killed right behind the change is put back by the next one" {
	load_ports i226
	strace -o /tmp/calls -e trace=ioctl tsnpub receive --iface tsn1 --quiet --duration 1s >/dev/null 2>&1 || true
	set=$(grep -n -m 1 SIOCSHWTSTAMP /tmp/calls | cut -d: -f1)
	[ "$(stamping)" = "0 0" ]
	# at the call behind it
	strace -o /dev/null -e trace=ioctl -e inject=ioctl:signal=KILL:when=$((set + 1)) \
		tsnpub receive --iface tsn1 --quiet --duration 1s >/dev/null 2>&1 || true
	[ "$(stamping)" = "0 1" ]
	start_receiver
	kill -INT "$receiver"
	finish_receiver
	[ "$(stamping)" = "0 0" ]
}

@test "a PTP daemon that starts meanwhile keeps the stamps it relies on" {
	load_ports i226
	start_receiver
	ptp4l -i tsn1 -m -2 --uds_address /run/ptp4l.test >/dev/null 2>&1 3>&- &
	daemon=$!
	sleep 3
	kill -INT "$receiver"
	finish_receiver
	[ "$(stamping)" != "0 0" ]
	grep -q "a PTP daemon has started" "$err" || [ "$(stamping)" != "0 1" ]
	kill "$daemon"
	wait "$daemon" || true
}

@test "--blame: an interrupt that holds the receiving CPU for 300 us is named, for each frame that it made late" {
	load lab
	# The NIC launches: nothing that holds the CPU makes a frame leave late. Three frames a cycle come in one go.
	fresh_nic ideal
	deploy_etf ideal
	echo "mmc0 0 300 100000 7010" >$SIM/culprit/irq
	RECEIVE='--blame --blame-over 100us --duration 20s' publish_and_receive --cycle 1ms --stream id=0,frames=3 --count 2800
	read_json rx.json
	[[ ${value[blame.worst.0.parts.0.text]} == "IRQ "*" mmc0" ]]
	within held "${value[blame.worst.0.parts.0.ns]}" 290000 310000
	# beside it there are the frame's own way to the program, and at some phases the kernel's tick
	within "late beyond that" $((value[blame.worst.0.late_ns] - value[blame.worst.0.parts.0.ns])) 0 50000
	sum=0
	for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
		sum=$((sum + ${value[blame.worst.0.parts.$i.ns]:-0}))
	done
	equal sum "$sum" "${value[blame.worst.0.late_ns]}"
	# in its last 1.4 s blame was there: it has looked at all frames of that time that were late, not at the latest of each drain
	late=$(tsnpub report --csv - rx.tsnlog | gawk -M -F, -v over=$((${value[blame.cost.with_ns]} + 101000)) '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ if ($column["rx_xdp_ns"] - $column["launch_ns"] > over) { all++; last += $column["seq"] >= 4200 } }
		END { print last, all }')
	echo "late in that time, in all: $late"
	within looked "${value[blame.late]}" "${late% *}" "${late#* }"
	equal unkept "${value[blame.unkept]}" 0
	# an instruction is a nanosecond; the sender's interrupts, which come before the frames here, are followed too
	within cost "${value[blame.cost.stamp_later_ns]}" 100 8000
}
