#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# tsnpub report: joined figures against an independent computation, and every kind of bad input.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	report="$PWD/build/tsnpub report"
	makelog="$PWD/build/tools/makelog"
	check="python3 $PWD/tests/netns/report_check.py"
	cd "$BATS_TEST_TMPDIR"
}

refused() { # TEXT ARGUMENTS...: status 2 and one line with TEXT
	local text=$1
	shift
	run timeout 10 $report "$@"
	echo "$output"
	[ "$status" = 2 ]
	[[ "$output" == *"$text"* ]]
	[ "${#lines[@]}" = 1 ]
}

@test "the figures of a joined report agree with an independent computation" {
	$makelog --tx tx --rx rx --frames 20000 --streams 2 --lose 997 --duplicate 1009 --reorder 701 --late 5003 --hw
	$report --json rx tx >joined.json
	run $check joined.json rx tx
	echo "$output"
	[ "$output" = agrees ]
}

@test "the order of the logs does not matter" {
	$makelog --tx tx --rx rx --frames 3000 --lose 100
	$report --json rx tx >a
	$report --json tx rx >b
	cmp a b
}

@test "each log alone is reported" {
	$makelog --tx tx --rx rx --frames 3000 --lose 100
	$report --json rx >rx.json
	$check rx.json rx
	[ "$(jq .join rx.json)" = null ]
	$report --json tx >tx.json
	[ "$(jq .tx.sent.sent tx.json)" = 3000 ]
	[ "$(jq -r '.tx.figures[] | select(.figure == "wakeup") | .max_ns < 5000' tx.json)" = true ]
}

@test "frames lost before the first and after the last received one are counted" {
	$makelog --tx tx --rx rx --frames 1000 --skip-first 10 --skip-last 20
	run $report --json rx tx
	[ "$(jq .rx.received.lost <<<"$output")" = 0 ]
	[ "$(jq .join.not_received <<<"$output")" = 30 ]
}

@test "--deadline counts what is late and sets the exit status" {
	$makelog --tx tx --rx rx --frames 10000 --late 1000
	run $report --json --deadline 500us rx
	[ "$status" = 1 ]
	[ "$(jq .verdict.late <<<"$output")" = 10 ]
	[ "$(jq .rx.received.late.miss_rate <<<"$output")" = 0.001 ]
	run $report --deadline 2ms rx
	[ "$status" = 0 ]
}

@test "--sla is the share that must be in time, lost frames are not" {
	$makelog --tx tx --rx rx --frames 10000 --late 1000 --lose 250
	# 10 late, of them those of 1000, 2000 ... are lost too: 40 not in time
	run $report --json --deadline 500us --sla 99.6% tx rx
	[ "$status" = 0 ]
	[ "$(jq .verdict.missed <<<"$output")" = 40 ]
	run $report --deadline 500us --sla 99.61% tx rx
	[ "$status" = 1 ]
	[[ "$output" == *"Verdict: MISSED: 40 of 10000"* ]]
}

@test "cycles that the sender skipped are not in time, beside the receiver's log too" {
	$makelog --tx tx --rx rx --frames 1000 --lose 250 --skipped 100
	for logs in "tx rx" tx; do
		run $report --json --sla 99% $logs
		echo "$logs: $(jq -c .verdict <<<"$output")"
		# ten that were skipped; and four that were lost, which the sender cannot tell
		[ "$(jq -c '.verdict | [.due, .missed, .met]' <<<"$output")" = \
			"$([ "$logs" = tx ] && echo '[1010,10,true]' || echo '[1010,14,false]')" ]
	done
	run $report --sla 100% rx
	[[ "$output" == *"Verdict: MISSED: 3 of 999"* ]]
}

