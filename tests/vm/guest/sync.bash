# SPDX-License-Identifier: GPL-2.0-only
# For the bats files about the clock chain: load sync

declare -gA V

load lab

# read_verdict: the document of `tsnpub sync --json` in $output: its members in ${V[NAME]} by their last name alone (the first
# of that name), those of the table of checks in ${V[CHECK.NAME]}.
read_verdict()
{
	local path name row
	read_json /dev/stdin <<<"$output"
	V=()
	for path in $members; do
		name=${path##*.}
		if [[ $path == checks.* ]]; then
			row=${path%.*}
			name=${value[$row.name]}.$name
		fi
		[ -n "${V[$name]+set}" ] || V[$name]=${value[$path]}
	done
}

# check [OPTION...]: the talker's verdict, read
check()
{
	run talker tsnpub sync --iface tsn0 --json "$@"
	read_verdict
}

# recover: good again before the next test breaks something else
recover()
{
	talker tsnpub sync --iface tsn0 --wait 40s --settle 3 >/tmp/recover 2>&1 || { cat /tmp/recover; return 1; }
}
