# SPDX-License-Identifier: GPL-2.0-only
# Blame of a thread that spins on the only CPU: it lets no other one run before it ends. Times are exact. Strikes come every
# 1.01 ms: 101 wake-ups, 500 us apart, meet all phases of them in steps of 10 us. The runs are short
# (real-time throttling, which the last one is about; and what spins costs the host CPU time).
# vm: --timeout 900

load blame

@test "a thread that spins on the only CPU: the interrupt is named, by what is usual and by a given time" {
	for over in "" "--blame-over 100us"; do
		echo "mmc0 0 300 1500 1010" >$C/irq
		# shellcheck disable=SC2086
		tsnpub latency --cycle 500us --count 110 --blame --timer spin $over >"$out"
		read_worst
		named "mmc0 held the CPU for "
		# of the interrupt's histogram: all of its strikes lie between 256 us and 1 ms
		awk '$1 == "IRQ" && $3 == "mmc0" { print; seen = $4 >= 50 && $4 == $12 && $5 >= 300 && $5 <= 302 } END { exit !seen }' "$out"
		# none of it is charged to what it came upon
		awk '$1 == "softirq" { most = $4 > most ? $4 : most } $1 == "local" { most = $6 > most ? $6 : most }
			END { print "others at most", most, "us"; exit !(most > 0 && most < 50) }' "$out"
	done
}

@test "of more late wake-ups than there is room for the latest are kept, and the others counted" {
	echo "mmc0 0 300 1500 1010" >$C/irq
	tsnpub latency --cycle 500us --count 400 --blame --blame-over 50us --timer spin --csv "$out.csv" >"$out"
	echo "0 1 1 1000" >$C/softirq
	cat "$out"
	late=$(awk -F, 'NR > 1 && $4 > 50000 { n++ } END { print n }' "$out.csv")
	echo "$late were late"
	[ "$late" -gt 80 ]
	line=$(grep ' late wake-ups looked at' "$out")
	more=$(sed -n 's/.*; \([0-9]*\) more could not be kept$/\1/p' <<<"$line")
	[ $((${line%% late*} + ${more:-0})) = "$late" ]
	# the five that are shown are the five latest of all, to the rounding of what is printed
	paste <(awk '/ us late: / { print $1 }' "$out") <(awk -F, 'NR > 1 { print $4 / 1000 }' "$out.csv" | sort -rn | head -5) |
		awk '{ print; if ($1 < $2 - 0.051 || $1 > $2 + 0.051) exit 1 } END { exit NR != 5 }'
}

@test "a publisher that spins at the end of its waits, on the only CPU" {
	echo "mmc0 0 300 1500 1010" >$C/irq
	ip link set tsn0 up
	ip link set tsn1 up
	tsnpub publish --iface tsn0 --cycle 500us --count 110 --pacing timer --spin 450us --sync ignore --blame >"$out" 2>"$out.err"
	echo "0 1 1 1000" >$C/softirq
	read_worst
	# columns are launch errors and the wake-up's
	awk '$1 == "max" && $2 == "ns" { print "max ns", $6 }' "$out" >"$out.max"
	cat "$out.max" >>"$out"
	named "mmc0 held the CPU for "
}

@test "a thread that spins and is not disturbed blames nobody" {
	tsnpub latency --cycle 1ms --count 60 --blame --timer spin >"$out"
	cat "$out"
	grep -q '^  nobody: no wake-up was later than the bound that follows what is usual (20\.[0-9]*us at the end)' "$out"
	# it has no wake-up that blame could make later
	[ "$(sed -n 's/^Blame makes a wake-up \([0-9]*\) ns later.*/\1/p' "$out")" -lt 100 ]
}

@test "the share that ordinary threads get is named, and not those of them that run meanwhile" {
	# a tenth of each 100 ms, instead of 50 ms in a second
	server=/sys/kernel/debug/sched/fair_server/cpu0
	[ ! -e $server ] || { echo 10000000 >$server/runtime && echo 100000000 >$server/period; }
	hog 0 0 2000 10000 500 &
	pid=$!
	sleep 0.1
	tsnpub latency --cycle 1ms --count 150 --blame --timer spin >"$out"
	kill $pid 2>/dev/null || true
	wait $pid || true
	read_worst
	[[ $worst == *": not let run (real-time throttling or the fair server) for "* ]]
	case $(uname -r) in
	[1-5].* | 6.[0-9].* | 6.1[01].*) fix="echo -1 > /proc/sys/kernel/sched_rt_runtime_us" ;;
	*) fix="echo 0 > /sys/kernel/debug/sched/fair_server/cpu0/runtime" ;;
	esac
	[[ $worst == *" us; $fix" ]]
	awk -v late="$late" -v sum="$sum" -v held="$held" 'BEGIN {
		exit !(held > 5000 && held >= 0.95 * late && sum >= late - 0.4 && sum <= late + 0.4)
	}'
	# no thread is blamed for it
	! grep -q "thread hog" "$out" || false
}
