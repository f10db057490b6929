# SPDX-License-Identifier: GPL-2.0-only
# The laboratory VM: included by the top Makefile.
#   make vm              its tests alone
#   make lab             a shell in it: NIC=ideal|i225|i226|i210|ls1028a KERNEL=plain|rt
#   make lab-run CMD='talker tsnpub sync --iface tsn0' runs one command in it and gives its status

# The long ones first, so that none of them is left alone at the end.
VM_LONG := $(wildcard $(patsubst %,tests/vm/%.bats,short-cycle blame latency-rt sync-chain sync-publish sync-setup \
	publish-launch schedule-apply))
VM_TESTS := $(VM_LONG) $(filter-out $(VM_LONG),$(wildcard tests/vm/*.bats))
# One guest for each CPU; and, beside them, one for all other tests in turn (testrules.yml), which mostly wait.
VM_PARALLEL := -j $(shell nproc)
ALL_PARALLEL := -j $(shell echo $$(($$(nproc) + 1)))
NIC ?= ideal
KERNEL ?= plain

# Guests booted and saved while the compiler works. What is missing for that is said by the tests themselves.
vm-ready:
	-@tests/vm/run.sh --prepare --kernel rt & rt=$$!; tests/vm/run.sh --prepare; tests/vm/run.sh --prepare --cpus 2; wait $$rt

vm: all tools vm-ready
	prove --timer --failures --comments $(VM_PARALLEL) --exec tests/run $(VM_TESTS)

# What the user gives goes through the environment, word for word: make does not take a $ in it for its own, nor the shell.
lab lab-run: export LAB_NIC := $(value NIC)
lab lab-run: export LAB_KERNEL := $(value KERNEL)
lab-run: export LAB_CMD := $(value CMD)

lab: all
	@tests/vm/lab.sh --kernel "$$LAB_KERNEL" --nic "$$LAB_NIC"

lab-run: all
	@[ -n "$$LAB_CMD" ] || { echo "lab-run: no command: make lab-run CMD='...'" >&2; exit 2; }
	@tests/vm/lab.sh --kernel "$$LAB_KERNEL" --nic "$$LAB_NIC" -- lab-shell "$$LAB_CMD"

.PHONY: vm vm-ready lab lab-run
