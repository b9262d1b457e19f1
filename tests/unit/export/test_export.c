/* SPDX-License-Identifier: BSD-3-Clause */
/* test_export.c - queues, journals, pauses, plans. */
#include <stdio.h>
#include "tests/unit/test.h"
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/out/export/delivery.h"
#include "client/out/export/limits.h"
#include "client/out/export/plan.h"
#include "client/out/export/profile_batch.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "tests/unit/console/made_up.h"

/* ------------------------------------------------------------------ queue */

static struct batch made(const char *text, uint64_t samples, uint64_t wall_ns)
{
        return (struct batch){ .bytes = strdup(text), .size = strlen(text), .samples = samples, .wall_ns = wall_ns };
}

TEST(a_queue_is_bounded)
{
        struct batch a = made("aaaa", 1, 100), b = made("bb", 2, 200);
        struct send_queue q;

        queue_init(&q);
        assert_false(queue_overdue(&q, 0, UINT64_MAX));
        assert_true(queue_add(&q, &a));
        assert_true(queue_add(&q, &b));
        assert_int_equal(q.bytes, 6);
        assert_int_equal(q.samples, 3);
        assert_false(queue_overdue(&q, 6, 100));
        assert_true(queue_overdue(&q, 5, 0));
        assert_true(queue_overdue(&q, 6, 101));
        queue_drop(&q);
        assert_memory_equal(queue_oldest(&q)->bytes, "bb", 2);
        assert_false(queue_overdue(&q, 5, 101));
        queue_drop(&q);
        assert_null(queue_oldest(&q));
        assert_int_equal(q.bytes + q.samples, 0);
        b = made("c", 1, 1);
        assert_true(queue_add(&q, &b)); /* after it was empty */
        queue_done(&q);
}

/* ---------------------------------------------------------------- journal */

static char directory[] = "/tmp/hw-export-XXXXXX", path[64];

static int set_up(void **state)
{
        memcpy(directory, "/tmp/hw-export-XXXXXX", sizeof(directory));
        assert_non_null(mkdtemp(directory));
        (void)snprintf(path, sizeof(path), "%s/queue", directory);
        return 0;
}

static int tear_down(void **state)
{
        (void)unlink(path);
        assert_int_equal(rmdir(directory), 0);
        return 0;
}

/* The texts that come back, joined by commas. */
struct back {
        char texts[256];
        uint64_t samples;
};

static void take(void *ctx, struct batch *b)
{
        struct back *back = ctx;
        size_t n = strlen(back->texts);

        (void)snprintf(back->texts + n, sizeof(back->texts) - n, "%.*s,", (int)b->size, (const char *)b->bytes);
        back->samples += b->samples;
        free(b->bytes);
}

static struct journal *open_it(struct back *back)
{
        struct error error = { "" };

        memset(back, 0, sizeof(*back));
        struct journal *j = journal_open(path, 1 << 20, take, back, &error);
        if (!j)
                fail_msg("%s", error.text);
        return j;
}

static void append(struct journal *j, const char *text, uint64_t samples)
{
        struct batch b = { .bytes = (void *)text, .size = strlen(text), .samples = samples, .wall_ns = 7 };

        journal_append(j, &b);
}

static void drop(struct journal *j, const char *text)
{
        struct batch b = { .bytes = (void *)text, .size = strlen(text) };

        journal_drop(j, &b);
}

TEST_WITH(what_is_not_sent_comes_back, set_up, tear_down)
{
        struct back back;
        struct journal *j = open_it(&back);
        struct stat st;

        assert_string_equal(back.texts, "");
        append(j, "one", 10);
        append(j, "two", 20);
        append(j, "three", 30);
        drop(j, "one");
        journal_close(&j);
        j = open_it(&back);
        assert_string_equal(back.texts, "two,three,");
        assert_int_equal(back.samples, 50);
        append(j, "four", 40);
        drop(j, "two");
        drop(j, "three");
        journal_close(&j);
        j = open_it(&back);
        assert_string_equal(back.texts, "four,");
        drop(j, "four");
        assert_int_equal(journal_bytes(j), 0);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, 16); /* nothing is kept of what is sent */
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_int_equal(journal_failures(j), 0);
        journal_close(&j);
}

