/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: synthetic values become the eventlog that a runtime would have written, and take the whole way of a log
 * through the pipeline. Samples of the process (rss, pss ...) are not in an eventlog: pipeline_process takes them after
 * the bytes of the same time. Messages are made and discarded.
 */
#include "daemon/rules/test/rule_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/alerting/alerting.h"
#include "daemon/model/model.h"
#include "daemon/source/limits.h"
#include "daemon/target/pipeline.h"
#include "proto/base/process.h"
#include "proto/eventlog/writer.h"
#include "proto/archive/log_file.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/base/time.h"

#define CHANGES_MAX 100000u
#define WALL_S      1700000000u /* when synthetic runs begin */

/* --------------------------------------------------------------------- changes */

static void put_change(void *ctx, const struct alert *alert, const struct rule_moment *at)
{
        struct test_changes *c = ctx;

        if (c->n >= CHANGES_MAX || !ARRAY_RESERVE_NEXT(c->list, c->n))
                return;
        struct test_change *change = &c->list[c->n++];
        *change = (struct test_change){ .time_ns = at->time_ns,
                                        .state = alert->state.now,
                                        .severity = alert->rule->severity };
        snprintf(change->rule, sizeof(change->rule), "%s", alert->rule->name);
        snprintf(change->band, sizeof(change->band), "%s", alert->band_label ? alert->band_label : "");
        snprintf(change->sentence, sizeof(change->sentence), "%s", alert->sentence ? alert->sentence : "");
}

static int throw_away(void *ctx, const Hw__Update *update)
{
        (void)ctx;
        (void)update;
        return 0;
}

static const struct update_sink nowhere = { .send = throw_away };

/* --------------------------------------------------------------- synthetic log */

struct synthetic {
        const struct test_input *input;
        struct pipeline *pipeline;
        struct eventlog_writer log; /* what is not yet in the pipeline */
};

static void gauge(struct eventlog_writer *w, enum hw_event_id id, uint64_t time_ns, double value)
{
        writer_event(w, (uint16_t)id, time_ns);
        writer_number(w, 0, 4);
        writer_number(w, (uint64_t)value, 8);
}

static double value_of(const struct test_input *in, enum series_id id, size_t i)
{
        for (size_t k = 0; k < in->n_series; k++)
                if (in->series[k].id == id && i < in->series[k].n)
                        return in->series[k].values[i];
        return (double)NAN;
}

static uint64_t or_zero(double value)
{
        return isnan(value) ? 0 : (uint64_t)value;
}

/* A collection, if any of its numbers is given. */
static void collection(struct synthetic *m, size_t i, uint64_t time_ns)
{
        const struct test_input *in = m->input;
        struct eventlog_writer *w = &m->log;
        double pause = value_of(in, SERIES_GC_PAUSE, i), copied = value_of(in, SERIES_COPIED, i);
        double slop = value_of(in, SERIES_SLOP, i), fragmentation = value_of(in, SERIES_FRAGMENTATION, i);

        if (isnan(pause) && isnan(copied) && isnan(slop) && isnan(fragmentation))
                return;
        if (!isnan(pause) && pause < (double)time_ns)
                writer_event(w, HW_GC_START, time_ns - (uint64_t)pause);
        writer_event(w, HW_GC_STATS_GHC, time_ns);
        writer_number(w, 0, 4);
        writer_number(w, 1, 2);
        writer_number(w, or_zero(copied), 8);
        writer_number(w, or_zero(slop), 8);
        writer_number(w, or_zero(fragmentation), 8);
        writer_number(w, 1, 4);
        for (int k = 0; k < 3; k++)
                writer_number(w, 0, 8);
        if (!isnan(pause))
                writer_event(w, HW_GC_END, time_ns);
}

static bool has_band(const struct test_series *s, size_t i)
{
        return s->id == 0 && i < s->n && !isnan(s->values[i]);
}

static void census(struct synthetic *m, size_t i, uint64_t time_ns)
{
        const struct test_input *in = m->input;
        struct eventlog_writer *w = &m->log;
        bool any = false;

        for (size_t k = 0; k < in->n_series; k++)
                any |= has_band(&in->series[k], i);
        if (!any)
                return;
        writer_event(w, HW_HEAP_PROF_SAMPLE_BEGIN, time_ns);
        writer_number(w, 0, 8);
        for (size_t k = 0; k < in->n_series; k++) {
                const struct test_series *b = &in->series[k];
                if (!has_band(b, i))
                        continue;
                writer_event(w, HW_HEAP_PROF_SAMPLE_STRING, time_ns);
                size_t begin = writer_length_begin(w);
                writer_number(w, 0, 1);
                writer_number(w, (uint64_t)b->values[i], 8);
                writer_bytes(w, b->band, strnlen(b->band, 255));
                writer_number(w, 0, 1);
                writer_length_end(w, begin, 0);
        }
        writer_event(w, HW_HEAP_PROF_SAMPLE_END, time_ns);
        writer_number(w, 0, 8);
}

