# SPDX-License-Identifier: GPL-2.0-only
# Native XDP on the simulated ports. Virtual time.
# vm: --timeout 300 --copy tests/vm/sim.bash:lab/tests/sim.bash --copy build/tools/simprobe:lab/bin/simprobe
# vm: --copy build/tools/simxdp:lab/bin/simxdp

load sim.bash

setup_file()
{
	modprobe sch_mqprio
	ports pairs=2
	ip link set tsn1 promisc on
	ip link set tsn3 promisc on
	ip link set tsn2 up
	ip link set tsn3 up
	carrier tsn3
}
teardown_file() { rmmod tsnsim; }

# attach ARGUMENTS: simxdp in the background until detach; it is attached when this returns.
attach()
{
	rm -f /tmp/hold /tmp/simxdp.log
	mkfifo /tmp/hold
	simxdp "$@" </tmp/hold >/tmp/simxdp.log 2>&1 3>&- &
	exec 9>/tmp/hold
	until grep -qs . /tmp/simxdp.log; do sleep 0.02; done
	grep -qx attached /tmp/simxdp.log || { cat /tmp/simxdp.log; return 1; }
}

# detach: $seen is what it saw.
detach()
{
	exec 9>&-
	wait $!
	seen=$(tail -n 1 /tmp/simxdp.log)
}

# xdp ARGUMENTS -- PROBE ARGUMENTS: runs simprobe while simxdp is attached; $seen is what that saw.
xdp()
{
	local args=()

	while [ "$1" != -- ]; do args+=("$1"); shift; done
	shift
	attach "${args[@]}"
	probe "$@"
	detach
}

@test "PASS with the kfunc: the stamp in XDP is the stamp of the socket" {
	xdp -k tsn1 pass -- tsn0 tsn1 prio=0,len=100,n=3
	same "frames" "${seen%% *}" frames=3
	[[ $seen == *" ret=0 stamp=${F[2.rx]} hash_ret=0" ]]
	same "received" ${F[2.nrx]} 1
}

@test "DROP: nothing reaches the stack" {
	xdp tsn1 drop -- tsn0 tsn1 prio=0,len=100,n=3
	same "frames" "${seen%% *}" frames=3
	same "received" ${F[0.nrx]} 0
	same "counted" "$(stat tsn1 sim_rx_queue_0_xdp_drop)" 3
}

@test "TX: frames go back to where they came from" {
	before=$(stat tsn1 tx_packets)
	xdp tsn1 tx -- tsn0 tsn1 prio=0,len=100,n=3
	same "sent back" $(($(stat tsn1 tx_packets) - before)) 3
	same "received here" ${F[0.nrx]} 0
}

@test "REDIRECT: frames leave on another port, and arrive at its peer" {
	xdp tsn1 redirect tsn2 -- tsn0 tsn3 prio=0,len=100,n=3
	same "frames" "${seen%% *}" frames=3
	for i in 0 1 2; do same "frame $i" ${F[$i.nrx]} 1; done
}

@test "REDIRECT of more than the link takes does not stop the stack's own frames for good" {
	tc qdisc replace dev tsn2 parent root handle 100: mqprio $four_classes hw 1
	echo 100 >$knobs/pair1/speed_mbps
	carrier tsn2
	simprobe -w 0 -b $((($(date +%s) + 2) * 1000000000)) tsn2 tsn3 prio=0,len=1514,n=300 >/dev/null 3>&- &
	xdp tsn1 redirect tsn2 -- -b $((($(date +%s) + 2) * 1000000000)) tsn0 tsn3 prio=0,len=1514,n=1500
	wait
	probe tsn2 tsn3 prio=0,len=60
	same "received" ${F[0.nrx]} 1
}

@test "the kfunc has no stamp until RX stamping is switched on" {
	ports
	ip link set tsn1 promisc on
	attach -k tsn1 pass
	# a frame of that EtherType from somebody who leaves the stamps off
	ip link set tsn0 arp off
	ip addr add 192.0.2.1/24 dev tsn0
	simprobe -e 0x88b5 tsn0 tsn0 prio=0,len=60 >/dev/null
	detach
	[[ $seen == "frames=1 ret=-61 stamp=0 hash_ret=0" ]] # ENODATA
}

@test "ls1028a: no metadata, a VLAN tag is gone before XDP, 8 classes leave XDP no rings" {
	ports model=ls1028a
	xdp -k tsn1 pass -- tsn0 tsn1 prio=0,len=100,vid=7
	[[ $seen == "frames=1 ret=-95 stamp=0 "* ]] # EOPNOTSUPP
	tc qdisc add dev tsn1 root handle 100: mqprio num_tc 8 map 0 1 2 3 4 5 6 7 \
		queues 1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7 hw 1
	[[ $(simxdp -n tsn1 pass 2>&1) == *"attach: Device or resource busy" ]]
	ports model=i225
	ip link set tsn1 mtu 4000
	[[ $(simxdp -n tsn1 pass 2>&1) == *"attach: Operation not supported" ]]
}
