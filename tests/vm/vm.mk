# SPDX-License-Identifier: GPL-2.0-only
# The laboratory VM: included by the top Makefile.

SIM_SOURCES := $(wildcard tests/sim/*.c tests/sim/*.h tests/sim/Kbuild)

build/vm/%/tsnsim.ko: $(SIM_SOURCES) tests/vm/build-module.sh
	tests/vm/build-module.sh tests/sim $* >/dev/null
