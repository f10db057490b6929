# SPDX-License-Identifier: GPL-2.0-only
# tsnpub latency --blame on this kernel: what is missing is said, and the rest goes on. No assertion on times: this machine
# is noisy.

TSNPUB=${TSNPUB:-$BATS_TEST_DIRNAME/../../build/tsnpub}
BTF=/sys/kernel/btf/vmlinux

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e $BTF ] || skip "this kernel has no BTF"
	out=$BATS_TEST_TMPDIR/out
}

# with_btf FILE OPTION...: a run that finds FILE in the place of the kernel's BTF
with_btf() {
	local file=$1

	shift
	unshare -m sh -c "mount --bind '$file' $BTF && exec '$TSNPUB' latency -n 300 --blame $*" >"$out" 2>"$out.err"
	cat "$out.err"
}

# The message says what, in one line.
says() {
	grep -qF -- "$1" "$out.err"
	[ "$(grep -c blame "$out.err")" = 1 ]
}

@test "a kernel without BTF: said, and measured without blame" {
	with_btf /dev/null
	says "--blame is not available: this kernel has no BTF (/sys/kernel/btf/vmlinux): it was built without CONFIG_DEBUG_INFO_BTF"
	grep -q '^  wake-ups' "$out"
	[ -z "$(grep Blame "$out")" ]
}

@test "damaged BTF is none" {
	head -c 100000 $BTF >"$BATS_TEST_TMPDIR/short"
	with_btf "$BATS_TEST_TMPDIR/short"
	says "--blame is not available: this kernel has no BTF"
	grep -q '^  wake-ups' "$out"
}

@test "a kernel without a tracepoint: said what is not shown, and the rest goes on" {
	sed 's/btf_trace_softirq_entry/btf_trace_softirq_entrX/; s/btf_trace_irq_work_entry/btf_trace_irq_work_entrX/' $BTF \
		>"$BATS_TEST_TMPDIR/btf"
	with_btf "$BATS_TEST_TMPDIR/btf" --json
	grep -qE -- "--blame: this kernel does not show .*soft interrupts.*IRQ work" "$out.err"
	jq -e '(.blame.not_shown_by_kernel | test("soft interrupts")) and
		([.blame.interrupts[].name | startswith("softirq")] | any | not) and (.blame.interrupts | length > 0)' "$out"
}

@test "a kernel without the one that blame cannot do without: said, and measured" {
	sed 's/btf_trace_sched_switch/btf_trace_sched_switcX/' $BTF >"$BATS_TEST_TMPDIR/btf"
	with_btf "$BATS_TEST_TMPDIR/btf"
	says "--blame is not available: this kernel has no tracepoint sched_switch"
	grep -q '^  wake-ups' "$out"
}

@test "a thread that is not pinned has no CPU to follow: said, and measured" {
	"$TSNPUB" latency -n 100 --cpu any --blame >"$out" 2>"$out.err"
	says "--blame is not available: the cyclic thread is not pinned; name its CPU with --cpu"
	grep -q '^  wake-ups' "$out"
}

@test "what is late is split completely, each part with what to do about it" {
	# later than a nanosecond: all of them, of which a machine that stalls sleeps through some hundreds
	"$TSNPUB" latency -n 2000 --blame --blame-over 1ns --json --load builtin >"$out" 2>/dev/null
	jq -e '.blame.late > 0 and (.blame.worst | length == 5) and
		([.blame.worst[] | .late_ns == ([.parts[].ns] | add)] | all) and
		([.blame.worst[].parts[].ns > 0] | all) and
		([.blame.culprits[] | select(.category != "own") | .advice | length > 10] | all) and
		(.blame.culprits == (.blame.culprits | sort_by(-.worst_ns)))' "$out"
}

@test "two at once do not disturb each other's blame" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	"$TSNPUB" latency -n 500 --blame --json >"$BATS_TEST_TMPDIR/a" 2>/dev/null &
	first=$!
	"$TSNPUB" latency -n 500 --blame --json >"$BATS_TEST_TMPDIR/b" 2>/dev/null
	wait $first
	for file in a b; do
		jq -e '.blame.interrupts | length > 0' "$BATS_TEST_TMPDIR/$file"
		# what was late is split completely
		jq -e '[.blame.worst[] | .late_ns == ([.parts[].ns] | add)] | all' "$BATS_TEST_TMPDIR/$file"
	done
}
