# SPDX-License-Identifier: GPL-2.0-only
# Faults injected into the simulated ports hit the frame they name, and no other. Virtual time.
# vm: --timeout 300 --copy tests/vm/sim.bash:lab/tests/sim.bash --copy build/tools/simprobe:lab/bin/simprobe

load sim.bash

setup_file()
{
	modprobe sch_etf
	modprobe sch_mqprio
	ports
	etf 3
	echo 0x88b5 >$knobs/tsn0/fault_ethertype
}
teardown_file() { rmmod tsnsim; }
setup() { faults=$knobs/tsn0/faults; }

# with FAULT: arms it for the second of four frames that follow each other by 100 us
with()
{
	echo clear >$faults
	[ -z "$1" ] || echo "$1" >$faults
	probe tsn0 tsn1 prio=3,len=100,at=0,n=4,step=100000
	hit=$(cat $faults)
}

# untouched FRAME...: stamped once at its launch time, received once, 500 ns later
untouched()
{
	local i

	for i; do
		same "frame $i" "${F[$i.tx]} ${F[$i.ntx]} ${F[$i.rx]} ${F[$i.nrx]}" \
			"${F[$i.launch]} 1 $((${F[$i.launch]} + 500)) 1"
	done
}

@test "lose" {
	with "lose 2"
	untouched 0 2 3
	same "stamp" "${F[1.tx]}" ${F[1.launch]}
	same "received" ${F[1.nrx]} 0
	same "told" "$hit" "lose 2 hit tx=${F[1.tx]}"
}

@test "duplicate" {
	with "duplicate 2"
	untouched 0 2 3
	same "received" ${F[1.nrx]} 2
}

@test "reorder" {
	with "reorder 2"
	untouched 0 2 3
	same "order" "${F[0.order]} ${F[1.order]} ${F[2.order]} ${F[3.order]}" "1 3 2 4"
	same "right behind the next" $((${F[1.rx]} - ${F[2.rx]})) $(((8 + 100 + 4 + 12) * 8))
}

@test "reorder: what is not counted does not overtake" {
	echo clear >$faults
	echo "reorder 2" >$faults
	base=$((($(date +%s) + 2) * 1000000000))
	simprobe -e 0x88b6 -w 0 -b $base tsn0 tsn1 prio=3,len=60,at=150000 >/dev/null 3>&- &
	probe -b $base tsn0 tsn1 prio=3,len=100,at=0,n=4,step=100000
	wait
	same "order" "${F[0.order]} ${F[1.order]} ${F[2.order]} ${F[3.order]}" "1 3 2 4"
}

@test "many faults on one frame: all hit it, and say so" {
	before=$(stat tsn1 rx_crc_errors)
	echo clear >$faults
	for fault in "delay 2 100" "late 2 30" "stamp-repeat 2" "duplicate 2" "stamp-delay 2 1000" "corrupt 2"; do
		echo "$fault" >$faults
	done
	probe tsn0 tsn1 prio=3,len=100,at=0,n=3,step=100000
	untouched 0 2
	same "said" "$(grep -c "hit tx=${F[1.tx]}$" $faults)" 6
	same "TX" "$((${F[1.tx]} - ${F[1.launch]})) ${F[1.ntx]}" "30 2"
	same "rx_crc_errors" $(($(stat tsn1 rx_crc_errors) - before)) 2
}

@test "corrupt: a bad FCS is counted and dropped; a changed byte arrives" {
	before=$(stat tsn1 rx_crc_errors)
	with "corrupt 2"
	untouched 0 2 3
	same "received" ${F[1.nrx]} 0
	same "rx_crc_errors" $(($(stat tsn1 rx_crc_errors) - before)) 1
	with "corrupt 2 14"
	untouched 0 2 3
	[[ $lines == *"other=1 "* ]]
}

@test "delay" {
	with "delay 2 7777"
	untouched 0 2 3
	same "delay" $((${F[1.rx]} - ${F[1.tx]})) 8277
}

@test "a late launch" {
	before=$(stat tsn0 sim_launch_late)
	with "late 2 4321"
	untouched 0 2 3
	same "late" $((${F[1.tx]} - ${F[1.launch]})) 4321
	same "counted" $(($(stat tsn0 sim_launch_late) - before)) 1
}

