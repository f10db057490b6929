# SPDX-License-Identifier: GPL-2.0-only
# The laboratory VM: included by the top Makefile.
#   make vm              its tests alone
#   make lab             a shell in it: NIC=ideal|i225|i226|i210|ls1028a KERNEL=plain|rt
#   make lab-run CMD='tsnpub sync' runs one command in it and gives its status

VM_TESTS := $(wildcard tests/vm/*.bats)
# Guests run beside each other, each on one CPU, their figures being those of virtual time; all else in turn.
VM_PARALLEL := -j $(shell nproc) --rules='par=tests/vm/*.bats' --rules='seq=**'
NIC ?= ideal
KERNEL ?= plain

vm: all tools
	prove --timer --failures --comments $(VM_PARALLEL) --exec tests/run $(VM_TESTS)

lab: all
	@tests/vm/lab.sh --kernel $(KERNEL) --nic $(NIC)

lab-run: all
	@tests/vm/lab.sh --kernel $(KERNEL) --nic $(NIC) -- sh -c '$(subst ','\'',$(CMD))'

.PHONY: vm lab lab-run
