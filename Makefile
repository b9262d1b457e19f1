# heapwatch - one non-recursive Makefile. Sources are listed in the order in which
# data flows. `make help` lists the targets.
#
#   MODE=release|asan|ubsan|tsan   flavour; objects of different flavours never mix
#   BUILD=DIR                 the build folder (default: build)
#   V=1                       show commands; WERROR=1 makes warnings errors
#   WEB=0                     without the browser page (needs no Node)
#   CFLAGS LDFLAGS            yours; ours are kept separate

MODE    ?= release
BUILD   ?= build
PREFIX  ?= /usr/local
# Where distributions put these elsewhere. The client finds the agent in ../lib and ../lib/heapwatch of its own folder.
LIBDIR  ?= $(PREFIX)/lib
AGENTDIR ?= $(PREFIX)/lib
PC_LIBDIR = $(LIBDIR:$(PREFIX)/%=$${prefix}/%)
UNITDIR ?= $(PREFIX)/lib/systemd/system
USERUNITDIR ?= $(PREFIX)/lib/systemd/user
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
CC      ?= gcc
AR      ?= ar
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config
CFLAGS  ?= -O2 -g
VERSION := $(strip $(file < VERSION))
# The commit of a checkout; of a tarball of `make dist` the one that it was made from.
COMMIT  := $(strip $(if $(wildcard .git),$(shell git describe --always --abbrev=12 --exclude='*' --dirty=', changed' 2>/dev/null), \
             $(file < COMMIT)))
# The library's SONAME: incremented when a program built with the last release would no longer run with it (`make abi`).
SOVERSION := 0

ifeq ($(MODE),release)
O := $(BUILD)
else
O := $(BUILD)/$(MODE)
endif
OBJ := $(O)/obj
GEN := $(O)/gen

# ---------------------------------------------------------------- sources

