/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/archive/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/past/archive/database.h"
#include "client/world/state/band_name.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/limits.h"
#include "proto/facts/facts.h"

#define FROM_START_NS UINT64_C(10000000000) /* a run first seen before this counts as seen from its start */

struct observed *observed_new(size_t daemon, const char *target, uint32_t run)
{
        struct observed *o = calloc(1, sizeof(*o));

        if (!o)
                return NULL;
        (void)snprintf(o->target, sizeof(o->target), "%s", target);
        o->daemon = daemon;
        o->number = run;
        o->first_ns = UINT64_MAX;
        o->bands.seed = hash_seed(o) | 1;
        return o;
}

/* Keeps the newest message in place of the previous one, which may be the same. */
static const void *replace_message(const ProtobufCMessage *old, const ProtobufCMessage *now)
{
        hw_message_ref(now);
        hw_message_unref(old);
        return now;
}

#define BASE(message) ((message) ? &(message)->base : NULL)

static void forget_verdicts(struct observed *o)
{
        for (size_t i = 0; i < o->n_verdicts; i++) {
                hw_message_unref(&o->verdicts[i].trend->base);
                free(o->verdicts[i].what);
        }
        o->n_verdicts = 0;
}

/* -------------------------------------------------------------- lists of messages */

static bool list_add(struct observed_list *l, const ProtobufCMessage *message)
{
        if (l->n >= ARCHIVE_MESSAGES || !ARRAY_RESERVE(l->items, l->room, l->n + 1))
                return false;
        l->items[l->n++] = hw_message_ref(message);
        return true;
}

static void list_empty(struct observed_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                hw_message_unref(l->items[i]);
        l->n = 0;
}

static void list_done(struct observed_list *l)
{
        list_empty(l);
        free((void *)l->items);
        *l = (struct observed_list){ .n = 0 };
}

void observed_destroy(struct observed **op)
{
        struct observed *o = *op;

        *op = NULL;
        if (!o)
                return;
        pending_done(&o->pending);
        for (uint32_t i = 0; i < o->bands.n; i++) {
                free(o->bands.items[i].name);
                free(o->bands.items[i].label);
        }
        free(o->bands.items);
        free(o->bands.by_wire);
        idtable_done(&o->bands.index);
        list_done(&o->notes);
        list_done(&o->held);
        forget_verdicts(o);
        free(o->verdicts);
        hw_message_unref(BASE(o->state));
        hw_message_unref(BASE(o->alerts));
        hw_message_unref(BASE(o->live));
        hw_message_unref(BASE(o->trends));
        free(o);
}

void observed_written(struct observed *o)
{
        pending_done(&o->pending);
        list_empty(&o->notes);
        forget_verdicts(o);
        o->lost = 0;
        o->written = true;
        o->thin_s = 0;
        o->alerts_changed = o->changed = false;
}

void observed_unwritten(struct observed *o)
{
        o->id = 0;
        o->written = false;
        o->changed = true;
        for (uint32_t i = 0; i < o->bands.n; i++)
                o->bands.items[i].id = 0;
}

/* --------------------------------------------------------------- series, pauses */

/* Whether the archive has a sample already. */
static bool is_old(struct observed *o, uint64_t time_ns)
{
        if (o->until_ns && time_ns <= o->until_ns)
                return true;
        o->sampled_ns = time_ns > o->sampled_ns ? time_ns : o->sampled_ns;
        return false;
}

static void observe_gauge(struct observed *o, Hw__Series series, uint64_t time_ns, double value)
{
        uint64_t at = observed_wall(o, time_ns), from = o->newest[series].time_ns;

        if (!is_old(o, time_ns)) {
                pending_sample(&o->pending, (uint64_t)series, at, value);
                if (o->newest[series].any)
                        pending_line(&o->pending, (uint64_t)series, observed_wall(o, from), at, o->newest[series].value,
                                     value);
        }
        if (o->newest[series].any && time_ns < from)
                return;
        o->newest[series].any = true;
        o->newest[series].time_ns = time_ns;
        o->newest[series].value = value;
}

/*
 * A counter is the sum over all capabilities, whose blocks come out of order: an increase at an earlier time is added
 * to the newest one. For a run that is followed from its start the first sample is the total since then.
 */
