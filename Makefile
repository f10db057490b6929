# SPDX-License-Identifier: GPL-2.0-only
# make            builds build/tsnpub
# make demo       installs what is missing, builds, runs the demonstration
# make check      installs what tests need, builds, runs all tests under prove
# make lab        a shell in the laboratory VM
# make bench      speed, as ratios against other tools in the same run
# make install    PREFIX=/usr/local DESTDIR=; make uninstall takes it back
# make CROSS_COMPILE=aarch64-linux-gnu-    builds build/aarch64/tsnpub

CROSS_COMPILE ?=
SANITIZE ?=
CC := $(CROSS_COMPILE)gcc
AR := $(CROSS_COMPILE)ar
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool /usr/bin/bpftool) bpftool)
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0

ARCH := $(firstword $(subst -, ,$(CROSS_COMPILE)))
BUILD := build$(if $(ARCH),/$(ARCH))$(if $(SANITIZE),/sanitize)
# BPF byte code is the same for all little-endian targets
BPF_BUILD := build/bpf

CFLAGS ?= -O2 -g
# empty where a compiler warns that was not there when this was written
WERROR ?= -Werror
# texts are cut on purpose, as snprintf does; clang does not know that warning
GCC_FLAGS := $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),,-Wno-format-truncation)
CPPFLAGS += -D_GNU_SOURCE -DTSNPUB_VERSION='"$(VERSION)"' -Isrc -I. -Ibuild
ALL_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes $(GCC_FLAGS) $(WERROR) \
	-fno-strict-aliasing -pthread $(CFLAGS) $(if $(SANITIZE),-O1 -fno-omit-frame-pointer -fsanitize=$(SANITIZE) \
	-fno-sanitize-recover=all)
# all but libc and libmnl (which iproute2 brings) go into the one file, so that it can be copied to a target
LIBS := -Wl,-Bstatic -lbpf -lelf -lz -lcyaml -lyaml -ljansson -lm -Wl,-Bdynamic -lmnl -pthread
MULTIARCH := $(shell gcc -print-multiarch 2>/dev/null)

SOURCES := $(filter-out src/cli/main.c,$(wildcard src/*/*.c)) $(wildcard tc/*.c) $(wildcard ptp/*.c)
OBJECTS := $(SOURCES:%.c=$(BUILD)/obj/%.o)
BPF_SOURCES := $(wildcard bpf/*.bpf.c tests/bench/*.bpf.c)
SKELETONS := $(patsubst %.bpf.c,$(BPF_BUILD)/%.skel.h,$(notdir $(BPF_SOURCES)))
UNIT_SOURCES := $(wildcard tests/unit/*_test.c)
UNIT_TESTS := $(UNIT_SOURCES:tests/unit/%.c=$(BUILD)/unit/%)
# programs of the tests' own: one source file each
TOOLS := $(patsubst %.c,$(BUILD)/tools/%,$(notdir $(filter-out %.bpf.c,$(wildcard tests/netns/*.c tests/bench/*.c tests/vm/*.c))))
PRELOADS := $(patsubst %.c,$(BUILD)/tools/%.so,$(notdir $(wildcard tests/bench/preload/*.c tests/vm/preload/*.c)))
MAN_PAGES := $(patsubst man/%.scd,$(BUILD)/man/%,$(wildcard man/*.scd))
NETNS_TESTS := $(wildcard tests/netns/*.bats)
# network namespaces are root's; who is not has sudo, as tests/packages uses it
AS_ROOT = $(if $(filter-out 0,$(shell id -u)),$(shell command -v sudo))
CONFIGS := $(patsubst configs/%,%,$(wildcard configs/*.* configs/*/*.*))

all: $(BUILD)/tsnpub

$(BUILD)/tsnpub: $(BUILD)/obj/src/cli/main.o $(BUILD)/libtsnpub.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libtsnpub.a: $(OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/obj/%.o: %.c | $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BPF_BUILD)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	@mkdir -p $(@D)
	$(CLANG) -O2 -g -Wall -Werror -target bpf -mcpu=v3 -I. -Isrc -I/usr/include/$(MULTIARCH) -c -o $@ $<