/* Cut anywhere, and with any byte wrong: a prefix is restored, never anything else, and it continues. */
TEST_WITH(damage_costs_the_rest, set_up, tear_down)
{
        static const char *const prefixes[] = { "", "one,", "one,two,", "one,two,three," };
        char whole[256], broken[300];
        struct back back;
        struct journal *j = open_it(&back);

        append(j, "one", 1);
        append(j, "two", 2);
        append(j, "three", 3);
        journal_close(&j);
        FILE *f = fopen(path, "rb");
        size_t size = fread(whole, 1, sizeof(whole), f);
        (void)fclose(f);
        for (size_t i = 0; i < 2 * size; i++) {
                size_t n = i < size ? i : size;
                bool known = false;

                memcpy(broken, whole, size);
                if (i >= size)
                        broken[i - size] = (char)(broken[i - size] ^ 0x41);
                f = fopen(path, "wb");
                assert_int_equal(fwrite(broken, 1, n, f), n);
                (void)fclose(f);
                j = open_it(&back);
                for (size_t p = 0; p < 4; p++)
                        known |= !strcmp(back.texts, prefixes[p]) || (i >= size + 8 && i < size + 16);
                if (!known)
                        fail_msg("%zu: '%s'", i, back.texts);
                append(j, "new", 1);
                (void)snprintf(broken, sizeof(broken), "%snew,", back.texts);
                journal_close(&j);
                struct back again;
                j = open_it(&again);
                assert_string_equal(again.texts, broken);
                journal_close(&j);
        }
}

/* A queue that never becomes empty: its file does not grow without bound. */
TEST_WITH(a_journal_is_written_anew, set_up, tear_down)
{
        struct back back;
        struct journal *j;
        struct error error;
        char text[1001];
        struct stat st;

        memset(text, 'x', 1000);
        text[1000] = '\0';
        memset(&back, 0, sizeof(back));
        j = journal_open(path, 4000, take, &back, &error);
        assert_non_null(j);
        append(j, text, 1);
        for (int i = 0; i < 100; i++) {
                append(j, text, 1);
                drop(j, text);
        }
        assert_int_equal(stat(path, &st), 0);
        assert_true(st.st_size < 8000);
        assert_int_equal(journal_failures(j), 0);
        journal_close(&j);
        j = open_it(&back);
        assert_int_equal(back.samples, 1);
        journal_close(&j);
}

TEST_WITH(one_has_it_at_a_time, set_up, tear_down)
{
        struct back back;
        struct journal *j = open_it(&back);
        struct error error;

        assert_null(journal_open(path, 1000, take, &back, &error));
        assert_non_null(strstr(error.text, "another heapwatch export has it"));
        journal_close(&j);
        j = open_it(&back);
        journal_close(&j);
}

/* ----------------------------------------------------------------- pauses */

TEST(pauses_double_within_bounds)
{
        static const uint64_t middle[] = { 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000 };

        for (unsigned n = 1; n <= 8; n++) {
                assert_int_equal(delivery_pause_ms(n, 0.5, 0), middle[n - 1]);
                assert_int_equal(delivery_pause_ms(n, 0, 0), middle[n - 1] * 3 / 4);
                assert_int_equal(delivery_pause_ms(n, 1, 0), middle[n - 1] * 5 / 4);
        }
        assert_int_equal(delivery_pause_ms(4000000000u, 0.5, 0), 60000);
        assert_int_equal(delivery_pause_ms(1, 0.5, UINT64_C(30000000000)), 30000); /* as requested */
        assert_int_equal(delivery_pause_ms(1, 0.5, UINT64_MAX), 300000);           /* within reason */
}

static const char *daemon_name(const void *ctx, size_t daemon)
{
        return "d";
}

/* ----------------------------------------------------------- remote writes */

static void keep(void *ctx, struct batch *b)
{
        struct batch *kept = ctx;

        assert_null(kept->bytes); /* all of it is one batch */
        *kept = *b;
}

static void on_end(void *ctx, const struct metric_sample *sample, const struct metric_part *part)
{
        char *seen = ctx;

        assert_true(sample->ended && isnan(sample->value) && sample->n_labels == 1);
        (void)snprintf(seen + strlen(seen), 100 - strlen(seen), "%s%s ", sample->labels[0].value,
                       part ? part->suffix : "");
}

TEST(a_series_ends_once)
{
        static const struct metric_part parts[] = { { .suffix = "_sum" }, { .suffix = "_count" } };
        struct series_list l = { 0 };
        char seen[100] = "", name[8] = "a";
        struct metric_label label = { "target", name };
        struct metric_sample s = { .metric = metrics_of_target, .labels = &label, .n_labels = 1 };

        series_mark(&l, &s, &parts[0]);
        series_mark(&l, &s, &parts[1]);
        series_mark(&l, &s, NULL);
        name[0] = 'b'; /* a series has a copy of its labels */
        series_mark(&l, &s, NULL);
        series_end_unmarked(&l, on_end, seen);
        assert_string_equal(seen, "");
        name[0] = 'a';
        series_mark(&l, &s, &parts[1]);
        series_end_unmarked(&l, on_end, seen);
        assert_string_equal(seen, "a_sum a b ");
        series_mark(&l, &s, &parts[1]);
        series_end_unmarked(&l, on_end, seen);
        assert_string_equal(seen, "a_sum a b ");
        series_end_unmarked(&l, on_end, seen);
        assert_string_equal(seen, "a_sum a b a_count ");
        series_list_done(&l);
}

/* What cannot be stored for lack of room ends without a marker, and nothing has one while it continues. */
TEST(series_are_bounded)
{
        struct series_list l = { 0 };
        char seen[100] = "", name[16];
        struct metric_label label = { "target", name };
        struct metric_sample s = { .metric = metrics_of_target, .labels = &label, .n_labels = 1 };

        for (int walk = 0; walk < 2; walk++) {
                for (unsigned i = 0; i < SERIES_STORED_MAX + 10; i++) {
                        (void)snprintf(name, sizeof(name), "%u", i);
                        series_mark(&l, &s, NULL);
                }
                assert_int_equal(l.n, SERIES_STORED_MAX);
                series_end_unmarked(&l, on_end, seen);
        }
        assert_string_equal(seen, "");
        series_list_done(&l);
}

/* A batch of 2.0 with a value and the label host, as made in a walk. */
static struct batch remote_write_batch(void)
{
        static const struct metric_label labels[] = { { "host", "h 1" } };
        struct world *v = world_new(NULL);
        struct metrics_source source = { .world = v, .n_daemons = 1, .daemon_name = daemon_name };
        struct metrics *m = metrics_new(&(struct metrics_options){ .bands = 5 });
        struct batcher *e = batcher_new(&batcher_remote_write);
        struct batch b = { .bytes = NULL };
        struct encoding how = { .wall_ns = 5000000001, .labels = labels, .n_labels = 1, .take = keep, .ctx = &b };

        assert_int_equal(send_live(v, 0, "t", 1, SECOND, 123456789012), 0);
        assert_int_equal(batcher_run(e, &how, m, &source), 0);
        batcher_destroy(&e);
        metrics_destroy(&m);
        world_destroy(&v);
        return b;
}

TEST(a_remote_write_in_other_forms)
{
        struct batch b = remote_write_batch(), one = { .wall_ns = 1 }, two = { .wall_ns = 1 };

        assert_true(b.samples >= 1);
        one.bytes = remote_write_recode(&b, REMOTE_WRITE_1, &one.size);
        two.bytes = remote_write_recode(&b, REMOTE_WRITE_2, &two.size);
        assert_non_null(one.bytes);
        assert_non_null(two.bytes);
        assert_true(one.size != b.size || memcmp(one.bytes, b.bytes, b.size) != 0);
        /* without native histograms, nothing else differs */
        assert_int_equal(two.size, b.size);
        assert_memory_equal(two.bytes, b.bytes, b.size);
        free(b.bytes);
        free(one.bytes);
        free(two.bytes);
}

/* A journal may hold anything that has the right checksum: cut anywhere or with any byte wrong, there is no crash. */
TEST(a_damaged_remote_write)
{
        struct batch b = remote_write_batch();
        size_t size, whole = b.size;

        for (size_t i = 0; i < 2 * whole; i++) {
                char *damaged = malloc(whole);

                memcpy(damaged, b.bytes, whole);
                if (i >= whole)
                        damaged[i - whole] = (char)(damaged[i - whole] ^ 0x55);
                struct batch bad = { .bytes = damaged, .size = i < whole ? i : whole };
                free(remote_write_recode(&bad, REMOTE_WRITE_1, &size));
                free(remote_write_recode(&bad, REMOTE_WRITE_2, &size));
                free(damaged);
        }
        free(b.bytes);
}

/* -------------------------------------------------------------- OpenTelemetry */

static void see_size(void *ctx, struct batch *b)
{
        uint64_t *samples = ctx;

        assert_in_range(b->size, 1, 1u << 20);
        *samples += b->samples;
        free(b->bytes);
}