@test "--csv has a line for each frame" {
	$makelog --tx tx --rx rx --frames 1000 --lose 100 --duplicate 90 --reorder 70
	$report --csv joined.csv tx rx >text
	# 990 received, 10 of them twice (899 is lost), 10 lost
	[ "$(wc -l <joined.csv)" = 1011 ]
	[ "$(grep -c ',lost,' joined.csv)" = 10 ]
	[ "$(grep -c ',duplicate,' joined.csv)" = 10 ]
	head -1 joined.csv | grep -qx 'run,stream,seq,result,launch_ns,wake_ns,submit_ns,tx_sched_ns,tx_sw_ns,tx_hw_ns,rx_hw_ns,rx_xdp_ns,rx_user_ns,size,tx_status,rx_flags'
	grep -q '^1234abcd,0,99,lost,1800000000099000000,' joined.csv
	[ "$(python3 -c "
import csv
rows = list(csv.DictReader(open('joined.csv')))
print(max(int(r['rx_xdp_ns']) - int(r['launch_ns']) for r in rows if r['result'] == 'received'))")" = \
		"$($report --json rx | jq '.rx.figures[] | select(.figure == "latency" and .source == "xdp") | .max_ns')" ]
	# alone on stdout
	$report --csv - rx | head -1 | grep -q ^run,stream
	run $report --json --csv - rx
	[ "$status" = 2 ]
}

@test "a wake-up log gives index, actual, predicted and jitter" {
	$makelog --wake wake --frames 1000
	$report --csv wake.csv wake >text
	head -1 wake.csv | grep -qx 'index,actual_ns,predicted_ns,jitter_ns'
	[ "$(wc -l <wake.csv)" = 1001 ]
	python3 -c "
import csv
for r in csv.DictReader(open('wake.csv')):
    assert int(r['actual_ns']) - int(r['predicted_ns']) == int(r['jitter_ns'])"
	run $report --json --deadline 1us wake
	[ "$status" = 1 ]
	[ "$(jq .wake.late <<<"$output")" = 1000 ]
}

@test "a sync log gives rms, MTIE, TDEV and ADEV" {
	$makelog --sync sync --frames 1000
	run $report sync
	[ "$status" = 0 ]
	[[ "$output" == *"offset from master: 1000 values"* ]]
	[[ "$output" == *"MTIE ns"* ]]
	$report --json sync >sync.json
	python3 - <<-EOF2
	import json, math, struct
	data = open("sync", "rb").read()[4096:]
	x = [struct.unpack_from("<2q", data, i)[1] for i in range(0, len(data), 64)]
	s = json.load(open("sync.json"))["sync"]["master_offset"]
	assert abs(s["rms_ns"] - math.sqrt(sum(v * v for v in x) / len(x))) < 1e-9
	for row in s["stability"]:
	    n = round(row["tau_s"])
	    N = len(x)
	    assert row["mtie_ns"] == max(max(x[k:k + n + 1]) - min(x[k:k + n + 1]) for k in range(N - n))
	    if 2 * n < N:
	        a = sum((x[i + 2 * n] - 2 * x[i + n] + x[i]) ** 2 for i in range(N - 2 * n))
	        assert abs(row["adev"] / math.sqrt(a / (2 * (n * 1e9) ** 2 * (N - 2 * n))) - 1) < 1e-9
	    if 3 * n <= N:
	        t = sum(sum(x[i + 2 * n] - 2 * x[i + n] + x[i] for i in range(j, j + n)) ** 2
	                for j in range(N - 3 * n + 1))
	        assert abs(row["tdev_ns"] / math.sqrt(t / (6 * n * n * (N - 3 * n + 1))) - 1) < 1e-9
	assert len(s["stability"]) == 10
	EOF2
}

