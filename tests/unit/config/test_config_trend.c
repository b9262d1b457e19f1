/* SPDX-License-Identifier: BSD-3-Clause */
/* test_config_trend.c - settings of the verdict, and the length of a log that they may come from. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "daemon/watch/config/config.h"
#include "daemon/source/log_length.h"
#include "proto/eventlog/archive/log_file.h"
#include "daemon/judge/trend/tracker.h"
#include "proto/base/error.h"

#define MS     UINT64_C(1000000)
#define MINUTE (60000 * MS)

TEST(test_scales)
{
        struct config config = { .n_targets = 0 };
        struct error error;

        assert_int_equal(config_trend_tracker(&config.trend, 0).trend.resolution_ns, MINUTE);
        assert_int_equal(config_trend_tracker(&config.trend, 0).trend.leak_after_ns, 180 * MINUTE);
        assert_false(config_trend_tracker(&config.trend, 0).automatic);
        assert_int_equal(config_trend_tracker(&config.trend, 3000 * MS).trend.resolution_ns, 100 * MS);
        assert_true(config_trend_tracker(&config.trend, 3000 * MS).automatic);
        assert_int_equal(config_trend_tracker(&config.trend, 10 * MINUTE).trend.resolution_ns, 1000 * MS);
        assert_int_equal(config_trend_tracker(&config.trend, 48 * 60 * MINUTE).trend.resolution_ns, MINUTE);
        for (uint64_t length = MS; length < 100 * 60 * MINUTE; length += length / 3 + 1)
                assert_true(trend_config_valid(&(struct trend_config){
                        .resolution_ns = config_trend_tracker(&config.trend, length).trend.resolution_ns,
                        .leak_after_ns = config_trend_tracker(&config.trend, length).trend.leak_after_ns }));
        assert_true(setting_give(&config, "leak-after", "3m", &error));
        assert_int_equal(config_trend_tracker(&config.trend, 10 * MINUTE).trend.resolution_ns, 1000 * MS);
        assert_false(config_trend_tracker(&config.trend, 10 * MINUTE).automatic);
        assert_true(setting_give(&config, "resolution", "500ms", &error));
        assert_int_equal(config_trend_tracker(&config.trend, 10 * MINUTE).trend.resolution_ns, 500 * MS);
        assert_int_equal(config_trend_tracker(&config.trend, 10 * MINUTE).trend.leak_after_ns, 3 * MINUTE);
        assert_true(config_trend_check(&config.trend, &error));
        assert_true(setting_give(&config, "limit", "2GiB", &error));
        assert_true(config_trend_tracker(&config.trend, 0).given_limit_bytes == UINT64_C(2) << 30);
}

TEST(test_refused)
{
        static const char *const bad[] = { "", "0s", "99ms", "61m", "-1s", "1", "1 minute", "99999999999999999999s" };
        struct config config = { .n_targets = 0 };
        struct error error;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                assert_false(setting_give(&config, "resolution", bad[i], &error));
                assert_non_null(strstr(error.text, "100ms to 1h"));
        }
        assert_false(setting_give(&config, "leak-after", "0s", &error));
        assert_false(setting_give(&config, "limit", "0", &error));
        assert_true(setting_give(&config, "resolution", "1m", &error));
        assert_true(setting_give(&config, "leak-after", "19m", &error));
        assert_false(config_trend_check(&config.trend, &error));
        assert_non_null(strstr(error.text, "20m 00s"));
        assert_true(setting_give(&config, "leak-after", "35d", &error));
        assert_false(config_trend_check(&config.trend, &error));
        config = (struct config){ .n_targets = 0 };
        assert_true(setting_give(&config, "leak-after", "100d", &error));
        assert_true(config_trend_check(&config.trend, &error)); /* at a resolution of 1 h */
}

static uint64_t length_of(const uint8_t *bytes, size_t size)
{
        char path[] = "/tmp/hw-length-XXXXXX";
        int fd = mkstemp(path);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, bytes, size), size);
        close(fd);
        struct log_file *file = log_file_open(path, NULL);
        assert_non_null(file);
        struct log_length length;
        log_length_begin(&length, file);
        while (log_length_step(&length))
                ;
        log_file_close(&file);
        unlink(path);
        return length.longest_ns;
}

static size_t put(uint8_t *to, uint64_t value, unsigned bytes)
{
        for (unsigned i = 0; i < bytes; i++)
                to[i] = (uint8_t)(value >> (bytes - 1 - i) * 8);
        return bytes;
}

static size_t put_block(uint8_t *to, uint64_t begin, uint32_t size, uint64_t end)
{
        size_t n = put(to, 18, 2);

        n += put(to + n, begin, 8);
        n += put(to + n, size, 4);
        n += put(to + n, end, 8);
        n += put(to + n, 0, 2);
        memset(to + n, 0x55, size - n);
        return size;
}

TEST(test_length)
{
        uint8_t log[9000];
        size_t n = 0;

        memset(log, 'x', sizeof(log));
        memcpy(log, "hdrb", 4);
        memcpy(log + 4090, "hdredatb", 8); /* across two pieces */
        n = 4098;
        assert_int_equal(length_of(log, n), 0);
        n += put_block(log + n, 5, 100, 700);
        n += put_block(log + n, 5, 24, 300);
        assert_int_equal(length_of(log, n), 700);
        assert_int_equal(length_of(log, n - 1), 700); /* cut in the last marker */
        size_t cut = n;
        n += put(log + n, 0xffff, 2);
        memcpy(log + n, "hdrb1234hdredatb", 16);
        n += 16;
        n += put_block(log + n, 0, 50, 9000);
        assert_int_equal(length_of(log, n), 9000); /* the longest run */
        put(log + cut, 77, 2);
        assert_int_equal(length_of(log, n), 700); /* an event outside of blocks: no further */
        put(log + 4098 + 10, 23, 4);              /* a block shorter than its own marker */
        assert_int_equal(length_of(log, n), 0);
        assert_int_equal(length_of((const uint8_t *)"hdrb", 4), 0);
        assert_int_equal(length_of(log, 0), 0);
        memset(log, 'x', sizeof(log));
        assert_int_equal(length_of(log, sizeof(log)), 0);
}
