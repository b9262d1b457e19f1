# heapwatch - one non-recursive Makefile. Sources stand in the order in which
# data flows. `make help` lists the targets.
#
#   MODE=release|asan|ubsan   flavour; objects of different flavours never mix
#   BUILD=DIR                 where everything is made (default: build)
#   V=1                       show commands; WERROR=1 makes warnings errors
#   WEB=0                     without the browser page (needs no Node)
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

BASE := $(addprefix daemon/base/, arena.c hash.c strings.c pool.c idtable.c nearest.c text_out.c)

DECODE := $(addprefix daemon/decode/, event_table.c view.c header.c decoder.c ipe.c resync.c fields.c)
SOURCE := $(addprefix daemon/source/, uri.c source.c watch.c tail.c fifo.c stdin.c address.c backoff.c connect.c \
          listen.c read.c kernel_file.c cgroup.c procfs.c log_length.c)
MODEL := $(addprefix daemon/model/, model.c clock.c run.c sched.c heap.c gc.c nonmoving.c cost_centres.c ipe.c bands.c \
         bands_take.c band_history.c census.c notes.c profile.c ticky.c window.c series.c histogram.c advice.c)
# One series alone (what the leak lab scores), then all trends of a target.
VERDICT := $(addprefix daemon/trend/, median.c ladder.c life.c theil_sen.c shape.c windows.c verdict.c onset.c \
           time_to_limit.c trend.c)
TREND := $(VERDICT) $(addprefix daemon/trend/, statistics.c spread.c band_windows.c band_spread.c band_now.c limit.c \
         growth.c tracker.c tracker_bands.c tracker_read.c)
RULES := $(addprefix daemon/rules/, type.c unit.c vocabulary.c lexer.c matcher.c operators.c parser.c parse_term.c parse.c \
         print.c history.c eval.c headline.c template.c rule.c builtin.c state.c alert_text.c alert_list.c alerts.c)
PUBLISH := $(addprefix daemon/publish/, gather.c label.c encode.c packer.c encode_run.c encode_heap.c encode_gc.c \
             encode_census.c encode_bands.c encode_notes.c encode_profile.c encode_sched.c encode_health.c \
             sentences.c encode_trend.c send_state.c send_alerts.c send_rows.c send_trend.c event_stream.c publisher.c \
             snapshot.c zloop.c endpoint.c bus.c once.c)

ACT := $(addprefix daemon/act/, notice.c plan.c json.c silence.c limits.c done.c desk_table.c withdrawal.c desk.c \
         exec_env.c exec_child.c exec.c curl_library.c token.c http.c resend.c actor.c file.c mailbox.c worker.c state.c act.c)

PROTO := $(addprefix proto/, utf8.c decimal.c text.c quantity.c advice.c kinds.c topic.c endpoints.c fields.c validate.c \
         unpack.c json.c queue.c clone.c zparts.c subscriber.c request.c)

DAEMON := $(addprefix daemon/, log.c yaml_file.c rules_do.c rules_file.c rulebook.c rules_tool.c \
          rules_test_values.c rules_test_input.c rules_test_run.c rules_test_words.c rules_test.c config_trend.c config.c \
          config_file.c fanout.c alerting_band.c alerting_data.c alerting_words.c alerting.c alert_actions.c \
          damages.c pace.c process_watch.c pipeline_state.c pipeline_stream.c pipeline_live.c pipeline.c targets.c reload.c \
          silence_requests.c requests.c once.c main.c)

