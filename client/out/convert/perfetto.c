/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfetto.c - the run as a trace for ui.perfetto.dev: which Haskell thread, by its labelThread, ran when on which
 * capability, collections as slices (their length is the pause), notes as instants, series and larger bands as
 * counters.
 *
 * DESIGN: packets are written as their facts come, because the format requires no order; each has its event time. A
 * track is defined before its first packet. A band has a track from the first census on in which it has a hundredth
 * of the bytes: thousands of flat lines help nobody.
 */
#include "client/out/convert/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/convert/perfetto.pb-c.h"
#include "client/out/convert/event_types.h"
#include "heapwatch/eventlog.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/idtable.h"
#include "proto/facts/facts.h"

#define CAPABILITIES 4096u
#define LABEL_BYTES  256     /* a longer name of a thread is cut */
#define LABELS       1000000 /* named threads; further ones have their numbers alone */
#define BAND_SHARE   100u    /* a band with this fraction of a census has a track */

/* Numbers of tracks. */
enum {
        TRACK_PROCESS = 1,
        TRACK_COLLECTIONS,
        TRACK_NOTES,
        TRACK_BANDS,
        TRACK_THREADS,
        TRACK_SERIES = 16,
        TRACK_CAPABILITY = 1024,
        TRACK_BAND = TRACK_CAPABILITY + CAPABILITIES,
};

struct band_track {
        bool shown;
        uint64_t census; /* newest that had a row of it */
};

/* labelThread's name of a thread. */
struct label {
        uint64_t thread;
        char *text;
};

struct perfetto {
        struct conversion run;
        struct event_types *types;
        bool process, named, collections, notes, threads,
                bands; /* has a track; `named`: the process has its real name */
        bool series[SERIES_COUNT];
        bool capabilities[CAPABILITIES], runs[CAPABILITIES]; /* has a track; has a running thread */
        struct band_track *band;                             /* by id - 1 */
        uint32_t n_band;
        struct label *labels;
        uint32_t n_labels;
        struct idtable labels_by_thread; /* index + 1 */
        uint64_t labels_seed;
        uint64_t censuses, facts;
        uint8_t *buffer;
        size_t capacity;
        int error;
};

/* ------------------------------------------------------------------- packets */

static void put_packet(struct perfetto *p, Perfetto__Packet *packet)
{
        Perfetto__Trace trace = PERFETTO__TRACE__INIT;

        packet->has_sequence = true;
        packet->sequence = 1;
        trace.packet = &packet;
        trace.n_packet = 1;
        size_t size = perfetto__trace__get_packed_size(&trace);
        if (!ARRAY_RESERVE(p->buffer, p->capacity, size)) {
                p->error = -ENOMEM;
                return;
        }
        (void)perfetto__trace__pack(&trace, p->buffer);
        (void)fwrite(p->buffer, 1, size, p->run.out);
}

/* The track of the process, before all others; defined again once its name is known. */
static void need_process(struct perfetto *p, const struct world_target *t)
{
        Perfetto__Packet packet = PERFETTO__PACKET__INIT;
        Perfetto__Track track = PERFETTO__TRACK__INIT;
        Perfetto__Process process = PERFETTO__PROCESS__INIT;
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        if (p->process && (p->named || !run || !run->program))
                return;
        p->process = true;
        p->named = run && run->program;
        packet.track = &track;
        track.has_uuid = true;
        track.uuid = TRACK_PROCESS;
        track.process = &process;
        process.has_pid = true;
        process.pid = run && run->has_pid ? (int32_t)run->pid : 1;
        process.name = run && run->program ? run->program : (char *)t->name;
        put_packet(p, &packet);
}

/* A track in that of `parent`, unless it is defined. */
static void need_child(struct perfetto *p, const struct world_target *t, bool *defined, uint64_t uuid, uint64_t parent,
                       const char *name, Perfetto__Counter *counter)
{
        Perfetto__Packet packet = PERFETTO__PACKET__INIT;
        Perfetto__Track track = PERFETTO__TRACK__INIT;

        need_process(p, t);
        if (*defined)
                return;
        packet.track = &track;
        track.has_uuid = track.has_parent_uuid = true;
        track.uuid = uuid;
        track.parent_uuid = parent;
        track.name = (char *)name;
        track.counter = counter;
        put_packet(p, &packet);
        *defined = true;
}