$(BPF_BUILD)/%.bpf.o: tests/bench/%.bpf.c $(wildcard bpf/*.h)
	@mkdir -p $(@D)
	$(CLANG) -O2 -g -Wall -Werror -target bpf -mcpu=v3 -I. -Isrc -I/usr/include/$(MULTIARCH) -c -o $@ $<

$(BPF_BUILD)/%.skel.h: $(BPF_BUILD)/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@.tmp
	mv $@.tmp $@

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libtsnpub.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libtsnpub.a $(LIBS) -lcmocka

$(BUILD)/tools/%: tests/netns/%.c $(BUILD)/libtsnpub.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libtsnpub.a $(LIBS)

$(BUILD)/tools/%: tests/bench/%.c $(BUILD)/libtsnpub.a | $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libtsnpub.a $(LIBS)

$(BUILD)/tools/%.so: tests/bench/preload/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d -fPIC -shared -o $@ $<

$(BUILD)/tools/%.so: tests/vm/preload/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d -fPIC -shared -o $@ $<

$(BUILD)/tools/%: tests/vm/%.c $(BUILD)/libtsnpub.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libtsnpub.a $(LIBS)

$(BUILD)/man/%: man/%.scd
	@mkdir -p $(@D)
	scdoc < $< > $@.tmp
	mv $@.tmp $@

units: $(UNIT_TESTS)
tools: $(TOOLS) $(PRELOADS)
man: $(MAN_PAGES)

# the unit tests alone; nothing is installed, no privileges are needed
unit: units
	prove --exec tests/run $(UNIT_TESTS)

sanitized:
	$(MAKE) SANITIZE=address,undefined units

sanitize: sanitized
	prove --exec tests/run $(UNIT_TESTS:build/unit/%=build/sanitize/unit/%)

netns: all man tools
	prove --exec tests/run $(NETNS_TESTS)

fuzz:
	tests/fuzz/run

deps:
	tests/packages build

demo:
	tests/packages build demo
	$(MAKE) all
	$(AS_ROOT) build/tsnpub demo

check:
	tests/packages build check vm
	$(MAKE) check-only

# the same without installing anything
check-only: all man units tools sanitized vm-ready
	prove --timer --failures --comments --state=save --statefile=build/prove.state $(ALL_PARALLEL) --exec tests/run $(UNIT_TESTS) $(UNIT_TESTS:build/unit/%=build/sanitize/unit/%) \
		$(NETNS_TESTS) $(VM_TESTS)

bench:
	tests/packages build bench vm
	$(MAKE) all tools
	$(AS_ROOT) tests/bench/run

lint:
	tests/lint

# the units start the program that was installed with them
install: all man
	install -D -m 755 $(BUILD)/tsnpub "$(DESTDIR)$(PREFIX)/bin/tsnpub"
	for page in $(MAN_PAGES:$(BUILD)/man/%=%); do \
		install -D -m 644 $(BUILD)/man/$$page "$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$page" || exit 1; \
	done
	for config in $(CONFIGS); do \
		install -D -m 644 configs/$$config "$(DESTDIR)$(PREFIX)/share/tsnpub/configs/$$config" || exit 1; \
	done
	sed -i 's|/usr/local/bin/tsnpub|$(PREFIX)/bin/tsnpub|' "$(DESTDIR)$(PREFIX)"/share/tsnpub/configs/systemd/*.service

# all that `make install` with the same PREFIX and DESTDIR has put there, and nothing else
uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/tsnpub"
	for page in $(MAN_PAGES:$(BUILD)/man/%=%); do rm -f "$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$page"; done
	for config in $(CONFIGS); do rm -f "$(DESTDIR)$(PREFIX)/share/tsnpub/configs/$$config"; done
	for directory in /configs/systemd /configs ''; do \
		rmdir "$(DESTDIR)$(PREFIX)/share/tsnpub$$directory" 2>/dev/null || true; \
	done

clean:
	rm -rf build/obj build/unit build/tools build/bpf build/sanitize build/aarch64 build/man build/libtsnpub.a build/tsnpub

-include tests/vm/vm.mk
# of what is compiled alone: the laboratory's guest beside it has directories of such names
-include $(shell find $(BUILD)/obj $(BUILD)/unit $(BUILD)/tools -type f -name '*.d' 2>/dev/null)

.PHONY: all units tools man unit sanitized sanitize netns fuzz deps demo check check-only bench lint install uninstall clean
.SECONDARY:
.DELETE_ON_ERROR:
