/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: made-up values become the events that a runtime would have written,
 * and go through model, tracker and rules as those of a log do; only the decoder
 * is left out. What the process itself is asked for goes in by model_process. A
 * log goes through a whole pipeline. Messages are made in both and thrown away.
 */
#include "daemon/rules/test/rule_test.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/alerting/alerting.h"
#include "daemon/source/limits.h"
#include "proto/base/process.h"
#include "daemon/target/fanout.h"
#include "daemon/target/pipeline.h"
#include "daemon/publish/publisher.h"

#define SECOND_NS   UINT64_C(1000000000)
#define CHANGES_MAX 100000u
#define WALL_S      1700000000u /* when made-up runs begin: some day */

/* --------------------------------------------------------------------- changes */

static void put_change(void *ctx, const struct notice *n, struct act_plan *plan)
{
        struct test_changes *c = ctx;
        struct test_change *grown = c->n < CHANGES_MAX ? realloc(c->list, (c->n + 1) * sizeof(*grown)) : NULL;

        (void)plan;
        if (!grown)
                return;
        c->list = grown;
        struct test_change *change = &grown[c->n++];
        *change = (struct test_change){ .time_ns = n->time_ns, .state = n->state, .severity = n->severity };
        snprintf(change->rule, sizeof(change->rule), "%s", n->rule);
        snprintf(change->band, sizeof(change->band), "%s", n->band ? n->band : "");
        snprintf(change->sentence, sizeof(change->sentence), "%s", n->sentence);
}

static int throw_away(void *ctx, const Hw__Update *update)
{
        (void)ctx;
        (void)update;
        return 0;
}

static const struct update_sink nowhere = { .send = throw_away };

/* ------------------------------------------------------------- made-up events */

struct stage {
        const struct test_input *input;
        struct model *model;
        struct tracker *tracker;
        struct publisher *publisher;
        struct alerting *alerting;
        struct fanout fanout;
        uint8_t payload[320];
        uint32_t used;
        uint64_t offset;
};

static void put_be(struct stage *s, uint64_t value, unsigned bytes)
{
        while (bytes-- > 0)
                s->payload[s->used++] = (uint8_t)(value >> (8 * bytes));
}

/* One event of what was put; the next one begins empty. */
static void event(struct stage *s, enum hw_event_id id, uint16_t cap, uint64_t time_ns)
{
        struct hw_event e = { .time_ns = time_ns,
                              .offset = s->offset,
                              .payload = s->payload,
                              .size = s->used,
                              .id = (uint16_t)id,
                              .cap = cap };

        model_events(s->model, &e, 1);
        s->offset += 10 + s->used;
        s->used = 0;
}

static void gauge(struct stage *s, enum hw_event_id id, uint64_t time_ns, double value)
{
        put_be(s, 0, 4);
        put_be(s, (uint64_t)value, 8);
        event(s, id, 0, time_ns);
}

static double value_of(const struct stage *s, enum series_id id, size_t i)
{
        for (size_t k = 0; k < s->input->n_series; k++)
                if (s->input->series[k].id == id && i < s->input->series[k].n)
                        return s->input->series[k].values[i];
        return (double)NAN;
}

static uint64_t or_zero(double value)
{
        return isnan(value) ? 0 : (uint64_t)value;
}

/* A collection when any number of one is given. */
static void collection(struct stage *s, size_t i, uint64_t time_ns)
{
        double pause = value_of(s, SERIES_GC_PAUSE, i), copied = value_of(s, SERIES_COPIED, i);
        double slop = value_of(s, SERIES_SLOP, i), fragmentation = value_of(s, SERIES_FRAGMENTATION, i);

        if (isnan(pause) && isnan(copied) && isnan(slop) && isnan(fragmentation))
                return;
        if (!isnan(pause) && pause < (double)time_ns)
                event(s, HW_GC_START, 0, time_ns - (uint64_t)pause);
        put_be(s, 0, 4);
        put_be(s, 1, 2);
        put_be(s, or_zero(copied), 8);
        put_be(s, or_zero(slop), 8);
        put_be(s, or_zero(fragmentation), 8);
        put_be(s, 1, 4);
        for (int k = 0; k < 3; k++)
                put_be(s, 0, 8);
        event(s, HW_GC_STATS_GHC, 0, time_ns);
        if (!isnan(pause))
                event(s, HW_GC_END, 0, time_ns);
}

