/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_events.c - DESIGN: rows come series by series, events are in order of time. So the rows of a run become a list
 * of events, which is sorted: 30 days of minutes are 400,000 events, 20 MB.
 */
#include "client/past/archive/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/eventlog.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/process.h"
#include "proto/base/time.h"
#include "proto/eventlog/recording/run_end.h"

#define LABEL_MAX 1000u

struct list {
        const struct archived_run *run;
        struct hw_event
                *events; /* of each, `offset` is where its payload begins until they are sorted, then its index */
        size_t n, room;
        uint8_t *payloads;
        size_t size, payload_room;
        uint16_t series_event; /* of the series being read */
        uint64_t census_ns;    /* of the open census; UNKNOWN_U64: none is open */
        bool by_hour, failed;
};

static void store_number(uint8_t *to, uint64_t value, unsigned width)
{
        for (unsigned i = width; i-- > 0; value >>= 8)
                to[i] = (uint8_t)value;
}

/* Room for the payload of another event, all 0; NULL: out of memory. */
static uint8_t *add_event(struct list *l, uint16_t id, uint64_t time_ns, size_t size)
{
        uint8_t *payload;

        l->failed = l->failed || !ARRAY_RESERVE(l->events, l->room, l->n + 1) ||
                    !ARRAY_RESERVE(l->payloads, l->payload_room, l->size + size);
        if (l->failed)
                return NULL;
        l->events[l->n++] =
                (struct hw_event){ .time_ns = time_ns, .offset = l->size, .size = (uint32_t)size, .id = id };
        payload = memset(l->payloads + l->size, 0, size);
        l->size += size;
        return payload;
}

/* Unix time as event time, within what was selected of the run. */
static uint64_t event_time(const struct archived_run *run, uint64_t wall_ns)
{
        uint64_t at = wall_ns > run->from_ns ? wall_ns : run->from_ns;

        return (at < run->to_ns ? at : run->to_ns - 1) - run->start_ns;
}

static void add_identity(struct list *l)
{
        const struct archived_run *run = l->run;
        const char *program = run->program ? run->program : run->target;
        const uint64_t first_ns = run->from_ns - run->start_ns;
        uint8_t *p;

        if ((p = add_event(l, HW_WALL_CLOCK_TIME, first_ns, 16))) {
                store_number(p + 4, run->from_ns / NS_PER_S, 8);
                store_number(p + 12, run->from_ns % NS_PER_S, 4);
        }
        if ((p = add_event(l, HW_PROGRAM_ARGS, first_ns, 4 + strlen(program) + 1)))
                memcpy(p + 4, program, strlen(program));
        if (run->breakdown && (p = add_event(l, HW_HEAP_PROF_BEGIN, first_ns, 1 + 8 + 4 + 7))) {
                store_number(p + 1, HOUR_S * NS_PER_S, 8);
                store_number(p + 9, HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE, 4); /* only labels of bands are known */
        }
}

static void add_sample(struct list *l, uint64_t wall_ns, double value)
{
        uint8_t *p = add_event(l, l->series_event, event_time(l->run, wall_ns), 4 + 8);

        if (p && value > 0)
                store_number(p + 4, (uint64_t)value, 8);
}

static void add_value(void *list, const struct archived_value *v)
{
        struct list *l = list;
        uint64_t at = v->time_s * NS_PER_S, third = v->width_s * NS_PER_S / 3;

        l->by_hour = l->by_hour || v->width_s > MINUTE_S;
        if (!v->cell.n)
                return;
        add_sample(l, at, v->cell.max);
        add_sample(l, at + third, v->cell.min);
        add_sample(l, at + 2 * third, v->cell.last);
}

static void end_census(struct list *l)
{
        if (l->census_ns != UNKNOWN_U64)
                (void)add_event(l, HW_HEAP_PROF_SAMPLE_END, l->census_ns, 8);
        l->census_ns = UNKNOWN_U64;
}

static void add_band(void *list, const struct archived_band *b)
{
        struct list *l = list;
        const char *name = b->name ? b->name : "";
        const size_t length = strnlen(name, LABEL_MAX);
        const double bytes = b->sum / (double)b->n;
        const uint64_t at = event_time(l->run, b->time_s * NS_PER_S + b->width_s * NS_PER_S / 2);
        uint8_t *p;

        if (at != l->census_ns) {
                end_census(l);
                (void)add_event(l, HW_HEAP_PROF_SAMPLE_BEGIN, at, 8);
                l->census_ns = at;
        }
        if (!(p = add_event(l, HW_HEAP_PROF_SAMPLE_STRING, at, 9 + length + 1)))
                return;
        store_number(p + 1, bytes > 0 ? (uint64_t)bytes : 0, 8);
        memcpy(p + 9, name, length);
}

