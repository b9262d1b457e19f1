/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker_bands.c - which bands have a ladder of their own.
 *
 * DESIGN: a band gets its ladder when a census first gives it BORN_BYTES:
 * growth below that is never called growth (the verdict asks for a rise of
 * 64 KiB), and most bands of most programs stay below. From then on each census
 * is a sample, of 0 bytes when the band has no row.
 *
 * When all places are taken a band is remembered by what it had then. Once it
 * has twice that, it is growing and worth more than the smallest band that does
 * not: it takes that one's place, and its history begins there. At most one a
 * census, so the work is bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "trend/tracker_private.h"

#define BORN_BYTES (64u * 1024)
#define PROMOTE_FACTOR 2.0f

const struct band_state *tracker_band(const struct tracker *t, uint32_t id)
{
        return id > 0 && id <= t->n_bands ? t->bands[id - 1] : NULL;
}

/* Room for ids up to n in both arrays. */
static bool make_room(struct tracker *t, uint32_t n)
{
        if (n <= t->n_bands)
                return true;
        uint32_t room = n < 64 ? 64 : n + n / 2;
        struct band_state **bands = realloc(t->bands, room * sizeof(*bands));
        if (!bands)
                return false;
        t->bands = bands;
        float *refused = realloc(t->refused_bytes, room * sizeof(*refused));
        if (!refused)
                return false;
        t->refused_bytes = refused;
        memset(bands + t->n_bands, 0, (room - t->n_bands) * sizeof(*bands));
        memset(refused + t->n_bands, 0, (room - t->n_bands) * sizeof(*refused));
        t->n_bands = room;
        return true;
}

static void state_init(struct tracker *t, struct band_state *s)
{
        memset(s, 0, sizeof(*s));
        trend_init(&s->trend, &t->config.trend);
}

/* The smallest band that does not grow and has less than `bytes`; NULL when there is none. */
static struct band_state **victim(struct tracker *t, uint64_t bytes)
{
        const struct bands *bands = model_bands(t->model);
        uint32_t n = bands_count(bands);
        struct band_state **found = NULL;

        for (uint32_t i = 0; i < n && i < t->n_bands; i++) {
                const struct band *band = bands_get(bands, i + 1);
                if (!t->bands[i] || !band || t->bands[i]->trend.verdict.now >= TREND_GROWING || band->bytes >= bytes)
                        continue;
                found = &t->bands[i];
                bytes = band->bytes;
        }
        return found;
}

static struct band_state *refuse(struct tracker *t, uint32_t id, uint64_t bytes)
{
        if (t->refused_bytes[id - 1] <= 0) {
                t->refused_bytes[id - 1] = (float)bytes;
                t->n_refused++;
        }
        return NULL;
}

static struct band_state *promote(struct tracker *t, uint32_t id, uint64_t bytes)
{
        struct band_state **place = victim(t, bytes), *s;

        if (!place)
                return NULL;
        s = *place;
        *place = NULL; /* it stays counted: without a ladder again, and remembered from its next growth on */
        (void)refuse(t, (uint32_t)(place - t->bands) + 1, BORN_BYTES);
        t->refused_bytes[id - 1] = 0;
        t->n_refused--;
        state_init(t, s);
        t->bands[id - 1] = s;
        return s;
}

/* A place for a band that has none and reached BORN_BYTES. */
static struct band_state *give_place(struct tracker *t, uint32_t id, uint64_t bytes, bool *may_promote)
{
        float refused = t->refused_bytes[id - 1];

        if (t->n_full < t->config.full_bands) {
                struct band_state *s = malloc(sizeof(*s));
                if (!s)
                        return refuse(t, id, bytes);
                if (refused > 0) {
                        t->refused_bytes[id - 1] = 0;
                        t->n_refused--;
                }
                state_init(t, s);
                t->n_full++;
                t->bands[id - 1] = s;
                return s;
        }
        if (refused > 0 && *may_promote && (float)bytes >= PROMOTE_FACTOR * refused) {
                *may_promote = false;
                return promote(t, id, bytes);
        }
        return refuse(t, id, bytes);
}

void tracker_bands_census(struct tracker *t, const struct census *census)
{
        const struct bands *bands = model_bands(t->model);
        uint32_t n = bands_count(bands), slice = band_spread_index(census->time_ns);
        bool may_promote = true;

        if (census->unfinished || !make_room(t, n))
                return;
        for (uint32_t id = 1; id <= n; id++) {
                const struct band *band = bands_get(bands, id);
                struct band_state *s = t->bands[id - 1];
                if (!s && band->bytes >= BORN_BYTES)
                        s = give_place(t, id, band->bytes, &may_promote);
                if (!s)
                        continue;
                (void)trend_push(&s->trend, census->time_ns, (double)band->bytes); /* late ones are counted there */
                band_windows_push(&s->windows, census->time_ns, (double)band->bytes);
                band_spread_push(&s->spread, slice, (double)band->bytes);
                s->told.fresh = true;
        }
}

void tracker_bands_close(struct tracker *t, uint64_t time_ns)
{
        for (uint32_t i = 0; i < t->n_bands; i++)
                if (t->bands[i])
                        trend_close(&t->bands[i]->trend, time_ns);
}

void tracker_bands_clear(struct tracker *t)
{
        for (uint32_t i = 0; i < t->n_bands; i++)
                free(t->bands[i]);
        free(t->bands);
        free(t->refused_bytes);
        t->bands = NULL;
        t->refused_bytes = NULL;
        t->n_bands = t->n_full = t->n_refused = 0;
}
