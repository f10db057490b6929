# SPDX-License-Identifier: GPL-2.0-only
# Shared by all that wait for something: for the thing itself, and never for a time in which it should have come.

# eventually COMMAND...: until it succeeds. A minute at most: this machine may be slow, and what is broken must not hang.
eventually() {
	local end=$((SECONDS + 60))

	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || { echo "not within a minute: $*" >&2; return 1; }
		sleep 0.05
	done
}

# fails COMMAND...: for what is to end
fails() {
	! "$@"
}

# larger FILE BYTES
larger() {
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]
}
