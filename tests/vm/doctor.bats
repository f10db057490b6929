# SPDX-License-Identifier: GPL-2.0-only
# --fix and --undo on the simulated NIC and this kernel, compared setting by setting.
# vm: --timeout 900 --cpus 2

setup_file() {
	insmod /lab/modules/tsnsim.ko
	ip link set tsn0 up
	ip link set tsn1 up
	sleep 5
	# something to find: what a machine out of the box looks like
	ethtool -C tsn0 rx-usecs 33 2>/dev/null || true
	ethtool -G tsn0 rx 256 tx 256 2>/dev/null || true
	ethtool -K tsn0 gro on gso on 2>/dev/null || true
}

setup() {
	out=$BATS_TEST_TMPDIR/out
}

# Everything that the doctor may change, one setting a line.
settings() {
	ethtool -c tsn0 2>&1 || true
	ethtool -g tsn0 2>&1 || true
	ethtool -k tsn0 2>&1 || true
	ethtool -a tsn0 2>&1 || true
	ethtool --show-eee tsn0 2>&1 || true
	ethtool -l tsn0 2>&1 || true
	for file in /proc/irq/*/smp_affinity_list /proc/irq/default_smp_affinity /proc/sys/kernel/sched_rt_runtime_us \
		/proc/sys/kernel/watchdog* /proc/sys/net/core/busy_* /sys/kernel/mm/transparent_hugepage/enabled \
		/sys/devices/virtual/workqueue/cpumask /sys/class/net/tsn0/tx_queue_len \
		/sys/kernel/debug/sched/fair_server/cpu1/runtime; do
		# interrupts that are not in use may not be readable
		printf '%s %s\n' "$file" "$(cat "$file" 2>&1 || true)"
	done
}

@test "the doctor finds what is wrong, and says how to mend it" {
	status=0
	tsnpub doctor --iface tsn0 --cpu 1 --for 250us >"$out" || status=$?
	cat "$out"
	[ "$status" = 1 ]
	grep -q '^  bad  *rt-kernel  *no PREEMPT_RT' "$out"
	grep -q 'fix: echo -1 > /proc/sys/kernel/sched_rt_runtime_us' "$out"
	grep -q '^boot parameters, as one line: .*isolcpus=managed_irq,domain,1' "$out"
	grep -q '^  warn  *rt-throttling' "$out"
}

@test "--fix mends, --undo restores every setting" {
	settings >"$out.before"
	status=0
	tsnpub doctor --iface tsn0 --cpu 1 --for 250us --fix --yes >"$out" 2>&1 || status=$?
	cat "$out"
	# the kernel stays as it is, so something bad remains
	[ "$status" = 1 ]
	settings >"$out.fixed"
	[ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = -1 ]
	[ -s /run/tsnpub/doctor.json ]
	[ "$(stat -c %a /run/tsnpub/doctor.json)" = 600 ]
	! cmp -s "$out.before" "$out.fixed"
	[ "$(cat /proc/sys/net/core/busy_poll)" = 50 ]
	if [ -e /sys/kernel/debug/sched/fair_server/cpu1/runtime ]; then
		[ "$(cat /sys/kernel/debug/sched/fair_server/cpu1/runtime)" = 0 ]
	fi
	# what was mended is not found again
	tsnpub doctor --iface tsn0 --cpu 1 --for 250us --json >"$out.json" || true
	! grep -A2 '"name": "rt-throttling"' "$out.json" | grep -q '"verdict": "warn"'
	tsnpub doctor --undo >"$out" 2>&1
	cat "$out"
	settings >"$out.after"
	diff "$out.before" "$out.after"
	[ ! -e /run/tsnpub/doctor.json ]
	[ "$(tsnpub doctor --undo)" = "nothing to undo" ]
}

@test "a run that is killed between two changes can be undone" {
	settings >"$out.before"
	# as it stands after the first half of a run, with the record of a change that was not made yet
	tsnpub doctor --cpu 1 --fix --yes >/dev/null 2>&1 || true
	echo 950000 >/proc/sys/kernel/sched_rt_runtime_us
	tsnpub doctor --undo >"$out" 2>&1
	cat "$out"
	settings >"$out.after"
	diff "$out.before" "$out.after"
}

@test "what somebody else has set since is left alone" {
	tsnpub doctor --cpu 1 --fix --yes >/dev/null 2>&1 || true
	echo 900000 >/proc/sys/kernel/sched_rt_runtime_us
	tsnpub doctor --undo >"$out" 2>&1
	cat "$out"
	grep -q 'sched_rt_runtime_us: left at 900000' "$out"
	[ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = 900000 ]
	echo 950000 >/proc/sys/kernel/sched_rt_runtime_us
}
