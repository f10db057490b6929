# SPDX-License-Identifier: GPL-2.0-only
# The simulated ports under rough handling and bad parameters. Virtual time.
# vm: --timeout 300 --copy tests/vm/sim.bash:lab/tests/sim.bash --copy build/tools/simprobe:lab/bin/simprobe
# vm: --copy tests/vm/sim-robust.bash:lab/tests/sim-robust.bash --copy build/tools/simxdp:lab/bin/simxdp

load sim.bash
load sim-robust.bash

setup_file() { modprobe sch_taprio; modprobe sch_etf; modprobe sch_mqprio; }

@test "loaded and unloaded under traffic: nothing leaks, nothing is left" { no_leak; }
@test "all models: a namespace is deleted with ports inside" { namespace_deletion ideal i225 i226 i210 ls1028a; }
@test "all models: schedules, link, clock, rings, XDP change under load" { change_under_load ideal i225 i226 i210 ls1028a; }

@test "module parameters out of range are refused with a message" {
	rmmod tsnsim
	for bad in pairs=0 pairs=9 model=foo length_ns=1000001 speed_mbps=10 queues=5 phc_drift_ppb=-1000001 \
		phc_drift_ppb=-2147483648 phc_offset_ns=99999999999999 phc_offset_ns=-9223372036854775808 phc_offset_ns=x \
		bounce_ms=0 reset_step_ns=1000001 "model=i210 speed_mbps=2500"; do
		fails insmod /lab/modules/tsnsim.ko $bad 2>/dev/null
	done
	same "messages" "$(dmesg | grep -c 'tsnsim: .* refused: ')" 13	# x is refused by the kernel itself
}
