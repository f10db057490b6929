#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# lab.sh [OPTION of run.sh...] [-- CMD...]: the laboratory for people. With CMD: runs it and exits with its status. Without:
# an interactive shell on this terminal; Ctrl-D or `exit` ends the machine.
set -euo pipefail
dir=$(cd "$(dirname "$0")" && pwd)

for word; do
	[ "$word" != -- ] || exec "$dir/run.sh" --timeout 3600 "$@"
done
[ -t 0 ] && [ -t 1 ] || { echo "lab: a terminal is needed; for one command: make lab-run CMD='...'" >&2; exit 2; }
saved=$(stty -g)
# QEMU leaves the terminal raw when it is killed.
trap 'stty "$saved"' EXIT
status=0
"$dir/run.sh" "$@" --interactive || status=$?
exit "$status"