static void need_track(struct perfetto *p, const struct world_target *t, bool *defined, uint64_t uuid, const char *name)
{
        need_child(p, t, defined, uuid, TRACK_PROCESS, name, NULL);
}

static void need_counter(struct perfetto *p, const struct world_target *t, bool *defined, uint64_t uuid,
                         uint64_t parent, const char *name, Perfetto__Counter__Unit unit)
{
        Perfetto__Counter counter = PERFETTO__COUNTER__INIT;

        counter.has_unit = true;
        counter.unit = unit;
        need_child(p, t, defined, uuid, parent, name, &counter);
}

/* The event has a type's own fields. */
static void put_fact(struct perfetto *p, uint64_t track, uint64_t time_ns, Perfetto__Event__Type type,
                     Perfetto__Event *event)
{
        Perfetto__Packet packet = PERFETTO__PACKET__INIT;

        packet.has_timestamp = true;
        packet.timestamp = time_ns;
        packet.event = event;
        event->has_type = event->has_track_uuid = true;
        event->type = type;
        event->track_uuid = track;
        put_packet(p, &packet);
        p->facts++;
}

static void put_event(struct perfetto *p, uint64_t track, uint64_t time_ns, Perfetto__Event__Type type,
                      const char *name, Perfetto__Annotation **annotations, size_t n)
{
        Perfetto__Event event = PERFETTO__EVENT__INIT;

        event.name = (char *)name;
        event.annotation = annotations;
        event.n_annotation = n;
        put_fact(p, track, time_ns, type, &event);
}

static void put_counter(struct perfetto *p, uint64_t track, uint64_t time_ns, uint64_t value)
{
        Perfetto__Event event = PERFETTO__EVENT__INIT;

        event.has_counter_value = true;
        event.counter_value = value < INT64_MAX ? (int64_t)value : INT64_MAX;
        put_fact(p, track, time_ns, PERFETTO__EVENT__TYPE__TYPE_COUNTER, &event);
}

/* --------------------------------------------------------------------- facts */

#define NOTED 4

static void add_annotation(Perfetto__Annotation *a, Perfetto__Annotation **list, size_t *n, const char *name,
                           bool known, uint64_t number)
{
        if (!known)
                return;
        perfetto__annotation__init(&a[*n]);
        a[*n].name = (char *)name;
        a[*n].has_number = true;
        a[*n].number = number;
        list[*n] = &a[*n];
        ++*n;
}

/* A collection whose start was not seen has no length: an instant. */
static void add_collection(struct perfetto *p, const struct world_target *t, const Hw__Collection *c)
{
        Perfetto__Annotation a[NOTED], *list[NOTED];
        size_t n = 0;
        const uint64_t pause_ns = c->has_watch_pause_ns ? c->watch_pause_ns : c->pause_ns;
        char name[64];

        need_track(p, t, &p->collections, TRACK_COLLECTIONS, "collections");
        (void)snprintf(name, sizeof(name), "GC of generation %" PRIu32 "%s%s", c->generation,
                       c->has_major && c->major ? " (major)" : "", c->has_watch_pause_ns ? " for heapwatch" : "");
        add_annotation(a, list, &n, "copied_bytes", c->has_copied_bytes, c->copied_bytes);
        add_annotation(a, list, &n, "slop_bytes", c->has_slop_bytes, c->slop_bytes);
        add_annotation(a, list, &n, "fragmentation_bytes", c->has_fragmentation_bytes, c->fragmentation_bytes);
        add_annotation(a, list, &n, "threads", c->has_parallel_threads, c->parallel_threads);
        if ((!c->has_pause_ns && !c->has_watch_pause_ns) || pause_ns > c->end_time_ns) {
                put_event(p, TRACK_COLLECTIONS, c->end_time_ns, PERFETTO__EVENT__TYPE__TYPE_INSTANT, name, list, n);
                return;
        }
        put_event(p, TRACK_COLLECTIONS, c->end_time_ns - pause_ns, PERFETTO__EVENT__TYPE__TYPE_SLICE_BEGIN, name, list,
                  n);
        put_event(p, TRACK_COLLECTIONS, c->end_time_ns, PERFETTO__EVENT__TYPE__TYPE_SLICE_END, NULL, NULL, 0);
}

