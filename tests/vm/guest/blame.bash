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
	cat "$out.err"
	read_worst
}

# read_worst: of the report in $out
read_worst() {
	cat "$out"
	worst= late= held= sum=
	eval "$(awk '/ us late: / && !seen++ { late = $1; held = $0; sub(/.* for /, "", held); sub(/ us.*/, "", held); worst = $0; next }
		seen == 1 && /^ +[0-9.]+ us  / { sum += $1; next }
		seen == 1 && NF == 0 { seen++ }
		END { gsub(/\047/, "", worst); printf "worst=\047%s\047 late=%s held=%s sum=%s", worst, late, held, sum }' "$out")"
}

# named TEXT: the worst one holds TEXT and held the CPU for 300 us (less the 10 us of its phase), and its parts add up to the
# whole, to the rounding of what is printed. Beside the culprit there are the thread's own way to the CPU, and at some phases
# the kernel's tick.
named() {
	[[ $worst == *"$1"* ]]
	# the worst one is the latest of those that were measured
	awk -v late="$late" '$1 == "max" && $2 == "ns" { max = $3 / 1000 } END { exit !(late >= max - 0.1 && late <= max + 0.1) }' "$out"
	awk -v held="$held" -v late="$late" -v sum="$sum" 'BEGIN {
		exit !(held >= 290 && held <= 310 && late >= held && late <= held + 50 && sum >= late - 0.4 && sum <= late + 0.4)
	}'
}