@test "--pcapng has the frames of both sides with ns time stamps" {
	$makelog --tx tx --rx rx --frames 1000 --lose 100 --duplicate 90 --reorder 70
	$report --pcapng frames.pcapng tx rx >text
	python3 "$BATS_TEST_DIRNAME/pcapng_check.py" frames.pcapng >found
	[ "$(jq -c .packets found)" = '{"sender (sw)":1000,"receiver (xdp)":1000}' ]
	[ "$(jq -c '.comments | [.lost, .duplicate, .reordered]' found)" = '[10,10,13]' ]
	jq '.last["receiver (xdp)"]' found >last
	[ "$(jq .length last)" = 64 ]
	# the number, and the launch time 998 ms after the start (the last one, 999, is lost)
	[ "$(jq -r .frame last | cut -c 1-44)" = 91e0f000fe0002000000000188b554534e5001000000 ]
	[ "$(jq -r .frame last | cut -c 45-92)" = 1234abcd0000000000000000000003e6$(printf %016x 1800000000998000000) ]
	$report --csv frames.csv rx >text
	[ "$(jq -r .time_ns last)" = "$(tail -1 frames.csv | cut -d, -f12)" ]
	if command -v tshark >tshark; then
		[ "$(tshark -r frames.pcapng -Y 'eth.type == 0x88b5 && !_ws.malformed' 2>/dev/null | wc -l)" = 2000 ]
	fi
	refused "name a file" --pcapng - rx
	$makelog --wake wake --frames 10
	refused "have no frames" --pcapng x wake
	[ ! -e x ]
}

@test "--html is one page with plots, worst frames and escaped text" {
	$makelog --tx tx --rx rx --frames 20000 --lose 1000 --late 7001
	python3 - <<-EOF2
	import json, struct, zlib
	data = bytearray(open("rx", "rb").read())
	text = json.dumps({"host": "<script>alert(1)</script>"}).encode()
	data[24:32] = struct.pack("<II", len(text), zlib.crc32(text))
	data[32:32 + len(text)] = text
	open("rx", "wb").write(data)
	EOF2
	run $report --html page.html tx rx
	[ "$status" = 0 ]
	[[ "$output" == *"frames                19980"* ]]
	! grep -q '<script' page.html || false
	grep -q '&lt;script&gt;' page.html
	# nothing is fetched from elsewhere
	! grep -Eq '(src|href)="?(http|//)' page.html || false
	python3 - <<-EOF2
	import re, html.parser
	page = open("page.html").read()
	row = re.search(r"<h2>Worst by latency.*?</tr>\s*<tr>(.*?)</tr>", page, re.S).group(1)
	cells = re.findall(r"<td>(.*?)</td>", row)
	assert cells[2] in ("7000", "14001"), cells
	assert int(cells[3]) > 1000000 and int(cells[3]) == int(cells[4]) + int(cells[5]), cells
	html.parser.HTMLParser().feed(page)
	EOF2
	[ "$(grep -c '<svg' page.html)" = 7 ]
	refused "both want stdout" --json --html - rx
	$report --html - rx | head -1 | grep -qx '<!DOCTYPE html>'
}

@test "--html without gnuplot says so and has the rest" {
	$makelog --wake wake --frames 1000
	PATH=/nonexistent run $report --html page.html wake
	[ "$status" = 0 ]
	[[ "$output" == *"no plots: gnuplot is not installed: apt install gnuplot-nox"* ]]
	[ "$(grep -c 'No plot: gnuplot is not installed' page.html)" = 2 ]
	grep -q 'Worst by wake-up latency (user stamps)' page.html
}

@test "--compare tells a change from noise" {
	$makelog --wake a --frames 50000
	$makelog --wake b --frames 50000 --seed 2
	$makelog --wake c --frames 50000 --seed 3 --offset 300 --late 5000
	run $report --compare --json a b c --deadline 100us --sla 99.99%
	[ "$status" = 1 ]
	[ "$(jq .changes[0].mean_ns.real <<<"$output")" = false ]
	[ "$(jq .changes[0].p99_ns.real <<<"$output")" = false ]
	[ "$(jq .changes[1].p99_ns.real <<<"$output")" = true ]
	[ "$(jq '.changes[1].mean_ns | .real and .low > 300 and .high < 700' <<<"$output")" = true ]
	[ "$(jq .changes[1].miss_rate.change <<<"$output")" = 0.0002 ]
	[ "$(jq -c '[.logs[].met]' <<<"$output")" = '[true,true,false]' ]
	run $report --compare a a
	[ "$status" = 2 ]
	cp a d
	run $report --compare a d
	[ "$status" = 0 ]
	[[ "$output" == *"mean      ns            +0.0  95 % interval"*"no more than noise"* ]]
}

@test "--compare takes logs of one kind with a common stamp source" {
	$makelog --tx tx --rx rx --frames 5000 --hw
	$makelog --rx rx2 --frames 5000 --seed 9
	run $report --compare rx rx2
	[ "$status" = 0 ]
	[[ "$output" == *"latency (RX - launch), xdp stamps"* ]]
	refused "another kind" --compare rx tx
	refused "two logs or more" --compare rx
	$makelog --sync sync --frames 10
	refused "sync logs cannot be compared" --compare rx sync
	$makelog --rx few --frames 50
	run $report --compare few rx
	[[ "$output" == *"too few samples"* ]]
}

@test "the clocks' uncertainty stands beside one-way figures" {
	$makelog --tx tx --rx rx --frames 1000 --clocks 700
	run $report tx rx
	[ "$status" = 0 ]
	# each side: 700 ns from the master, 10 ns of the PHC, half of a window of 400 ns
	[[ "$output" == *"sender 910 ns, receiver 910 ns, together +-1820 ns"* ]]
	[[ "$output" == *"Receiver's clock: 10 records, 0 of them not in sync"* ]]
	[[ "$output" != *"negative"* ]]
	run $report --json rx
	[ "$(jq -c .clock_uncertainty <<<"$output")" = '{"receiver_ns":910,"negative_latencies":0}' ]
	# sync records are no frames
	[ "$(jq .rx.received.frames <<<"$output")" = 1000 ]
}

@test "negative latencies are counted and explained" {
	$makelog --tx tx --rx rx --frames 1000 --clocks 20000 --early 6000
	$report --json tx rx >json
	[ "$(jq .clock_uncertainty.negative_latencies json)" = "$($report --csv - rx | python3 -c "
import csv, sys
print(sum(int(r['rx_xdp_ns']) < int(r['launch_ns']) for r in csv.DictReader(sys.stdin)))")" ]
	run $report tx rx
	[[ "$output" == *"latencies are negative, down to -"*"within the uncertainty of 40420 ns"* ]]
	$makelog --tx tx --rx rx --frames 1000 --clocks 100 --early 6000
	run $report tx rx
	[[ "$output" == *"by more than the uncertainty of 620 ns tells"* ]]
	$makelog --rx rx --frames 1000 --early 6000
	run $report rx
	[[ "$output" == *"no frame arrives before its launch"* ]]
}

@test "frames received while not in sync are counted and kept out of the figures" {
	$makelog --rx rx --frames 1000 --unsynced 100
	run $report --json rx
	[ "$(jq .rx.received.unsynced <<<"$output")" = 10 ]
	[ "$(jq .rx.received.lost <<<"$output")" = 0 ]
	[ "$(jq '.rx.figures[0] | .count == 990 and .max_ns < 100000' <<<"$output")" = true ]
}

@test "random bytes as records cost little and break nothing" {
	python3 - <<-EOF2
	import random, struct, zlib
	random.seed(1)  # what it finds is found again
	for kind in 1, 2, 3, 4:
	    head = b"TSNLOG\r\n" + struct.pack("<6I", 1, 0x01020304, kind, 64, 2, zlib.crc32(b"{}")) + b"{}"
	    open(f"random{kind}", "wb").write(head.ljust(4096, b"\0") + random.randbytes(64 * 50000))
	EOF2
	for kind in 1 2 3 4; do
		run timeout 20 $report --json --html page.html --csv frames.csv random$kind
		[ "$status" = 0 ]
	done
	run timeout 20 $report --pcapng frames.pcapng random1 random2
	[ "$status" = 2 ]
	run timeout 20 $report --compare random2 random2
	[ "$status" = 2 ]
	cp random2 again
	run timeout 20 $report --compare random2 again
	[ "$status" = 0 ]
}

@test "logs without a common run are reported apart, and said" {
	$makelog --tx tx --frames 100 --run 1
	$makelog --rx rx --frames 100 --run 2
	run $report tx rx
	[ "$status" = 2 ]
	[[ "$output" == *"no run in common"* ]]
	[[ "$output" == *"frames sent             100"* ]]
}

@test "a log that was cut off is read up to the cut, and said" {
	$makelog --rx rx --frames 100
	truncate -s $((4096 + 50 * 64 + 3)) rx
	run $report rx
	[ "$status" = 0 ]
	[[ "$output" == *"'rx': cut off in mid-record"* ]]
	[[ "$output" == *"frames                   50"* ]]
	truncate -s 4096 rx
	run $report rx
	[ "$status" = 0 ]
	[[ "$output" == *"has no records"* ]]
}

@test "bad logs are refused in one line that names the file and the reason" {
	$makelog --tx tx --rx rx --frames 100
	refused "'none': cannot open it: No such file" none
	refused "'.': a directory" .
	: >empty
	refused "'empty': empty file" empty
	head -c 100 rx >short
	refused "'short': cut off within its header: 100 of 4096" short
	head -c 5000 /dev/zero >zeros
	refused "'zeros': not a tsnpub log" zeros
	cp rx damaged
	printf x | dd of=damaged bs=1 seek=50 conv=notrunc 2>/dev/null
	refused "'damaged': damaged header: the checksum" damaged
	mkfifo fifo
	refused "'fifo': a FIFO" fifo
	refused "'/dev/null': not a regular file" /dev/null
	refused "given twice" tx rx tx
	ln tx again
	refused "given twice" tx again
	cp tx copy
	refused "another sender's (TX) log" tx rx copy
	refused "File name too long" "$(printf 'x%.0s' {1..300})"
}

@test "bad options are refused" {
	$makelog --rx rx --frames 100
	refused "--deadline '100': a time needs a unit" --deadline 100 rx
	refused "--deadline '0'" --deadline 0 rx
	refused "--sla '99'" --sla 99 rx
	refused "--sla '0%'" --sla 0% rx
	refused "'/': a directory" --csv / rx
	run $report
	[ "$status" = 2 ]
	[[ "$output" == *"no log given"* ]]
	# a log in the place of the CSV file stays what it is
	cp rx kept
	refused "--csv 'rx': a log is not overwritten; name the file to write, then the logs" --csv rx kept
	cmp rx kept
}

@test "what cannot be written is an error, and leaves nothing behind" {
	$makelog --rx rx --frames 100
	run $report --csv /dev/full rx
	[ "$status" = 3 ]
	run $report --csv missing/x.csv rx
	[ "$status" = 3 ]
	run bash -c "$report rx >/dev/full"
	[ "$status" = 3 ]
	[ "$(ls)" = rx ]
	# killed in mid-run: a pipe whose reader is gone
	$makelog --rx rx --frames 200000
	run bash -c "set -o pipefail; $report --csv kept.csv --html - rx | head -c 1 >/dev/null"
	[ "$status" != 0 ]
	[ "$(ls)" = rx ]
	echo former >kept.csv
	$report --csv kept.csv rx >/dev/null
	[ "$(wc -l <kept.csv)" = 200001 ]
	[ "$(ls | tr '\n' ' ')" = "kept.csv rx " ]
}

@test "control characters in a log's description do not reach the terminal" {
	$makelog --rx rx --frames 10
	python3 - <<-EOF2
	import json, struct, zlib
	data = bytearray(open("rx", "rb").read())
	text = json.dumps({"host": "a\u001b[2Jb", "command": "x\ny"}).encode()
	data[24:32] = struct.pack("<II", len(text), zlib.crc32(text))
	data[32:32 + len(text)] = text
	open("rx", "wb").write(data)
	EOF2
	run $report rx
	[ "$status" = 0 ]
	[[ "$output" == *"host a?[2Jb, command x?y"* ]]
}

@test "memory stays bounded: a million joined frames within 200 MB" {
	$makelog --tx tx --rx rx --frames 1000000 --cycle 31250 --lose 10007
	/usr/bin/env python3 - $report <<-EOF2
	import resource, subprocess, sys
	subprocess.run(sys.argv[1:] + ["tx", "rx"], check=True, stdout=subprocess.DEVNULL)
	used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
	assert used < 200 * 1000, used
	EOF2
	rm -f tx rx
}