/* Levels in bytes: collections are slices. */
static void add_samples(struct perfetto *p, const struct world_target *t, const Hw__Samples *s)
{
        const char *name = hw_series_name(s->series);

        if (!name || !s->series || (unsigned)s->series >= SERIES_COUNT || series_rows[s->series].unit != FACT_BYTES ||
            series_rows[s->series].kind == SERIES_AMOUNT)
                return;
        need_counter(p, t, &p->series[s->series], TRACK_SERIES + (uint64_t)s->series, TRACK_PROCESS, name,
                     PERFETTO__COUNTER__UNIT__UNIT_SIZE_BYTES);
        for (size_t i = 0; i < s->n_times_ns && i < s->n_values; i++)
                put_counter(p, TRACK_SERIES + (uint64_t)s->series, s->times_ns[i], s->values[i]);
}

static void add_sched(struct perfetto *p, const struct world_target *t, const Hw__Update *u)
{
        const Hw__Sched *s = u->sched;

        if (!s->has_threads_created || !s->has_threads_finished || s->threads_finished > s->threads_created)
                return;
        need_counter(p, t, &p->threads, TRACK_THREADS, TRACK_PROCESS, "threads", PERFETTO__COUNTER__UNIT__UNIT_COUNT);
        put_counter(p, TRACK_THREADS, u->event_time_ns, s->threads_created - s->threads_finished);
}

/* --------------------------------------------------------------------- bands */

static void add_census(struct perfetto *p, const struct world_target *t, const Hw__Census *c)
{
        p->censuses++;
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++) {
                uint32_t id = c->band[i];
                if (!id)
                        continue;
                if (!ARRAY_RESERVE_ZEROED(p->band, p->n_band, id)) {
                        p->error = -ENOMEM;
                        return;
                }
                if (c->bytes[i] >= c->total_bytes / BAND_SHARE && c->bytes[i] > 0) {
                        const Hw__Band *band = band_of(t, id);
                        need_track(p, t, &p->bands, TRACK_BANDS, "heap by band");
                        need_counter(p, t, &p->band[id - 1].shown, TRACK_BAND + id, TRACK_BANDS,
                                     band && band->label && band->label[0] ? band->label : "?",
                                     PERFETTO__COUNTER__UNIT__UNIT_SIZE_BYTES);
                }
                p->band[id - 1].census = p->censuses;
                if (p->band[id - 1].shown)
                        put_counter(p, TRACK_BAND + id, c->time_ns, c->bytes[i]);
        }
        for (uint32_t i = 0; i < p->n_band; i++) /* bands without a row dropped to 0 */
                if (p->band[i].shown && p->band[i].census + 1 == p->censuses)
                        put_counter(p, TRACK_BAND + i + 1, c->time_ns, 0);
}

/* ------------------------------------------------------------------- threads */

static void stop_running(struct perfetto *p, uint32_t capability, uint64_t time_ns)
{
        if (p->runs[capability])
                put_event(p, TRACK_CAPABILITY + capability, time_ns, PERFETTO__EVENT__TYPE__TYPE_SLICE_END, NULL, NULL,
                          0);
        p->runs[capability] = false;
}

static struct label *label_of(const struct perfetto *p, uint64_t thread)
{
        uint64_t hash = hash_u64(thread, p->labels_seed);
        uint32_t at = idtable_start(&p->labels_by_thread, hash), id;

        while ((id = idtable_next(&p->labels_by_thread, hash, &at)) && p->labels[id - 1].thread != thread)
                ;
        return id ? &p->labels[id - 1] : NULL;
}

/* The name applies from here on: a slice has the name that its thread had when it began. */
static void add_label(struct perfetto *p, uint64_t thread, const ProtobufCBinaryData *text)
{
        char clean[LABEL_BYTES];
        struct label *l = label_of(p, thread);

        (void)hw_utf8_clean(clean, sizeof(clean), (const char *)text->data, text->len);
        if (!l) {
                const uint32_t n = p->n_labels;
                if (n == LABELS || !ARRAY_RESERVE_NEXT(p->labels, n) ||
                    idtable_add(&p->labels_by_thread, hash_u64(thread, p->labels_seed), n + 1))
                        return;
                l = &p->labels[p->n_labels++];
                *l = (struct label){ .thread = thread };
        }
        free(l->text);
        l->text = strdup(clean);
}

