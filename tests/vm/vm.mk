# SPDX-License-Identifier: GPL-2.0-only
# The laboratory VM: included by the top Makefile.
#   make vm              its tests alone
#   make lab             a shell in it: NIC=ideal|i225|i226|i210|ls1028a KERNEL=plain|rt
#   make lab-run CMD='tsnpub sync' runs one command in it and gives its status

VM_TESTS := $(wildcard tests/vm/*.bats)
NIC ?= ideal
KERNEL ?= plain

vm: all tools
	prove --timer --exec tests/run $(VM_TESTS)

lab: all
	@tests/vm/lab.sh --kernel $(KERNEL) --nic $(NIC)

lab-run: all
	@tests/vm/lab.sh --kernel $(KERNEL) --nic $(NIC) -- sh -c '$(subst ','\'',$(CMD))'

.PHONY: vm lab lab-run
