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
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/wire/message.h"

/* Defines a band by a message with a label: this one, or a copy, or for NULL a new one. False: out of memory. */
static bool define_band(struct world_band *b, const Hw__Band *def)
{
        char label[16];
        Hw__Band *own;

        if (def && def->label) {
                KEEP(b->def, def);
                return true;
        }
        own = (Hw__Band *)(def ? message_copy(&def->base) : message_new(&hw__band__descriptor));
        (void)snprintf(label, sizeof(label), "band %u", b->id);
        if (!own || message_set_text(&own->label, label) < 0) {
                hw_message_unref(own ? &own->base : NULL);
                return false;
        }
        own->has_id = true;
        own->id = b->id;
        FORGET(b->def);
        b->def = own;
        return true;
}

/* The band of an id within the cap, created if it is new, and then or always defined by `def`; NULL: out of memory. */
static struct world_band *entry_of(struct target_state *ts, uint32_t id, const Hw__Band *def)
{
        struct world_target *t = &ts->t;
        struct world_band *b;

        if (!ARRAY_RESERVE_ZEROED(t->bands, ts->cap_bands, id))
                return NULL;
        if (id > t->n_bands)
                t->n_bands = id;
        b = t->bands[id - 1];
        if (b)
                return !def || define_band(b, def) ? b : NULL;
        b = calloc(1, sizeof(*b));
        if (!b)
                return NULL;
        b->id = id;
        if (!define_band(b, def)) {
                free(b);
                return NULL;
        }
        return t->bands[id - 1] = b;
}

struct world_band *world_bands_entry(struct target_state *ts, uint32_t id)
{
        return entry_of(ts, id, NULL);
}

bool id_valid(uint32_t id)
{
        return id > 0 && id <= LIMIT_BANDS;
}

int bands_define(struct target_state *ts, const Hw__Bands *bands)
{
        for (size_t i = 0; i < bands->n_bands; i++) {
                const Hw__Band *def = bands->bands[i];

                if (def->has_id && id_valid(def->id) && !entry_of(ts, def->id, def))
                        return -ENOMEM;
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
                struct world_band *b = world_band_of(&ts->t, c->band[i]);

                if (!b && !id_valid(c->band[i]))
                        continue;
                b = b ? b : world_bands_entry(ts, c->band[i]);
                if (!b)
                        return -ENOMEM;
                b->bytes = add_saturating(b->bytes, c->bytes[i]);
                if (i < c->n_closures)
                        b->closures = add_saturating(b->closures, c->closures[i]);
                b->census = c->number;
        }
        return 0;
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
        /* Of what has a name; the first of a band. */
        for (size_t i = 0; i < c->n_contents; i++) {
                const Hw__BandContents *of = c->contents[i];
                struct world_band *b = of->has_band ? world_band_of(t, of->band) : NULL;

                if (b && !b->contents && of->name && of->name[0] &&
                    of->bytes <= (of->has_of_bytes ? of->of_bytes : b->bytes))
                        b->contents = of;
        }
        /* After the rows: what each band's first and greatest value are now. */
        for (uint32_t i = 0; i < t->n_bands; i++) {
                struct world_band *b = t->bands[i];

                if (!b || b->census != c->number)
                        continue;
                if (!b->seen)
                        b->first_bytes = b->def->has_first_bytes ? b->def->first_bytes : b->bytes;
                b->seen = true;
                if (b->bytes > b->max_bytes)
                        b->max_bytes = b->bytes;
        }
        return 0;
}

void world_bands_clear(struct target_state *ts)
{
        struct world_target *t = &ts->t;

        for (uint32_t i = 0; i < t->n_bands; i++) {
                if (!t->bands[i])
                        continue;
                FORGET(t->bands[i]->def);
                FORGET(t->bands[i]->trend);
                free(t->bands[i]);
        }
        free(t->bands);
        t->bands = NULL;
        t->n_bands = ts->cap_bands = 0;
}

double world_band_bytes(const struct world_target *t, const struct world_band *b)
{
        return t->census && t->census->spread > 0 && b->census != t->census->number ? NAN : (double)b->bytes;
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