static void add_event(struct perfetto *p, const struct world_target *t, const struct event *e)
{
        char name[LABEL_BYTES + 32];

        if (e->type->id == HW_THREAD_LABEL && e->fields == 2)
                add_label(p, e->numbers[0], &e->texts[0]);
        if ((e->type->id != HW_RUN_THREAD && e->type->id != HW_STOP_THREAD) || e->capability >= CAPABILITIES ||
            !e->fields)
                return;
        stop_running(p, e->capability, e->time_ns); /* also if the stop of the previous one was lost */
        if (e->type->id == HW_STOP_THREAD)
                return;
        (void)snprintf(name, sizeof(name), "capability %" PRIu32, e->capability);
        need_track(p, t, &p->capabilities[e->capability], TRACK_CAPABILITY + e->capability, name);
        const struct label *l = label_of(p, e->numbers[0]);
        if (l && l->text && *l->text)
                (void)snprintf(name, sizeof(name), "%s (thread %" PRIu64 ")", l->text, e->numbers[0]);
        else
                (void)snprintf(name, sizeof(name), "thread %" PRIu64, e->numbers[0]);
        put_event(p, TRACK_CAPABILITY + e->capability, e->time_ns, PERFETTO__EVENT__TYPE__TYPE_SLICE_BEGIN, name, NULL,
                  0);
        p->runs[e->capability] = true;
}

/* ---------------------------------------------------------------------- life */

static void perfetto_done(void *state)
{
        struct perfetto *p = state;

        if (p->types)
                event_types_done(p->types);
        for (uint32_t i = 0; i < p->n_labels; i++)
                free(p->labels[i].text);
        free(p->labels);
        idtable_done(&p->labels_by_thread);
        free(p->types);
        free(p->band);
        free(p->buffer);
}

static int perfetto_begin(void *state)
{
        struct perfetto *p = state;

        p->labels_seed = hash_seed(p);
        p->types = calloc(1, sizeof(*p->types));
        return p->types ? 0 : -ENOMEM;
}

static int perfetto_update(void *state, const Hw__Update *u)
{
        struct perfetto *p = state;
        const struct world_target *t = p->run.t;

        if (u->body_case == HW__UPDATE__BODY_EVENTS) {
                struct event_cursor cursor = { .types = p->types, .message = u->events };
                struct event e;

                event_types_define(p->types, u->events);
                while (event_cursor_next(&cursor, &e))
                        add_event(p, t, &e);
                if (cursor.broken)
                        return -EBADMSG;
        } else if (u->body_case == HW__UPDATE__BODY_SCHED)
                add_sched(p, t, u);
        else if (u->body_case == HW__UPDATE__BODY_CENSUS && !u->census->unfinished)
                add_census(p, t, u->census);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_GC && i < u->gc->n_collections; i++)
                add_collection(p, t, u->gc->collections[i]);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_NOTES && i < u->notes->n_notes; i++) {
                const Hw__Note *n = u->notes->notes[i];
                char text[32];

                need_track(p, t, &p->notes, TRACK_NOTES, "notes");
                (void)snprintf(text, sizeof(text), "%" PRIu64 " bytes", n->size_bytes);
                put_event(p, TRACK_NOTES, n->time_ns, PERFETTO__EVENT__TYPE__TYPE_INSTANT, n->text ? n->text : text,
                          NULL, 0);
        }
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_HEAP && i < u->heap->n_samples; i++)
                add_samples(p, t, u->heap->samples[i]);
        return p->error;
}

static int perfetto_finish(void *state)
{
        struct perfetto *p = state;

        for (uint32_t i = 0; i < CAPABILITIES; i++)
                stop_running(p, i, p->run.t->event_time_ns);
        return p->error ? p->error : p->facts ? 0 : -ENODATA;
}

const struct format format_perfetto = {
        .name = "perfetto",
        .events = true,
        .size = sizeof(struct perfetto),
        .begin = perfetto_begin,
        .update = perfetto_update,
        .finish = perfetto_finish,
        .no_data = "has no event with a time that a trace could show",
        .done = perfetto_done,
};
