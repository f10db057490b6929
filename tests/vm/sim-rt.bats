# SPDX-License-Identifier: GPL-2.0-only
# The simulated ports on the rt kernel, where their handlers are threads and most locks sleep. Virtual time. The run fails on
# any warning in the kernel's log.
# vm: --kernel rt --timeout 300 --copy tests/vm/sim.bash:lab/tests/sim.bash --copy build/tools/simprobe:lab/bin/simprobe
# vm: --copy tests/vm/sim-robust.bash:lab/tests/sim-robust.bash --copy build/tools/simxdp:lab/bin/simxdp

load sim.bash
load sim-robust.bash

setup_file() { modprobe sch_taprio; modprobe sch_etf; modprobe sch_mqprio; }

@test "launch times and stamps are exact to the nanosecond" {
	grep -q PREEMPT_RT /proc/version
	ports
	etf 3
	probe tsn0 tsn1 prio=3,len=100,at=0,n=50,step=31251
	same "launch error" "${F[least]} ${F[most]}" "0 0"
	for i in 0 49; do same "cable" $((${F[$i.rx]} - ${F[$i.tx]})) 500; done
	same "late" "$(stat tsn0 sim_launch_late)" 0
	grep -q 'irq/.*-tsn1-TxRx-0\|irq/.*-tsn1-Tx' /proc/[0-9]*/comm
}

@test "gates, a stamp that comes late, a held interrupt, a culprit in hard interrupt context" {
	tc qdisc del dev tsn0 root
	taprio 0 -- 8:100000 7:150000
	echo "stamp-delay 1 1000000" >$knobs/tsn0/faults
	ethtool -C tsn1 rx-usecs 100
	echo "gpu-fence 0 250 3 2000" >$knobs/culprit/irq
	echo "0 100" >$knobs/culprit/softirq
	probe tsn0 tsn1 prio=3,len=100,n=5 prio=0,len=1514,n=5
	same "received" "${F[0.ntx]}${F[4.nrx]}${F[9.nrx]}" 111
	at=$((${F[0.tx]} % 250000))
	[ $at -lt 100000 ] || { echo "class 3 at $at ns of the cycle"; false; }
	at=$((${F[9.tx]} % 250000))
	[ $at -ge 100000 ] || { echo "class 0 at $at ns of the cycle"; false; }
}

@test "models change under load, and go under load" {
	change_under_load i225 ls1028a
	unload_under_traffic ideal i226
}