static uint64_t or_unknown(double value)
{
        return isnan(value) ? UNKNOWN_U64 : (uint64_t)value;
}

static double or_0(double value)
{
        return isnan(value) ? 0 : value;
}

static void process(struct synthetic *m, size_t i, uint64_t time_ns)
{
        const struct test_input *in = m->input;
        struct process_sample p = {
                .rss_bytes = or_unknown(value_of(in, SERIES_RSS, i)),
                .pss_bytes = or_unknown(value_of(in, SERIES_PSS, i)),
                .swap_bytes = or_unknown(value_of(in, SERIES_SWAP, i)),
                .cpu_ns = or_unknown(value_of(in, SERIES_CPU, i)),
                .threads = UNKNOWN_U64,
                .cgroup_current_bytes = or_unknown(value_of(in, SERIES_CGROUP, i)),
                .cgroup_max_bytes = UNKNOWN_U64,
                .wall_ns = WALL_S * NS_PER_S + time_ns,
                .pages = { .rss_bytes = or_unknown(value_of(in, SERIES_RSS, i)),
                           .files_bytes = (uint64_t)or_0(value_of(in, SERIES_FILES, i)),
                           .lazy_free_bytes = (uint64_t)or_0(value_of(in, SERIES_GIVEN_BACK, i)),
                           .heap_bytes = UNKNOWN_U64,
                           .wall_ns = WALL_S * NS_PER_S + time_ns },
        };

        if (p.rss_bytes != UNKNOWN_U64 || p.pss_bytes != UNKNOWN_U64 || p.swap_bytes != UNKNOWN_U64 ||
            p.cpu_ns != UNKNOWN_U64 || p.cgroup_current_bytes != UNKNOWN_U64)
                pipeline_process(m->pipeline, time_ns, &p);
}

static void pass_on(struct synthetic *m)
{
        (void)pipeline_bytes(m->pipeline, m->log.data, m->log.n); /* the sink takes everything */
        m->log.n = 0;
}

/* Advances the watermark: a block of the only capability shows that the previous one is whole. */
static void empty_block(struct synthetic *m, uint64_t time_ns)
{
        writer_block_begin(&m->log, time_ns, time_ns, 0);
        writer_block_end(&m->log);
}

/* Everything of one interval, at its end. The empty block first has everything before it judged. */
static void interval(struct synthetic *m, size_t i)
{
        static const struct {
                enum series_id id;
                enum hw_event_id event;
        } gauges[] = {
                { SERIES_ALLOCATED, HW_HEAP_ALLOCATED },
                { SERIES_HEAP_SIZE, HW_HEAP_SIZE },
                { SERIES_BLOCKS_SIZE, HW_BLOCKS_SIZE },
                { SERIES_LIVE, HW_HEAP_LIVE },
        };
        uint64_t time_ns = (i + 1) * m->input->interval_ns, begin_ns = time_ns;
        double pause = value_of(m->input, SERIES_GC_PAUSE, i);

        if (pause > 0 && pause < (double)time_ns)
                begin_ns -= (uint64_t)pause;
        empty_block(m, time_ns);
        writer_block_begin(&m->log, begin_ns, time_ns, 0);
        collection(m, i, time_ns);
        for (size_t k = 0; k < ARRAY_SIZE(gauges); k++) {
                double value = value_of(m->input, gauges[k].id, i);
                if (!isnan(value))
                        gauge(&m->log, gauges[k].event, time_ns, value);
        }
        census(m, i, time_ns);
        writer_block_end(&m->log);
        pass_on(m);
        process(m, i, time_ns);
}

#define GC_STATS_BYTES 58 /* of GHC 8.10 and later */

