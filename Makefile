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
	@bash tests/deps.sh

# Made in a second make: what pkg-config says may be new after deps.
demo: deps
	@$(MAKE) --no-print-directory demo-run
demo-run: all
	@BUILD=$(B) bash tests/demo.sh
check: deps
	@$(MAKE) --no-print-directory check-run
check-run: all tests installable
	@BUILD=$(B) bash tests/run.sh
# Soaks, fuzzing, real drivers, other systems.
check-long: deps
	@$(MAKE) --no-print-directory check-long-run
check-long-run: all tests installable
	@BUILD=$(B) LONG=1 bash tests/run.sh
tests: $(TEST_BINARIES) $(TEST_HELPERS) $(REPLAYS)
unit: $(TEST_BINARIES) $(B)/gldriverfs-probe
	@for t in $(TEST_BINARIES); do $$t || exit 1; done
fuzzers: $(FUZZERS)
lint:
	@bash tests/deps.sh lint
	@$(MAKE) --no-print-directory lint-run
lint-run:
	@LINT_FLAGS='-std=gnu11 $(subst ',,$(ALL_CPPFLAGS))' bash tests/lint.sh

# Units, man pages and what else is made for one PREFIX.
bindir = $(PREFIX)/bin
libexecdir = $(PREFIX)/libexec/gldriverfs
libdir = $(PREFIX)/lib/gldriverfs
docdir = $(PREFIX)/share/doc/gldriverfs
mandir = $(PREFIX)/share/man
completiondir = $(PREFIX)/share/bash-completion/completions
tmpfilesdir = $(PREFIX)/lib/tmpfiles.d
# systemd looks for units below /usr and /usr/local; pkg-config knows where this system's packages have theirs.
systemd = $(if $(filter /usr,$(PREFIX)),$(shell $(PKG_CONFIG) --variable=$(1) systemd 2>/dev/null))
systemdsystemunitdir = $(or $(call systemd,systemdsystemunitdir),$(PREFIX)/lib/systemd/system)
systemduserunitdir = $(or $(call systemd,systemduserunitdir),$(PREFIX)/lib/systemd/user)
systemdpresetdir = $(or $(call systemd,systemdsystempresetdir),$(PREFIX)/lib/systemd/system-preset)
systemduserpresetdir = $(or $(call systemd,systemduserpresetdir),$(PREFIX)/lib/systemd/user-preset)

UNITS := $(patsubst %.in,%,$(notdir $(wildcard systemd/*.service.in)))
USER_UNITS := $(patsubst %.in,%,$(notdir $(wildcard systemd/user/*.service.in)))
MADE_FOR_PREFIX := $(addprefix $(B)/systemd/,$(UNITS) $(addprefix user/,$(USER_UNITS)) gldriverfs-detach)
$(B)/prefix: FORCE
	$(shell mkdir -p $(@D))$(file >$@.new,$(PREFIX))
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(MADE_FOR_PREFIX): $(B)/%: %.in $(B)/prefix
	@mkdir -p $(@D)
	$(call run,GEN,sed 's|@bindir@|$(bindir)|g; s|@libexecdir@|$(libexecdir)|g' $< >$@)
$(B)/fs/load_tables.o: private ALL_CPPFLAGS += -DTABLES_DIRECTORY='"$(libdir)"'
$(B)/fs/load_tables.o: $(B)/prefix

# Left out where there is no scdoc.
MAN_SOURCES := fs/gldriverfs.8.scd tools/gldriverctl.1.scd conf/gldriverfs.conf.5.scd
MAN_PAGES := $(addprefix $(B)/man/,$(notdir $(MAN_SOURCES:.scd=)))
made_man := $(if $(shell command -v scdoc 2>/dev/null),$(MAN_PAGES))
vpath %.scd fs tools conf
$(B)/man/%: %.scd tools/man.sh
	@mkdir -p $(@D)
	$(call run,MAN,tools/man.sh $< >$@.new && mv $@.new $@)
man: $(made_man)

# What is installed: mode:file:directory. $(1): the man pages.
installed = $(foreach f,$(B)/gldriverfs $(B)/gldriverctl,755:$(f):$(bindir)) \
	$(foreach f,$(B)/gldriverfs-probe $(B)/systemd/gldriverfs-detach,755:$(f):$(libexecdir)) \
	$(foreach f,README.md NEWS LICENSE conf/gldriverfs.conf,644:$(f):$(docdir)) \
	$(foreach f,$(wildcard conf/examples/*.conf),644:$(f):$(docdir)/examples) \
	$(foreach f,$(TABLES),644:$(f):$(libdir)) \
	$(foreach f,$(UNITS),644:$(B)/systemd/$(f):$(systemdsystemunitdir)) \
	$(foreach f,$(USER_UNITS),644:$(B)/systemd/user/$(f):$(systemduserunitdir)) \
	644:systemd/90-gldriverfs.preset:$(systemdpresetdir) 644:systemd/user/90-gldriverfs.preset:$(systemduserpresetdir) \
	644:conf/tmpfiles.d/gldriverfs.conf:$(tmpfilesdir) \
	$(foreach f,$(wildcard tools/completion/*),644:$(f):$(completiondir)) \
	$(foreach f,$(1),644:$(f):$(mandir)/man$(patsubst .%,%,$(suffix $(f))))
installable: $(MADE_FOR_PREFIX) man
install: all installable
	@set -e; umask 022; for row in $(call installed,$(made_man)); do \
		mode=$${row%%:*} directory=$${row##*:} file=$${row#*:}; file=$${file%:*}; \
		install -D -m $$mode "$$file" "$(DESTDIR)$$directory/$${file##*/}"; done
uninstall:
	rm -f $(foreach row,$(call installed,$(MAN_PAGES)),$(DESTDIR)$(word 3,$(subst :, ,$(row)))/$(notdir $(word 2,$(subst :, ,$(row)))))
	-rmdir --ignore-fail-on-non-empty $(addprefix $(DESTDIR),$(libexecdir) $(docdir)/examples $(docdir) $(libdir))
# A Debian package of this machine's architecture: build/gldriverfs_VERSION_ARCH.deb.
deb:
	@bash tests/deps.sh deb
	@$(MAKE) --no-print-directory deb-run
deb-run:
	@rm -rf build/deb/tree
	@$(MAKE) --no-print-directory VARIANT=deb SAN= PREFIX=/usr DESTDIR=build/deb/tree install
	@VERSION=$(VERSION) tools/deb/build.sh build/deb/tree

clean:
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
.PHONY: all deps demo demo-run check check-run check-long check-long-run tests unit fuzzers lint lint-run \
	man installable install uninstall deb deb-run clean FORCE
.SECONDARY:
