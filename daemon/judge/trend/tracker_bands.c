/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker_bands.c - which bands have a ladder of their own.
 *
 * DESIGN: a band gets its ladder when a census first gives it BORN_BYTES:
 * growth below that is never called growth (the verdict needs a rise of 64
 * KiB), and most bands of most programs stay below. From then on each census is
 * a sample, of 0 bytes when the band has no row.
 *
 * At most LADDERS_A_CENSUS are made in one census, the others with the next
 * ones: a first census of 10,000 bands would otherwise make all of them at once.
 *
 * When all places are taken, a band's bytes at that time are remembered. Once
 * it has twice that, it is growing and worth more than the smallest band that
 * does not: it takes that one's place, and its history begins there. At most
 * one per census, so the work is bounded.
 *
 * Samples wait in band_now.c until the interval is over: when a slice ends,
 * when a band gets a place, when a census comes late. Readers of windows get the
 * waiting samples too. A ladder gets each minute when it is over.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/judge/trend/tracker_private.h"
#include "proto/base/edge.h"
#include "proto/base/time.h"

#define BORN_BYTES       (64u * 1024)
#define PROMOTE_FACTOR   2.0f
#define LADDERS_A_CENSUS 64u

struct band_state *tracker_band_state(const struct tracker *t, uint32_t id)
{
        uint32_t place = id > 0 && id <= t->n_bands ? t->places[id - 1] : 0;

        return place ? t->full[place - 1] : NULL;
}

const struct band_state *tracker_band(const struct tracker *t, uint32_t id)
{
        return tracker_band_state(t, id);
}

static struct band_samples interval_samples(const struct tracker *t, uint32_t place)
{
        struct band_samples samples = band_now_samples(&t->interval, &t->now[place]);

        if (t->interval.n_before > 0)
                samples.cell.cell.min = fmin(samples.cell.cell.min, t->full[place]->min_before);
        return samples;
}

const struct band_samples *tracker_band_waiting(const struct tracker *t, uint32_t id, struct band_samples *room)
{
        if (t->interval.n == 0)
                return NULL;
        const uint32_t place = t->places[id - 1] - 1;
        *room = interval_samples(t, place);
        return room;
}

static void band_state_done(struct band_state *s)
{
        trend_done(&s->trend);
        band_windows_done(&s->windows);
        band_sketch_done(&s->sketch);
}

static size_t band_state_held(const struct band_state *s)
{
        return trend_held(&s->trend) + rings_held(&s->windows.slices) + rings_held(&s->sketch.slices);
}

/* -------------------------------------------------------------- what waits */

/* Gives the ladders the last minute of the interval. */
static void end_minute(struct tracker *t)
{
        struct band_interval *in = &t->interval;

        for (uint32_t i = 0; in->n > in->n_before && i < t->n_full; i++) {
                struct band_state *s = t->full[i];
                struct band_now *now = &t->now[i];
                const double sum = band_now_sum(in, now);

                (void)trend_push_many(&s->trend, in->newest_ns, in->n - in->n_before, now->min,
                                      in->n_before ? sum - s->sum_before : sum); /* late ones are counted there */
                s->min_before = in->n_before ? fmin(s->min_before, now->min) : now->min;
                s->sum_before = sum;
                now->min = INFINITY;
        }
        in->n_before = in->n;
}

static void end_interval(struct tracker *t)
{
        end_minute(t);
        for (uint32_t i = 0; t->interval.n > 0 && i < t->n_full; i++) {
                const struct band_samples samples = interval_samples(t, i);

                band_windows_add(&t->full[i]->windows, &samples);
                t->now[i].area = 0;
        }
        t->interval.n = t->interval.n_before = 0;
}