/* RUN_END_UNKNOWN: it continues. One before the newest, or of which the archive has nothing new, is lost. */
static enum run_end_state end_of(const struct archived_run *run, bool newest)
{
        if (run->to_ns <= run->seen_ns)
                return RUN_END_UNKNOWN;
        for (enum run_end_state end = RUN_END_LOST; end <= RUN_END_CRASHED; end++)
                if (run->state && !strcmp(run->state, run_end_name(end)))
                        return end;
        return newest && run->seen_ns + ARCHIVE_SILENCE_NS >= clock_wall_ns() ? RUN_END_UNKNOWN : RUN_END_LOST;
}

static void set_resident(void *end, const struct archived_value *v)
{
        struct run_end *e = end;

        if (!v->cell.n || v->cell.last < 1)
                return;
        e->resident_bytes = (uint64_t)v->cell.last;
        e->resident_wall_ns = (v->time_s + v->width_s) * NS_PER_S;
}

/* SQLITE_OK or an error. */
static int add_end(struct list *l, struct database *d, enum run_end_state state)
{
        static const char *const details[] = {
                [RUN_END_LOST] = "how the program ended is not known",
                [RUN_END_ENDED] = "ended",
                [RUN_END_FAILED] = "ended with a status other than 0, which the archive does not have",
                [RUN_END_CRASHED] = "the archive has no details",
        };
        struct run_end end = { .state = state };
        char text[RUN_END_TEXT_BYTES];
        const int r = archived_series(d, l->run, HW__SERIES__SERIES_RSS, false, set_resident, &end);

        (void)snprintf(end.detail, sizeof(end.detail), "%s", details[state]);
        const size_t size = run_end_print(&end, text);
        uint8_t *p = add_event(l, HW_LOG_MSG, event_time(l->run, l->run->seen_ns), size);
        if (p)
                memcpy(p, text, size);
        return r;
}

/* Events of the same time stay in the order in which they were added, which is that of their payloads. */
static int by_time(const void *a, const void *b)
{
        const struct hw_event *x = a, *y = b;

        if (x->time_ns != y->time_ns)
                return x->time_ns < y->time_ns ? -1 : 1;
        return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* SQLITE_OK or an error. */
static int fill_list(struct list *l, struct database *d, enum run_end_state end)
{
        static const struct {
                unsigned series;
                uint16_t event;
        } series[] = { { HW__SERIES__SERIES_LIVE, HW_HEAP_LIVE },
                       { HW__SERIES__SERIES_HEAP_SIZE, HW_HEAP_SIZE },
                       { HW__SERIES__SERIES_BLOCKS_SIZE, HW_BLOCKS_SIZE } };
        int r = SQLITE_OK;

        l->census_ns = UNKNOWN_U64;
        add_identity(l);
        for (size_t i = 0; i < ARRAY_SIZE(series) && r == SQLITE_OK; i++) {
                l->series_event = series[i].event;
                r = archived_series(d, l->run, series[i].series, false, add_value, l);
        }
        r = r == SQLITE_OK ? archived_bands(d, l->run, false, add_band, l) : r;
        end_census(l);
        if (r == SQLITE_OK && end != RUN_END_UNKNOWN)
                r = add_end(l, d, end);
        ARRAY_SORT(l->events, l->n, by_time);
        for (size_t i = 0; i < l->n; i++) {
                l->events[i].payload = l->payloads + l->events[i].offset;
                l->events[i].offset = i;
        }
        return r == SQLITE_OK && l->failed ? SQLITE_NOMEM : r;
}

/* ------------------------------------------------------------------------- all runs */

static bool read_run(struct run_events *e, struct database *d, const struct archived_run *run, bool newest,
                     struct error *error)
{
        struct event_list *ret = &e->lists[e->n++];
        struct list l = { .run = run };
        const enum run_end_state end = end_of(run, newest);
        const int r = fill_list(&l, d, end);

        ret->events = l.events;
        ret->n = l.n;
        ret->payloads = l.payloads;
        ret->continues = end == RUN_END_UNKNOWN;
        if (newest)
                (void)snprintf(ret->name, sizeof(ret->name), "%.50s", run->target);
        else
                (void)snprintf(ret->name, sizeof(ret->name), "%.50s.run%lld", run->target, (long long)run->id);
        e->by_hour = e->by_hour || l.by_hour;
        return r == SQLITE_OK || error_set(error, "cannot read %s: %s", d->path, sqlite3_errstr(r));
}

bool run_events_read(struct run_events *e, struct database *d, const struct archived_runs *runs, struct error *error)
{
        *e = (struct run_events){ .lists = calloc(runs->n + 1, sizeof(*e->lists)) };
        if (!e->lists)
                return error_set(error, "out of memory");
        for (size_t i = 0; i < runs->n; i++)
                if (!read_run(e, d, &runs->items[i], i + 1 == runs->n, error))
                        return false;
        return true;
}

void run_events_done(struct run_events *e)
{
        for (size_t i = 0; i < e->n; i++) {
                free(e->lists[i].events);
                free(e->lists[i].payloads);
        }
        free(e->lists);
        *e = (struct run_events){ .n = 0 };
}