static void observe_counter(struct observed *o, Hw__Series series, uint64_t time_ns, double total)
{
        if (!o->newest[series].any && o->whole) {
                o->newest[series].any = true;
                o->newest[series].time_ns = 0;
                o->newest[series].value = 0;
        }
        if (o->newest[series].any && total < o->newest[series].value)
                return;
        if (o->newest[series].any && time_ns < o->newest[series].time_ns)
                time_ns = o->newest[series].time_ns;
        if (o->newest[series].any && !is_old(o, time_ns))
                pending_rise(&o->pending, (uint64_t)series, observed_wall(o, o->newest[series].time_ns),
                             observed_wall(o, time_ns), total - o->newest[series].value);
        o->newest[series].any = true;
        o->newest[series].time_ns = time_ns;
        o->newest[series].value = total;
}

static void observe_samples(struct observed *o, const Hw__Samples *s)
{
        if (!s->series || (unsigned)s->series >= SERIES_COUNT)
                return;
        if (s->series == HW__SERIES__SERIES_CENSUS_TOTAL) /* counted with its census, which a snapshot may repeat */
                return;
        const enum series_kind kind = series_rows[s->series].kind;
        o->lost += s->dropped;
        for (size_t i = 0; i < s->n_times_ns; i++) {
                double value = (double)s->values[i];

                if (kind == SERIES_TOTAL)
                        observe_counter(o, s->series, s->times_ns[i], value);
                else if (kind == SERIES_LEVEL)
                        observe_gauge(o, s->series, s->times_ns[i], value);
                else if (!is_old(o, s->times_ns[i]))
                        pending_sample(&o->pending, (uint64_t)s->series, observed_wall(o, s->times_ns[i]), value);
        }
}

/* ------------------------------------------------------------------------- bands */

/* Index of the band of that name; UINT32_MAX: no room. */
static uint32_t band_index(struct observed_bands *b, const char *name, const char *label)
{
        uint64_t hash = hash_text(name, b->seed);
        uint32_t at = idtable_start(&b->index, hash), id;

        while ((id = idtable_next(&b->index, hash, &at)))
                if (!strcmp(b->items[id - 1].name, name))
                        return id - 1;
        if (b->n == ARCHIVE_BANDS)
                return UINT32_MAX;
        if (!ARRAY_RESERVE(b->items, b->room, b->n + 1))
                return UINT32_MAX;
        struct observed_band item = { .name = strdup(name), .label = label ? strdup(label) : NULL };
        if (!item.name || idtable_add(&b->index, hash, b->n + 1)) {
                free(item.name);
                free(item.label);
                return UINT32_MAX;
        }
        b->items[b->n] = item;
        return b->n++;
}

void observed_recall_band(struct observed *o, const char *name, uint64_t id)
{
        uint32_t index = band_index(&o->bands, name, NULL);

        if (index != UINT32_MAX)
                o->bands.items[index].id = id;
}

static void define_bands(struct observed *o, const Hw__Bands *bands)
{
        for (size_t i = 0; i < bands->n_bands; i++) {
                const Hw__Band *band = bands->bands[i];
                struct band_name name;
                uint32_t index;

                band_name(&name, band);
                index = band->id ? band_index(&o->bands, name.text, band->label) : UINT32_MAX;
                if (index == UINT32_MAX || band->id > LIMIT_BANDS ||
                    !ARRAY_RESERVE_ZEROED(o->bands.by_wire, o->bands.n_by_wire, band->id))
                        o->lost++;
                else
                        o->bands.by_wire[band->id - 1] = index + 1;
        }
}

static void in_census(struct observed *o, uint32_t index, double bytes)
{
        if (index == UINT32_MAX) {
                o->lost++;
                return;
        }
        o->bands.items[index].now += bytes;
        o->bands.items[index].in_census = true;
}