void tracker_bands_close(struct tracker *t, uint64_t time_ns)
{
        uint64_t resolution = t->config.trend.resolution_ns;

        if (t->interval.end_ns <= time_ns)
                end_interval(t);
        else if (t->interval.newest_ns / resolution < time_ns / resolution)
                end_minute(t);
        tracker_threads_close(t, time_ns);
        t->bands_held = 0;
        for (uint32_t i = 0; i < t->n_full; i++) {
                trend_close(&t->full[i]->trend, time_ns);
                t->bands_held += band_state_held(t->full[i]);
        }
}

/* A census older than the newest: its samples are an interval of their own. */
static void add_late_interval(struct tracker *t, uint64_t time_ns)
{
        end_interval(t);
        for (uint32_t i = 0; i < t->n_full; i++) {
                struct band_interval interval;
                struct band_now now;

                band_interval_begin(&interval, time_ns);
                band_now_init(&now);
                band_now_add(&interval, &now, &t->values[i], 1, time_ns, 0);
                const struct band_samples samples = band_now_samples(&interval, &now);
                band_windows_add(&t->full[i]->windows, &samples);
                (void)trend_push(&t->full[i]->trend, time_ns, t->values[i]);
        }
}

/* A sample of time_ns comes next: ends the interval or the minute that it is no part of, and closes its minutes. */
static void begin_sample(struct tracker *t, uint64_t time_ns)
{
        const uint64_t resolution = t->config.trend.resolution_ns;

        if (!band_interval_accepts(&t->interval, time_ns)) {
                end_interval(t);
                band_interval_begin(&t->interval, time_ns);
        } else if (t->interval.newest_ns / resolution != time_ns / resolution) {
                end_minute(t);
        } else {
                return;
        }
        for (uint32_t i = 0; i < t->n_full; i++) {
                struct trend *trend = &t->full[i]->trend;
                trend_close(trend, trend_watermark(trend, time_ns));
        }
}

/* Remembers what all bands have when a second ends between the newest census and the current one. */
static void remember_refused(struct tracker *t, uint64_t time_ns)
{
        uint32_t k = t->n_recent % BAND_RECENT;

        if (t->censuses == 0 || time_ns / NS_PER_S <= t->bands_newest_ns / NS_PER_S)
                return;
        for (uint32_t i = 0; i < t->n_full; i++)
                t->recent[i].bytes[k] = (float)t->now[i].last;
        t->recent_times[k] = (struct recent_time){ t->bands_newest_ns, time_ns };
        t->n_recent++;
}

bool tracker_band_newest(const struct tracker *t, uint32_t id, uint64_t before_ns, uint64_t *ret_time_ns,
                         double *ret_bytes)
{
        uint32_t place = tracker_band(t, id) ? t->places[id - 1] - 1 : UINT32_MAX;

        if (place == UINT32_MAX || t->censuses == 0)
                return false;
        *ret_time_ns = t->bands_newest_ns;
        *ret_bytes = t->now[place].last;
        for (uint32_t k = 0; k < BAND_RECENT && *ret_time_ns >= before_ns; k++) {
                const struct recent_time *r = &t->recent_times[k];
                if (r->time_ns < before_ns && before_ns <= r->until_ns) {
                        *ret_time_ns = r->time_ns;
                        *ret_bytes = (double)t->recent[place].bytes[k];
                }
        }
        return *ret_time_ns < before_ns && !isnan(*ret_bytes);
}

uint64_t tracker_band_still(const struct tracker *t, uint32_t id, struct time_range range)
{
        const struct band_state *s = tracker_band(t, id);
        struct band_samples room;
        struct edge edge = EDGE_NONE;

        if (!s)
                return UINT64_MAX;
        edge.after_ns = band_windows_still(&s->windows, tracker_band_waiting(t, id, &room), range);
        if (t->interval.n > 0) /* waiting samples are merged at the end of some minute */
                edge_meet(&edge, t->watermark_ns + tracker_verdicts_still(t), t->watermark_ns);
        edge_meet_range(&edge, s->trend.first_ns, range);
        edge_meet_range(&edge, t->bands_newest_ns, range);
        for (unsigned k = 0; k < BAND_RECENT; k++) {
                edge_meet_range(&edge, t->recent_times[k].time_ns, range);
                edge_meet_range(&edge, t->recent_times[k].until_ns, range);
        }
        return edge.after_ns;
}

/* Gives each ladder its sample in t->values. */
static void add_samples(struct tracker *t, uint64_t time_ns)
{
        uint32_t slice = band_sketch_index(time_ns);

        for (uint32_t i = 0; i < t->n_full; i++)
                band_sketch_push(&t->full[i]->sketch, slice, t->values[i]);
        if (time_ns < t->bands_newest_ns) {
                add_late_interval(t, time_ns);
                return;
        }
        remember_refused(t, time_ns);
        begin_sample(t, time_ns);
        band_now_add(&t->interval, t->now, t->values, t->n_full, time_ns, (double)(time_ns - t->bands_newest_ns) / 1e9);
        t->bands_newest_ns = time_ns;
}

/* ------------------------------------------------------------------ places */

/* Room for ids up to n. */
static bool make_room(struct tracker *t, uint32_t n)
{
        if (n <= t->n_bands)
                return true;
        uint32_t room = n < 64 ? 64 : n + n / 2;
        uint32_t *places = realloc(t->places, room * sizeof(*places));
        if (!places)
                return false;
        t->places = places;
        float *refused = realloc(t->refused_bytes, room * sizeof(*refused));
        if (!refused)
                return false;
        t->refused_bytes = refused;
        memset(places + t->n_bands, 0, (room - t->n_bands) * sizeof(*places));
        memset(refused + t->n_bands, 0, (room - t->n_bands) * sizeof(*refused));
        t->n_bands = room;
        return true;
}

/* Room for one more ladder. */
static bool make_place(struct tracker *t)
{
        if (t->n_full < t->full_room)
                return true;
        uint32_t room = t->full_room < 16 ? 16 : t->full_room * 2;
        struct band_state **full = realloc(t->full, room * sizeof(*full));
        if (!full)
                return false;
        t->full = full;
        struct band_now *now = realloc(t->now, room * sizeof(*now));
        if (!now)
                return false;
        t->now = now;
        double *values = realloc(t->values, room * sizeof(*values));
        if (!values)
                return false;
        t->values = values;
        struct band_recent *recent = realloc(t->recent, room * sizeof(*recent));
        if (!recent)
                return false;
        t->recent = recent;
        t->full_room = room;
        return true;
}

/* Restarts the ladder in a place, for this band. */
static void begin_ladder(struct tracker *t, uint32_t id, uint32_t place, uint64_t time_ns)
{
        struct band_state *s = t->full[place - 1];

        *s = (struct band_state){ .published_censuses = 0 };
        trend_init(&s->trend, &t->config.trend);
        trend_begin(&s->trend, time_ns);
        band_now_init(&t->now[place - 1]);
        for (unsigned k = 0; k < BAND_RECENT; k++)
                t->recent[place - 1].bytes[k] = (float)NAN;
        t->places[id - 1] = place;
        if (t->refused_bytes[id - 1] > 0) {
                t->refused_bytes[id - 1] = 0;
                t->n_refused--;
        }
}

/* The smallest band that does not grow and has less than `bytes`: its id; 0 when there is none. */
static uint32_t eviction_candidate(const struct tracker *t, uint64_t bytes)
{
        const struct bands *bands = model_bands(t->model);
        uint32_t n = bands_count(bands), found = 0;

        for (uint32_t id = 1; id <= n && id <= t->n_bands; id++) {
                const struct band *band = bands_get(bands, id);
                const struct band_state *s = tracker_band(t, id);
                if (!s || !band || s->trend.verdict.now >= TREND_GROWING || band->bytes >= bytes)
                        continue;
                found = id;
                bytes = band->bytes;
        }
        return found;
}

