# SPDX-License-Identifier: MIT
# gldriverfs: `make`, `make demo`, `make check`, `make lint`; README.md explains each.
VERSION = 0.1.0

PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
PKG_CONFIG ?= pkg-config

# Each variant has its own objects: SAN=1 is the developer's sanitizer build, COV=1 the coverage build.
variant := release
SANFLAGS :=
ifeq ($(SAN),1)
variant := san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifneq ($(VARIANT),)
variant := $(VARIANT)
endif
B := build/$(variant)

WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wundef \
	-Wpointer-arith -Wwrite-strings -Wold-style-definition -Wimplicit-fallthrough -Wno-missing-field-initializers
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DGLDRIVERFS_VERSION='"$(VERSION)"' -DFUSE_USE_VERSION=39 -iquote fs
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS) $(SANFLAGS) -pthread $(DEP_CFLAGS)
ALL_LDFLAGS = $(LDFLAGS) $(SANFLAGS) -pthread

DEPS = fuse3 inih uuid jansson
DEP_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(DEPS) 2>/dev/null)
DEP_LIBS := $(shell $(PKG_CONFIG) --libs $(DEPS) 2>/dev/null || echo -lfuse3 -linih -luuid -ljansson)

LIB_SOURCES := $(filter-out fs/main.c,$(wildcard fs/*.c))
LIB_OBJECTS := $(LIB_SOURCES:%.c=$(B)/%.o)
TOOL_OBJECTS := $(patsubst %.c,$(B)/%.o,$(wildcard tools/*.c))
UNIT_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c tests/proto/test_*.c))

all: build/gldriverfs build/gldriverctl

build/gldriverfs: $(B)/gldriverfs
	@ln -sf $(variant)/gldriverfs $@
build/gldriverctl: $(B)/gldriverctl
	@ln -sf $(variant)/gldriverctl $@

$(B)/libgldriverfs.a: $(LIB_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^
$(B)/gldriverfs: $(B)/fs/main.o $(B)/libgldriverfs.a
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS)
$(B)/gldriverctl: $(TOOL_OBJECTS) $(B)/libgldriverfs.a
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS)
$(B)/tests/%: $(B)/tests/%.o $(B)/libgldriverfs.a
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(DEP_LIBS) -lcmocka
$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

unit: $(UNIT_TESTS)
	@for t in $(UNIT_TESTS); do $$t || exit 1; done

clean:
	rm -rf build

-include $(shell find build -name '*.d' 2>/dev/null)
.PHONY: all unit clean
.SECONDARY:
