/* SPDX-License-Identifier: BSD-3-Clause */
/* A log of two censuses and two collections in each format whose text can be read here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "client/cli/command.h"
#include "daemon/log.h"
#include "tests/bench/made_log.h"

static char path[64];

static void put_band(struct eventlog_writer *o, uint64_t time_ns, const char *label, uint64_t bytes)
{
        writer_event(o, 164, time_ns);
        size_t begin = writer_length_begin(o);
        writer_number(o, 0, 1);
        writer_number(o, bytes, 8);
        writer_string(o, label);
        writer_length_end(o, begin, 0);
}

static void put_census(struct eventlog_writer *o, uint64_t time_ns, uint64_t map, uint64_t list)
{
        writer_block_begin(o, time_ns, time_ns, HW_CAP_NONE);
        put_mark(o, 162, time_ns);
        put_band(o, time_ns, "Data.Map.Internal.Bin", map);
        put_band(o, time_ns, ":", list);
        put_mark(o, 165, time_ns);
        writer_block_end(o);
}

static int open_log(void **state)
{
        static struct eventlog_writer o;
        const int fd = memfd_create("convert", MFD_CLOEXEC);

        put_header(&o);
        writer_block_begin(&o, MS, MS, HW_CAP_NONE);
        put_identity(&o, 1700000000);
        put_profile_begin(&o, 1000 * MS, BREAKDOWN_CLOSURE_TYPE);
        writer_block_end(&o);
        put_collection(&o, 900 * MS, 1, 5000000, 1000000);
        put_census(&o, 1000 * MS, 600000, 400000);
        put_collection(&o, 1900 * MS, 1, 9000000, 1300000);
        put_census(&o, 2000 * MS, 1000000, 300000);
        writer_end(&o);
        log_set_level(LOG_ERROR);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return fd < 0 || write(fd, o.data, o.n) != (ssize_t)o.n ? -1 : 0;
}

/* What `heapwatch convert LOG --to FORMAT [MORE VALUE]` prints. Freed by the caller. */
static char *convert(const char *format, const char *more, const char *value)
{
        char *argv[] = {
                "convert", path, "--to", strdup(format), more ? strdup(more) : NULL, value ? strdup(value) : NULL, NULL
        };
        FILE *terminal = stdout;
        char *text = NULL;
        size_t n = 0;

        stdout = open_memstream(&text, &n);
        const int status = command_main(&command_convert, more ? 6 : 4, argv);
        (void)fclose(stdout);
        stdout = terminal;
        for (size_t i = 3; argv[i]; i++)
                free(argv[i]);
        assert_int_equal(status, EXIT_OK);
        return text;
}

static void expect(const char *format, const char *more, const char *value, const char *text)
{
        char *written = convert(format, more, value);

        assert_string_equal(written, text);
        free(written);
}

/* Between an empty first and last sample, as the runtime writes them. */
TEST(test_hp)
{
        expect("hp", NULL, NULL,
               "JOB \"unknown\"\nDATE \"Tue Nov 14 22:13 2023\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n"
               "BEGIN_SAMPLE 0.000000\nEND_SAMPLE 0.000000\n"
               "BEGIN_SAMPLE 1.000000\nData.Map.Internal.Bin\t600000\n:\t400000\nEND_SAMPLE 1.000000\n"
               "BEGIN_SAMPLE 2.000000\nData.Map.Internal.Bin\t1000000\n:\t300000\nEND_SAMPLE 2.000000\n"
               "BEGIN_SAMPLE 2.000000\nEND_SAMPLE 2.000000\n");
}

/* RSS is unknown, not 0; what the columns leave out is in the last one. */
TEST(test_csv_wide)
{
        expect("csv-wide", NULL, NULL,
               "time_s,wall_time,live,heap_size,blocks_size,rss,census_total,Data.Map.Internal.Bin,:,(others)\n"
               "1.000000000,2023-11-14T22:13:20.999Z,1000000,3000000,2000000,,1000000,600000,400000,0\n"
               "2.000000000,2023-11-14T22:13:21.999Z,1300000,3900000,2600000,,1300000,1000000,300000,0\n");
        expect("csv-wide", "--bands", "1",
               "time_s,wall_time,live,heap_size,blocks_size,rss,census_total,Data.Map.Internal.Bin,(others)\n"
               "1.000000000,2023-11-14T22:13:20.999Z,1000000,3000000,2000000,,1000000,600000,400000\n"
               "2.000000000,2023-11-14T22:13:21.999Z,1300000,3900000,2600000,,1300000,1000000,300000\n");
}

/* The census with the most bytes, or the newest one at that time. */
TEST(test_moment)
{
        expect("collapsed", NULL, NULL, ": 300000\nData.Map.Internal.Bin 1000000\n");
        expect("collapsed", "--at", "peak", ": 300000\nData.Map.Internal.Bin 1000000\n");
        expect("collapsed", "--at", "1.9", ": 400000\nData.Map.Internal.Bin 600000\n");
        expect("collapsed", "--at", "2.0", ": 300000\nData.Map.Internal.Bin 1000000\n");
}

TEST(test_resid)
{
        expect("resid", NULL, NULL,
               "# time_s\tlive_bytes\theap_bytes\n0.900900000\t1000000\t3000000\n1.900900000\t1300000\t3900000\n");
}

TEST(test_speedscope)
{
        char *written = convert("speedscope", NULL, NULL);

        assert_non_null(strstr(written,
                               "\"name\":\"heap at 2.000s\",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":1300000,"
                               "\"samples\":[[0],[1]],\"weights\":[1000000,300000]}"));
        free(written);
}

static int begin_tests(void **state)
{
        (void)setenv("TZ", "UTC", 1);
        return open_log(state);
}

TEST_GROUP(begin_tests, NULL)
