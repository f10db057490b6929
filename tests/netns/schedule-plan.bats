# SPDX-License-Identifier: GPL-2.0-only
# tsnpub schedule without a kernel that has taprio: plans, wrong input, and what is refused before anything is touched.

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || exit 1
	tsnpub=$PWD/build/tsnpub
	configs=$PWD/configs
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# wrong WORDS... < FILE: plan refuses it with status 2, in one line that names the file and has all these words
wrong() {
	cat >x.yaml
	run "$tsnpub" schedule plan x.yaml
	echo "$output"
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == "tsnpub: x.yaml"* ]]
	for word in "$@"; do
		[[ $output == *"$word"* ]]
	done
}

body() {
	cat <<-'END'
	interface: eth0
	cycle: 1ms
	schedule:
	  driver: I226
	  speed: 1G
	  classes:
	  - {name: control, priorities: [7], queues: 0}
	  - {name: rest, priorities: [0, 1, 2, 3, 4, 5, 6], queues: 1-3}
	END
}

@test "plan prints gates, slots, margins, utilisation, a drawing and the tc commands" {
	run "$tsnpub" schedule plan "$configs/i226-250us.yaml"
	[ "$status" = 0 ]
	[[ $output == *"     1  50us         125us        75us         0x02  video"* ]]
	[[ $output == *"       1  control          250us          0  10us         992ns        0ns to 50us              39.008us"* ]]
	[[ $output == *"control          0.58 % of the link, 2.9 % of its open time"* ]]
	[[ $output == *"  control |############+......"* ]]
	[[ $output == *"tc qdisc replace dev enp1s0 root handle 100: stab overhead 24 taprio num_tc 3 map 2 2 2 2 2 1 1 0 2"* ]]
	[[ $output == *"tc qdisc replace dev enp1s0 parent 100:1 handle 101: etf clockid CLOCK_TAI delta 150000 offload"* ]]
}