@test "TX stamps: lost, repeated, delayed" {
	with "stamp-lose 2"
	untouched 0 2 3
	same "stamps" ${F[1.ntx]} 0
	with "stamp-repeat 2"
	untouched 0 2 3
	same "stamps" ${F[1.ntx]} 2
	with "stamp-delay 2 300000000"	# longer than simprobe waits
	untouched 0 2 3
	same "stamps" ${F[1.ntx]} 0
	sleep 1
}

@test "a PHC step: by its own clock the port is on time, by the peer's it is early" {
	echo clear >$faults
	echo 100000 >$knobs/tsn0/phc_step_ns
	probe tsn0 tsn1 prio=3,len=60,at=0,n=2,step=100000
	echo -100000 >$knobs/tsn0/phc_step_ns
	for i in 0 1; do
		same "frame $i" "${F[$i.tx]}" ${F[$i.launch]}
		same "frame $i" $((${F[$i.rx]} - ${F[$i.tx]})) $((500 - 100000))
	done
	with ""
	untouched 0 1 2 3
}

@test "i225: a lost stamp keeps its register for 15 s, then counts as a time-out" {
	ports model=i225
	echo "stamp-lose 1" >$knobs/tsn0/faults
	probe tsn0 tsn1 prio=0,len=60
	same "stamp" ${F[0.ntx]} 0
	same "before" "$(stat tsn0 tx_hwtstamp_timeouts)" 0
	sleep 16
	same "after" "$(stat tsn0 tx_hwtstamp_timeouts)" 1
}

@test "a culprit holds a CPU in a hard interrupt under the name it was given" {
	echo 1 >/sys/kernel/tracing/events/irq/irq_handler_entry/enable
	echo 1 >/sys/kernel/tracing/events/irq/irq_handler_exit/enable
	echo "gpu-fence 0 250 3 2000" >$knobs/culprit/irq
	sleep 0.1
	echo 0 >/sys/kernel/tracing/events/irq/enable
	same "strikes" "$(cat $knobs/culprit/count)" 3
	grep -q 'gpu-fence' /proc/interrupts
	same "handler entries" "$(grep -c 'name=gpu-fence' /sys/kernel/tracing/trace)" 3
	irq=$(awk '/gpu-fence/ { sub(":", "", $1); print $1 }' /proc/interrupts)
	# entry to exit, from the trace's own stamps in seconds
	awk -v irq="irq=$irq" '
		{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) t = $i + 0 }
		/irq_handler_entry/ && index($0, irq " ") { start = t }
		/irq_handler_exit/ && index($0, irq " ") { us = (t - start) * 1e6; if (us < 249 || us > 260) bad = us }
		END { if (bad) print "held " bad " us"; exit bad != 0 }' /sys/kernel/tracing/trace
	echo "0 100" >$knobs/culprit/softirq
	sleep 0.1
	echo "0 100" >$knobs/culprit/irqs_off
	sleep 0.1
	same "strikes" "$(cat $knobs/culprit/count)" 5
}

# refuses FILE ERRNO-TEXT VALUE...
refuses()
{
	local file=$1 text=$2 value message

	shift 2
	for value; do
		message=$( (echo "$value" >"$knobs/$file") 2>&1) && { echo "$file took '$value'"; return 1; }
		[[ $message == *"$text"* ]] || { echo "$file '$value': $message"; return 1; }
	done
}

@test "debugfs: what is out of range or not understood is refused" {
	refuses tsn0/faults "Invalid argument" "" foo lose "lose x" "lose 1 2" "delay 1" "clear x" "late 1 -4" "lose 1 2 3"
	refuses tsn0/faults "Numerical result out of range" "lose 0" "delay 1 99999999999" "corrupt 1 99999"
	refuses tsn0/fault_ethertype "Numerical result out of range" 65536
	refuses tsn0/phc_drift_ppb "Numerical result out of range" 1000001 -1000001
	refuses tsn0/phc_step_ns "Numerical result out of range" 99999999999999999
	refuses pair0/length_ns "Numerical result out of range" 1000001
	refuses pair0/speed_mbps "Invalid argument" 10 0 99999999999
	refuses pair0/carrier "Numerical result out of range" 2
	refuses pair0/rx_stamp_at "Invalid argument" middle
	refuses culprit/irq "Invalid argument" x "bad/name 0 10" "a 0" "a 0 10 2 50 7" ". 0 10" "smp_affinity 0 10" "node 0 10"
	refuses culprit/irq "Numerical result out of range" "a 99 10" "a 0 0" "a 0 100001" "a 0 10 2 19"
}