# The client: where updates come from, the state they make, the commands that show it.
CLIENT := $(addprefix client/, main.c command.c options.c signals.c json_out.c \
            find_daemon.c feed.c feed_live.c feed_files.c \
            view.c view_target.c view_bands.c view_trend.c view_lists.c view_ring.c message_copy.c view_clone.c) \
          $(addprefix client/console/, top.c loop.c screen.c plain.c console.c mouse.c frame.c entry.c save.c views.c \
            table.c table_draw.c table_keys.c table_print.c figures.c trends.c journal.c past.c recall.c timeline.c chart.c chart_draw.c chart_save.c value.c \
            overview.c identity.c memory.c collections.c bands.c notes.c stream.c scene.c widgets.c canvas.c) \
          $(sort $(wildcard client/console/views/*.c)) \
          $(addprefix client/pipe/, pipe.c csv.c) \
          $(addprefix client/trend/, rows.c json.c command.c) \
          $(addprefix client/ctl/, ctl.c print.c silence.c) \
          $(addprefix client/alerts/, severity.c known.c print.c alerts.c) \
          $(addprefix client/, rtsinfo.c inquire.c) \
          $(addprefix client/rules/, rules.c findings.c junit.c check.c) \
          $(addprefix client/run/, blocks.c relay.c flags.c daemon.c hung.c session.c run.c) \
          $(addprefix client/doctor/, features.c stream.c doctor.c) \
          $(addprefix client/replay/, schedule.c output.c replay.c) \
          $(addprefix client/history/, document.c put.c past.c stats.c grid.c collections.c history.c item.c) \
          $(addprefix client/web/, assets.c answer.c guard.c detail.c state.c metrics.c question.c asker.c pasts.c pieces.c stream.c \
            control.c server.c web.c) \
          $(addprefix client/report/, notes.c compose.c embed.c report.c) \
          $(addprefix client/events/, types.c print.c events.c) \
          $(addprefix client/convert/, hp.c convert.c) \
          $(addprefix client/summary/, print.c identity.c memory.c collections.c profiles.c trends.c threads.c sections.c command.c)

LIB_SRC     := $(BASE) $(DECODE) $(PROTO)
STAGES_SRC  := $(SOURCE) $(MODEL) $(TREND) $(RULES) $(PUBLISH) $(ACT) $(filter-out daemon/main.c,$(DAEMON))
CLIENT_SRC  := $(filter-out client/main.c,$(CLIENT))
UNIT_SRC    := $(sort $(wildcard tests/unit/*/test_*.c))

# ------------------------------------------------------------------ flags

PKGS_LIB    := libzmq libprotobuf-c
PKGS_DAEMON := libevent libcyaml yaml-0.1 jansson
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
SAN.fuzz    := -fsanitize=fuzzer-no-link $(SAN.asan)
SAN.afl     := $(SAN.asan)

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
.PHONY: all check unit e2e bench bench-page bench-streams demo asan fuzz install clean help deps dist layers style leaklab fuzzers valgrind

objects = $(patsubst %.c,$(OBJ)/%.o,$(1))
LIB_OBJ    := $(call objects,$(LIB_SRC)) $(if $(PROTO),$(OBJ)/heapwatch.pb-c.o)
STAGES_OBJ := $(call objects,$(STAGES_SRC))
CLIENT_OBJ := $(call objects,$(CLIENT_SRC)) $(OBJ)/client/web/assets_page.o
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

# The browser page, bundled by npm in $(BUILD)/page and embedded into heapwatch. Without npm its files are empty.
WEB ?= 1
PAGE := $(BUILD)/page
PAGE_SRC := $(shell find client/web/page -type f -not -path '*/node_modules/*' 2>/dev/null)

$(PAGE)/mode: FORCE
	@mkdir -p $(@D)
	@echo '$(WEB) $(PAGE_SRC)' | cmp -s - $@ || echo '$(WEB) $(PAGE_SRC)' > $@

$(PAGE)/done: $(PAGE_SRC) $(PAGE)/mode scripts/page
	$(call SAY,PAGE,client/web/page)
	$(Q)scripts/page '$(WEB)' client/web/page $(PAGE)

$(OBJ)/client/web/assets_page.o: client/web/assets.S $(PAGE)/done $(OBJ)/flags
	@mkdir -p $(@D)
	$(call SAY,AS,$<)
	$(Q)$(CC) -c -Wa,-I,$(PAGE)/out -o $@ $<