static void observe_census(struct observed *o, const Hw__Census *c)
{
        struct observed_bands *b = &o->bands;

        bool again =
                o->newest[HW__SERIES__SERIES_CENSUS_TOTAL].any &&
                c->time_ns <= o->newest[HW__SERIES__SERIES_CENSUS_TOTAL].time_ns; /* a snapshot repeats the newest */

        if (again || (c->has_unfinished && c->unfinished) || !c->has_total_bytes)
                return;
        observe_gauge(o, HW__SERIES__SERIES_CENSUS_TOTAL, c->time_ns, (double)c->total_bytes);
        if (is_old(o, c->time_ns))
                return;
        uint64_t ten = observed_wall(o, c->time_ns) / 1000000000u;
        ten -= ten % TEN_S;
        if (ten != o->newest_bands_s && o->newest_bands_s)
                o->thin_s = o->newest_bands_s;
        o->newest_bands_s = ten;
        for (size_t i = 0; i < c->n_band; i++) {
                uint32_t id = c->band[i];
                in_census(o, id >= 1 && id <= b->n_by_wire && b->by_wire[id - 1] ? b->by_wire[id - 1] - 1 : UINT32_MAX,
                          (double)c->bytes[i]);
        }
        if (c->bytes_left_out)
                in_census(o, band_index(b, BAND_NAME_LEFT_OUT, NULL), (double)c->bytes_left_out);
        for (uint32_t i = 0; i < b->n; i++) {
                if (b->items[i].in_census)
                        pending_add_band(&o->pending, observed_wall(o, c->time_ns), i, b->items[i].now);
                b->items[i].now = 0;
                b->items[i].in_census = false;
        }
}

/* --------------------------------------------------------------- notes, verdicts */

static void add_verdict(struct observed *o, const Hw__Trend *t, const char *kind, const char *name)
{
        struct observed_verdict verdict = { .trend = t };

        if (o->n_verdicts >= ARCHIVE_MESSAGES || asprintf(&verdict.what, "%s%s", kind, name) < 0) {
                o->lost++;
                return;
        }
        if (!ARRAY_RESERVE_NEXT(o->verdicts, o->n_verdicts)) {
                free(verdict.what);
                o->lost++;
                return;
        }
        hw_message_ref(&t->base);
        o->verdicts[o->n_verdicts++] = verdict;
}

static bool is_new_verdict(const Hw__Trend *before, const Hw__Trend *now)
{
        return now->has_verdict && now->verdict != HW__VERDICT__VERDICT_UNKNOWN &&
               (!before || before->verdict != now->verdict || before->since_ns != now->since_ns);
}

/* For a band only growth and its end are recorded. */
static void verdict_of_band(struct observed *o, const struct world_target *before, const Hw__Trend *t)
{
        const struct world_band *was =
                before && t->band >= 1 && t->band <= before->n_bands ? before->bands[t->band - 1] : NULL;
        const Hw__Trend *old = was ? was->trend : NULL;
        bool grew = old && old->verdict >= HW__VERDICT__VERDICT_GROWING;
        uint32_t index = t->band >= 1 && t->band <= o->bands.n_by_wire ? o->bands.by_wire[t->band - 1] : 0;

        if (index && is_new_verdict(old, t) && (grew || t->verdict >= HW__VERDICT__VERDICT_GROWING))
                add_verdict(o, t, "band ", o->bands.items[index - 1].name);
}

static void observe_trends(struct observed *o, const struct world_target *before, const Hw__Trends *all)
{
        for (size_t i = 0; i < all->n_trends; i++) {
                const Hw__Trend *t = all->trends[i];
                const char *name = t->has_series ? hw_series_name(t->series) : NULL;

                if (t->has_band) {
                        verdict_of_band(o, before, t);
                        continue;
                }
                if (!name || !t->series || (unsigned)t->series >= SERIES_COUNT)
                        continue;
                if (is_new_verdict(before ? before->trends[t->series] : NULL, t))
                        add_verdict(o, t, "", name);
                if (t->series == HW__SERIES__SERIES_LIVE) {
                        o->live = replace_message(BASE(o->live), &t->base);
                }
        }
        if (!all->growth && !all->scale)
                return;
        o->trends = replace_message(BASE(o->trends), &all->base);
}

/* ------------------------------------------------------------------------ its end */

