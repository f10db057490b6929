# SPDX-License-Identifier: GPL-2.0-only
# The simulated cable, its clocks and its hardware stamps. Virtual time.
# vm: --timeout 400 --copy tests/vm/sim.bash:lab/tests/sim.bash --copy build/tools/simprobe:lab/bin/simprobe

load sim.bash

setup_file() { modprobe sch_etf; modprobe sch_mqprio; ports length_ns=500; etf 3; }
teardown_file() { rmmod tsnsim; }

@test "an RX stamp is the TX stamp plus the cable, to the nanosecond, at any frame length" {
	for length in 0 500 123456; do
		echo "$length" >$knobs/pair0/length_ns
		probe tsn0 tsn1 prio=0,len=60 prio=0,len=1514 prio=1,len=777
		for i in 0 1 2; do
			same "frame $i over $length ns" $((${F[$i.rx]} - ${F[$i.tx]})) "$length"
		done
	done
	echo 500 >$knobs/pair0/length_ns
}

@test "frames of one instant follow each other by preamble, frame, FCS and inter-frame gap" {
	for speed in 100 1000 2500; do
		echo "$speed" >$knobs/pair0/speed_mbps
		carrier tsn0
		probe tsn0 tsn1 prio=3,len=60,at=0 prio=3,len=1514,at=1 prio=3,len=123,at=2 prio=3,len=60,at=3
		same "first at its launch time" ${F[0.tx]} ${F[0.launch]}
		for i in 0 1 2; do
			len=${F[$i.len]}
			busy=$((((8 + len + 4) * 8000 + speed - 1) / speed + (12 * 8000 + speed - 1) / speed))
			same "frame $i at $speed Mb/s" $((${F[$((i + 1)).tx]} - ${F[$i.tx]})) "$busy"
		done
	done
	echo 1000 >$knobs/pair0/speed_mbps
	carrier tsn0
}

@test "with the RX stamp at the end of a frame latency is cable plus serialisation" {
	echo end >$knobs/pair0/rx_stamp_at
	probe tsn0 tsn1 prio=3,len=60,at=0 prio=3,len=1514,at=1000000
	echo start >$knobs/pair0/rx_stamp_at
	same "60 bytes" $((${F[0.rx]} - ${F[0.launch]})) $((500 + (8 + 60 + 4) * 8))
	same "1514 bytes" $((${F[1.rx]} - ${F[1.launch]})) $((500 + (8 + 1514 + 4) * 8))
}

@test "unplugged: no carrier on either port, nothing passes; plugged again: all is well" {
	echo 0 >$knobs/pair0/carrier
	[ "$(cat /sys/class/net/tsn0/carrier)" = 0 ]
	[ "$(cat /sys/class/net/tsn1/carrier)" = 0 ]
	probe -w 20 tsn0 tsn1 prio=0,len=60
	same "received" ${F[0.nrx]} 0
	echo 1 >$knobs/pair0/carrier
	carrier tsn1
	probe tsn0 tsn1 prio=0,len=60
	same "received" ${F[0.nrx]} 1
}

@test "a crystal that is 1234 ppb fast gains 12340 ns in 10 s" {
	before=$(cat $knobs/tsn0/phc_to_tai_ns)
	echo 1234 >$knobs/tsn0/phc_drift_ppb
	sleep 10
	gained=$(($(cat $knobs/tsn0/phc_to_tai_ns) - before))
	echo 0 >$knobs/tsn0/phc_drift_ppb
	echo "gained $gained ns"
	# the sleep is a little longer than 10 s, by wake-up and start of the programs
	[ "$gained" -ge 12340 ] && [ "$gained" -le 12400 ]
}

