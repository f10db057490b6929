# SPDX-License-Identifier: GPL-2.0-only
# How the simulated ports stand rough handling: run by sim-robust.bats and sim-rt.bats. The run fails on any warning in
# the kernel's log.

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
	unload_under_traffic i225 i226 i210 ls1028a
	after=$(free_kb)
	# the module itself counts its frames, and warns if one is left
	echo "free memory: $before kB before, $after kB after 2400 frames in four loads and unloads"
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

# Schedules, classes, link, clock, rings, EEE, coalescing and XDP change while frames flow both ways. What a part refuses
# (i225 a second schedule, i210 all of them) is refused under load too.
change_under_load()
{
	local model i

	for model; do
		ports model=$model bounce_ms=1
		traffic tsn0 tsn1 prio=0,len=1500,n=150 prio=1,len=100,n=150
		traffic tsn1 tsn0 prio=0,len=300,n=300
		sleep 0.41	# to the middle of the traffic
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