/* Whatever the lengths of labels: servers refuse more than 1 MiB, as nginx does if it is not told otherwise. */
TEST(a_batch_of_opentelemetry_is_small)
{
        static const struct batcher_kind *const kinds[] = { &batcher_otlp, &batcher_otlp_json };
        char name[2000];
        struct metric_label labels[] = { { "target", "t" }, { "band", name } };
        struct metric_sample s = { .metric = metrics_of_target, .target = "t", .labels = labels, .n_labels = 2 };

        for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++)
                for (int length = 4; length < 2000; length *= 7) {
                        struct batcher *e = batcher_new(kinds[kind]);
                        uint64_t samples = 0;
                        struct encoding how = { .wall_ns = SECOND, .take = see_size, .ctx = &samples };

                        e->now = &how;
                        for (unsigned i = 0; i < 9000; i++) {
                                (void)snprintf(name, sizeof(name), "%0*u", length, i);
                                e->kind->sample(e, &s);
                        }
                        e->kind->flush(e);
                        assert_int_equal(samples, 9000);
                        batcher_destroy(&e);
                }
}

/* --------------------------------------------------------------- profiles */

TEST(a_batch_of_a_profile)
{
        static const char good[] = "name=a&from=1\n--b-1\r\nbody\r\n--b-1--\r\n";
        static const char *const bad[] = { "",
                                           "name=a",
                                           "name=a\n",
                                           "name=a\nbody of no form",
                                           "na me=a\n--b\r\n",
                                           "name=a\n--\r\n",
                                           "name=a\n--b:1\r\n",
                                           "name=\x01\n--b\r\n",
                                           "a\n--0123456789012345678901234567890123456789x\r\n" };
        struct profile_parts parts;

        assert_true(profile_parts(&parts, &(struct batch){ .bytes = (void *)good, .size = sizeof(good) - 1 }));
        assert_string_equal(parts.boundary, "b-1");
        assert_int_equal(parts.query_size, strlen("name=a&from=1"));
        assert_ptr_equal(parts.body, strstr(good, "--b-1"));
        assert_int_equal(parts.body_size, strlen(strstr(good, "--b-1")));
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                if (profile_parts(&parts, &(struct batch){ .bytes = (void *)bad[i], .size = strlen(bad[i]) }))
                        fail_msg("%s", bad[i]);
}

/* ------------------------------------------------------------------ plans */

static bool read_plan(const char *text, struct plan *p, struct error *error)
{
        FILE *f = fopen(path, "w");

        (void)fputs(text, f);
        (void)fclose(f);
        memset(p, 0, sizeof(*p));
        error->text[0] = '\0';
        return plan_read(p, path) && plan_check(p, error);
}

TEST_WITH(a_plan_from_a_file, set_up, tear_down)
{
        struct error error;
        struct plan p;

        assert_true(
                read_plan("interval: 30s\nlabels: {job: hw, host: h1}\njournal: off\n"
                          "daemons: ['ipc:///a', 'ipc:///b']\nsinks:\n"
                          "- {kind: scrape, listen: '127.0.0.1:9464', token_file: /t}\n"
                          "- {kind: remote-write, url: 'http://h/w', queue_bytes: 1MiB, queue_time: 2h, timeout: 5s}\n"
                          "- {kind: otlp, name: col, url: 'http://h/v1/metrics', format: json, bands: 7}\n"
                          "- {kind: otlp, url: 'http://h/v1/metrics'}\n- {kind: otlp, url: 'http://h/v1/metrics'}\n"
                          "- {kind: remote-write, url: 'http://h/w', format: '2.0', native_histograms: false}\n"
                          "- {kind: otlp, url: 'http://h/v1/metrics', native_histograms: true}\n"
                          "- {kind: remote-write, name: old, url: 'http://h/w', format: '1.0'}\n",
                          &p, &error));
        assert_int_equal(p.n_sinks, 8);
        assert_int_equal(p.n_daemons, 2);
        assert_int_equal(p.n_labels, 2);
        assert_true(p.no_journal);
        assert_int_equal(p.sinks[1].interval_ns, UINT64_C(30000000000));
        assert_int_equal(p.sinks[1].queue_bytes, 1 << 20);
        assert_int_equal(p.sinks[1].queue_ns, UINT64_C(7200000000000));
        assert_string_equal(p.sinks[2].name, "col");
        assert_ptr_equal(sink_batcher(&p.sinks[2]), &batcher_otlp_json);
        assert_int_equal(p.sinks[2].bands, 7);
        assert_string_equal(p.sinks[3].name, "otlp-2");
        assert_string_equal(p.sinks[4].name, "otlp-3");
        assert_int_equal(sink_best_form(&p.sinks[1]), REMOTE_WRITE_NATIVE);
        assert_int_equal(sink_least_form(&p.sinks[1]), REMOTE_WRITE_1);
        assert_int_equal(sink_best_form(&p.sinks[5]), REMOTE_WRITE_2);
        assert_int_equal(sink_least_form(&p.sinks[5]), REMOTE_WRITE_2);
        assert_ptr_equal(sink_batcher(&p.sinks[6]), &batcher_otlp_native);
        assert_int_equal(sink_best_form(&p.sinks[7]), REMOTE_WRITE_1);
        plan_done(&p);
}