$(O)/libheapwatch.a: $(LIB_OBJ)
	$(call SAY,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/libheapwatch.so: $(LIB_OBJ) scripts/libheapwatch.map
	$(call SAY,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libheapwatch.so.0 -Wl,--version-script=scripts/libheapwatch.map -o $@ $(LIB_OBJ) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_LIB)

$(O)/heapwatch.pc: scripts/install/heapwatch.pc.in Makefile
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
	$(Q)$(CC) -o $@ $< $(O)/libunit.a $(O)/libheapwatch.a $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) -lcmocka $(LIBS_DAEMON) $(LIBS_CLIENT) $(LIBS_LIB)

# An oracle for least squares.
$(O)/unit/trend/test_statistics: HW_LDFLAGS += -lgsl -lgslcblas

# Tests that count allocations, or make each fail in turn.
$(addprefix $(O)/unit/, model/test_memory daemon/test_memory daemon/test_steady): \
  HW_LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

HEAPWATCH_TREND_OBJ := $(call objects,tests/bench/heapwatch_trend.c $(VERDICT))
$(O)/heapwatch-trend: $(HEAPWATCH_TREND_OBJ)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $^ $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS)

-include $(patsubst %.o,%.d,$(HEAPWATCH_TREND_OBJ))
-include $(patsubst %.o,%.d,$(LIB_OBJ) $(STAGES_OBJ) $(CLIENT_OBJ) $(call objects,daemon/main.c client/main.c $(UNIT_SRC)))