@test "a PHC can be stepped, set and adjusted, and the servo's correction cancels the crystal's error" {
	# the machine's clocks have no fractions of nanoseconds: while the PHC has no error the difference is the same at any time
	before=$(cat $knobs/tsn1/phc_to_tai_ns)
	echo -777 >$knobs/tsn1/phc_step_ns
	same step $(($(cat $knobs/tsn1/phc_to_tai_ns) - before)) -777
	echo 50000 >$knobs/tsn1/phc_drift_ppb
	phc_ctl tsn1 -- freq -50000 >/dev/null
	a=$(cat $knobs/tsn1/phc_to_tai_ns)
	sleep 20
	b=$(cat $knobs/tsn1/phc_to_tai_ns)
	echo "moved $((b - a)) ns in 20 s"
	# 1.00005 * 0.99995 leaves -2.5 ppb
	[ $((b - a)) -le -49 ] && [ $((b - a)) -ge -52 ]
	echo 0 >$knobs/tsn1/phc_drift_ppb
	phc_ctl tsn1 freq 0 >/dev/null
	phc_ctl tsn1 set 1000000 >/dev/null
	[[ $(phc_ctl tsn1 get) == *"clock time is 10000"* ]]
	phc_ctl tsn1 set >/dev/null
	a=$(cat $knobs/tsn1/phc_to_tai_ns)
	[ $a -gt -100000000 ] && [ $a -lt 100000000 ]
	# a clock that would leave its range is not moved
	phc_ctl tsn1 adj -3000000000 >/dev/null 2>&1 || true
	same "not moved" "$(cat $knobs/tsn1/phc_to_tai_ns)" "$a"
}

@test "the cross time stamp is exact, and the parts without one refuse it" {
	# TAI and UTC are one here: nobody has told the kernel of leap seconds
	same "PHC - UTC" "$(simprobe -x /dev/ptp0)" "precise $(cat $knobs/tsn0/phc_to_tai_ns)"
	ports model=ls1028a
	same "on ls1028a" "$(simprobe -x /dev/ptp0)" "precise EOPNOTSUPP"
	ports
	etf 3
}

@test "frames to another's address are filtered unless the port is promiscuous" {
	probe tsn0 tsn1 prio=0,len=60
	same "joined group" ${F[0.nrx]} 1
	before=$(stat tsn1 sim_rx_filtered)
	ip link set tsn1 down
	ip link set tsn1 address 02:00:00:00:00:77
	ip link set tsn1 up
	carrier tsn0
	ip link set tsn0 arp off
	ip addr add 192.0.2.1/24 dev tsn0
	ip neigh replace 192.0.2.9 lladdr 02:74:73:6e:00:02 dev tsn0
	ping -c 1 -W 1 192.0.2.9 >/dev/null || true
	[ "$(stat tsn1 sim_rx_filtered)" -gt "$before" ]
}

@test "EEE: a frame waits until the sleeping link has woken up, those behind it do not" {
	local speed wake len=$((8 + 60 + 4 + 12))
	# 802.3 table 78-4, in ns
	for speed in 100:30000 1000:16500 2500:29440; do
		IFS=: read -r speed wake <<<"$speed"
		echo "$speed" >$knobs/pair0/speed_mbps
		carrier tsn0
		ethtool --set-eee tsn0 eee on tx-lpi on tx-timer 0
		probe tsn0 tsn1 prio=3,len=60,at=0
		same "one end alone" ${F[0.tx]} ${F[0.launch]}
		ethtool --set-eee tsn1 eee on
		probe tsn0 tsn1 prio=3,len=60,at=0 prio=3,len=60,at=100 prio=3,len=60,at=1000000
		same "the first at $speed Mb/s" $((${F[0.tx]} - ${F[0.launch]})) "$wake"
		same "one behind it" $((${F[1.tx]} - ${F[0.tx]})) $(((72 * 8000 + speed - 1) / speed + (96000 + speed - 1) / speed))
		same "one much later" $((${F[2.tx]} - ${F[2.launch]})) "$wake"
		ethtool --set-eee tsn1 eee off
	done
	same "counted" "$(stat tsn0 tx_lpi_counter)" 6
	echo 1000 >$knobs/pair0/speed_mbps
	carrier tsn0
	ethtool --set-eee tsn1 eee on
	ethtool --set-eee tsn0 tx-timer 100
	probe tsn0 tsn1 prio=3,len=60,at=0 prio=3,len=60,at=90000 prio=3,len=60,at=300000
	same "the transmitter sleeps 100 us after the last frame" \
		"$((${F[0.tx]} - ${F[0.launch]})) $((${F[1.tx]} - ${F[1.launch]})) $((${F[2.tx]} - ${F[2.launch]}))" "16500 0 16500"
	# a servo at work does not keep it awake
	ethtool --set-eee tsn0 tx-timer 200000
	mkfifo $BATS_TEST_TMPDIR/never
	(for _ in {1..30}; do echo 0 >$knobs/tsn0/phc_drift_ppb; read -t 0.1 <>$BATS_TEST_TMPDIR/never || true; done) 3>&- &
	probe tsn0 tsn1 prio=3,len=60,at=0 prio=3,len=60,at=100000000 prio=3,len=60,at=400000000
	wait
	same "sleeps 200 ms after the last frame" \
		"$((${F[0.tx]} - ${F[0.launch]})) $((${F[1.tx]} - ${F[1.launch]})) $((${F[2.tx]} - ${F[2.launch]}))" "16500 0 16500"
	ethtool --set-eee tsn0 eee off
	ethtool --set-eee tsn1 eee off
	probe tsn0 tsn1 prio=3,len=60,at=0
	same "switched off" ${F[0.tx]} ${F[0.launch]}
}

