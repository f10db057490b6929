# SPDX-License-Identifier: GPL-2.0-only
# The same histogram as cyclictest's (rt-tests), interleaved, in virtual time.
# vm: --timeout 600
# vm: --copy /usr/bin/cyclictest:lab/cyclictest
# vm: --copy /lib/x86_64-linux-gnu/libnuma.so.1:lab/libnuma.so.1
# vm: --copy /lib/x86_64-linux-gnu/librt.so.1:lab/librt.so.1
# vm: --copy /lib/x86_64-linux-gnu/libpthread.so.0:lab/libpthread.so.0

@test "the histogram of the wake-ups is cyclictest's, to within a microsecond and its own noise" {
	export LD_LIBRARY_PATH=/lab
	# No multiple of the tick's 4 ms: else each fourth wake-up may meet the tick, in the one program's phase and not in the other's.
	for i in 1 2 3; do
		/lab/cyclictest -q -m -p 80 -t 1 -a 0 -i 1001 -l 1000 -h 100 | awk -v i=$i '/^[0-9]/ { print i, $1 + 0, $2 + 0 }' \
			>>"$BATS_TEST_TMPDIR/theirs"
		tsnpub latency --cycle 1001us --count 1000 --cpu 0 --csv - 2>/dev/null | awk -F, -v i=$i '
			NR > 1 { n[int($4 / 1000)]++ }
			END { for (us in n) print i, us, n[us] }' >>"$BATS_TEST_TMPDIR/ours"
	done
	grep -v ' 0$' "$BATS_TEST_TMPDIR/theirs"
	sort "$BATS_TEST_TMPDIR/ours"
	# How many in 1,000 lie below each bound: no fewer of ours than of theirs below the bound a microsecond under it, no more
	# than of theirs below the one above it. Theirs vary among themselves by `noise`; 10 in 1,000 are allowed anyway.
	awk 'function below(bound, run, us, n) { for (us = 0; us < bound; us++) n += t[run, us]; return n + 0 }
		function least(bound, r, n) { n = below(bound, 1); for (r = 2; r <= 3; r++) if (below(bound, r) < n) n = below(bound, r); return n }
		function most(bound, r, n) { for (r = 1; r <= 3; r++) if (below(bound, r) > n) n = below(bound, r); return n + 0 }
		NR == FNR { t[$1, $2] += $3; all_t += $3; next }
		{ o[$2] += $3 / 3; all_o += $3 }
		END {
			for (bound = 1; bound <= 100; bound++) {
				ours += o[bound - 1]
				if (ours < least(bound - 1) - 10 || ours > most(bound + 1) + 10) {
					print "below " bound " us: ours " ours ", theirs " least(bound - 1) " to " most(bound + 1)
					bad = 1
				}
			}
			exit bad || all_t < 2900 || all_o < 2900
		}' "$BATS_TEST_TMPDIR/theirs" "$BATS_TEST_TMPDIR/ours"
}
