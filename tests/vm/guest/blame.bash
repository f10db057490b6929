# SPDX-License-Identifier: GPL-2.0-only
# Loaded by the tests of blame: a run beside a culprit of the simulated NIC's module, and its worst line.
# shellcheck shell=bash

C=/sys/kernel/debug/tsnsim/culprit

setup_file() {
	insmod /lab/modules/tsnsim.ko
}

setup() {
	out=$BATS_TEST_TMPDIR/out
}

# blame CPU CYCLES [OPTION...]: with the culprit at work; the worst line is in $worst, its figures in $late and $held (us), the
# sum of its parts in $sum
blame() {
	local cpu=$1 count=$2
	shift 2
	tsnpub latency --cycle 1ms --count "$count" --cpu "$cpu" --blame --blame-over 100us "$@" >"$out" 2>"$out.err"
	cat "$out" "$out.err"
	worst= late= held= sum=
	eval "$(awk '/ us late: / && !seen++ { late = $1; held = $0; sub(/.* for /, "", held); sub(/ us.*/, "", held); worst = $0; next }
		seen == 1 && /^ +[0-9.]+ us  / { sum += $1; next }
		seen == 1 && NF == 0 { seen++ }
		END { gsub(/\047/, "", worst); printf "worst=\047%s\047 late=%s held=%s sum=%s", worst, late, held, sum }' "$out")"
}
