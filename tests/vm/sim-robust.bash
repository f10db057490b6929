# SPDX-License-Identifier: GPL-2.0-only
# How the simulated ports stand rough handling: run by sim-robust.bats and sim-rt.bats. The run fails on any warning in
# the kernel's log.

[ -p /tmp/never ] || mkfifo /tmp/never

free_kb()
{
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	awk '/^MemFree:/ { print $2 }' /proc/meminfo
}

# traffic FROM TO FRAMES...: in the background, errors are expected; its lines are in /tmp/traffic.FROM
traffic() { simprobe -w 100 "$@" >"/tmp/traffic.$1" 2>&1 3>&- & }

# flowing PORT: waits until frames leave, without a process, which would take longer than they do
flowing()
{
	local sent=0

	sleep 0.35	# they begin 0.4 s after the start at the earliest
	while [ "$sent" -lt 10 ]; do
		read -t 0.002 <>/tmp/never || true
		read -r sent <"/sys/class/net/$1/statistics/tx_packets"
	done
}

# cut_off FROM: not all of that traffic could be sent
cut_off() { grep -q ' err=[1-9]' "/tmp/traffic.$1" || { echo "the traffic from $1 had come to its end"; tail -n 3 "/tmp/traffic.$1"; return 1; }; }

unload_under_traffic()
{
	local model

	for model; do
		ports model=$model
		traffic tsn0 tsn1 prio=0,len=1500,n=4000
		traffic tsn1 tsn0 prio=0,len=700,n=1000
		flowing tsn0
		chrt -f 1 rmmod tsnsim	# before the senders, which keep the CPU busy
		wait
		cut_off tsn0	# so it was in mid-traffic
	done
}

no_leak()
{
	local before after

	unload_under_traffic ideal
	before=$(free_kb)
	unload_under_traffic i225 i226 i210 ls1028a
	after=$(free_kb)
	# the module itself counts its frames, and warns if one is left
	echo "free memory: $before kB before, $after kB after traffic in four loads and unloads"
	[ $((before - after)) -lt 600 ]
	[ ! -e /sys/kernel/debug/tsnsim ]
	fails grep -q tsn /proc/interrupts
	fails ls /dev/ptp0
}

namespace_deletion()
{
	local model

	for model; do
		echo "$model"
		namespaces_with_ports $model
	done
}

namespaces_with_ports()
{
	ports model=$1 pairs=2
	ip netns add a
	ip netns add b
	ip link set tsn0 netns a
	ip link set tsn1 netns b
	ip link set tsn2 netns a
	ip link set tsn3 netns a
	for port in tsn0 tsn2 tsn3; do ip -n a link set $port up; done
	ip -n b link set tsn1 up
	# from 0.3 s on
	ip netns exec a simprobe -b $((${EPOCHREALTIME/.} * 1000 + 400000000)) -w 100 tsn2 tsn3 prio=0,len=1000,n=3000 \
		>/dev/null 2>&1 3>&- &
	sleep 0.305
	ip netns del b
	ip netns pids a | xargs kill
	ip netns del a
	wait
	sleep 0.5
	# back in the first namespace, and usable
	same "ports" "$(ls /sys/class/net | grep -c tsn)" 4
	ip link set tsn0 up
	ip link set tsn1 up
	carrier tsn0
	probe tsn0 tsn1 prio=0,len=60
	same "received" ${F[0.nrx]} 1
}

# Schedules, classes, link, clock, rings, EEE, coalescing and XDP change while frames flow both ways. What a part refuses
# (i225 a second schedule, i210 all of them) is refused under load too.
change_under_load()
{
	local model i

	for model; do
		ports model=$model bounce_ms=1
		traffic tsn0 tsn1 prio=0,len=1500,n=1000 prio=1,len=100,n=1000
		traffic tsn1 tsn0 prio=0,len=300,n=1000
		flowing tsn0
		for i in 1 2 3; do
			taprio $((i * 1000)) -- f:$((60000 + i * 1000)) 7:150000 2>/dev/null || [ $model = i225 ] ||
				[ $model = i210 ]
		done
		simxdp -n tsn1 pass >/dev/null
		ethtool -G tsn0 tx 64 rx 64
		ethtool -C tsn1 rx-usecs 100
		ethtool --set-eee tsn0 eee on 2>/dev/null || [ $model = ls1028a ]
		echo -500000000 >$knobs/tsn0/phc_step_ns
		simxdp -n tsn1 drop >/dev/null
		tc qdisc del dev tsn0 root 2>/dev/null || [ $model = i210 ]
		tc qdisc replace dev tsn0 parent root handle 100: mqprio $four_classes hw 1 2>/dev/null || [ $model = i210 ]
		echo 0 >$knobs/pair0/carrier
		echo 1 >$knobs/pair0/carrier
		tc qdisc del dev tsn0 root 2>/dev/null || true
		ethtool -G tsn0 tx 256 rx 256
		wait
		sleep 0.1
		carrier tsn0
		probe tsn0 tsn1 prio=0,len=60
		same "$model: received" ${F[0.nrx]} 1
	done
}