# Fuzzers: MODE=fuzz CC=clang for libFuzzer, MODE=afl CC=afl-clang-fast for AFL++, which has a driver of the same name.
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(sort $(wildcard tests/fuzz/*.c)))
$(O)/fuzz/fuzz_%: FUZZ_LDFLAGS := -fsanitize=fuzzer
$(O)/fuzz/%: $(OBJ)/tests/fuzz/%.o $(O)/libunit.a $(O)/libheapwatch.a
	@mkdir -p $(@D)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $^ $(FUZZ_LDFLAGS) $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_DAEMON) $(LIBS_LIB)

-include $(patsubst tests/fuzz/%.c,$(OBJ)/tests/fuzz/%.d,$(wildcard tests/fuzz/*.c))

# ------------------------------------------------------------------ targets

deps:
	$(Q)scripts/deps

unit: $(UNIT_BIN)

layers: $(LIB_OBJ) $(STAGES_OBJ) $(CLIENT_OBJ)
	$(Q)scripts/check-layers $(OBJ)

style:
	$(Q)scripts/check-style

# Is the verdict right? Golden timelines, then scores on labelled series; LEAKLAB='--ok 100 --leak 60' for more of them.
LEAKLAB ?= --ok 20 --leak 12 --seed 2026 --jobs 1
leaklab: $(O)/heapwatch-trend
	$(Q)/usr/bin/python3 tests/leaklab/leaklab.py golden --detector $(O)/heapwatch-trend
	$(Q)/usr/bin/python3 tests/leaklab/leaklab.py score --detector $(O)/heapwatch-trend $(LEAKLAB)

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
	@echo '  bench-page  how soon the browser page shows its first picture; bench-streams: what ten open pages cost'
	@echo '  asan     all tests under AddressSanitizer and UBSan'
	@echo '  valgrind all tests under valgrind; VALGRIND=unit/decode for those whose names begin so'
	@echo '  leaklab  score the leak verdict on labelled series'
	@echo '  install  to DESTDIR/PREFIX'
	@echo '  deps     install build and test dependencies (Debian)'
	@echo '  clean    remove $(BUILD)'
	@echo '  fuzz     coverage-guided fuzzing of what takes bytes from outside, FUZZ_S seconds each (clang)'
	@echo '  leaklab  score the leak verdict against the benchmark'

demo:
	$(Q)scripts/deps demo
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)BUILD='$(O)' scripts/demo/run

asan:
	$(Q)BUILD='$(BUILD)' MODE=asan scripts/check

# Everything that takes bytes from outside, FUZZ_S seconds each; what is found is kept in tests/data/fuzz.
FUZZ_S  ?= 60
FUZZERS ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
fuzzers: $(FUZZ_BIN)

fuzz: $(BUILD)/bench/make_census_log
	$(Q)$(MAKE) --no-print-directory MODE=fuzz CC=clang CFLAGS='-O1 -g' fuzzers
	$(Q)BUILD='$(BUILD)' FUZZ_S='$(FUZZ_S)' scripts/fuzz $(FUZZERS)

# All tests without a sanitizer, every access and leak watched. VALGRIND='unit/decode e2e/test_web' for some only.
valgrind: all unit
	$(Q)BUILD='$(O)' scripts/valgrind $(VALGRIND)

# Measurements: never part of check. BENCH_ARGS go to scripts/bench.
BENCH_BIN := $(patsubst tests/bench/%.c,$(O)/bench/%,$(sort $(wildcard tests/bench/bench_*.c tests/bench/make_*.c)))

$(O)/bench/%: $(OBJ)/tests/bench/%.o $(O)/libunit.a $(O)/libheapwatch.a
	@mkdir -p $(@D)
	$(call SAY,LD,$@)
	$(Q)$(CC) -o $@ $< $(O)/libunit.a $(O)/libheapwatch.a $(CFLAGS) $(LDFLAGS) $(HW_LDFLAGS) $(LIBS_DAEMON) $(LIBS_LIB)

bench: all $(BENCH_BIN)
	$(Q)BUILD='$(O)' scripts/bench $(BENCH_ARGS)

# The browser page's first picture, in a real browser.
bench-page: all $(O)/bench/make_census_log
	$(Q)BUILD='$(O)' tests/bench/first_picture.py $(BENCH_ARGS)

# What open pages cost the daemon and the web server.
bench-streams: all $(O)/bench/make_census_log
	$(Q)BUILD='$(O)' tests/bench/page_streams.py $(BENCH_ARGS)

DEST := $(DESTDIR)$(PREFIX)
install: all
	install -d $(addprefix $(DEST)/,bin lib/pkgconfig lib/systemd/system include/heapwatch share/heapwatch \
	           share/bash-completion/completions) $(addprefix $(DEST)/share/man/man,1 5 8)
	install -m 755 $(PROGRAMS) $(DEST)/bin
	install -m 644 $(O)/libheapwatch.a $(DEST)/lib
	install -m 755 $(O)/libheapwatch.so $(DEST)/lib/libheapwatch.so.$(VERSION)
	ln -sf libheapwatch.so.$(VERSION) $(DEST)/lib/libheapwatch.so.0
	ln -sf libheapwatch.so.0 $(DEST)/lib/libheapwatch.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' scripts/install/heapwatch.pc.in > $(DEST)/lib/pkgconfig/heapwatch.pc
	install -m 644 include/heapwatch/*.h $(GEN)/heapwatch/heapwatch.pb-c.h $(DEST)/include/heapwatch
	install -m 644 proto/heapwatch.proto $(DEST)/share/heapwatch
	sed -e 's|@PREFIX@|$(PREFIX)|' scripts/install/heapwatchd.service.in > $(DEST)/lib/systemd/system/heapwatchd.service
	install -m 644 scripts/install/heapwatch.bash $(DEST)/share/bash-completion/completions/heapwatch
	ln -sf heapwatch $(DEST)/share/bash-completion/completions/heapwatchd
	install -m 644 docs/man/heapwatch.1 $(DEST)/share/man/man1
	install -m 644 docs/man/heapwatchd.yaml.5 docs/man/heapwatch-rules.5 $(DEST)/share/man/man5
	install -m 644 docs/man/heapwatchd.8 $(DEST)/share/man/man8
