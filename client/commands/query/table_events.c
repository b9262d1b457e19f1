/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_events.c - DESIGN: a run of a thread and its stop are on one capability, in order, so each capability remembers
 * which thread runs and since when. Where one of the two is missing, that time is not counted.
 */
#include "client/commands/query/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/convert/event_types.h"
#include "heapwatch/eventlog.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/idtable.h"

#define STATUS_FINISHED 5u /* of STOP_THREAD */

/* -------------------------------------------------------------------- events */

const struct query_column query_event_columns[QUERY_EVENT_COLUMNS] = {
        { "name", QUERY_TEXT, "", "as in the runtime system: GC_START" },
        { "time", QUERY_REAL, "s", "of the event" },
        { "id", QUERY_INTEGER, "", "of its type" },
        { "capability", QUERY_INTEGER, "", "NULL: none" },
        { "size", QUERY_INTEGER, "B", "of its payload" },
        { "place", QUERY_INTEGER, "", "offset in the log, in bytes" },
        { "fields", QUERY_TEXT, "",
          "its fields, a JSON object: json_extract(fields, '$.thread'); arguments and environment are left out" },
};

static void add_fields(struct query_rows *r, const struct event *e)
{
        char *text = NULL;
        size_t size = 0;
        FILE *to = query_rows_next_is_used(r) ? open_memstream(&text, &size) : NULL;

        if (!query_rows_next_is_used(r)) {
                query_rows_add_null(r);
                return;
        }
        if (to)
                event_print_fields(to, e);
        if (to && fclose(to) == 0)
                query_rows_add_text(r, text);
        else
                r->failed = true;
        free(text);
}

void query_add_events(struct query_scan *s, const Hw__Update *u)
{
        struct event_cursor cursor = { .types = s->types, .message = u->events };
        struct query_rows *r = &s->rows;
        char number[16];
        struct event e;

        if (u->body_case != HW__UPDATE__BODY_EVENTS)
                return;
        event_types_define(s->types, u->events);
        while (event_cursor_next(&cursor, &e)) {
                const char *name = event_type_name(e.type, number);

                if (!query_is_in_time(s, e.time_ns) || !query_is_key(s, name))
                        continue;
                query_begin_row(s, u->target, u->run);
                query_rows_add_text(r, name);
                query_rows_add_seconds(r, e.time_ns);
                query_rows_add_integer(r, e.type->id);
                query_rows_add_optional(r, e.capability != EVENT_CAP_NONE, e.capability);
                query_rows_add_integer(r, e.size_bytes);
                query_rows_add_integer(r, e.offset);
                add_fields(r, &e);
        }
}

bool query_event_ids(const struct query_scan *s, bool *ret)
{
        bool is_known = false;

        for (uint16_t id = 0; s->bounds.key && id < HW_KNOWN_IDS; id++) {
                ret[id] = hw_event_info(id) && !strcmp(hw_event_info(id)->name, s->bounds.key);
                is_known = is_known || ret[id];
        }
        return is_known;
}

/* ------------------------------------------------------------------- threads */

const struct query_column query_thread_columns[QUERY_THREAD_COLUMNS] = {
        { "thread", QUERY_INTEGER, "", "its number" },
        { "label", QUERY_TEXT, "", "its newest label; NULL: the program gave none" },
        { "created", QUERY_REAL, "s", "when; NULL: before the log's first event" },
        { "finished", QUERY_REAL, "s", "when; NULL: it has not" },
        { "running", QUERY_REAL, "s", "time that it ran in all, without collections" },
        { "runs", QUERY_INTEGER, "", "how often it was run" },
        { "first_run", QUERY_REAL, "s", "when it was first run; NULL: never" },
        { "last_stop", QUERY_REAL, "s", "when it last stopped running; NULL: never" },
};

struct thread {
        uint64_t number, running_ns, runs;
        uint64_t created_ns, finished_ns, first_ns, stopped_ns; /* UINT64_MAX: not */
        char *label;
};

struct running {
        uint64_t thread, since_ns;
        bool known;
};

struct query_threads {
        struct thread *threads;
        size_t n, room;
        struct idtable by_number;
        struct running *capabilities; /* what runs on each */
        size_t n_capabilities;
        uint32_t run;
        char target[WORLD_NAME_MAX + 1];
};

static void clear_threads(struct query_threads *t)
{
        for (size_t i = 0; i < t->n; i++)
                free(t->threads[i].label);
        free(t->threads);
        free(t->capabilities);
        idtable_done(&t->by_number);
        *t = (struct query_threads){ .n = 0 };
}

void query_threads_destroy(struct query_threads **t)
{
        if (*t)
                clear_threads(*t);
        free(*t);
        *t = NULL;
}

