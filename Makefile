# SPDX-License-Identifier: MIT
# gldriverfs: `make`, `make demo`, `make check`, `make lint`; README.md explains each.
VERSION = 0.1.0

PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
AR ?= ar
PKG_CONFIG ?= pkg-config

# Each variant has its own objects: SAN=1 is the developer's sanitizer build, SAN=thread looks for
# data races; another VARIANT comes with its own SANFLAGS (tests/fuzz.sh).
variant := release
SANFLAGS :=
ifeq ($(SAN),1)
variant := san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifeq ($(SAN),thread)
variant := tsan
SANFLAGS := -fsanitize=thread -fno-omit-frame-pointer
endif
ifneq ($(VARIANT),)
variant := $(VARIANT)
endif
B := build/$(variant)

WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wundef \
	-Wpointer-arith -Wwrite-strings -Wold-style-definition -Wimplicit-fallthrough -Wno-missing-field-initializers
# -iquote: no header of fs/ hides a library's.
DEFINES = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DGLDRIVERFS_VERSION='"$(VERSION)"' -DFUSE_USE_VERSION=31
ALL_CPPFLAGS = $(DEFINES) -iquote fs $(DEP_CFLAGS) $(CPPFLAGS)
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS) $(SANFLAGS) -pthread
ALL_LDFLAGS = -Wl,--as-needed $(LDFLAGS) $(SANFLAGS) -pthread

# A library without a .pc file (inih on older systems) is taken by its usual name.
dep = $(shell $(PKG_CONFIG) --exists $(2) 2>/dev/null && $(PKG_CONFIG) --$(1) $(2) || echo $(3))
DEP_CFLAGS := $(call dep,cflags,fuse3,-I/usr/include/fuse3) $(call dep,cflags,inih,) \
	$(call dep,cflags,uuid,-I/usr/include/uuid) $(call dep,cflags,jansson,)
DEP_LIBS := $(call dep,libs,fuse3,-lfuse3) $(call dep,libs,inih,-linih) \
	$(call dep,libs,uuid,-luuid) $(call dep,libs,jansson,-ljansson)