static void census(struct stage *s, size_t i, uint64_t time_ns)
{
        bool any = false;

        for (size_t k = 0; k < s->input->n_series; k++)
                any |= s->input->series[k].id == 0 && i < s->input->series[k].n &&
                       !isnan(s->input->series[k].values[i]);
        if (!any)
                return;
        put_be(s, 0, 8);
        event(s, HW_HEAP_PROF_SAMPLE_BEGIN, HW_CAP_NONE, time_ns);
        for (size_t k = 0; k < s->input->n_series; k++) {
                const struct test_series *b = &s->input->series[k];
                if (b->id != 0 || i >= b->n || isnan(b->values[i]))
                        continue;
                put_be(s, 0, 1);
                put_be(s, (uint64_t)b->values[i], 8);
                size_t length = strnlen(b->band, 255);
                memcpy(s->payload + s->used, b->band, length);
                s->payload[s->used + length] = '\0';
                s->used += (uint32_t)length + 1;
                event(s, HW_HEAP_PROF_SAMPLE_STRING, HW_CAP_NONE, time_ns);
        }
        put_be(s, 0, 8);
        event(s, HW_HEAP_PROF_SAMPLE_END, HW_CAP_NONE, time_ns);
}

static uint64_t or_unknown(double value)
{
        return isnan(value) ? UNKNOWN_U64 : (uint64_t)value;
}

static void process(struct stage *s, size_t i, uint64_t time_ns)
{
        struct process_sample p = {
                .rss_bytes = or_unknown(value_of(s, SERIES_RSS, i)),
                .pss_bytes = or_unknown(value_of(s, SERIES_PSS, i)),
                .swap_bytes = or_unknown(value_of(s, SERIES_SWAP, i)),
                .cpu_ns = or_unknown(value_of(s, SERIES_CPU, i)),
                .threads = UNKNOWN_U64,
                .cgroup_current_bytes = or_unknown(value_of(s, SERIES_CGROUP, i)),
                .cgroup_max_bytes = UNKNOWN_U64,
                .wall_ns = WALL_S * SECOND_NS + time_ns,
        };

        if (p.rss_bytes != UNKNOWN_U64 || p.pss_bytes != UNKNOWN_U64 || p.swap_bytes != UNKNOWN_U64 ||
            p.cpu_ns != UNKNOWN_U64 || p.cgroup_current_bytes != UNKNOWN_U64)
                model_process(s->model, time_ns, &p);
}

/* A block without events of the only capability. When the next one begins all up to here has come. */
static void block(struct stage *s, uint64_t time_ns)
{
        put_be(s, 0, 4);
        put_be(s, time_ns, 8);
        put_be(s, 0, 2);
        event(s, HW_BLOCK_MARKER, HW_CAP_NONE, time_ns);
}

/* All that one interval holds, at its end. Two blocks: what was before is judged before anything new is seen. */
static void interval(struct stage *s, size_t i)
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
        uint64_t time_ns = (i + 1) * s->input->interval_ns;

        block(s, time_ns);
        block(s, time_ns);
        collection(s, i, time_ns);
        for (size_t k = 0; k < sizeof(gauges) / sizeof(gauges[0]); k++) {
                double value = value_of(s, gauges[k].id, i);
                if (!isnan(value))
                        gauge(s, gauges[k].event, time_ns, value);
        }
        census(s, i, time_ns);
        process(s, i, time_ns);
}

/* What a runtime with GC events says first: they are not missing, whatever series are made up. */
static void heap_info(struct stage *s)
{
        put_be(s, 0, 4);
        put_be(s, 2, 2); /* generations */
        put_be(s, 0, 8); /* no -M */
        put_be(s, UINT64_C(4) << 20, 8);
        put_be(s, UINT64_C(1) << 20, 8);
        put_be(s, 4096, 8);
        event(s, HW_HEAP_INFO_GHC, HW_CAP_NONE, 0);
}

static void play(struct stage *s)
{
        size_t n = 0;

        for (size_t k = 0; k < s->input->n_series; k++)
                if (s->input->series[k].n > n)
                        n = s->input->series[k].n;
        model_begin_run(s->model, 1);
        tracker_begin_run(s->tracker);
        publisher_begin_run(s->publisher, WALL_S * SECOND_NS);
        alerting_begin_run(s->alerting, 1);
        put_be(s, 0, 4);
        put_be(s, WALL_S, 8);
        put_be(s, 0, 4);
        event(s, HW_WALL_CLOCK_TIME, HW_CAP_NONE, 0);
        heap_info(s);
        for (size_t i = 0; i < n; i++)
                interval(s, i);
        model_end_run(s->model);
        tracker_end_run(s->tracker);
        alerting_end_run(s->alerting, false, "");
}

static bool build(struct stage *s, const struct ruleset *rules, const struct alert_hooks *hooks)
{
        struct tracker_config trend = s->input->trend;
        struct model_sink sink, tracker, alerting;

        s->publisher = publisher_new(s->input->target, 1, &nowhere);
        s->tracker = tracker_new(&trend);
        if (!s->publisher || !s->tracker)
                return false;
        sink = publisher_sink(s->publisher);
        tracker = tracker_sink(s->tracker);
        fanout_add(&s->fanout, &sink);
        fanout_add(&s->fanout, &tracker);
        sink = fanout_sink(&s->fanout);
        s->model = model_new(&sink);
        if (!s->model)
                return false;
        tracker_set_model(s->tracker, s->model);
        publisher_set_model(s->publisher, s->model);
        struct alerting_options options = { .target = s->input->target,
                                            .rules = rules,
                                            .model = s->model,
                                            .tracker = s->tracker,
                                            .publisher = s->publisher,
                                            .hooks = hooks };
        s->alerting = alerting_new(&options);
        if (!s->alerting)
                return false;
        alerting = alerting_sink(s->alerting);
        fanout_add(&s->fanout, &alerting);
        return true;
}

static bool run_series(const struct ruleset *rules, const struct test_input *input, const struct alert_hooks *hooks,
                       struct test_changes *ret)
{
        struct stage *s = calloc(1, sizeof(*s));
        bool good = false;

        if (!s)
                return false;
        s->input = input;
        good = build(s, rules, hooks);
        if (good) {
                play(s);
                ret->end_ns = model_time_ns(s->model);
        }
        alerting_destroy(&s->alerting);
        publisher_destroy(&s->publisher);
        tracker_destroy(&s->tracker);
        model_destroy(&s->model);
        free(s);
        return good;
}

/* ------------------------------------------------------------------------ logs */

static bool read_log(struct pipeline *p, const char *path, char *error, size_t error_size)
{
        static uint8_t buffer[READ_BUFFER_BYTES];
        uint32_t runs = model_run(pipeline_model(p))->ordinal;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = 0;

        while (fd >= 0 && ((n = read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)))
                if (n > 0)
                        (void)pipeline_bytes(p, buffer, (size_t)n); /* the sink takes everything */
        if (fd < 0 || n < 0) {
                snprintf(error, error_size, "%s: %s", path, strerror(errno));
                if (fd >= 0)
                        close(fd);
                return false;
        }
        close(fd);
        if (model_run(pipeline_model(p))->ordinal > runs)
                return true;
        snprintf(error, error_size, "%s: this is no eventlog", path);
        return false;
}

static bool run_log(const struct ruleset *rules, const struct test_input *input, const struct alert_hooks *hooks,
                    struct test_changes *ret, char *error, size_t error_size)
{
        struct source_uri uri = { .kind = SOURCE_FILE };
        struct pipeline_options options = { .name = input->target,
                                            .uri = &uri,
                                            .epoch = 1,
                                            .sink = nowhere,
                                            .trend = &input->trend,
                                            .rules = rules,
                                            .alert_hooks = hooks };
        struct pipeline *p = pipeline_new(&options, error, error_size);
        bool good = p;

        for (size_t i = 0; good && i < input->n_logs; i++)
                good = read_log(p, input->logs[i], error, error_size);
        if (good) {
                (void)pipeline_finish(p);
                ret->end_ns = model_time_ns(pipeline_model(p));
        }
        pipeline_destroy(&p);
        return good;
}

bool rules_test_run(const struct ruleset *rules, const struct test_input *input, struct test_changes *ret, char *error,
                    size_t error_size)
{
        struct alert_hooks hooks = { .ctx = ret, .changed = put_change };
        bool good;

        *ret = (struct test_changes){ .n = 0 };
        snprintf(error, error_size, "out of memory");
        if (input->n_logs)
                good = run_log(rules, input, &hooks, ret, error, error_size);
        else
                good = run_series(rules, input, &hooks, ret);
        return good;
}
