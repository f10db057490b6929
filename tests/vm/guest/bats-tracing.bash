# SPDX-License-Identifier: GPL-2.0-only
# Added to bats' own tracing.bash in the guest. bats notes where each command of a test stands before it runs it, so that it
# can say which one failed: fifty times the work of the command itself, and under emulation most of the time of a test that
# has loops or helpers. bash 5 knows in the ERR trap where it stands: that is noted instead, once, when a command fails.
# bats' own function is there by the name of bats_setup_tracing_of_bats (build-guest.sh).

bats_setup_tracing()
{
	bats_setup_tracing_of_bats
	[ "${BATS_TRACE_LEVEL:-0}" -gt 0 ] || trap - DEBUG
}

bats_error_trap()
{
	bats_check_status_from_trap
	[ -z "$BATS_DEBUG_LAST_STACK_TRACE_IS_VALID" ] || return 0
	# it leaves out two frames: its own and that of its caller, this function
	bats_capture_stack_trace
	BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}
