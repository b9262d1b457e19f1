/* SPDX-License-Identifier: BSD-3-Clause */
/* Every recorded log against what an independent reader found in it (tests/data/logs/RUN/events.count). */
#include "tests/unit/eventlog/logs.h"
#include "tests/unit/test.h"

#include <glob.h>
#include <inttypes.h>

TEST(test_every_log_equals_the_reference_reader)
{
        glob_t g;
        assert_int_equal(glob("tests/data/logs/*/events.count", 0, NULL, &g), 0);
        assert_true(g.gl_pathc >= 46);
        for (size_t i = 0; i < g.gl_pathc; i++) {
                char path[512];
                snprintf(path, sizeof(path), "%.*srun.eventlog", (int)(strlen(g.gl_pathv[i]) - strlen("events.count")),
                         g.gl_pathv[i]);
                print_message("%s\n", path);
                struct bytes b = load(path);
                struct hw_eventlog *log = fresh();
                struct digest d = decode(log, b.p, b.size);
                const char *count_path = g.gl_pathv[i];
                FILE *f = fopen(count_path, "r");
                assert_non_null(f);
                char key[32], value[32];
                uint64_t sum = 0, total = 0;
                while (fscanf(f, "%31s %31s", key, value) == 2) {
                        if (!strcmp(key, "total")) {
                                total = strtoull(value, NULL, 10);
                                assert_int_equal(d.events, total);
                        } else if (!strcmp(key, "times")) {
                                assert_int_equal(d.times, strtoull(value, NULL, 16));
                        } else {
                                uint64_t n = hw_eventlog_count(log, (uint16_t)strtoul(key, NULL, 10));
                                assert_int_equal(n, strtoull(value, NULL, 10));
                                sum += n;
                        }
                }
                fclose(f);
                assert_true(total > 0);
                assert_int_equal(sum, total);
                const struct hw_eventlog_stats *s = hw_eventlog_stats(log);
                assert_int_equal(s->events, d.events);
                assert_int_equal(s->blocks, hw_eventlog_count(log, HW_BLOCK_MARKER));
                assert_int_equal(s->bytes, b.size);
                assert_int_equal(s->runs, 1);
                assert_int_equal(s->resyncs + s->lost_bytes + s->unknown + s->short_payload, 0);
                uint64_t left;
                bool crashed = strstr(path, "crash-kill9") != NULL;
                assert_int_equal(hw_eventlog_finish(log, &left), !crashed);
                assert_int_equal(left, 0);
                hw_eventlog_destroy(&log);
                assert_null(log);
                free(b.p);
        }
        globfree(&g);
}

/* Connections: whole logs without an end, cut anywhere. */
TEST(test_connections_have_no_damage)
{
        glob_t g;
        assert_int_equal(glob("tests/data/logs/*/conn?.eventlog", 0, NULL, &g), 0);
        assert_int_equal(g.gl_pathc, 6);
        for (size_t i = 0; i < g.gl_pathc; i++) {
                struct bytes b = load(g.gl_pathv[i]);
                struct hw_eventlog *log = fresh();
                struct digest d = decode(log, b.p, b.size);
                assert_int_equal(d.runs, 1);
                assert_int_equal(d.bad + d.limits, 0);
                assert_true(strstr(g.gl_pathv[i], "noflush/conn1") ? d.events == 0 : d.events > 1000);
                hw_eventlog_destroy(&log);
                free(b.p);
        }
        globfree(&g);
}

/* Torn by the runtime system itself: at most 1 KiB is lost per damaged place. */
TEST(test_torn_logs_lose_little)
{
        static const struct {
                const char *run;
                uint64_t before;
        } torn[] = { { "torn-9103-10", 8757 }, { "torn-966-10", 5793 } };
        for (size_t i = 0; i < 2; i++) {
                struct bytes b = load_run(torn[i].run);
                struct hw_eventlog *log = fresh();
                struct digest d = decode(log, b.p, b.size);
                const struct hw_eventlog_stats *s = hw_eventlog_stats(log);
                print_message("%s: %" PRIu64 " events, %" PRIu64 " places, %" PRIu64 " bytes lost, most %" PRIu64 "\n",
                              torn[i].run, d.events, s->resyncs, s->lost_bytes, d.max_damage_bytes);
                assert_true(s->resyncs > 0 && s->resyncs < 40);
                assert_true(d.max_damage_bytes <= 1024);
                assert_int_equal(d.damage_bytes, s->lost_bytes);
                assert_true(d.events > torn[i].before);
                assert_true(d.last_offset > b.size - 1024);
                hw_eventlog_destroy(&log);
                free(b.p);
        }
}