# A room is a folder: each source in it belongs to it (scripts/check-layers says what it may include from).
rooms_below = $(patsubst %/,%,$(wildcard $(1)/*/ $(1)/*/*/ $(1)/*/*/*/))
sources_in  = $(sort $(wildcard $(addsuffix /*.c,$(1))))

# Some rooms are in both programs and not in the library, which needs no options, no PCRE2 and no zlib.
LIB_ROOMS   := $(addprefix proto/, base facts eventlog wire wire/follow)
BOTH_ROOMS  := $(addprefix proto/, cli cli/pattern cli/yaml cli/keys eventlog/recording eventlog/texts eventlog/archive)

LIB_SRC     := $(call sources_in,$(LIB_ROOMS))
DAEMON_SRC  := $(call sources_in,$(BOTH_ROOMS) $(call rooms_below,daemon)) daemon/log.c
CLIENT_SRC  := $(call sources_in,$(BOTH_ROOMS) proto/cli/profile $(call rooms_below,client))
INSPECT_SRC := $(call sources_in,$(call rooms_below,inspect))
# These act by being linked: not in unit tests.
AGENT_ACTS  := agent/life.c agent/interpose.c
AGENT_SRC   := $(filter-out $(AGENT_ACTS),$(call sources_in,agent))
# What the leak lab scores: one series alone; the early warning.
VERDICT_SRC := $(addprefix daemon/judge/trend/, median.c rings.c ladder.c life.c theil_sen.c shape.c windows.c rare.c verdict.c onset.c \
                 time_to_limit.c provisional.c trend.c)
EARLY_SRC   := $(addprefix daemon/judge/trend/, median.c theil_sen.c early_fit.c early_rise.c early_warning.c)
UNIT_SRC    := $(sort $(shell find tests/unit -name 'test_*.c'))

# ------------------------------------------------------------------ flags

PKGS_LIB    := libzmq libprotobuf-c
PKGS_DAEMON := libevent yaml-0.1 jansson libpcre2-8 zlib libzstd
PKGS_CLIENT := libevent yaml-0.1 ncursesw libpcre2-8 jansson libcurl zlib libzstd snappy cairo sqlite3 libedit
PKG_CFLAGS  := $(shell $(PKG_CONFIG) --cflags $(PKGS_LIB) $(PKGS_DAEMON) $(PKGS_CLIENT) 2>/dev/null)
LIBS_LIB     = $(shell $(PKG_CONFIG) --libs $(PKGS_LIB))
LIBS_DAEMON  = $(shell $(PKG_CONFIG) --libs $(PKGS_DAEMON))
LIBS_INSPECT = $(shell $(PKG_CONFIG) --libs libzstd libdw zlib)
# First those that look for most symbols of their own when the program starts.
LIBS_FRONT   = $(shell $(PKG_CONFIG) --libs sqlite3 libevent libzstd zlib libpcre2-8 yaml-0.1 jansson libprotobuf-c)
LIBS_CLIENT  = $(shell $(PKG_CONFIG) --libs $(PKGS_CLIENT))

# A callback has the parameters that its caller gives it, and may need less.
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Wundef \
            -Wconversion -Wno-sign-conversion -Wno-unused-parameter
ifdef WERROR
WARNINGS += -Werror
endif
HARDEN := -fstack-protector-strong -D_FORTIFY_SOURCE=2
SAN.release :=
SAN.asan    := -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined -U_FORTIFY_SOURCE
SAN.ubsan   := -fsanitize=undefined -fno-sanitize-recover=undefined
SAN.tsan    := -fsanitize=thread -fno-omit-frame-pointer -U_FORTIFY_SOURCE
SAN.fuzz    := -fsanitize=fuzzer-no-link $(SAN.asan)
SAN.afl     := $(SAN.asan)

HW_CFLAGS  := -std=c11 -D_GNU_SOURCE -DHEAPWATCH_VERSION='"$(VERSION)"' -fPIC -fno-semantic-interposition \
              $(WARNINGS) $(HARDEN) $(SAN.$(MODE)) -Iinclude -I$(GEN) -I. $(PKG_CFLAGS)
# Symbols are looked for in this order when a program starts: libc has most of those that libraries need.
HW_LDFLAGS := $(SAN.$(MODE)) -Wl,-z,relro,-z,now -Wl,--as-needed -pthread -lc -ldl -lm

ifdef V
Q :=
else
Q := @
SAY = @echo "  $(1)	$(2:$(BUILD)/%=%)";
endif

.DELETE_ON_ERROR:
.SUFFIXES:

objects = $(patsubst %.c,$(OBJ)/%.o,$(1))
LIB_OBJ    := $(call objects,$(LIB_SRC)) $(OBJ)/heapwatch.pb-c.o
DAEMON_OBJ := $(call objects,$(DAEMON_SRC))
CLIENT_OBJ := $(call objects,$(CLIENT_SRC) agent/options.c agent/symbols.c agent/settings.c) $(OBJ)/client/page/assets_page.o \
              $(patsubst %.proto,$(OBJ)/%.pb-c.o,$(wildcard client/*/*/*.proto))
INSPECT_OBJ := $(call objects,$(INSPECT_SRC))
AGENT_OBJ  := $(patsubst %.c,$(OBJ)/inside/%.o,proto/base/error.c proto/base/rts_options.c proto/base/haskell_symbol.c proto/base/own_directory.c $(AGENT_SRC) $(AGENT_ACTS))
UNIT_BIN   := $(patsubst tests/unit/%.c,$(O)/unit/%,$(UNIT_SRC))

PROGRAMS := $(O)/heapwatchd $(O)/heapwatch $(O)/heapwatch-live $(O)/heapwatch-inspect
MAN      := $(addprefix $(O)/man/,heapwatch.1 heapwatch-inspect.1 heapwatchd.8)

AGENT    := $(O)/libheapwatch-agent.so $(O)/libheapwatch-agent.a

all: $(PROGRAMS) $(AGENT) $(MAN) $(O)/libheapwatch.a $(O)/libheapwatch.so $(O)/heapwatch.pc

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

$(GEN)/heapwatch/heapwatch.pb-c.c $(GEN)/heapwatch/heapwatch.pb-c.h &: proto/wire/heapwatch.proto
	@mkdir -p $(GEN)/heapwatch
	$(call SAY,GEN,$<)
	$(Q)protoc-c -Iproto/wire --c_out=$(GEN)/heapwatch heapwatch.proto

$(OBJ)/heapwatch.pb-c.o: $(GEN)/heapwatch/heapwatch.pb-c.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)
	$(Q)$(CC) $(HW_CFLAGS) $(CFLAGS) -Wno-conversion -Wno-pedantic -MMD -MP -c -o $@ $<


# Protobuf formats of other tools, the last for tests alone: the generated code is at the path of its .proto, below $(GEN).
PB := $(patsubst %.proto,%,$(wildcard client/*/*/*.proto) tests/unit/inspect/pprof.proto)

$(PB:%=$(GEN)/%.pb-c.c): $(GEN)/%.pb-c.c: %.proto
	@mkdir -p $(@D)
	$(call SAY,GEN,$<)
	$(Q)protoc-c -I$(<D) --c_out=$(@D) $(<F)

$(PB:%=$(GEN)/%.pb-c.h): $(GEN)/%.pb-c.h: $(GEN)/%.pb-c.c

$(PB:%=$(OBJ)/%.pb-c.o): $(OBJ)/%.pb-c.o: $(GEN)/%.pb-c.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)
	$(Q)$(CC) $(HW_CFLAGS) $(CFLAGS) -Wno-conversion -Wno-pedantic -MMD -MP -c -o $@ $<

# The commit is in the programs alone, so that a new one compiles three files. One that git does not tell (to root, of
# another user's checkout) changes nothing.
MAINS := $(foreach program,daemon client inspect,$(program)/main)
$(OBJ)/commit: FORCE
	@mkdir -p $(@D)
	@[ -e $@ ] && { [ -z '$(COMMIT)' ] || echo '$(COMMIT)' | cmp -s - $@; } || echo '$(COMMIT)' > $@
$(MAINS:%=$(OBJ)/%.o): $(OBJ)/commit
$(MAINS:%=$(OBJ)/%.o) $(MAINS:%=$(OBJ)/%.warned): private HW_CFLAGS += -DHEAPWATCH_COMMIT='"$(COMMIT)"'

# Descriptions of the structs that checkpoints hold, for each source that includes its own.
LAYOUTS := $(patsubst %.c,$(GEN)/%_layouts.inc,$(shell grep -l '_layouts\.inc"' $(DAEMON_SRC)))

$(LAYOUTS): $(GEN)/%_layouts.inc: %.c scripts/layouts $(OBJ)/flags | $(GEN)/heapwatch/heapwatch.pb-c.h
	@mkdir -p $(@D)
	$(call SAY,GEN,$@)
	$(Q)sed '/_layouts\.inc"/d' $< | $(CC) $(HW_CFLAGS) $(CFLAGS) $(CPPFLAGS) -E -P -MMD -MP -MF $@.d -MT $@ -x c -o $@.i -
	$(Q)scripts/layouts $< $@.i > $@
	$(Q)rm -f $@.i
-include $(LAYOUTS:%=%.d)

# Generated headers must exist before anything that may include them.
GENERATED := $(GEN)/heapwatch/heapwatch.pb-c.h $(PB:%=$(GEN)/%.pb-c.h) $(LAYOUTS)
$(LIB_OBJ) $(DAEMON_OBJ) $(CLIENT_OBJ) $(call objects,daemon/main.c client/main.c $(UNIT_SRC)): | $(GENERATED)

# The browser page, bundled by npm in $(BUILD)/page and embedded into heapwatch. Without npm its files are empty.
WEB ?= 1
PAGE := $(BUILD)/page
PAGE_SRC := $(shell find client/page -type f -not -path '*/node_modules/*' -not -name '*.[chS]' 2>/dev/null)

$(PAGE)/mode: FORCE
	@mkdir -p $(@D)
	@echo '$(WEB) $(PAGE_SRC)' | cmp -s - $@ || echo '$(WEB) $(PAGE_SRC)' > $@

$(PAGE)/done: $(PAGE_SRC) $(PAGE)/mode scripts/page
	$(call SAY,PAGE,client/page)
	$(Q)scripts/page '$(WEB)' client/page $(PAGE)

$(OBJ)/client/page/assets_page.o: client/page/assets.S $(PAGE)/done $(OBJ)/flags
	@mkdir -p $(@D)
	$(call SAY,AS,$<)
	$(Q)$(CC) -c -Wa,-I,$(PAGE)/out -o $@ $<

# What our own programs and tests link: with the internal names, too.
$(O)/libinternal.a: $(LIB_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# What is installed: one object, in which only the names of the public headers are global.
$(OBJ)/libheapwatch.o: $(LIB_OBJ)
	$(Q)$(CC) $(CFLAGS) -r -nostdlib -o $@ $^
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='hw_[a-z]*' $@

$(O)/libheapwatch.a: $(OBJ)/libheapwatch.o
	$(call SAY,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/libheapwatch.so: $(LIB_OBJ) scripts/libheapwatch.map
	$(call SAY,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libheapwatch.so.$(SOVERSION) -Wl,--version-script=scripts/libheapwatch.map -o $@ $(LIB_OBJ) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_LIB)

# The agent is loaded into other programs: libc alone, no sanitizer, and only these visible names: three of its own, and
# those of libc that it interposes.
AGENT_CFLAGS := -std=c11 -D_GNU_SOURCE -fPIC -fvisibility=hidden $(WARNINGS) $(HARDEN) -I.

$(OBJ)/inside/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(call SAY,CC,$<)
	$(Q)$(CC) $(AGENT_CFLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(O)/libheapwatch-agent.so: $(AGENT_OBJ)
	$(call SAY,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,relro,-z,now,-z,nodelete -o $@ $(AGENT_OBJ) $(CFLAGS) $(LDFLAGS) -pthread -ldl

$(OBJ)/libheapwatch-agent.o: $(AGENT_OBJ)
	$(Q)$(CC) $(CFLAGS) -r -nostdlib -o $@ $^
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='heapwatch_agent_*' --keep-global-symbol=select $@

$(O)/libheapwatch-agent.a: $(OBJ)/libheapwatch-agent.o
	$(call SAY,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

-include $(AGENT_OBJ:.o=.d)

$(O)/heapwatch.pc: scripts/install/heapwatch.pc.in Makefile VERSION
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(PC_LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' $< > $@

$(O)/heapwatchd: $(OBJ)/daemon/main.o $(DAEMON_OBJ) $(O)/libinternal.a
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $(filter-out %.map,$^) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_DAEMON) $(LIBS_LIB)

# The client reads finished logs itself (daemon/watch/targets/log_reader.h): of the daemon it links what that needs, and nothing
# that sends.
$(O)/libdaemon.a: $(filter-out $(OBJ)/daemon/publish/transport/%,$(DAEMON_OBJ))
	$(Q)rm -f $@ && $(AR) rcs $@ $^

CLIENT_PARTS := $(OBJ)/client/main.o $(CLIENT_OBJ) $(O)/libdaemon.a $(O)/libinternal.a

$(O)/heapwatch-live: $(CLIENT_PARTS)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $(filter-out %.map,$^) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_CLIENT) $(LIBS_LIB)

# The same objects without the libraries that are slow to load: what needs these continues in heapwatch-live (client/cli/front.h).
$(GEN)/front_stubs.c: $(CLIENT_PARTS) scripts/front-stubs
	$(call SAY,GEN,$@)
	$(Q)LC_ALL=C $(CC) -o $(GEN)/front.unresolved $(CLIENT_PARTS) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_FRONT) \
	  -Wl,--warn-unresolved-symbols 2>&1 | scripts/front-stubs > $@
	$(Q)rm -f $(GEN)/front.unresolved

$(OBJ)/front_stubs.o: $(GEN)/front_stubs.c $(OBJ)/flags
	$(Q)$(CC) $(HW_CFLAGS) $(CFLAGS) -fno-builtin -c -o $@ $<

$(O)/heapwatch: $(CLIENT_PARTS) $(OBJ)/front_stubs.o
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $(OBJ)/front_stubs.o $(CLIENT_PARTS) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_FRONT)

# What reads other programs' memory links nothing but the C library, what is needed to print and to read compressed
# files, zstd for graphs in files, and libdw for the stacks of C code.
$(O)/heapwatch-inspect: $(OBJ)/inspect/main.o $(INSPECT_OBJ) \
        $(call objects,$(call sources_in,$(addprefix proto/, cli cli/profile eventlog/archive eventlog/recording eventlog/texts))) $(O)/libinternal.a
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $(filter-out %.map,$^) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_INSPECT)

# A name of ours must not take the place of a library's (libkrb5, below ZeroMQ, has a profile_init too).
$(PROGRAMS): HW_LDFLAGS += -Wl,--version-script=scripts/program.map
$(PROGRAMS): scripts/program.map

# The options in man pages come from the programs.
$(MAN): $(O)/man/%: docs/man/% scripts/man $(PROGRAMS)
	@mkdir -p $(@D)
	$(Q)scripts/man $< $(O) > $@

# Unit tests: one program per file, linked with every room of both programs.
$(O)/libunit.a: $(DAEMON_OBJ) $(INSPECT_OBJ) $(filter-out $(DAEMON_OBJ),$(CLIENT_OBJ)) $(filter-out $(CLIENT_OBJ),$(call objects,$(AGENT_SRC))) \
  $(OBJ)/tests/unit/inspect/pprof.pb-c.o
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/unit/%: $(OBJ)/tests/unit/%.o $(O)/libunit.a $(O)/libinternal.a
	@mkdir -p $(@D)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $< $(O)/libunit.a $(O)/libinternal.a $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) -lcmocka $(LIBS_DAEMON) $(LIBS_CLIENT) $(LIBS_INSPECT) $(LIBS_LIB)

# The compiler takes a third of the time for a test that it optimises less; your CFLAGS are kept.
ifeq ($(origin CFLAGS),file)
$(call objects,$(UNIT_SRC)): private CFLAGS := -O1 -g1
endif

# An oracle for least squares.
$(O)/unit/trend/test_statistics: HW_LDFLAGS += -lgsl -lgslcblas

# A disk that hangs.
$(O)/unit/record/test_recorder: HW_LDFLAGS += -Wl,--wrap=pwrite

# A kernel without close_range(2).
$(O)/unit/base/test_own_process: HW_LDFLAGS += -Wl,--wrap=syscall

# Tests that count allocations, or make each fail in turn.
$(addprefix $(O)/unit/, model/test_memory record/test_assembler trend/test_rings targets/test_memory targets/test_steady \
                        wire/test_message fuzz/test_fuzz_session) \
$(O)/fuzz/fuzz_session: \
  HW_LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

HEAPWATCH_TREND_OBJ := $(call objects,tests/bench/heapwatch_trend.c $(VERDICT_SRC))
$(O)/heapwatch-trend: $(HEAPWATCH_TREND_OBJ)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $^ $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS)

HEAPWATCH_EARLY_OBJ := $(call objects,tests/bench/heapwatch_early.c $(EARLY_SRC))
$(O)/heapwatch-early: $(HEAPWATCH_EARLY_OBJ)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $^ $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS)

CENSUSES_OBJ := $(call objects,tests/bench/censuses.c agent/timetable.c agent/budget.c agent/rise.c)
$(O)/heapwatch-censuses.so: $(CENSUSES_OBJ)
	$(call SAY,LD,$@)
	$(Q)$(CC) -shared -o $@ $^ $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS)

-include $(patsubst %.o,%.d,$(HEAPWATCH_TREND_OBJ) $(HEAPWATCH_EARLY_OBJ) $(CENSUSES_OBJ))
-include $(patsubst %.o,%.d,$(LIB_OBJ) $(DAEMON_OBJ) $(CLIENT_OBJ) $(call objects,$(AGENT_SRC) $(INSPECT_SRC) daemon/main.c client/main.c inspect/main.c $(UNIT_SRC)))

# Fuzzers: MODE=fuzz CC=clang for libFuzzer, MODE=afl CC=afl-clang-fast for AFL++, which has a driver of the same name.
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(sort $(wildcard tests/fuzz/*.c)))
$(O)/fuzz/fuzz_%: FUZZ_LDFLAGS := -fsanitize=fuzzer
$(O)/fuzz/%: $(OBJ)/tests/fuzz/%.o $(O)/libunit.a $(O)/libinternal.a
	@mkdir -p $(@D)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $^ $(FUZZ_LDFLAGS) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_CLIENT) $(LIBS_INSPECT) $(LIBS_DAEMON) $(LIBS_LIB)

-include $(patsubst tests/fuzz/%.c,$(OBJ)/tests/fuzz/%.d,$(wildcard tests/fuzz/*.c))

# ------------------------------------------------------------------ targets

# A line `#: name   what` is one of `make help`; each phony target has one.
.PHONY: FORCE unit-programs warnings fuzzers

help:
	@sed -n '1,/^$$/s/^#\( \|$$\)//p' Makefile
	@echo 'targets:'
	@sed -n 's/^#: /  /p' Makefile
.PHONY: help

#: all         heapwatchd, heapwatch, heapwatch-inspect, libheapwatch, libheapwatch-agent (default)
.PHONY: all

#: signatures  names for stripped programs, of the libraries of the GHC that is installed and of those in GHC_CHROOTS='DIR...'
signatures: $(O)/heapwatch-inspect
	$(call SAY,SIGNATURES,$(O)/signatures)
	$(Q)scripts/signatures $< $(O)/signatures $(GHC_CHROOTS)
.PHONY: signatures
# For what is made of them, where there is a GHC.
SIGNED := $(if $(GHC_CHROOTS)$(shell command -v ghc 2>/dev/null),signatures)
# Those that are installed: made here, or else those of the release. SIGNATURES= for none.
SIGNATURES ?= $(O)/signatures inspect/signatures

#: demo        install what is missing, build, watch a leaking Haskell program for half a minute
demo:
	$(Q)scripts/deps demo
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)BUILD='$(O)' scripts/demo/run
.PHONY: demo

#: demo-inside  the same; show what is inside of pandoc, a leaking service, and the core file that it leaves
demo-inside:
	$(Q)scripts/deps demo
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)BUILD='$(O)' scripts/demo/inside
.PHONY: demo-inside

#: deps        install build and test dependencies (Debian)
deps:
	$(Q)scripts/deps
.PHONY: deps

#: check       install what tests need, build, run all tests; ends with N passed, M failed
check:
	$(Q)BUILD='$(BUILD)' MODE='$(MODE)' scripts/check
.PHONY: check

#: unit        only the unit tests
unit:
	$(Q)BUILD='$(BUILD)' MODE='$(MODE)' CHECK_ONLY=unit scripts/check
.PHONY: unit

#: golden      writes anew the texts that tests compare with what is said (tests/unit/golden.h, tests/data/said)
golden: all $(patsubst tests/unit/%.c,$(O)/unit/%,$(shell grep -l TEST_GOLDEN $(UNIT_SRC)))
	$(Q)for program in $(filter $(O)/unit/%,$^); do HEAPWATCH_GOLDEN=1 $$program > /dev/null 2>&1 || exit 1; done
	$(Q)HEAPWATCH_GOLDEN=1 HEAPWATCH_BUILD='$(O)' /usr/bin/python3 -m pytest -q -p no:cacheprovider tests/e2e/test_said.py
.PHONY: golden

#: e2e         only the end-to-end tests
e2e:
	$(Q)BUILD='$(BUILD)' MODE='$(MODE)' CHECK_ONLY=e2e scripts/check
.PHONY: e2e

# The words after it are names of tests, and no targets.
ifeq ($(firstword $(MAKECMDGOALS)),check-one)
T ?= $(wordlist 2,99,$(MAKECMDGOALS))
$(foreach name,$(T),$(eval .PHONY: $(subst :,\:,$(name)))$(eval $(subst :,\:,$(name)): ; @:))
endif
#: check-one   the tests of a name or of a part of one: make check-one windows, make check-one e2e/test_web.py::test_name
check-one:
	$(Q)+BUILD='$(BUILD)' MODE='$(MODE)' scripts/check-one $(foreach name,$(T),'$(name)')
.PHONY: check-one

#: test        the same, with T=NAME
test: check-one
.PHONY: test

#: check-fleet  tests of export and actions with real receivers: installs Prometheus, VictoriaMetrics ...
check-fleet:
	$(Q)scripts/deps fleet
	$(Q)$(MAKE) --no-print-directory all
	$(Q)HEAPWATCH_BUILD='$(O)' /usr/bin/python3 -m pytest -q -p no:cacheprovider -rs tests/e2e/test_export.py \
	  tests/e2e/test_engines.py tests/e2e/test_fleet_page.py tests/e2e/test_dashboards.py tests/e2e/test_metrics.py
.PHONY: check-fleet

unit-programs: $(UNIT_BIN)

# Only what the compiler says of each source: with MODE, CC and CFLAGS as for `all`, in half the time.
WARNED := $(patsubst %.c,$(OBJ)/%.warned,$(sort $(LIB_SRC) $(DAEMON_SRC) $(CLIENT_SRC) $(AGENT_SRC) $(AGENT_ACTS) $(INSPECT_SRC) daemon/main.c client/main.c inspect/main.c))
$(WARNED): $(OBJ)/%.warned: %.c $(OBJ)/flags | $(GENERATED)
	@mkdir -p $(@D)
	$(Q)$(CC) $(HW_CFLAGS) $(CFLAGS) $(CPPFLAGS) -fsyntax-only $<
	@touch $@
warnings: $(WARNED)

#: style       checks sources and documents without building
style: $(GENERATED)
	$(Q)scripts/check-style
	$(Q)scripts/check-docs
	$(Q)scripts/draw-house --check
	$(Q)scripts/metrics --check
	$(Q)tests/leaklab/constants.py --check
	$(Q)scripts/page-types --check
	$(Q)scripts/dashboards --check
.PHONY: style

#: abi         whether programs built with the last release still run with this libheapwatch.so
abi: $(O)/libheapwatch.so
	$(Q)scripts/check-abi $<
.PHONY: abi

#: tidy        clang-tidy over the sources, with the list of .clang-tidy
tidy: $(GENERATED)
	$(Q)BUILD='$(BUILD)' MODE='$(MODE)' scripts/tidy
.PHONY: tidy

#: layers      checks which room includes which
layers:
	$(Q)scripts/check-layers
.PHONY: layers

#: site        the documents as static pages in $(BUILD)/site, found by questions; needs cmark-gfm and mandoc
site: $(MAN)
	$(Q)scripts/site $(O)/man $(BUILD)/site
.PHONY: site

#: house       redraws docs/house.svg
house:
	$(Q)scripts/draw-house > docs/house.svg.new && mv docs/house.svg.new docs/house.svg
.PHONY: house

#: figures     how large the tree is and how it reads, as a table; needs universal-ctags
figures:
	$(Q)scripts/figures
.PHONY: figures

#: metrics     rewrites docs/METRICS.md, docs/dashboards and types of the page
metrics:
	$(Q)scripts/metrics
	$(Q)scripts/dashboards
	$(Q)scripts/page-types
.PHONY: metrics

#: format      clang-format over all sources
format:
	$(Q)git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i
.PHONY: format

#: asan        all tests under AddressSanitizer and UBSan
asan:
	$(Q)BUILD='$(BUILD)' MODE=asan scripts/check
.PHONY: asan

# All tests without a sanitizer, under valgrind. VALGRIND='unit/eventlog e2e/test_web' for some of them.
#: valgrind    all tests under valgrind; VALGRIND=unit/eventlog for those whose names begin with that
valgrind: all unit-programs
	$(Q)BUILD='$(O)' scripts/valgrind $(VALGRIND)
.PHONY: valgrind

# Programs with the agent in them, started and ended STRESS_RUNS times.
STRESS_RUNS ?= 500
#: agent-stress  the agent through STRESS_RUNS starts and ends of real programs; counts failures
agent-stress: all
	$(Q)BUILD='$(O)' scripts/agent-stress $(STRESS_RUNS)
.PHONY: agent-stress

# GHC_CHROOTS: made by scripts/ghc-chroots DIR.
#: check-ghc   the agent with the GHCs in the chroots GHC_CHROOTS='DIR...' (scripts/ghc-chroots makes them)
check-ghc: all
	$(Q)BUILD='$(O)' scripts/check-ghc $(GHC_CHROOTS)
.PHONY: check-ghc

# Everything that takes bytes from outside, FUZZ_S seconds each; findings are kept in tests/data/fuzz.
FUZZ_S  ?= 60
FUZZERS ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
fuzzers: $(FUZZ_BIN)

#: fuzz        coverage-guided fuzzing of all inputs from outside, FUZZ_S seconds each (clang)
fuzz: $(BUILD)/bench/make_census_log
	$(Q)$(MAKE) --no-print-directory MODE=fuzz CC=clang CFLAGS='-O1 -g' fuzzers
	$(Q)BUILD='$(BUILD)' FUZZ_S='$(FUZZ_S)' scripts/fuzz $(FUZZERS)
.PHONY: fuzz

ATTACK_S ?= 480
#: attack      known attacks, and random faults for ATTACK_S seconds; MODE=asan for the sanitizers
attack: all
	$(Q)BUILD='$(O)' MODE='$(MODE)' ATTACK_S='$(ATTACK_S)' scripts/attack
.PHONY: attack

# Quality of the verdict: golden timelines, then scores on labelled series; LEAKLAB='--ok 100 --leak 60' for more of them.
LEAKLAB ?= --ok 20 --leak 12 --seed 2026 --jobs 1
EARLYLAB ?= --ok 60 --leak 80 --seed 2026 --jobs 1
#: leaklab     score the leak verdict and the early warning against their benchmarks
leaklab: $(O)/heapwatch-trend $(O)/heapwatch-early $(O)/heapwatch-censuses.so
	$(Q)/usr/bin/python3 tests/leaklab/leaklab.py golden --detector $(O)/heapwatch-trend
	$(Q)/usr/bin/python3 tests/leaklab/leaklab.py score --detector $(O)/heapwatch-trend $(LEAKLAB)
	$(Q)/usr/bin/python3 tests/leaklab/fast/fastlab.py golden --detector $(O)/heapwatch-early
	$(Q)/usr/bin/python3 tests/leaklab/fast/fastlab.py score --detector $(O)/heapwatch-early $(EARLYLAB)
	$(Q)/usr/bin/python3 tests/leaklab/fast/fastlab.py score --detector $(O)/heapwatch-early --agent $(O)/heapwatch-censuses.so $(EARLYLAB)
.PHONY: leaklab

# Measurements: never part of check. BENCH_ARGS go to scripts/bench.
BENCH_BIN := $(patsubst tests/bench/%.c,$(O)/bench/%,$(sort $(wildcard tests/bench/bench_*.c tests/bench/make_*.c)))

$(O)/bench/%: $(OBJ)/tests/bench/%.o $(O)/libunit.a $(O)/libinternal.a
	@mkdir -p $(@D)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $< $(O)/libunit.a $(O)/libinternal.a $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_DAEMON) $(LIBS_INSPECT) $(LIBS_LIB)

#: bench       speed and memory, in one table
bench: all $(BENCH_BIN)
	$(Q)BUILD='$(O)' scripts/bench $(BENCH_ARGS)
.PHONY: bench

#: bench-page  time to the browser page's first picture, in a real browser
bench-page: all $(O)/bench/make_census_log
	$(Q)BUILD='$(O)' tests/bench/first_picture.py $(BENCH_ARGS)
.PHONY: bench-page

#: bench-streams  what ten open pages cost the daemon and the web server
bench-streams: all $(O)/bench/make_census_log
	$(Q)BUILD='$(O)' tests/bench/page_streams.py $(BENCH_ARGS)
.PHONY: bench-streams

#: dist        the release as a tarball, from the last commit, with browser page and signatures; the same bytes each time
DIST := $(BUILD)/heapwatch-$(VERSION).tar.gz
dist: $(DIST)
$(DIST): FORCE $(PAGE)/done $(SIGNED)
	$(call SAY,DIST,$@)
	$(Q)scripts/packaging/dist $(PAGE)/out $(O)/signatures $@
.PHONY: dist

# DEBFULLNAME and DEBEMAIL: who packs it. DEB_ARCH=arm64: for another architecture, whose compiler and libraries are installed.
#: deb         packages for Debian and Ubuntu in $(BUILD)/deb, from the tarball of `dist`
deb: $(DIST)
	$(Q)scripts/deps $(or $(DEB_ARCH),deb)
	$(Q)ARCH='$(DEB_ARCH)' scripts/packaging/deb $(DIST) $(BUILD)/deb
.PHONY: deb

#: tarball     the programs for other distributions with glibc 2.31 or newer in $(BUILD)/tarball; as root, in a Debian 11 of its own
tarball: $(DIST)
	$(Q)scripts/packaging/tarball $(DIST) $(BUILD)/tarball
.PHONY: tarball

#: image       a container image, $(BUILD)/heapwatch-$(VERSION)-image.tar, of the programs and the libraries of this system
IMAGE := $(BUILD)/heapwatch-$(VERSION)-image.tar
image: all $(SIGNED)
	$(Q)rm -rf $(BUILD)/image
	$(Q)$(MAKE) -s --no-print-directory install PREFIX=/usr LIBDIR=/usr/lib AGENTDIR=/usr/lib/heapwatch DESTDIR=$(BUILD)/image >/dev/null
	$(Q)scripts/packaging/image $(BUILD)/image $(IMAGE) heapwatch:$(VERSION)
.PHONY: image

#: clean       remove $(BUILD)
clean:
	rm -rf $(BUILD)
.PHONY: clean

#: install     to DESTDIR/PREFIX
DEST := $(DESTDIR)$(PREFIX)
install: all
	install -d $(addprefix $(DEST)/,bin include/heapwatch share/heapwatch/signatures share/bash-completion/completions \
	           share/fish/vendor_completions.d) $(addprefix $(DEST)/share/man/man,1 5 8) \
	           $(addprefix $(DESTDIR),$(LIBDIR)/pkgconfig $(AGENTDIR) $(UNITDIR) $(USERUNITDIR) $(ZSHDIR))
	install -m 755 $(PROGRAMS) $(DEST)/bin
	install -m 644 $(O)/libheapwatch.a $(DESTDIR)$(LIBDIR)
	install -m 644 $(O)/libheapwatch-agent.a $(DESTDIR)$(LIBDIR)
	install -m 755 $(O)/libheapwatch-agent.so $(DESTDIR)$(AGENTDIR)
	install -m 755 $(O)/libheapwatch.so $(DESTDIR)$(LIBDIR)/libheapwatch.so.$(VERSION)
	ln -sf libheapwatch.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libheapwatch.so.$(SOVERSION)
	ln -sf libheapwatch.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libheapwatch.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(PC_LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' scripts/install/heapwatch.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/heapwatch.pc
	install -m 644 include/heapwatch/*.h $(GEN)/heapwatch/heapwatch.pb-c.h $(DEST)/include/heapwatch
	install -m 644 proto/wire/heapwatch.proto $(DEST)/share/heapwatch
	for from in $(SIGNATURES); do [ -d $$from ] || continue; install -m 644 $$from/*.hwsig $(DEST)/share/heapwatch/signatures; break; done
	sed -e 's|@PREFIX@|$(PREFIX)|' scripts/install/heapwatchd.service.in > $(DESTDIR)$(UNITDIR)/heapwatchd.service
	for unit in heapwatch-export heapwatch-archive; do \
	  sed -e 's|@PREFIX@|$(PREFIX)|' scripts/install/$$unit.service.in > $(DESTDIR)$(UNITDIR)/$$unit.service || exit 1; done
	for unit in heapwatchd heapwatch-run@; do \
	  sed -e 's|@PREFIX@|$(PREFIX)|' scripts/install/$$unit.user.service.in > $(DESTDIR)$(USERUNITDIR)/$$unit.service || exit 1; done
	install -m 644 scripts/install/heapwatchd.user.socket $(DESTDIR)$(USERUNITDIR)/heapwatchd.socket
	$(O)/heapwatch completion bash > $(DEST)/share/bash-completion/completions/heapwatch
	ln -sf heapwatch $(DEST)/share/bash-completion/completions/heapwatchd
	$(O)/heapwatch completion zsh > $(DESTDIR)$(ZSHDIR)/_heapwatch
	$(O)/heapwatch completion fish > $(DEST)/share/fish/vendor_completions.d/heapwatch.fish
	ln -sf heapwatch.fish $(DEST)/share/fish/vendor_completions.d/heapwatchd.fish
	install -m 644 $(O)/man/heapwatch.1 $(O)/man/heapwatch-inspect.1 $(DEST)/share/man/man1
	echo '.so man1/heapwatch.1' > $(DEST)/share/man/man1/heapwatch-live.1
	install -m 644 docs/man/heapwatchd.yaml.5 docs/man/heapwatch-rules.5 docs/man/heapwatch-export.yaml.5 $(DEST)/share/man/man5
	install -m 644 $(O)/man/heapwatchd.8 $(DEST)/share/man/man8
.PHONY: install