static void header(struct eventlog_writer *w)
{
        static const uint16_t ids[] = { HW_BLOCK_MARKER,
                                        HW_WALL_CLOCK_TIME,
                                        HW_HEAP_INFO_GHC,
                                        HW_GC_START,
                                        HW_GC_END,
                                        HW_GC_STATS_GHC,
                                        HW_HEAP_LIVE,
                                        HW_HEAP_SIZE,
                                        HW_BLOCKS_SIZE,
                                        HW_HEAP_ALLOCATED,
                                        HW_HEAP_PROF_SAMPLE_BEGIN,
                                        HW_HEAP_PROF_SAMPLE_STRING,
                                        HW_HEAP_PROF_SAMPLE_END };

        writer_header_begin(w);
        for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
                const struct hw_event_info *info = hw_event_info(ids[i]);
                writer_type(w, ids[i],
                            ids[i] == HW_HEAP_PROF_SAMPLE_STRING ? WRITER_VARIABLE
                            : ids[i] == HW_GC_STATS_GHC          ? GC_STATS_BYTES
                                                                 : info->min_size,
                            info->name);
        }
        writer_header_end(w);
}

/* The first events of a runtime with GC events, so that these are not reported as missing. */
static void identity(struct eventlog_writer *w)
{
        writer_block_begin(w, 0, 0, 0);
        writer_event(w, HW_WALL_CLOCK_TIME, 0);
        writer_number(w, 0, 4);
        writer_number(w, WALL_S, 8);
        writer_number(w, 0, 4);
        writer_event(w, HW_HEAP_INFO_GHC, 0);
        writer_number(w, 0, 4);
        writer_number(w, 2, 2); /* generations */
        writer_number(w, 0, 8); /* no -M */
        writer_number(w, UINT64_C(4) << 20, 8);
        writer_number(w, UINT64_C(1) << 20, 8);
        writer_number(w, 4096, 8);
        writer_block_end(w);
}

static bool play_series(struct pipeline *p, const struct test_input *input, struct error *error)
{
        struct synthetic *m = calloc(1, sizeof(*m));
        size_t n = 0;

        if (!m) {
                return error_set(error, "out of memory");
        }
        m->input = input;
        m->pipeline = p;
        for (size_t k = 0; k < input->n_series; k++)
                if (input->series[k].n > n)
                        n = input->series[k].n;
        header(&m->log);
        identity(&m->log);
        for (size_t i = 0; i < n; i++)
                interval(m, i);
        writer_end(&m->log);
        pass_on(m);
        free(m);
        return true;
}

/* ------------------------------------------------------------------------ logs */

static bool read_log(struct pipeline *p, const char *path, struct error *error)
{
        static uint8_t buffer[READ_BUFFER_BYTES];
        char damage[PIPELINE_UNREAD_SIZE] = "";
        uint32_t runs = model_run(pipeline_model(p))->ordinal;
        struct error why;
        struct log_file *file = log_file_open(path, &why);
        ssize_t n = 0;

        if (!file)
                return error_set(error, "%s: %s", path, why.text);
        while (!pipeline_is_mostly_damaged(p, damage) && (n = log_file_read(file, buffer, sizeof(buffer))) > 0)
                (void)pipeline_bytes(p, buffer, (size_t)n); /* the sink takes everything */
        log_file_close(&file);
        if (n < 0)
                return error_set(error, "%s: %s", path, strerror((int)-n));
        if (damage[0])
                return error_set(error, "%s: %s", path, damage);
        if (model_run(pipeline_model(p))->ordinal > runs)
                return true;
        return error_set(error, "%s: not an eventlog", path);
}

static bool play_logs(struct pipeline *p, const struct test_input *input, struct error *error)
{
        bool good = true;

        for (size_t i = 0; good && i < input->n_logs; i++)
                good = read_log(p, input->logs[i], error);
        return good;
}

bool rules_test_run(const struct ruleset *rules, const struct test_input *input, struct test_changes *ret,
                    struct error *error)
{
        struct alert_hooks hooks = { .ctx = ret, .changed = put_change };
        struct source_uri uri = { .kind = SOURCE_FILE };
        struct pipeline_options options = { .name = input->target,
                                            .uri = &uri,
                                            .epoch = 1,
                                            .sink = nowhere,
                                            .trend = &input->trend,
                                            .rules = rules,
                                            .alert_hooks = &hooks };
        struct pipeline *p;
        bool good;

        *ret = (struct test_changes){ .n = 0 };
        p = pipeline_new(&options, error);
        good = p && (input->n_logs ? play_logs : play_series)(p, input, error);
        if (good) {
                (void)pipeline_finish(p, NULL, false);
                ret->end_ns = model_time_ns(pipeline_model(p));
        }
        pipeline_destroy(&p);
        return good;
}
