/* SPDX-License-Identifier: BSD-3-Clause */
/* series_past.c - histories of whole runs, slot by slot. A slot without a sample is NaN. */
#include "client/console/scene/series_past.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_WIDTH_NS UINT64_C(1000000)

struct history {
        double *slots; /* NULL until the first point */
        size_t n_slots;
        uint64_t width_ns; /* of a slot */
        struct ring ring;  /* made by series_past_ring */
};

struct past_target {
        char name[WORLD_NAME_MAX + 1];
        size_t daemon;
        uint32_t run;
        uint64_t first_ns;
        struct history series[WORLD_SERIES];
};

struct series_past {
        struct past_target **targets;
        size_t n;
};

/* --------------------------------------------------------------- one history */

static int history_begin(struct history *h, size_t n)
{
        h->slots = calloc(n, sizeof(*h->slots));
        if (!h->slots)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                h->slots[i] = NAN;
        h->n_slots = n;
        h->width_ns = FIRST_WIDTH_NS;
        return 0;
}

/* fmax takes the number when the other is NaN. */
static void history_halve(struct history *h)
{
        for (size_t i = 0; i < h->n_slots / 2; i++)
                h->slots[i] = fmax(h->slots[2 * i], h->slots[2 * i + 1]);
        for (size_t i = h->n_slots / 2; i < h->n_slots; i++)
                h->slots[i] = NAN;
        h->width_ns *= 2;
}

static int history_add(struct history *h, size_t n, uint64_t time_ns, double value)
{
        if (!h->slots && history_begin(h, n) < 0)
                return -ENOMEM;
        if (time_ns > UINT64_MAX / 4)
                return 0; /* no program has run for a century */
        while (time_ns / h->width_ns >= h->n_slots)
                history_halve(h);
        h->slots[time_ns / h->width_ns] = fmax(h->slots[time_ns / h->width_ns], value);
        return 0;
}

static void history_done(struct history *h)
{
        free(h->slots);
        free(h->ring.points);
        memset(h, 0, sizeof(*h));
}

/* ------------------------------------------------------------------ targets */

struct series_past *series_past_new(void)
{
        return calloc(1, sizeof(struct series_past));
}

static void forget(struct past_target *t)
{
        for (size_t i = 0; i < WORLD_SERIES; i++)
                history_done(&t->series[i]);
        t->first_ns = UINT64_MAX;
}

static void remove_at(struct series_past *p, size_t i)
{
        forget(p->targets[i]);
        free(p->targets[i]);
        p->targets[i] = p->targets[--p->n];
}

void series_past_forget(struct series_past *p, size_t daemon)
{
        for (size_t i = p->n; i > 0; i--) {
                if (p->targets[i - 1]->daemon == daemon)
                        remove_at(p, i - 1);
        }
}

void series_past_destroy(struct series_past **p)
{
        if (!*p)
                return;
        while ((*p)->n)
                remove_at(*p, (*p)->n - 1);
        free((*p)->targets);
        free(*p);
        *p = NULL;
}

static struct past_target *find(const struct series_past *p, size_t daemon, const char *name)
{
        for (size_t i = 0; i < p->n; i++) {
                if (p->targets[i]->daemon == daemon && !strcmp(p->targets[i]->name, name))
                        return p->targets[i];
        }
        return NULL;
}

/* The target's entry, made when it is new; NULL when out of memory. */
static struct past_target *entry(struct series_past *p, size_t daemon, const char *name)
{
        struct past_target *t = find(p, daemon, name), **grown;

        if (t)
                return t;
        grown = reallocarray(p->targets, p->n + 1, sizeof(struct past_target *));
        if (!grown)
                return NULL;
        p->targets = grown;
        t = calloc(1, sizeof(*t));
        if (!t)
                return NULL;
        memcpy(t->name, name, strlen(name) + 1);
        t->daemon = daemon;
        t->first_ns = UINT64_MAX;
        p->targets[p->n++] = t;
        return t;
}

/* ------------------------------------------------------------------ updates */

static int add_series(struct past_target *t, Hw__Series series, uint64_t time_ns, double value)
{
        if (series <= 0 || series >= WORLD_SERIES)
                return 0;
        if (time_ns < t->first_ns)
                t->first_ns = time_ns;
        return history_add(&t->series[series], PAST_SLOTS, time_ns, value);
}

