/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * series.c - DESIGN: a series is looked up at each of its samples, and stored with all that its marker needs at its
 * first one. The table of ids has no removal: after a walk in which some ended it is filled again, which is rare.
 */
#include "client/out/export/batcher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/export/limits.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/text_out.h"

struct series {
        uint64_t hash, walk; /* the newest walk that had it */
        struct metric_sample sample;
        struct metric_points points;
        struct metric_part part;
        bool has_part;
        struct metric_label labels[]; /* then their values, and the part's */
};

void series_list_done(struct series_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                free(l->items[i]);
        free(l->items);
        idtable_done(&l->ids);
        *l = (struct series_list){ 0 };
}

/* ------------------------------------------------------------------ looking up */

static uint64_t hash_series(const struct series_list *l, const struct metric_sample *s, const struct metric_part *part)
{
        uint64_t hash = hash_u64((uint64_t)(uintptr_t)s->metric, l->seed);

        for (size_t i = 0; i < s->n_labels; i++)
                hash = hash_text(s->labels[i].value, hash_text(s->labels[i].name, hash));
        return part ? hash_text(part->label.value, hash_text(part->suffix, hash)) : hash;
}

static bool is_same(const struct series *a, const struct metric_sample *s, const struct metric_part *part)
{
        if (a->sample.metric != s->metric || a->sample.n_labels != s->n_labels || a->has_part != (part != NULL))
                return false;
        if (part && (strcmp(a->part.suffix, part->suffix) || !text_is_same(a->part.label.value, part->label.value)))
                return false;
        for (size_t i = 0; i < s->n_labels; i++)
                if (strcmp(a->labels[i].name, s->labels[i].name) || strcmp(a->labels[i].value, s->labels[i].value))
                        return false;
        return true;
}

/* --------------------------------------------------------------------- storing */

static const char *copy_text(char **at, const char *text)
{
        size_t size = strlen(text) + 1;
        char *copy = memcpy(*at, text, size);

        *at += size;
        return copy;
}

/* NULL when out of memory. Names of labels, suffixes and bounds are static. */
static struct series *make_series(const struct metric_sample *from, const struct metric_part *part)
{
        static const Hw__Generation no_pauses = HW__GENERATION__INIT;
        const char *part_value = part ? part->label.value : NULL;
        size_t text_bytes = part_value ? strlen(part_value) + 1 : 0;

        for (size_t i = 0; i < from->n_labels; i++)
                text_bytes += strlen(from->labels[i].value) + 1;
        struct series *s = calloc(1, sizeof(*s) + from->n_labels * sizeof(s->labels[0]) + text_bytes);
        if (!s)
                return NULL;
        char *text = (char *)&s->labels[from->n_labels];
        for (size_t i = 0; i < from->n_labels; i++)
                s->labels[i] = (struct metric_label){ from->labels[i].name, copy_text(&text, from->labels[i].value) };
        s->sample = *from;
        s->sample.labels = s->labels;
        s->sample.target = from->target ? s->labels[0].value : NULL;
        s->sample.value = NAN;
        s->sample.ended = true;
        if (from->points) {
                s->points = (struct metric_points){ .n = from->points->n,
                                                    .at = from->points->at,
                                                    .sum = NAN,
                                                    .pauses = from->points->pauses ? &no_pauses : NULL };
                s->sample.points = &s->points;
        }
        s->has_part = part != NULL;
        if (part)
                s->part = (struct metric_part){ .suffix = part->suffix, .label.name = part->label.name };
        if (part_value)
                s->part.label.value = copy_text(&text, part_value);
        return s;
}

void series_mark(struct series_list *l, const struct metric_sample *sample, const struct metric_part *part)
{
        if (!l->seed)
                l->seed = hash_seed(l) | 1;

        uint64_t hash = hash_series(l, sample, part);
        uint32_t at = idtable_start(&l->ids, hash), id;

        while ((id = idtable_next(&l->ids, hash, &at)))
                if (l->items[id - 1]->hash == hash && is_same(l->items[id - 1], sample, part))
                        break;
        struct series *s = id ? l->items[id - 1] : l->n < SERIES_STORED_MAX ? make_series(sample, part) : NULL;
        if (!s)
                return;
        s->walk = l->walk;
        s->sample.start_wall_ns = sample->start_wall_ns; /* a series may continue in the next run */
        s->hash = hash;
        if (id)
                return;
        if (ARRAY_RESERVE_NEXT(l->items, l->n) && idtable_add(&l->ids, hash, (uint32_t)l->n + 1) == 0)
                l->items[l->n++] = s;
        else
                free(s);
}

/* ---------------------------------------------------------------------- ending */

void series_end_unmarked(struct series_list *l, metric_part_taker *take, void *ctx)
{
        size_t n = 0;

        for (size_t i = 0; i < l->n; i++)
                if (l->items[i]->walk == l->walk)
                        n++;
                else
                        take(ctx, &l->items[i]->sample, l->items[i]->has_part ? &l->items[i]->part : NULL);
        if (n < l->n) {
                size_t n_kept = 0;

                idtable_done(&l->ids);
                for (size_t i = 0; i < l->n; i++) {
                        struct series *s = l->items[i];

                        if (s->walk == l->walk && idtable_add(&l->ids, s->hash, (uint32_t)n_kept + 1) == 0)
                                l->items[n_kept++] = s;
                        else
                                free(s);
                }
                l->n = n_kept;
        }
        l->walk++;
}