PROBE_SOURCES := fs/driver_probe_main.c fs/driver_sandbox.c
LIB_OBJECTS := $(patsubst %.c,$(B)/%.o,$(filter-out fs/main.c $(PROBE_SOURCES),$(wildcard fs/*.c))) \
	$(B)/tables_builtin.o
TABLES := conf/soc.ini conf/l4t.ini conf/driver.ini
TOOL_OBJECTS := $(patsubst %.c,$(B)/%.o,$(wildcard tools/*.c))
TEST_BINARIES := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c tests/proto/test_*.c))
TEST_HELPERS := $(patsubst %.c,$(B)/%,$(wildcard tests/lib/*.c))
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
REPLAYS := $(patsubst tests/fuzz/fuzz_%.c,$(B)/tests/fuzz/replay_%,$(FUZZ_SOURCES))
FUZZERS := $(patsubst %.c,$(B)/%,$(FUZZ_SOURCES))

# V=1 shows the whole commands.
run = $(if $(V),,@printf '  %-4s %s\n' $(1) $@ && )$(2)

all: build/gldriverfs build/gldriverctl build/gldriverfs-probe

# The links lead to the variant that was made last.
build/gldriverfs build/gldriverctl build/gldriverfs-probe: build/%: $(B)/% FORCE
	@[ "$$(readlink $@)" = $(variant)/$* ] || ln -sfn $(variant)/$* $@

$(B)/libgldriverfs.a: $(LIB_OBJECTS)
	@rm -f $@
	$(call run,AR,$(AR) rcs $@ $^)
$(B)/gldriverfs: $(B)/fs/main.o $(B)/libgldriverfs.a
	$(call run,LINK,$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS))
$(B)/gldriverctl: $(TOOL_OBJECTS) $(B)/libgldriverfs.a
	$(call run,LINK,$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS))
# Runs under limits that no sanitizer can.
$(B)/gldriverfs-probe: $(PROBE_SOURCES) fs/driver_sandbox.h $(B)/flags
	@mkdir -p $(@D)
	$(call run,LINK,$(CC) $(DEFINES) -iquote fs $(CPPFLAGS) -std=gnu11 $(WARNINGS) $(CFLAGS) $(LDFLAGS) -o $@ $(PROBE_SOURCES) -ldl)
# What several tests share: a kernel's end of a session, generations made by hand.
TEST_SUPPORT := $(B)/tests/support.a
$(TEST_SUPPORT): $(B)/tests/proto/wire.o $(B)/tests/proto/world.o $(B)/tests/proto/served.o
	@rm -f $@
	$(call run,AR,$(AR) rcs $@ $^)
$(B)/tests/%: $(B)/tests/%.o $(TEST_SUPPORT) $(B)/libgldriverfs.a
	$(call run,LINK,$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS) -lcmocka)
$(B)/tests/fuzz/replay_%: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/replay_main.o $(B)/libgldriverfs.a
	$(call run,LINK,$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS))
$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(B)/libgldriverfs.a
	$(call run,LINK,$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(DEP_LIBS))
# Programs that the mount tests run: nothing of ours is in them, and no sanitizer.
$(B)/tests/lib/%: tests/lib/%.c $(B)/flags
	@mkdir -p $(@D)
	$(call run,LINK,$(CC) -D_GNU_SOURCE -std=gnu11 $(WARNINGS) $(CFLAGS) -pthread -o $@ $< -ldl)
$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call run,CC,$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<)

# The tables of conf/ are compiled in.
$(B)/tables_builtin.c: tools/embed.sh $(TABLES)
	@mkdir -p $(@D)
	$(call run,GEN,tools/embed.sh $(TABLES) >$@.new && mv $@.new $@)
$(B)/tables_builtin.o: $(B)/tables_builtin.c $(B)/flags
	$(call run,CC,$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<)

# Another compiler or other flags remake everything.
$(B)/flags: FORCE
	$(shell mkdir -p $(@D))$(file >$@.new,$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS))
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

deps:
	@tests/deps.sh

# Made in a second make: what pkg-config says may be new after deps.
demo: deps
	@$(MAKE) --no-print-directory demo-run
demo-run: all
	@BUILD=$(B) tests/demo.sh
check: deps
	@$(MAKE) --no-print-directory check-run
check-run: all tests
	@BUILD=$(B) tests/run.sh
# Soaks, fuzzing, real drivers, other systems.
check-long: deps
	@$(MAKE) --no-print-directory check-long-run
check-long-run: all tests
	@BUILD=$(B) LONG=1 tests/run.sh
tests: $(TEST_BINARIES) $(TEST_HELPERS) $(REPLAYS)
unit: $(TEST_BINARIES) $(B)/gldriverfs-probe
	@for t in $(TEST_BINARIES); do $$t || exit 1; done
fuzzers: $(FUZZERS)
lint:
	@tests/deps.sh lint
	@$(MAKE) --no-print-directory lint-run
lint-run:
	@LINT_FLAGS='-std=gnu11 $(subst ',,$(ALL_CPPFLAGS))' tests/lint.sh

bindir = $(DESTDIR)$(PREFIX)/bin
libexecdir = $(DESTDIR)$(PREFIX)/libexec/gldriverfs
docdir = $(DESTDIR)$(PREFIX)/share/doc/gldriverfs
libdir = $(DESTDIR)$(PREFIX)/lib/gldriverfs
install: all
	install -d $(bindir) $(libexecdir) $(docdir)/examples $(libdir)
	install -m 755 $(B)/gldriverfs $(B)/gldriverctl $(bindir)
	install -m 755 $(B)/gldriverfs-probe $(libexecdir)
	install -m 644 README.md NEWS LICENSE conf/gldriverfs.conf $(docdir)
	install -m 644 conf/examples/*.conf $(docdir)/examples
	install -m 644 $(TABLES) $(libdir)
uninstall:
	rm -f $(bindir)/gldriverfs $(bindir)/gldriverctl
	rm -rf $(libexecdir) $(docdir)
	rm -f $(addprefix $(libdir)/,$(notdir $(TABLES)))
	-rmdir --ignore-fail-on-non-empty $(libdir)

clean:
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all deps demo demo-run check check-run check-long check-long-run tests unit fuzzers lint lint-run \
	install uninstall clean FORCE
.SECONDARY:
