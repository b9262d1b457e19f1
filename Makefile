# heapwatch - one non-recursive Makefile. Sources stand in the order in which
# data flows. `make help` lists the targets.
#
#   MODE=release|asan|ubsan   flavour; objects of different flavours never mix
#   BUILD=DIR                 where everything is made (default: build)
#   V=1                       show commands; WERROR=1 makes warnings errors
#   CFLAGS LDFLAGS            yours; ours are kept apart

MODE    ?= release
BUILD   ?= build
PREFIX  ?= /usr/local
CC      ?= gcc
AR      ?= ar
CFLAGS  ?= -O2 -g
VERSION := 0.1.0

ifeq ($(MODE),release)
O := $(BUILD)
else
O := $(BUILD)/$(MODE)
endif
OBJ := $(O)/obj
GEN := $(O)/gen

# ---------------------------------------------------------------- sources

BASE := $(addprefix daemon/base/, arena.c hash.c strings.c pool.c idtable.c)

DECODE := $(addprefix daemon/decode/, event_table.c view.c header.c decoder.c ipe.c resync.c fields.c)
SOURCE :=
MODEL := $(addprefix daemon/model/, model.c clock.c run.c sched.c heap.c gc.c nonmoving.c cost_centres.c ipe.c bands.c \
         band_history.c census.c notes.c profile.c ticky.c window.c series.c histogram.c advice.c)
TREND :=
RULES :=
PUBLISH :=

PROTO :=

DAEMON :=
CLIENT :=

