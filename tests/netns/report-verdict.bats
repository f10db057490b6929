#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What a report judges by: whose bar it is, and what cannot be judged.

setup() {
	here=$BATS_TEST_DIRNAME/../..
	report="$here/build/tsnpub report"
	makelog=$here/build/tools/makelog
	cd "$BATS_TEST_TMPDIR" || return 1
}

# judged FILTER VALUE STATUS [ARGUMENT]...: that is what the verdict of a report says, and its exit status
judged() {
	local filter=$1 value=$2 expected=$3 got status=0
	shift 3
	$report --json "$@" >json || status=$?
	got=$(jq -c ".verdict | $filter" json)
	echo "report $*: $got, status $status"
	[ "$got" = "$value" ] && [ "$status" = "$expected" ]
}

@test "the bar of the sender's log alone is what the joined report judges by" {
	# 40 left 1 ms late; 20 were lost, all of them late ones
	$makelog --tx tx --rx rx --frames 10000 --tx-late 250 --lose 500 --tx-deadline 500000 --tx-sla 995000000
	for logs in "tx rx" "rx tx"; do
		judged '[.is, .due, .missed, .late, .required]' '["met",10000,40,40,0.995]' 0 $logs
		judged .limit '{"from":"tx log","of":"launch_error","deadline_ns":500000,"sla":0.995}' 0 $logs
	done
	$makelog --tx tx --rx rx --frames 10000 --tx-late 250 --lose 300 --tx-deadline 500000 --tx-sla 995000000
	# alone the sender does not know what was lost: 33, of them 6 late ones
	judged '[.is, .missed]' '["met",40]' 0 tx
	judged '[.is, .missed]' '["missed",67]' 1 rx tx
	run $report rx tx
	[[ "$output" == *"limit from the sender's log: launch error at most 500us, 99.5 %"* ]]
	# an SLA without a deadline
	$makelog --tx tx --rx rx --frames 1000 --lose 100 --tx-sla 995000000
	judged '[.is, .missed, .limit]' '["missed",10,{"from":"tx log","sla":0.995}]' 1 rx tx
}

@test "the bar of the receiver's log goes before the sender's, and that is said" {
	$makelog --tx tx --rx rx --frames 1000 --tx-late 100 --rx-deadline 500000 --tx-deadline 300000 --tx-sla 900000000
	judged '[.is, .missed, .limit.from, .other_limit]' \
		'["met",0,"rx log",{"from":"tx log","of":"launch_error","deadline_ns":300000,"sla":0.9}]' 0 rx tx
	run $report rx tx
	[[ "$output" == *"limit from the receiver's log: latency at most 500us; the sender's log has another: launch error at most 300us, 90 %"* ]]
	# the same bar on both sides is no other one
	$makelog --tx tx --rx rx --frames 1000 --rx-deadline 500000 --tx-deadline 500000
	judged '[.is, .other_limit]' '["met",null]' 0 rx tx
	# what is asked for goes before both
	judged '[.is, .missed, .limit, .other_limit]' \
		'["missed",1000,{"from":"options","of":"latency","deadline_ns":1},null]' 1 rx tx --deadline 1ns
	# an SLA alone is asked of the deadline that there is
	$makelog --tx tx --rx rx --frames 1000 --tx-late 100 --tx-deadline 500000
	judged '[.is, .missed, .limit.deadline_ns]' '["met",10,500000]' 0 rx tx --sla 99%
}

@test "frames of an untrusted clock are neither in time nor late" {
	$makelog --tx tx --rx rx --frames 1000 --unsynced 100 --rx-deadline 500000 --rx-sla 990000000
	# 10 of them; even if all were late it would be met
	for logs in rx "rx tx"; do
		judged '[.is, .met, .missed, .unjudged]' '["met",true,0,10]' 0 $logs
	done
	$makelog --tx tx --rx rx --frames 1000 --unsynced 100 --lose 250 --rx-deadline 500000 --rx-sla 990000000
	for logs in rx "rx tx"; do
		judged '[.is, .met]' '["not known",false]' 1 $logs
	done
	run $report rx
	[[ "$output" == *"Verdict: NOT KNOWN: "*" not judged ("*": clock not in sync, or no stamp)"* ]]
	judged '[.is, .met]' '["missed",false]' 1 rx --sla 99.9% --deadline 500us
	# the launch times of a sender that is not in sync are as little worth
	$makelog --tx tx --rx rx --frames 1000 --tx-unsynced 50 --rx-deadline 500000 --rx-sla 990000000
	judged '[.is, .unjudged]' '["not known",20]' 1 rx tx
	[ "$(jq .rx.received.unsynced json)" = 20 ]
	$makelog --tx tx --frames 1000 --tx-unsynced 50 --tx-deadline 500000 --tx-sla 990000000
	judged '[.is, .unjudged]' '["not known",20]' 1 tx
	# without a deadline it is enough that they came
	$makelog --tx tx --rx rx --frames 1000 --unsynced 100 --rx-sla 1000000000
	judged '[.is, .unjudged]' '["met",0]' 0 rx tx
}

@test "what the receiver was not to take is no loss of its" {
	$makelog --tx tx --rx rx --frames 1000 --streams 3 --rx-only 2 --lose 100 --skipped 500 --tx-late 250 --rx-deadline 1000000000 --rx-sla 980000000
	judged '[.is, .due, .missed]' '["met",1002,12]' 0 rx tx --csv frames.csv
	[ "$(jq -c '.join | [.sent, .received, .not_received, .not_taken]' json)" = '[1000,990,10,2000]' ]
	# they are in the sender's figures, and in the list
	[ "$(jq .tx.sent.sent json)" -eq 3000 ]
	[ "$(grep -c ',[01],[0-9]*,sent,' frames.csv)" -eq 2000 ]
	[ "$(grep -c ',2,[0-9]*,lost,' frames.csv)" -eq 10 ]
	run $report rx tx
	[[ "$output" == *"not taken"*"2000  sent beside them, of runs or streams that the receiver was not to take"* ]]
	# the sender's own bar is about all that it sent: 12 late (two of them lost), 6 skipped, 10 lost
	$makelog --tx tx --rx rx --frames 1000 --streams 3 --rx-only 2 --lose 100 --skipped 500 --tx-late 250 --tx-deadline 500000
	judged '[.is, .due, .missed]' '["missed",3006,26]' 1 rx tx
}

@test "of a log without a frame nothing is proven" {
	$makelog --tx tx --rx rx --frames 1000 --rx-deadline 500000
	head -c 4096 rx >none
	judged '[.is, .met, .due, .limit.from]' '["not known",false,0,"rx log"]' 1 none
	run $report --deadline 1s none
	[ "$status" -eq 1 ]
	[[ "$output" == *"Verdict: NOT KNOWN: there is nothing to judge"* ]]
	# beside the sender's log all of it is missed; the logs have no run in common then
	judged '[.is, .due]' '["not known",0]' 2 none tx
}