static int watch_heap(struct past_target *t, const Hw__Heap *heap)
{
        int r = 0;

        for (size_t i = 0; i < heap->n_samples; i++) {
                const Hw__Samples *s = heap->samples[i];

                for (size_t k = 0; k < s->n_times_ns && k < s->n_values && r == 0; k++)
                        r = add_series(t, s->series, s->times_ns[k], (double)s->values[k]);
        }
        return r;
}

static int watch_gc(struct past_target *t, const Hw__Gc *gc)
{
        int r = 0;

        for (size_t i = 0; i < gc->n_collections && r == 0; i++) {
                const Hw__Collection *c = gc->collections[i];

                if (c->has_pause_ns)
                        r = add_series(t, HW__SERIES__SERIES_GC_PAUSE, c->end_time_ns, (double)c->pause_ns);
        }
        return r;
}

static int watch_census(struct past_target *t, const Hw__Census *census)
{
        return census->has_total_bytes
                       ? add_series(t, HW__SERIES__SERIES_CENSUS_TOTAL, census->time_ns, (double)census->total_bytes)
                       : 0;
}

int series_past_watch(struct series_past *p, size_t daemon, const Hw__Update *u)
{
        struct past_target *t;

        if (!u->target || !u->has_run || strlen(u->target) > WORLD_NAME_MAX)
                return 0;
        if (u->body_case != HW__UPDATE__BODY_HEAP && u->body_case != HW__UPDATE__BODY_GC &&
            u->body_case != HW__UPDATE__BODY_CENSUS)
                return 0;
        t = entry(p, daemon, u->target);
        if (!t)
                return -ENOMEM;
        if (u->run < t->run)
                return 0;
        if (u->run > t->run)
                forget(t);
        t->run = u->run;
        return u->body_case == HW__UPDATE__BODY_HEAP ? watch_heap(t, u->heap)
               : u->body_case == HW__UPDATE__BODY_GC ? watch_gc(t, u->gc)
                                                     : watch_census(t, u->census);
}

int series_past_add(struct series_past *p, size_t daemon, const char *target, uint32_t run, Hw__Series series,
                    uint64_t time_ns, double value)
{
        struct past_target *t = entry(p, daemon, target);

        if (!t)
                return -ENOMEM;
        if (!t->run)
                t->run = run; /* nothing was heard of it yet */
        if (t->run != run)
                return 0; /* the answer came too late */
        return add_series(t, series, time_ns, value);
}

uint64_t series_past_first_ns(const struct series_past *p, const struct world_target *t)
{
        const struct past_target *found = find(p, t->daemon, t->name);

        return found && found->run == t->run ? found->first_ns : UINT64_MAX;
}

/* -------------------------------------------------------------------- rings */

static struct history *history_of(const struct series_past *p, const struct world_target *t, Hw__Series series)
{
        struct past_target *found = find(p, t->daemon, t->name);

        return found && found->run == t->run ? &found->series[series] : NULL;
}

static uint64_t oldest_of(const struct ring *r)
{
        uint64_t oldest_ns = UINT64_MAX;

        for (size_t i = 0; i < r->count; i++) {
                uint64_t t = ring_newest(r, i)->time_ns;

                oldest_ns = t < oldest_ns ? t : oldest_ns;
        }
        return oldest_ns;
}

const struct ring *series_past_ring(struct series_past *p, const struct world_target *t, Hw__Series series,
                                    const struct ring *newest)
{
        struct history *h = history_of(p, t, series);
        uint64_t oldest_ns = oldest_of(newest);
        struct ring *r;

        if (!h || !h->slots)
                return newest;
        r = &h->ring;
        if (r->capacity < h->n_slots + newest->count) {
                size_t capacity = h->n_slots + 2 * newest->count;
                struct point *points = reallocarray(r->points, capacity, sizeof(*points));

                if (!points)
                        return newest;
                r->points = points;
                r->capacity = capacity;
        }
        r->count = 0;
        for (size_t i = 0; i < h->n_slots; i++) {
                uint64_t time_ns = i * h->width_ns + h->width_ns / 2;

                if (!isnan(h->slots[i]) && time_ns + h->width_ns / 2 <= oldest_ns)
                        r->points[r->count++] = (struct point){ .time_ns = time_ns, .value = h->slots[i] };
        }
        for (size_t i = newest->count; i > 0; i--)
                r->points[r->count++] = *ring_newest(newest, i - 1);
        r->next = r->count % r->capacity;
        return r;
}
