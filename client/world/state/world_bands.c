/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_bands.c - bands and censuses.
 *
 * DESIGN: ids are dense from 1, so a band is found by index; ids beyond the
 * daemon's own cap (LIMIT_BANDS) are rejected. A band without a definition is
 * called "band N" until its definition arrives.
 */
#include "client/world/state/internal.h"
#include "proto/base/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"

void band_define(struct world_band *b, const Hw__Band *def)
{
        KEEP(b->defined, def);
        if (def)
                b->labelled = *def;
        else
                b->labelled = (Hw__Band){ PROTOBUF_C_MESSAGE_INIT(&hw__band__descriptor), .has_id = 1, .id = b->id };
        if (!b->labelled.label) {
                (void)snprintf(b->label, sizeof(b->label), "band %u", b->id);
                b->labelled.label = b->label;
        }
        b->def = &b->labelled;
}

static struct world_band *band_new(uint32_t id)
{
        struct world_band *b = calloc(1, sizeof(*b));

        if (!b)
                return NULL;
        b->id = id;
        band_define(b, NULL);
        return b;
}

/* The band of an id within the cap, created if it is new; NULL when out of memory. */
struct world_band *world_bands_entry(struct target_state *ts, uint32_t id)
{
        struct world_target *t = &ts->t;

        if (!ARRAY_RESERVE_ZEROED(t->bands, ts->cap_bands, id))
                return NULL;
        if (id > t->n_bands)
                t->n_bands = id;
        if (!t->bands[id - 1])
                t->bands[id - 1] = band_new(id);
        return t->bands[id - 1];
}

bool id_valid(uint32_t id)
{
        return id > 0 && id <= LIMIT_BANDS;
}

int bands_define(struct target_state *ts, const Hw__Bands *bands)
{
        for (size_t i = 0; i < bands->n_bands; i++) {
                const Hw__Band *def = bands->bands[i];
                struct world_band *b;

                if (!def->has_id || !id_valid(def->id))
                        continue;
                b = world_bands_entry(ts, def->id);
                if (!b)
                        return -ENOMEM;
                band_define(b, def);
        }
        return 0;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int apply_rows(struct target_state *ts, const Hw__Census *c)
{
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++) {
                struct world_band *b;

                if (!id_valid(c->band[i]))
                        continue;
                b = world_bands_entry(ts, c->band[i]);
                if (!b)
                        return -ENOMEM;
                b->bytes = add_saturating(b->bytes, c->bytes[i]);
                if (i < c->n_closures)
                        b->closures = add_saturating(b->closures, c->closures[i]);
                b->census = c->number;
        }
        return 0;
}

/* Of what has a name; the first of a band. */
static void apply_contents(const struct world_target *t, const Hw__Census *c)
{
        for (size_t i = 0; i < c->n_contents; i++) {
                const Hw__BandContents *of = c->contents[i];
                struct world_band *b = of->has_band ? world_band_of(t, of->band) : NULL;

                if (b && !b->contents && of->name && of->name[0] && of->bytes <= b->bytes)
                        b->contents = of;
        }
}

/* After the rows: what each band's first and greatest value are now. */
static void settle_band(struct world_band *b, const Hw__Census *c)
{
        if (b->census != c->number)
                return;
        if (!b->seen)
                b->first_bytes = b->def->has_first_bytes ? b->def->first_bytes : b->bytes;
        b->seen = true;
        if (b->bytes > b->max_bytes)
                b->max_bytes = b->bytes;
}

int bands_census(struct target_state *ts, const Hw__Census *c)
{
        struct world_target *t = &ts->t;

        if (!c->has_number || (t->census && c->number <= t->census->number))
                return 0; /* a snapshot repeats the newest one */
        KEEP(t->census, c);
        for (uint32_t i = 0; i < t->n_bands; i++) {
                if (!t->bands[i])
                        continue;
                t->bands[i]->bytes = t->bands[i]->closures = 0;
                t->bands[i]->contents = NULL;
        }
        if (apply_rows(ts, c) < 0)
                return -ENOMEM;
        apply_contents(t, c);
        for (uint32_t i = 0; i < t->n_bands; i++) {
                if (t->bands[i])
                        settle_band(t->bands[i], c);
        }
        return 0;
}

void world_bands_clear(struct target_state *ts)
{
        struct world_target *t = &ts->t;

        for (uint32_t i = 0; i < t->n_bands; i++) {
                if (!t->bands[i])
                        continue;
                FORGET(t->bands[i]->defined);
                FORGET(t->bands[i]->trend);
                free(t->bands[i]);
        }
        free(t->bands);
        t->bands = NULL;
        t->n_bands = ts->cap_bands = 0;
}

static bool is_larger(const struct world_band *a, const struct world_band *b)
{
        return a->bytes != b->bytes ? a->bytes > b->bytes : a->id < b->id;
}

/* Insertion into a short sorted list: `max` is a screenful, while there may be thousands of bands. */
size_t world_top_bands(const struct world_target *t, const struct world_band **bands, size_t max)
{
        size_t n = 0;

        for (uint32_t i = 0; i < t->n_bands && max > 0; i++) {
                const struct world_band *b = t->bands[i];
                size_t at;

                if (!b || !b->seen || (n == max && !is_larger(b, bands[n - 1])))
                        continue;
                at = n < max ? n++ : max - 1;
                for (; at > 0 && is_larger(b, bands[at - 1]); at--)
                        bands[at] = bands[at - 1];
                bands[at] = b;
        }
        return n;
}