void observed_end(struct observed *o, const struct world_target *target)
{
        if (!target || target->run != o->number)
                return;
        bool all_known = o->until_ns && !o->sampled_ns;                      /* the archive had all of it */
        if (!all_known && target->heap && target->heap->has_allocated_bytes) /* after the last sample */
                observe_counter(o, HW__SERIES__SERIES_ALLOCATED, o->last_ns, (double)target->heap->allocated_bytes);
        o->changed = true;
}

/* ----------------------------------------------------------------------- messages */

/* Its identity, and whether its run is over. */
static void observe_state(struct observed *o, const Hw__Target *t)
{
        o->state = replace_message(BASE(o->state), BASE(t));
        if (!t)
                return;
        o->over = run_is_over(t);
        if (t->run_info && t->run_info->has_first_time_ns)
                o->first_ns = t->run_info->first_time_ns;
}

void observed_add(struct observed *o, const struct world_target *before, const Hw__Update *u)
{
        if (!o->start_ns) {
                if (!o->held_since_ns)
                        o->held_since_ns = u->published_wall_ns;
                if (u->body_case == HW__UPDATE__BODY_TARGET_STATE)
                        observe_state(o, u->target_state);
                if (!list_add(&o->held, &u->base))
                        o->lost++;
                else
                        o->held_bytes += protobuf_c_message_get_packed_size(&u->base);
                return;
        }
        if (before && before->run != o->number)
                before = NULL;
        if (u->has_event_time_ns) {
                if (o->first_ns > o->last_ns && u->event_time_ns <= FROM_START_NS && !o->until_ns)
                        o->whole = true;
                o->first_ns = u->event_time_ns < o->first_ns ? u->event_time_ns : o->first_ns;
                o->last_ns = u->event_time_ns > o->last_ns ? u->event_time_ns : o->last_ns;
        }
        o->changed = true;
        switch (u->body_case) {
        case HW__UPDATE__BODY_TARGET_STATE:
                observe_state(o, u->target_state);
                break;
        case HW__UPDATE__BODY_HEAP:
                for (size_t i = 0; i < u->heap->n_samples; i++)
                        observe_samples(o, u->heap->samples[i]);
                break;
        case HW__UPDATE__BODY_GC:
                o->lost += u->gc->collections_dropped;
                for (size_t i = 0; i < u->gc->n_collections; i++) {
                        const Hw__Collection *c = u->gc->collections[i];
                        const uint64_t at = observed_wall(o, c->end_time_ns);

                        if (is_old(o, c->end_time_ns))
                                continue;
                        if (!c->has_watch_pause_ns)
                                pending_rise(&o->pending, SERIES_COLLECTIONS, at, at, 1);
                        if (c->has_pause_ns)
                                pending_add_pause(&o->pending, at, c->generation, c->pause_ns);
                }
                break;
        case HW__UPDATE__BODY_BANDS:
                define_bands(o, u->bands);
                break;
        case HW__UPDATE__BODY_CENSUS:
                observe_census(o, u->census);
                break;
        case HW__UPDATE__BODY_NOTES:
                for (size_t i = 0; i < u->notes->n_notes; i++)
                        o->lost += !list_add(&o->notes, &u->notes->notes[i]->base);
                break;
        case HW__UPDATE__BODY_TRENDS:
                observe_trends(o, before, u->trends);
                break;
        case HW__UPDATE__BODY_ALERTS:
                o->alerts = replace_message(BASE(o->alerts), &u->alerts->base);
                o->alerts_changed = true;
                break;
        case HW__UPDATE__BODY_HEALTH:
                if (u->health->gaps > o->gaps) { /* what follows is not connected to what was before */
                        for (size_t i = 0; i < SERIES_COUNT; i++)
                                o->newest[i].any = false;
                        o->whole = false;
                        o->until_ns = o->sampled_ns > o->until_ns ? o->sampled_ns : o->until_ns;
                }
                o->gaps = u->health->gaps;
                break;
        default:
                break;
        }
}

bool observed_can_hold(const struct observed *o)
{
        return o->held.n < ARCHIVE_MESSAGES && o->held_bytes < ARCHIVE_HELD;
}

void observed_begin(struct observed *o)
{
        for (size_t i = 0; i < o->held.n; i++)
                observed_add(o, NULL, (const Hw__Update *)o->held.items[i]);
        list_done(&o->held);
}