/* Made when it is new; NULL: out of memory. */
static struct thread *find_thread(struct query_threads *t, uint64_t number)
{
        const uint64_t hash = hash_u64(number, 0);
        uint32_t at = idtable_start(&t->by_number, hash), i;

        while ((i = idtable_next(&t->by_number, hash, &at)))
                if (t->threads[i - 1].number == number)
                        return &t->threads[i - 1];
        if (t->n >= UINT32_MAX - 1 || !ARRAY_RESERVE(t->threads, t->room, t->n + 1) ||
            idtable_add(&t->by_number, hash, (uint32_t)t->n + 1) < 0)
                return NULL;
        t->threads[t->n] = (struct thread){ .number = number,
                                            .created_ns = UINT64_MAX,
                                            .finished_ns = UINT64_MAX,
                                            .first_ns = UINT64_MAX,
                                            .stopped_ns = UINT64_MAX };
        return &t->threads[t->n++];
}

static struct running *find_capability(struct query_threads *t, uint32_t number)
{
        if (!ARRAY_RESERVE_ZEROED(t->capabilities, t->n_capabilities, number + 1))
                return NULL;
        return &t->capabilities[number];
}

static void stop_thread(struct thread *t, struct running *on, const struct event *e)
{
        if (on->known && on->thread == t->number && e->time_ns >= on->since_ns)
                t->running_ns += e->time_ns - on->since_ns;
        on->known = false;
        t->stopped_ns = e->time_ns;
        if (e->fields > 1 && e->numbers[1] == STATUS_FINISHED)
                t->finished_ns = e->time_ns;
}

static bool set_label(struct thread *t, const struct event *e)
{
        free(t->label);
        t->label = strndup((const char *)e->texts[0].data, e->texts[0].len);
        return t->label != NULL;
}

/* False: out of memory. */
static bool add_event(struct query_threads *all, const struct event *e)
{
        struct thread *t = find_thread(all, e->numbers[0]);
        struct running *on = find_capability(all, e->capability);

        if (!t || !on)
                return false;
        switch (e->type->id) {
        case HW_CREATE_THREAD:
                t->created_ns = e->time_ns;
                break;
        case HW_RUN_THREAD:
                *on = (struct running){ .thread = t->number, .since_ns = e->time_ns, .known = true };
                t->first_ns = e->time_ns < t->first_ns ? e->time_ns : t->first_ns;
                t->runs++;
                break;
        case HW_STOP_THREAD:
                stop_thread(t, on, e);
                break;
        case HW_THREAD_LABEL:
                return e->fields < 2 || !e->texts || set_label(t, e);
        default:
                break;
        }
        return true;
}

static void add_time(struct query_rows *r, uint64_t ns)
{
        query_rows_add_real(r, ns == UINT64_MAX ? NAN : (double)ns / 1e9);
}

void query_finish_threads(struct query_scan *s)
{
        struct query_rows *r = &s->rows;

        for (size_t i = 0; s->threads && i < s->threads->n; i++) {
                const struct thread *t = &s->threads->threads[i];

                query_begin_row(s, s->threads->target, s->threads->run);
                query_rows_add_integer(r, t->number);
                query_rows_add_text(r, t->label);
                add_time(r, t->created_ns);
                add_time(r, t->finished_ns);
                query_rows_add_seconds(r, t->running_ns);
                query_rows_add_integer(r, t->runs);
                add_time(r, t->first_ns);
                add_time(r, t->stopped_ns);
        }
        if (s->threads)
                clear_threads(s->threads);
}

bool query_thread_ids(const struct query_scan *s, bool *ret)
{
        ret[HW_CREATE_THREAD] = ret[HW_RUN_THREAD] = ret[HW_STOP_THREAD] = ret[HW_THREAD_LABEL] = true;
        return true;
}

void query_add_threads(struct query_scan *s, const Hw__Update *u)
{
        struct event_cursor cursor = { .types = s->types, .message = u->events };
        struct event e;

        if (u->body_case != HW__UPDATE__BODY_EVENTS)
                return;
        if (s->threads && (s->threads->run != u->run || strcmp(s->threads->target, u->target) != 0))
                query_finish_threads(s);
        if (!s->threads && !(s->threads = calloc(1, sizeof(*s->threads)))) {
                s->rows.failed = true;
                return;
        }
        s->threads->run = u->run;
        (void)snprintf(s->threads->target, sizeof(s->threads->target), "%s", u->target);
        event_types_define(s->types, u->events);
        while (!s->rows.failed && event_cursor_next(&cursor, &e))
                s->rows.failed = e.fields > 0 && e.numbers && !add_event(s->threads, &e);
}
