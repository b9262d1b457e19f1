/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/metrics/collect.h"

#include <stdlib.h>
#include <string.h>

struct candidate {
        const struct world_band *band;
        uint64_t weight;
};

static bool was_chosen(const struct metric_scope *s, uint32_t id)
{
        for (size_t i = 0; s->chosen_bands && i < s->bands && s->chosen_bands[i]; i++)
                if (s->chosen_bands[i] == id)
                        return true;
        return false;
}

/* Keeps the heaviest in order; equal ones by id, so that the choice depends only on the census. */
static void offer(struct candidate *best, size_t *n, size_t most, struct candidate c)
{
        size_t at = *n;

        while (at > 0 && (best[at - 1].weight < c.weight ||
                          (best[at - 1].weight == c.weight && best[at - 1].band->id > c.band->id)))
                at--;
        if (at == most)
                return;
        if (*n < most)
                ++*n;
        memmove(&best[at + 1], &best[at], (*n - at - 1) * sizeof(*best));
        best[at] = c;
}

static int by_bytes(const void *a, const void *b)
{
        const struct world_band *x = *(const struct world_band *const *)a, *y = *(const struct world_band *const *)b;

        if (x->bytes != y->bytes)
                return x->bytes < y->bytes ? 1 : -1;
        return x->id < y->id ? -1 : x->id > y->id;
}

bool bands_choose(struct bands_shown *shown, const struct metric_scope *s)
{
        const struct world_target *t = s->target;
        size_t most = s->bands < BANDS_MOST ? s->bands : BANDS_MOST, n = 0;
        struct candidate best[BANDS_MOST];
        uint64_t sum = 0;

        if (!t->census)
                return false;
        for (uint32_t i = 0; i < t->n_bands; i++) {
                const struct world_band *b = t->bands[i];

                if (b && b->bytes)
                        offer(best, &n, most,
                              (struct candidate){ b, was_chosen(s, b->id) ? b->bytes + b->bytes / 4 : b->bytes });
        }
        for (size_t i = 0; i < n; i++) {
                shown->bands[i] = best[i].band;
                sum += best[i].band->bytes;
        }
        for (size_t i = 0; s->chosen_bands && i < s->bands; i++)
                s->chosen_bands[i] = i < n ? best[i].band->id : 0;
        qsort(shown->bands, n, sizeof(*shown->bands), by_bytes);
        shown->n = n;
        shown->other_bytes = t->census->total_bytes > sum ? t->census->total_bytes - sum : 0;
        return true;
}
