/* SPDX-License-Identifier: BSD-3-Clause */
/* Symbols of ELF images, whole, cut and damaged; layouts of the runtime's structures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "agent/layout.h"
#include "agent/symbols.h"
#include "tests/unit/thin.h"

/* Names of the runtime, in this program: the scan must find them where they are. */
uint8_t RtsFlags[440];
char *prog_name;
void startEventLogging(void);
void startEventLogging(void)
{
        prog_name = NULL;
}
__attribute__((used)) static int64_t end_init_elapsed;

struct file {
        uint8_t *bytes;
        size_t size;
};

static struct file this_program(void)
{
        FILE *f = fopen("/proc/self/exe", "rb");
        struct file file;

        assert_non_null(f);
        assert_int_equal(fseek(f, 0, SEEK_END), 0);
        file.size = (size_t)ftell(f);
        file.bytes = malloc(file.size);
        rewind(f);
        assert_int_equal(fread(file.bytes, 1, file.size, f), file.size);
        (void)fclose(f);
        return file;
}

static void forget(void)
{
        memset(&rts, 0, sizeof(rts));
}

TEST(test_finds_what_is_there)
{
        struct file f = this_program();

        forget();
        assert_true(symbols_scan(f.bytes, f.size, 0) >= 4);
        assert_int_equal(rts.RtsFlags.size, sizeof(RtsFlags));
        assert_int_equal(rts.prog_name.size, sizeof(prog_name));
        /* Addresses of the file: all moved by the same distance. */
        intptr_t bias = (intptr_t)RtsFlags - (intptr_t)rts.RtsFlags.address;
        assert_ptr_equal((char *)rts.prog_name.address + bias, &prog_name);
        assert_ptr_equal((char *)rts.startEventLogging.address + bias, (void *)(uintptr_t)startEventLogging);
        assert_ptr_equal((char *)rts.end_init_elapsed.address + bias, &end_init_elapsed);
        assert_null(rts.defaultRtsConfig.address);
        free(f.bytes);
}

TEST(test_cut_images_are_survived)
{
        struct file f = this_program();

        for (size_t n = 0; n < f.size; n += thin(f.size / 200 + 1, "cuts")) {
                uint8_t *cut = malloc(n ? n : 1); /* so that one byte too far is seen */
                char version[32];
                memcpy(cut, f.bytes, n);
                forget();
                (void)symbols_scan(cut, n, 0);
                (void)symbols_ghc_version(cut, n, version, sizeof(version));
                free(cut);
        }
        free(f.bytes);
}

TEST(test_damaged_images_are_survived)
{
        struct file f = this_program();
        size_t headers = 64 * 40; /* the section headers are the last in the file */
        unsigned seed = 1;

        for (unsigned round = 0; round < 300; round += (unsigned)thin(1, "damages")) {
                uint8_t *bytes = malloc(f.size);
                char version[32];
                memcpy(bytes, f.bytes, f.size);
                for (unsigned i = 0; i < 8; i++) {
                        size_t at = (size_t)rand_r(&seed) % 64;
                        if (i > 1 && f.size > headers)
                                at = f.size - 1 - (size_t)rand_r(&seed) % headers;
                        bytes[at] = (uint8_t)rand_r(&seed);
                }
                forget();
                (void)symbols_scan(bytes, f.size, 0);
                (void)symbols_ghc_version(bytes, f.size, version, sizeof(version));
                free(bytes);
        }
        free(f.bytes);
}

TEST(test_a_configuration_is_known_by_its_hooks)
{
        static char writer, defaults, on_exit_hook, malloc_fail;
        struct rts_config config = { .word = { 0 } };
        uint32_t enabled = RTS_OPTIONS_SAFE_ONLY;

        forget();
        memcpy(config.word, &enabled, sizeof(enabled));
        config.word[CONFIG_WRITER] = &writer;
        config.word[CONFIG_DEFAULTS_HOOK] = &defaults;
        config.word[CONFIG_ON_EXIT_HOOK] = &on_exit_hook;
        config.word[CONFIG_MALLOC_FAIL_HOOK] = &malloc_fail;
        rts.defaultRtsConfig = (struct rts_symbol){ &config, sizeof(config) };
        rts.FileEventLogWriter.address = &writer;
        rts.FlagDefaultsHook.address = &defaults;
        rts.OnExitHook.address = &on_exit_hook;
        rts.MallocFailHook.address = &malloc_fail;
        assert_true(layout_config_known(&rts));

        for (unsigned i = 0; i < RTS_CONFIG_WORDS; i++) { /* any of them elsewhere: not known */
                static const unsigned checked[] = { 0, 2, 5, 6, 7, 10, 11 };
                struct rts_config good = config;
                bool is_checked = false;
                config.word[i] = &config;
                for (unsigned k = 0; k < sizeof(checked) / sizeof(checked[0]); k++)
                        is_checked |= checked[k] == i;
                assert_int_equal(layout_config_known(&rts), !is_checked);
                config = good;
        }
        rts.defaultRtsConfig.size = sizeof(config) + 8;
        assert_false(layout_config_known(&rts));
}

static void put_profile(uint8_t *at, uint32_t profile, int64_t interval, uint32_t ticks)
{
        memcpy(at, &profile, sizeof(profile));
        memcpy(at + 8, &interval, sizeof(interval));
        memcpy(at + 16, &ticks, sizeof(ticks));
}

TEST(test_flags_of_the_collector)
{
        const uint32_t max_heap = 102400, area = 256, generations = 3;
        uint8_t flags[440] = { 0 };
        struct gc_flags gc;

        assert_false(layout_gc_flags(flags, 440, &gc)); /* no generation: the options are not parsed */
        memcpy(flags + 28, &max_heap, sizeof(max_heap));
        memcpy(flags + 32, &area, sizeof(area));
        memcpy(flags + 76, &generations, sizeof(generations));
        assert_true(layout_gc_flags(flags, 440, &gc));
        assert_int_equal(gc.generations, 3);
        assert_int_equal(gc.max_heap_bytes, UINT64_C(400) << 20);
        assert_int_equal(gc.alloc_area_bytes, 1 << 20);
        assert_false(layout_gc_flags(flags, 439, &gc));
        assert_false(layout_gc_flags(NULL, 440, &gc));
}

TEST(test_flags_of_measured_releases)
{
        uint8_t flags[496] = { 0 };
        struct flags_layout l;

        assert_true(layout_flags(flags, 440, false, &l));
        assert_int_equal(l.heap_profile, 272);
        assert_true(layout_flags(flags, 472, false, &l));
        assert_int_equal(l.heap_profile, 280);
        assert_true(layout_flags(flags, 496, false, &l));
        assert_int_equal(l.heap_profile, 288);
        put_profile(flags + 272, 77, 100000000, 10); /* no heap profile has this number */
        assert_false(layout_flags(flags, 440, false, &l));
        put_profile(flags + 272, 0, -1, 10);
        assert_false(layout_flags(flags, 440, false, &l));
}

TEST(test_other_flags_only_by_their_defaults)
{
        uint8_t flags[504] = { 0 };
        struct flags_layout l = { 0 };

        put_profile(flags + 296, 0, 100000000, 10);
        assert_false(layout_flags(flags, sizeof(flags), false, &l));
        assert_true(layout_flags(flags, sizeof(flags), true, &l));
        assert_int_equal(l.heap_profile, 296);
        assert_int_equal(l.interval, 304);
        put_profile(flags + 400, 0, 100000000, 10); /* twice: which one? */
        assert_false(layout_flags(flags, sizeof(flags), true, &l));
        assert_false(layout_flags(flags, 100, true, &l));
        assert_false(layout_flags(NULL, 440, true, &l));
}

TEST(test_event_buffers)
{
        static uint8_t bytes[16];
        struct event_buffer b = { .begin = bytes, .position = bytes, .size = EVENT_BUFFER_BYTES };

        assert_true(layout_buffers_known(&b));
        assert_false(layout_buffers_known(NULL));
        b.capability = 1;
        assert_false(layout_buffers_known(&b));
        b.capability = 0;
        b.size = 4096;
        assert_false(layout_buffers_known(&b));
        b.size = EVENT_BUFFER_BYTES;
        b.begin = bytes + 8;
        assert_false(layout_buffers_known(&b));
}