@test "every configuration plans without a finding, in JSON too" {
	for config in "$configs"/*.yaml; do
		grep -q '^schedule:' "$config" || continue
		"$tsnpub" schedule plan --json "$config" >plan.json
		[ "$(jq -r '.valid, (.findings | map(select(.level != "note")) | length)' plan.json | tr '\n' ' ')" = "true 0 " ]
	done
}

@test "the drawing is XML, and names cannot break it" {
	{ body | sed 's/name: control/name: a.b-c_d e/'; printf '  gates:\n  - {open: [a.b-c_d e], duration: 1ms}\n'; } >x.yaml
	"$tsnpub" schedule plan x.yaml --svg x.svg >/dev/null
	grep -q '<svg xmlns' x.svg
	! command -v xmllint >/dev/null || xmllint --noout x.svg
	before=$(cksum <x.yaml)
	ln -s x.yaml link
	for option in --svg --export; do
		for target in x.yaml ./x.yaml link; do
			run "$tsnpub" schedule plan x.yaml "$option" "$target"
			[ "$status" = 2 ]
			[[ $output == "tsnpub: $option '$target': this is the file to plan from; name another file" ]]
		done
	done
	run "$tsnpub" schedule plan x.yaml --svg y --export y
	[ "$status" = 2 ]
	run "$tsnpub" schedule plan x.yaml --svg missing/y
	[ "$status" = 3 ]
	[[ $output == *"--svg 'missing/y': cannot write it"* ]]
	[ "$(cksum <x.yaml)" = "$before" ]
	{ body | sed 's/name: control/name: "<b>"/'; } | wrong "line 7: schedule.classes[0].name '<b>'"
}

@test "offsets and gates are found, and what cannot fit is named with how much" {
	{
		body
		printf 'streams:\n'
		for i in $(seq 40); do
			printf -- '- {id: %d, priority: 7, offset: anywhere, period: %dms, size: 200}\n' "$i" $((1 + i % 4))
		done
	} >x.yaml
	"$tsnpub" schedule plan x.yaml --json >plan.json
	[ "$(jq '[.streams[] | select(.fits and .margin_ns >= 1000)] | length' plan.json)" = 40 ]
	{
		body
		printf 'streams:\n'
		for i in 1 2 3; do
			printf -- '- {id: %d, priority: 7, offset: anywhere, size: 1500, frames: 30}\n' "$i"
		done
	} >x.yaml
	run "$tsnpub" schedule plan x.yaml
	[ "$status" = 2 ]
	[[ $output == *"stream 3 cannot fit: it needs 366.76us every 1ms, the first free place ends "*" beyond the "* ]]
	[[ $output == *"1 of 3 streams did not fit (proven"* ]]
}

@test "gates that do not add up, too short, of no duration, unknown, empty" {
	{ body; printf '  gates:\n  - {open: [control], duration: 999us}\n'; } | wrong "line 10" "add up to 999us, 1us less than the cycle"
	{ body; printf '  gates:\n  - {open: [control], duration: 1001us}\n'; } | wrong "1us more than the cycle"
	{ body; printf '  gates:\n  - {open: [control], duration: 479ns}\n  - {open: [rest], duration: 999521ns}\n'; } |
		wrong "line 10: schedule.gates[0].duration" "the shortest at 1000 Mb/s is 480ns"
	{ body; printf '  gates:\n  - {open: [contrl], duration: 1ms}\n'; } | wrong "line 10" "'contrl': no class has this name"
	{ body; printf '  gates:\n  - {open: [control], duration: 0us}\n  - {open: [rest], duration: 800us}\n'; } |
		wrong "line 10: schedule.gates[0].duration: gate 0 has duration 0; remove it, or give it time"
	echo '- a' | wrong "line 1: wrong kind of value"
	{ body; printf '  gates: []\n'; } | wrong "line 9" "an empty list"
	{ body; printf '  gates:\n  - {open: [control], duration: 1000}\n'; } | wrong "a time needs a unit"
	{ body; printf '  gates:\n  - {open: [control], duration: 1ms, color: red}\n'; } |
		wrong "unknown key 'color'; \`man 5 tsnpub-schedule\`"
	{ body; echo 'color: red'; } | wrong "line 9: unknown key 'color'; \`man tsnpub-publish\`"
	{ body; printf '  gates:\n'; for _ in $(seq 10000); do printf '  - {open: [rest], duration: 1us}\n'; done; } |
		wrong "10000 gates; at most 1024"
}

@test "base times that are negative, absurd or no times; classes that collide" {
	gates='  gates:
  - {open: [rest], duration: 1ms}'
	for time in '-5s:must not be negative' '99999999999999999999s:out of range' '9223372036s:s ahead: until then no gate would move' \
		'5:a time needs a unit' 'phase 1ms:out of range; 0ns to 999.999us' 'soon:not a time'; do
		{ body; echo "$gates"; echo "  base-time: ${time%%:*}"; } | wrong 'x.yaml: line 11: schedule.base-time' "${time#*:}"
	done
	{ body | sed 's/1-3/0-3/'; echo "$gates"; } | wrong "line 8: schedule.classes[1].queues: class 'rest' shares queue 0 with class 'control'"
	{ body | sed 's/1-3/1-4/'; echo "$gates"; } | wrong "has queue 4, but the NIC has 4 TX queues (0 to 3)"
	{ body | sed 's/\[7\]/[7, 3]/'; echo "$gates"; } | wrong "line 8: schedule.classes[1].priorities: priority 3 belongs to class 'control' already"
	{ body | sed 's/, queues: 0//'; echo "$gates"; } | wrong "line 7: schedule.classes[0].queues: class 'control' has no queues"
}

@test "two documents, 100 MB, a binary, nothing, a directory, a device" {
	{ body; echo ---; body; } | wrong "a second document begins"
	truncate -s 100M big.yaml
	run "$tsnpub" schedule plan big.yaml
	[ "$status" = 2 ]
	[[ $output == *"larger than 1024 KiB"* ]]
	printf '\177ELF\002\001' | wrong "a binary file, not YAML"
	: | wrong "the file is empty"
	for file in . /dev/zero nowhere.yaml; do
		run "$tsnpub" schedule plan "$file"
		[ "$status" = 2 ]
		[ "${#lines[@]}" = 1 ]
	done
}

@test "wrong command lines" {
	for words in '' 'plam x' 'plan' 'plan a b' 'plan --speed 1000 x' 'plan --driver i999 x' 'apply' 'check' 'show a/b' 'confirm' 'clear'; do
		# shellcheck disable=SC2086
		run "$tsnpub" schedule $words
		echo "$words: $output"
		[ "$status" = 2 ]
	done
}

@test "an interface that is not there, and none at all, touch nothing" {
	{ body; printf '  gates:\n  - {open: [rest], duration: 1ms}\n'; } >x.yaml
	sed -i 's/eth0/nosuch0/' x.yaml
	run "$tsnpub" schedule apply x.yaml
	[ "$status" = 2 ]
	[[ $output == *"interface 'nosuch0': there is none of that name"* ]]
	# the publisher that applies it says no more than that
	run "$tsnpub" publish --config x.yaml --apply
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"interface 'nosuch0': there is none of that name"* ]]
	sed -i '/interface/d' x.yaml
	run "$tsnpub" schedule apply x.yaml
	[ "$status" = 2 ]
	[[ $output == *"key 'interface' is missing"* ]]
}

@test "without CAP_NET_ADMIN the capability is named; plan, show and check need none" {
	command -v setpriv >/dev/null || skip 'setpriv is missing'
	{ body | sed 's/eth0/lo/'; printf '  gates:\n  - {open: [rest], duration: 1ms}\n'; } >x.yaml
	cp "$tsnpub" t; chmod 755 . t; chmod 644 x.yaml
	drop='setpriv --bounding-set=-all --inh-caps=-all --reuid=65534 --clear-groups'
	[ -x "$(dirname "$BATS_TEST_TMPDIR")" ] && $drop ./t schedule show >/dev/null || skip 'the test directory is closed to others'
	run $drop ./t schedule apply x.yaml
	[ "$status" = 3 ]
	[[ $output == *"CAP_NET_ADMIN is missing"* ]]
	$drop ./t schedule plan x.yaml >/dev/null
}

@test "a kernel without taprio says so word for word, and the interface is as it was" {
	[ "$(id -u)" = 0 ] || skip 'needs root for a namespace'
	{ body | sed 's/eth0/v0/; s/I226/veth/'; printf '  gates:\n  - {open: [control], duration: 200us}\n  - {open: [rest], duration: 800us}\n'; } >x.yaml
	cat >inner <<-END
		ip link add v0 numtxqueues 4 type veth peer name v1
		ip link set v0 up; ip link set v1 up
		before=\$(tc qdisc show dev v0)
		$tsnpub schedule apply x.yaml; status=\$?
		[ "\$before" = "\$(tc qdisc show dev v0)" ] || exit 99
		exit \$status
	END
	run unshare -n bash inner
	[ "$status" != 0 ] || skip 'this kernel has taprio'
	[ "$status" = 3 ]
	[[ $output == *"taprio refused"*"the kernel says: Specified qdisc"*"the kernel module is missing"*"everything is as it was"* ]]
}

@test "values of the wrong kind, both names of the interface, names that steer a terminal, too many digits" {
	body | sed 's/queues: 0/queues: []/' | wrong 'line 7: schedule.classes[0].queues: wrong kind of value: a list, where a single value belongs; write one value'
	body | sed 's/\[7\]/7/' | wrong 'line 7: schedule.classes[0].priorities: wrong kind of value: a single value, where a list belongs; write it in brackets'
	body | sed 's/^interface: .*/&\niface: eth1/' | wrong 'line 1: interface: means the same as iface, which stands here too; remove one'
	body | sed 's/eth0/"\\e[31mred"/' | wrong "line 1: interface '?[31mred': not an interface name"
	body | sed 's/queues: 0/queues: 00000000000000000000000000000009/' | wrong 'class '\''control'\'' has queue 9'
	body | sed "s/queues: 0/queues: $(printf '0%.0s' {1..80})/" | wrong 'not a range of queues; write 0, or 1-3'
}

@test "what --export writes, --import reads as the same gates, also where guard bands are cut" {
	for config in i225-250us i226-1ms ls1028a-gates veth-gates-1ms; do
		"$tsnpub" schedule plan "$configs/$config.yaml" --export a.json >/dev/null
		"$tsnpub" schedule plan "$configs/$config.yaml" --import a.json --export b.json >/dev/null
		diff a.json b.json
		"$tsnpub" schedule plan "$configs/$config.yaml" --json | jq .schedule.gates >planned
		"$tsnpub" schedule plan "$configs/$config.yaml" --import a.json --json | jq .schedule.gates | diff planned -
		[ "$(jq length planned)" -ge 2 ]
	done
}

@test "the cycle that is over the limit is named where it stands" {
	{ body; printf '  gates:\n  - {open: [rest], duration: 3s}\n  cycle: 3s\n'; } |
		wrong 'line 11: schedule.cycle: cycle 3s is over the limit' 'make it shorter'
}
