# SPDX-License-Identifier: GPL-2.0-only
# For the bats files about the clock chain: load sync

declare -gA V

# read_verdict: the document of `tsnpub sync --json` in $output: its members in ${V[NAME]}, those of the table of checks in
# ${V[CHECK.NAME]}. One awk for all of it, which has one member a line: each program costs virtual time.
read_verdict()
{
	eval "V=($(awk '
		/^  "checks": \[/ { checks = 1 }
		/^  \]/ { checks = 0 }
		match($0, /^ *"[a-z0-9_]+": /) {
			name = $1; gsub(/[":]/, "", name)
			value = substr($0, RLENGTH + 1); gsub(/^"|"?,?$/, "", value); gsub(/\047/, "", value)
			if (checks && name == "name") { row = value; next }
			if (checks) name = row "." name
			if (!(name in seen)) printf "[\047%s\047]=\047%s\047 ", name, value
			seen[name] = 1
		}' <<<"$output"))"
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
