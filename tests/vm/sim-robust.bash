# SPDX-License-Identifier: GPL-2.0-only
# How the simulated ports stand rough handling: run by sim-robust.bats. The run fails
# on any warning in the kernel's log.

free_kb()
{
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	awk '/^MemFree:/ { print $2 }' /proc/meminfo
}

# traffic FROM TO FRAMES: in the background, errors are expected
traffic() { simprobe -w 100 "$1" "$2" "$3" >/dev/null 2>&1 3>&- & }

unload_under_traffic()
{
	local model

	for model; do
		ports model=$model
		traffic tsn0 tsn1 prio=0,len=1500,n=300
		traffic tsn1 tsn0 prio=0,len=700,n=300
		sleep 0.41	# to the middle of the traffic
		rmmod tsnsim
		wait
	done
}

no_leak()
{
	local before after

	unload_under_traffic ideal
	before=$(free_kb)
	unload_under_traffic ideal i225 ls1028a
	after=$(free_kb)
	echo "free memory: $before kB before, $after kB after 1800 frames in three loads and unloads"
	[ $((before - after)) -lt 600 ]
	[ ! -e /sys/kernel/debug/tsnsim ]
	fails grep -q tsn /proc/interrupts
	fails ls /dev/ptp0
}

namespace_deletion()
{
	ports model=ideal pairs=2
	ip netns add a
	ip netns add b
	ip link set tsn0 netns a
	ip link set tsn1 netns b
	ip link set tsn2 netns a
	ip link set tsn3 netns a
	for port in tsn0 tsn2 tsn3; do ip -n a link set $port up; done
	ip -n b link set tsn1 up
	ip netns exec a simprobe -w 100 tsn2 tsn3 prio=0,len=1000,n=500 >/dev/null 2>&1 3>&- &
	sleep 0.2
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

replace_under_load()
{
	local model i

	for model; do
		ports model=$model
		traffic tsn0 tsn1 prio=0,len=1500,n=300
		traffic tsn0 tsn1 prio=1,len=100,n=300
		sleep 0.41
		for i in 1 2 3 4 5; do
			taprio $((i * 1000)) -- f:$((60000 + i * 1000)) 7:150000
		done
		tc qdisc del dev tsn0 root
		taprio 0 -- f:60000 7:150000
		echo 0 >$knobs/pair0/carrier
		echo 1 >$knobs/pair0/carrier
		echo -500000000 >$knobs/tsn0/phc_step_ns
		ethtool -G tsn0 tx 64 rx 64
		tc qdisc del dev tsn0 root
		wait
		sleep 0.3
		carrier tsn0
		probe tsn0 tsn1 prio=0,len=60
		same "$model: received" ${F[0.nrx]} 1
	done
}