static void read_good_plan(const struct sink_kind_row *kind, const char *address, const char *format)
{
        char text[256];
        struct error error;
        struct plan p;

        (void)snprintf(text, sizeof(text), "sinks:\n- {kind: %s, %s: '%s'%s%s%s}\n", kind->name, kind->key, address,
                       format ? ", format: '" : "", format ? format : "", format ? "'" : "");
        if (!read_plan(text, &p, &error) || p.n_sinks != 1)
                fail_msg("%s%s", text, error.text);
        assert_string_equal(p.sinks[0].name, kind->name);
        assert_string_equal(p.sinks[0].address, address);
        assert_int_equal(!sink_batcher(&p.sinks[0]), !kind->batcher);
        plan_done(&p);
}

/* Each row of sinks.def, in each of its formats. */
TEST_WITH(every_kind_of_sink, set_up, tear_down)
{
        static const char *const pulled[] = { [SINK_SCRAPE] = "127.0.0.1:9464", [SINK_TEXTFILE] = "/a/b.prom" };

        for (size_t i = 0; i < SINK_KINDS; i++) {
                const struct sink_kind_row *kind = &sink_kinds[i];
                const char *address = kind->batcher ? "http://h/" : pulled[i];

                read_good_plan(kind, address, NULL);
                for (size_t k = 0; kind->formats[k]; k++)
                        read_good_plan(kind, address, kind->formats[k]);
        }
}

TEST_WITH(plans_that_cannot_be, set_up, tear_down)
{
        static const char *const bad[] = {
                "",
                "sinks: []\n",
                "sinks: 3\n",
                "sinks:\n- {url: 'http://h/'}\n",
                "sinks:\n- {kind: nonsense, url: 'http://h/'}\n",
                "sinks:\n- {kind: otlp}\n",
                "sinks:\n- {kind: otlp, url: 'tcp://h:1'}\n",
                "sinks:\n- {kind: pyroscope, url: 'udp://h:1'}\n",
                "sinks:\n- {kind: otlp, path: /a}\n",
                "sinks:\n- {kind: otlp, url: 'http://me:secret@h/'}\n",
                "sinks:\n- {kind: otlp, url: 'http://h/', bearer_file: /a, basic_file: /b}\n",
                "sinks:\n- {kind: textfile, path: /a/b.txt}\n",
                "sinks:\n- {kind: remote-write, url: 'http://h/', format: json}\n",
                "sinks:\n- {kind: remote-write, url: 'http://h/', format: '3.0'}\n",
                "sinks:\n- {kind: otlp, url: 'http://h/', format: '1.0'}\n",
                "sinks:\n- {kind: pyroscope, url: 'http://h/', format: json}\n",
                "sinks:\n- {kind: pyroscope, url: 'http://h/', native_histograms: true}\n",
                "sinks:\n- {kind: remote-write, url: 'http://h/', native_histograms: 7}\n",
                "sinks:\n- {kind: otlp, url: 'http://h/', name: 'a/b'}\n",
                "sinks:\n- {kind: otlp, url: 'http://h/', name: a}\n- {kind: otlp, url: 'http://h/', name: a}\n",
                "sinks:\n- {kind: otlp, url: 'http://h/', timeout: 1h}\n",
                "sinks:\n- {kind: otlp, url: 'http://h/', names: heapwatch}\n",
                "labels: {le: x}\nsinks:\n- {kind: otlp, url: 'http://h/'}\n",
                "labels: {'a-b': x}\nsinks:\n- {kind: otlp, url: 'http://h/'}\n",
                "labels: {__name__: x}\nsinks:\n- {kind: otlp, url: 'http://h/'}\n",
                "interval: 0s\nsinks:\n- {kind: otlp, url: 'http://h/'}\n",
                "unknown: 1\nsinks:\n- {kind: otlp, url: 'http://h/'}\n",
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                struct error error;
                struct plan p;

                if (read_plan(bad[i], &p, &error))
                        fail_msg("%s", bad[i]);
                plan_done(&p);
        }
}