static void refuse_band(struct tracker *t, uint32_t id, uint64_t bytes)
{
        if (t->refused_bytes[id - 1] <= 0) {
                t->refused_bytes[id - 1] = (float)bytes;
                t->n_refused++;
        }
}

static void promote_band(struct tracker *t, uint32_t id, uint64_t bytes, uint64_t time_ns)
{
        uint32_t other = eviction_candidate(t, bytes);

        if (!other)
                return;
        uint32_t place = t->places[other - 1];
        end_interval(t);
        t->places[other - 1] = 0; /* it is counted as refused and may come back once it grows */
        refuse_band(t, other, BORN_BYTES);
        band_state_done(t->full[place - 1]);
        begin_ladder(t, id, place, time_ns);
}

/* What may still be done in this census. */
struct census_places {
        uint32_t ladders, promotions;
};

/* Gives a place to a band that has reached BORN_BYTES, if possible. */
static void give_place(struct tracker *t, uint32_t id, uint64_t bytes, uint64_t time_ns, struct census_places *left)
{
        float refused = t->refused_bytes[id - 1];
        struct band_state *s = NULL;

        if (t->n_full < t->config.full_bands) {
                if (left->ladders == 0)
                        return;
                left->ladders--;
                s = make_place(t) ? malloc(sizeof(*s)) : NULL;
                if (!s) {
                        refuse_band(t, id, bytes);
                        return;
                }
                end_interval(t);
                t->full[t->n_full++] = s;
                begin_ladder(t, id, t->n_full, time_ns);
        } else if (refused > 0 && left->promotions && (float)bytes >= PROMOTE_FACTOR * refused) {
                left->promotions--;
                promote_band(t, id, bytes, time_ns);
        } else {
                refuse_band(t, id, bytes);
        }
}

/* Sets t->values from this census. Returns whether a band without a ladder has enough bytes for one. */
static bool find_values(struct tracker *t, const struct census *census)
{
        bool wanted = false;

        for (uint32_t i = 0; i < t->n_full; i++)
                t->values[i] = 0;
        for (uint32_t i = 0; i < census->n_rows; i++) {
                const struct census_row *row = &census->rows[i];
                uint32_t place = t->places[row->band - 1];
                if (place)
                        t->values[place - 1] = (double)row->bytes;
                else
                        wanted = wanted || row->bytes >= BORN_BYTES;
        }
        return wanted;
}

void tracker_bands_census(struct tracker *t, const struct census *census)
{
        if (census->unfinished || !make_room(t, bands_count(model_bands(t->model))))
                return;
        if (find_values(t, census)) {
                const struct bands *bands = model_bands(t->model);
                uint32_t n = bands_count(bands);
                struct census_places left = { .ladders = LADDERS_A_CENSUS, .promotions = 1 };
                for (uint32_t id = 1; id <= n; id++) {
                        uint64_t bytes = bands_get(bands, id)->bytes;
                        if (!t->places[id - 1] && bytes >= BORN_BYTES)
                                give_place(t, id, bytes, census->time_ns, &left);
                }
                (void)find_values(t, census);
        }
        add_samples(t, census->time_ns);
        tracker_threads_census(t, census);
        t->censuses++;
}

void tracker_bands_clear(struct tracker *t)
{
        tracker_threads_clear(t);
        for (uint32_t i = 0; i < t->n_full; i++) {
                band_state_done(t->full[i]);
                free(t->full[i]);
        }
        free(t->full);
        free(t->now);
        free(t->values);
        free(t->recent);
        free(t->places);
        free(t->refused_bytes);
        t->full = NULL;
        t->now = NULL;
        t->values = NULL;
        t->recent = NULL;
        t->places = NULL;
        t->refused_bytes = NULL;
        t->n_bands = t->n_full = t->full_room = t->n_refused = 0;
        t->interval = (struct band_interval){ 0 };
        t->bands_newest_ns = t->censuses = t->n_recent = 0;
        t->bands_held = 0;
        memset(t->recent_times, 0, sizeof(t->recent_times));
}
