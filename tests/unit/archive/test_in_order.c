/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_in_order.c - logs of several capabilities in the order of time: each byte of the file comes once, whatever
 * damages it, and events come as they happened.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heapwatch/eventlog.h"
#include "proto/base/array.h"
#include "proto/eventlog/archive/in_order.h"
#include "proto/base/bytes.h"
#include "tests/unit/test.h"

#define LOGS      "tests/data/logs/"
#define FILE_MOST (1u << 20)

static const char *const late_logs[] = { "leaky-hc-ghc902", "leaky-hc-ghc9103", "steady-hT-thr-ghc902",
                                         "cc-hd-ghc902" };
static uint8_t file[FILE_MOST], seen[FILE_MOST];
static size_t file_size;
static int fd = -1;

static void load(const char *log)
{
        char path[128];

        (void)snprintf(path, sizeof(path), LOGS "%s/run.eventlog", log);
        FILE *from = fopen(path, "rb");
        assert_non_null(from);
        file_size = fread(file, 1, sizeof(file), from);
        (void)fclose(from);
}

static void store(void)
{
        if (fd < 0)
                fd = memfd_create("log", MFD_CLOEXEC);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, file, file_size, 0), file_size);
}

/* Each byte behind a made marker is the file's byte at its place, and comes once. Returns the bytes that were read. */
static size_t read_all(struct in_order *o, uint8_t *out, size_t most, size_t room, struct in_order_place *ret_place)
{
        uint8_t buffer[65536];
        size_t given = 0;
        ssize_t n;

        memset(seen, 0, sizeof(seen));
        while ((n = in_order_read(o, buffer, room, ret_place)) > 0) {
                const size_t made = (size_t)(ret_place->from - given);
                assert_true((size_t)n <= room);
                for (size_t i = made; i < (size_t)n; i++) {
                        const size_t at = (size_t)((int64_t)(given + i) + ret_place->moved);
                        assert_true(at < file_size && file[at] == buffer[i]);
                        assert_int_equal(seen[at]++, 0);
                }
                if (out && given + (size_t)n <= most)
                        memcpy(out + given, buffer, (size_t)n);
                given += (size_t)n;
        }
        assert_int_equal(n, 0);
        return given;
}

/* All that is no block marker came. */
static void nothing_is_missing(size_t given, const struct in_order_place *place)
{
        size_t missing = 0;

        for (size_t i = 0; i < file_size; i++)
                missing += !seen[i];
        assert_int_equal(given, file_size + place->markers * BLOCK_MARKER_BYTES);
        assert_int_equal(missing % BLOCK_MARKER_BYTES, 0);
        for (size_t i = 0; i < file_size; i++)
                if (!seen[i]) {
                        assert_int_equal(be16(file + i), HW_BLOCK_MARKER);
                        i += BLOCK_MARKER_BYTES - 1;
                }
}

TEST(events_come_as_they_happened)
{
        static uint8_t out[2 * FILE_MOST];
        static struct hw_event events[256];
        struct in_order_place place;

        for (size_t k = 0; k < ARRAY_SIZE(late_logs); k++) {
                load(late_logs[k]);
                store();
                struct in_order *o = in_order_open(fd);
                assert_non_null(o);
                const size_t given = read_all(o, out, sizeof(out), sizeof(events), &place);
                nothing_is_missing(given, &place);
                assert_true(place.markers > 0);
                in_order_close(&o);

                struct hw_eventlog *log = hw_eventlog_new();
                uint64_t newest_ns = 0, late = 0;
                size_t n;
                hw_eventlog_input(log, out, given);
                for (enum hw_eventlog_status s = HW_EVENTLOG_OK; s != HW_EVENTLOG_NEED_MORE;) {
                        s = hw_eventlog_read(log, events, ARRAY_SIZE(events), &n);
                        assert_true(s != HW_EVENTLOG_BAD && s != HW_EVENTLOG_LIMIT);
                        for (size_t i = 0; i < n; i++) {
                                const struct hw_event *e = &events[i];
                                if (e->id == HW_BLOCK_MARKER || e->id == HW_GC_START || e->id == HW_GC_END)
                                        continue; /* these have times of their own */
                                late += e->time_ns < newest_ns;
                                newest_ns = e->time_ns;
                        }
                }
                assert_int_equal(late, 0);
                assert_true(hw_eventlog_finish(log, &(uint64_t){ 0 }));
                hw_eventlog_destroy(&log);
        }
}

/* As far as it matters. */
TEST(what_is_in_order_is_left_alone)
{
        load("leaky-hc-ghc9103");
        const uint8_t *block = (uint8_t *)memmem(file, file_size, "hdredatb", 8) + 8;
        file_size = (size_t)(block - file) + be32(block + 10); /* which is the first of them */
        store();
        assert_null(in_order_open(fd));
        file_size = 1000; /* no whole header */
        store();
        assert_null(in_order_open(fd));
}

TEST(damage_loses_nothing)
{
        struct in_order_place place = { 0 };

        for (unsigned seed = 0; seed < 300; seed++) {
                load(late_logs[seed % ARRAY_SIZE(late_logs)]);
                srandom(seed);
                for (unsigned i = 0; i < 1 + seed % 7; i++)
                        file[5000 + (size_t)random() % (file_size - 5000)] ^= (uint8_t)(1u << random() % 8);
                if (seed % 5 == 0)
                        file_size -= (size_t)random() % (file_size / 2);
                store();
                struct in_order *o = in_order_open(fd);
                if (!o)
                        continue; /* its first block is damaged */
                const size_t given = read_all(o, NULL, 0, seed % 2 ? 65536 : 64, &place);
                nothing_is_missing(given, &place);
                in_order_close(&o);
        }
}