# interrupts of the first vector of tsn1
interrupts() { awk '/ tsn1-TxRx-0$/ { print $2 }' /proc/interrupts; }

@test "coalescing delays the delivery of frames, not their stamps" {
	local before
	probe tsn0 tsn1 prio=3,len=60,at=0,n=4,step=100000
	same "stamps" "$((${F[0.rx]} - ${F[0.launch]})) $((${F[3.rx]} - ${F[3.launch]}))" "500 500"
	[ $((${F[0.sw]} - ${F[0.launch]})) -ge $((500 + 576)) ]	# not before its last bit
	[ $((${F[3.sw]} - ${F[3.launch]})) -lt 60000 ]
	ethtool -C tsn1 rx-usecs 1000
	before=$(interrupts)
	probe tsn0 tsn1 prio=3,len=60,at=0,n=4,step=100000
	same "stamps" "$((${F[0.rx]} - ${F[0.launch]})) $((${F[3.rx]} - ${F[3.launch]}))" "500 500"
	[ $((${F[0.sw]} - ${F[0.launch]})) -ge 1001076 ]
	[ $((${F[0.sw]} - ${F[0.launch]})) -lt 1060000 ]
	same "interrupts for four frames" $(($(interrupts) - before)) 1
	ethtool -C tsn1 rx-usecs 0
}

@test "i225: coalescing spaces interrupts; EEE and coalescing refuse what igc refuses" {
	ports model=i225
	etf 0
	same "adaptive at first" "$(ethtool -c tsn1 | awk '$1 == "rx-usecs:" { print $2 }')" 3
	for bad in 2 9 10001; do fails ethtool -C tsn1 rx-usecs $bad 2>/dev/null; done
	fails ethtool -C tsn1 tx-usecs 50 2>/dev/null
	ethtool -C tsn1 rx-usecs 1000
	probe tsn0 tsn1 prio=0,len=60,at=0,n=4,step=100000
	[ $((${F[0.sw]} - ${F[0.launch]})) -lt 60000 ]	# the first interrupts at once
	[ $((${F[1.sw]} - ${F[0.sw]})) -gt 900000 ]	# the others a millisecond later
	[ $((${F[3.sw]} - ${F[1.sw]})) -lt 60000 ]
	fails ethtool --set-eee tsn0 tx-timer 5 2>/dev/null	# while it is off
	ethtool --set-eee tsn0 eee on
	same "the link is negotiated anew" "$(cat /sys/class/net/tsn0/carrier)" 0
	fails ethtool --set-eee tsn0 tx-timer 5 2>/dev/null
	ports model=ls1028a
	fails ethtool --set-eee tsn0 eee on 2>/dev/null
	ports
	etf 3
}

@test "ethtool tells driver, model, link, rings, coalescing, EEE and time stamping, and sets them" {
	output=$(ethtool -i tsn0)
	[[ $output == *"driver: tsnsim"* && $output == *"firmware-version: ideal"* ]]
	[[ $(ethtool tsn0) == *"Speed: 1000Mb/s"* ]]
	ethtool -s tsn0 speed 100 duplex full autoneg off
	carrier tsn1
	[[ $(ethtool tsn1) == *"Speed: 100Mb/s"* ]]
	fails ethtool -s tsn0 speed 10 duplex full autoneg off
	ethtool -s tsn0 speed 1000 duplex full autoneg off
	carrier tsn0
	ethtool -G tsn0 rx 128 tx 512
	[[ $(ethtool -g tsn0) == *"TX:"*"TX:"*512* ]]
	fails ethtool -G tsn0 rx 8
	ethtool -C tsn0 rx-usecs 0
	[[ $(ethtool -c tsn0) == *"rx-usecs:"*0* ]]
	ethtool --set-eee tsn0 eee on
	[[ $(ethtool --show-eee tsn0) == *"enabled - inactive"* ]]
	ethtool --set-eee tsn0 eee off
	[[ $(ethtool -T tsn0) == *"hardware-transmit"*"PTP Hardware Clock: 0"* ]]
}