LIB_SRC     := $(BASE) $(DECODE) $(PROTO)
STAGES_SRC  := $(SOURCE) $(MODEL) $(TREND) $(RULES) $(PUBLISH) $(filter-out daemon/main.c,$(DAEMON))
CLIENT_SRC  := $(filter-out client/main.c,$(CLIENT))
UNIT_SRC    := $(sort $(wildcard tests/unit/*/test_*.c))

# ------------------------------------------------------------------ flags

PKGS_LIB    := libzmq libprotobuf-c
PKGS_DAEMON := libevent
PKGS_CLIENT := libevent ncursesw
PKG_CFLAGS  := $(shell pkg-config --cflags $(PKGS_LIB) $(PKGS_DAEMON) $(PKGS_CLIENT) 2>/dev/null)
LIBS_LIB     = $(shell pkg-config --libs $(PKGS_LIB))
LIBS_DAEMON  = $(shell pkg-config --libs $(PKGS_DAEMON))
LIBS_CLIENT  = $(shell pkg-config --libs $(PKGS_CLIENT))

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wundef \
            -Wconversion -Wno-sign-conversion
ifdef WERROR
WARNINGS += -Werror
endif
HARDEN := -fstack-protector-strong -D_FORTIFY_SOURCE=2
SAN.release :=
SAN.asan    := -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined -U_FORTIFY_SOURCE
SAN.ubsan   := -fsanitize=undefined -fno-sanitize-recover=undefined

HW_CFLAGS  := -std=c11 -D_GNU_SOURCE -DHEAPWATCH_VERSION='"$(VERSION)"' -fPIC -fno-semantic-interposition \
              $(WARNINGS) $(HARDEN) $(SAN.$(MODE)) -Iinclude -I$(GEN) -Iproto -Idaemon -I. $(PKG_CFLAGS)
HW_LDFLAGS := $(SAN.$(MODE)) -Wl,-z,relro,-z,now -Wl,--as-needed -lm

ifdef V
Q :=
else
Q := @
SAY = @echo "  $(1)	$(2:$(BUILD)/%=%)";
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all check unit e2e bench demo asan fuzz install clean help deps dist layers style leaklab

objects = $(patsubst %.c,$(OBJ)/%.o,$(1))
LIB_OBJ    := $(call objects,$(LIB_SRC)) $(if $(PROTO),$(OBJ)/heapwatch.pb-c.o)
STAGES_OBJ := $(call objects,$(STAGES_SRC))
CLIENT_OBJ := $(call objects,$(CLIENT_SRC))
UNIT_BIN   := $(patsubst tests/unit/%.c,$(O)/unit/%,$(UNIT_SRC))

PROGRAMS := $(if $(DAEMON),$(O)/heapwatchd) $(if $(CLIENT),$(O)/heapwatch)

all: $(PROGRAMS) $(O)/libheapwatch.a $(O)/libheapwatch.so $(O)/heapwatch.pc

# ------------------------------------------------------------------ rules

# Changed flags rebuild everything.
$(OBJ)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS) $(HW_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS) $(HW_CFLAGS)' > $@
FORCE:

$(OBJ)/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)
	$(Q)$(CC) $(HW_CFLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(GEN)/heapwatch/heapwatch.pb-c.c $(GEN)/heapwatch/heapwatch.pb-c.h &: proto/heapwatch.proto
	@mkdir -p $(GEN)/heapwatch
	$(call SAY,GEN,$<)
	$(Q)protoc-c -Iproto --c_out=$(GEN)/heapwatch heapwatch.proto

$(OBJ)/heapwatch.pb-c.o: $(GEN)/heapwatch/heapwatch.pb-c.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)
	$(Q)$(CC) $(HW_CFLAGS) $(CFLAGS) -Wno-conversion -Wno-pedantic -MMD -MP -c -o $@ $<

# The generated header must exist before anything that may include it.
$(LIB_OBJ) $(STAGES_OBJ) $(CLIENT_OBJ) $(call objects,daemon/main.c client/main.c $(UNIT_SRC)): | $(GEN)/heapwatch/heapwatch.pb-c.h

$(O)/libheapwatch.a: $(LIB_OBJ)
	$(call SAY,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/libheapwatch.so: $(LIB_OBJ) scripts/libheapwatch.map
	$(call SAY,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libheapwatch.so.0 -Wl,--version-script=scripts/libheapwatch.map -o $@ $(LIB_OBJ) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_LIB)

$(O)/heapwatch.pc: scripts/heapwatch.pc.in Makefile
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< > $@

$(O)/heapwatchd: $(OBJ)/daemon/main.o $(STAGES_OBJ) $(O)/libheapwatch.a
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $^ $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_DAEMON) $(LIBS_LIB)

$(O)/heapwatch: $(OBJ)/client/main.o $(CLIENT_OBJ) $(O)/libheapwatch.a
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $^ $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_CLIENT) $(LIBS_LIB)

# Unit tests: one program per file, linked with every stage.
$(O)/libunit.a: $(STAGES_OBJ) $(CLIENT_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/unit/%: $(OBJ)/tests/unit/%.o $(O)/libunit.a $(O)/libheapwatch.a
	@mkdir -p $(@D)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $< $(O)/libunit.a $(O)/libheapwatch.a $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) -lcmocka $(LIBS_CLIENT) $(LIBS_LIB)

# Tests of short memory make every allocation fail in turn.
$(O)/unit/model/test_memory: HW_LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

-include $(patsubst %.o,%.d,$(LIB_OBJ) $(STAGES_OBJ) $(CLIENT_OBJ) $(call objects,daemon/main.c client/main.c $(UNIT_SRC)))

# ------------------------------------------------------------------ targets

deps:
	$(Q)scripts/deps

unit: $(UNIT_BIN)

layers: $(LIB_OBJ) $(STAGES_OBJ) $(CLIENT_OBJ)
	$(Q)scripts/check-layers $(OBJ)

style:
	$(Q)scripts/check-style

check:
	$(Q)BUILD='$(BUILD)' MODE='$(MODE)' scripts/check

clean:
	rm -rf $(BUILD)

help:
	@sed -n '1,/^$$/p' Makefile | sed 's/^# \{0,1\}//'
	@echo 'targets:'
	@echo '  all      heapwatchd, heapwatch, libheapwatch (default)'
	@echo '  demo     install what is missing, build, watch a leaking Haskell program for half a minute'
	@echo '  check    install what tests need, build, run all tests; ends with N passed, M failed'
	@echo '  unit     build the unit tests'
	@echo '  bench    speed and memory, in one table'
	@echo '  asan     all tests under AddressSanitizer and UBSan'
	@echo '  install  to DESTDIR/PREFIX'
	@echo '  deps     install build and test dependencies (Debian)'
	@echo '  clean    remove $(BUILD)'
