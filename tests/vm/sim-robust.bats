# SPDX-License-Identifier: GPL-2.0-only
# The simulated ports under rough handling and bad parameters. Virtual time.
# vm: --timeout 400 --copy tests/vm/sim.bash:lab/tests/sim.bash --copy build/tools/simprobe:lab/bin/simprobe
# vm: --copy tests/vm/sim-robust.bash:lab/tests/sim-robust.bash

load sim.bash
load sim-robust.bash

setup_file() { modprobe sch_taprio; modprobe sch_etf; modprobe sch_mqprio; }

@test "loaded and unloaded under traffic: nothing leaks, nothing is left" { no_leak; }
@test "a namespace is deleted with ports inside" { namespace_deletion; }
@test "schedules are replaced, link and clock jump, rings shrink, all under load" { replace_under_load ideal; }

@test "module parameters out of range are refused with a message" {
	rmmod tsnsim
	for bad in pairs=0 pairs=9 model=foo length_ns=1000001 speed_mbps=10 queues=5 phc_drift_ppb=-1000001 \
		phc_offset_ns=99999999999999 phc_offset_ns=x bounce_ms=0 reset_step_ns=1000001 "model=i210 speed_mbps=2500"; do
		fails insmod /lab/modules/tsnsim.ko $bad 2>/dev/null
	done
	same "messages" "$(dmesg | grep -c 'tsnsim: .* refused: ')" 11
}
