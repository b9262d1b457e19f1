/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/trend/tracker.h"

#include <stdlib.h>

#include "daemon/judge/trend/tracker_private.h"
#include "proto/base/limits.h"

#include "daemon/judge/trend/tracker_image_layouts.inc"

static const char impossible[] = "numbers in its verdicts contradict each other";

/* ---------------------------------------------------------------------- parts */

static bool same_scale(const struct trend_config *a, const struct trend_config *b)
{
        return a->resolution_ns == b->resolution_ns && a->leak_after_ns == b->leak_after_ns &&
               a->wait_minutes == b->wait_minutes;
}

static void check_cells(struct image *im, const struct band_cells *cells)
{
        if (cells->scale > 31 || cells->shift > 31)
                image_refuse(im, impossible);
}

static void image_rings(struct image *im, struct rings *r, const struct rings_shape *shape)
{
        image_expect(im, shape, sizeof(*shape));
        if (im->reads && !rings_are_sound(shape, r))
                image_refuse(im, impossible);
        image_block(im, &r->cells, rings_held(r), rings_held(r));
        if (im->reads && !r->cells)
                *r = (struct rings){ .cells = NULL };
}

static void image_trend(struct image *im, struct tracker *t, struct trend *trend)
{
        image_rings(im, &trend->ladder.rings, &ladder_shape);
        image_rings(im, &trend->life.means, &life_shape);
        image_rings(im, &trend->windows.results, &windows_shape);
        if (im->reads) {
                if (!same_scale(&trend->config, &t->config.trend) || trend->life.count > LIFE_BUCKETS ||
                    trend->life.width == 0 || trend->life.count > rings_room(&life_shape, &trend->life.means, 0) ||
                    trend->verdict.now > TREND_LEAK || trend->windows.known >> WINDOWS_ALL ||
                    trend->windows.rising >> WINDOWS_ALL || trend->windows.rare_span > LADDER_MINUTES ||
                    trend->n_waiting >= LADDER_FAN || !floors_are_known(trend->waiting, trend->n_waiting) ||
                    !rare_is_sound(&trend->rare, trend->ladder.minutes))
                        image_refuse(im, impossible);
        }
}

static void image_band(struct image *im, struct tracker *t, struct band_state *s)
{
        image_trend(im, t, &s->trend);
        image_rings(im, &s->windows.slices, &band_windows_shape);
        image_rings(im, &s->sketch.slices, &band_sketch_shape);
        if (im->reads) {
                check_cells(im, &s->sketch.now);
                check_cells(im, &s->sketch.total);
                for (unsigned r = 0; r < BAND_RINGS; r++)
                        for (unsigned i = 0; i < rings_room(&band_sketch_shape, &s->sketch.slices, r); i++)
                                check_cells(im, rings_at(&band_sketch_shape, &s->sketch.slices, r, i));
        }
}

static void image_series(struct image *im, struct tracker *t, unsigned id)
{
        uint32_t n = t->series[id] ? 1 : 0;

        image_structs(im, &t->series[id], n, n, IMAGE_TYPE(series_state));
        struct series_state *s = t->series[id];
        if (!s)
                return;
        n = s->trend ? 1 : 0;
        image_structs(im, &s->trend, n, n, IMAGE_TYPE(trend));
        series_sketch_image(im, &s->sketch);
        if (s->trend)
                image_trend(im, t, s->trend);
        if (im->reads && s->published.word > TREND_WORD_RISING)
                image_refuse(im, impossible);
        if (im->reads && s->trend && !series_rows[id].judged) { /* the version that wrote it judged it */
                trend_done(s->trend);
                free(s->trend);
                s->trend = NULL;
        } else if (im->reads && !s->trend && series_rows[id].judged) { /* it did not */
                if ((s->trend = malloc(sizeof(*s->trend))))
                        trend_init(s->trend, &t->config.trend);
                else
                        image_refuse(im, "out of memory");
        }
}

/* The arrays by band, then those by place. */
static void image_bands(struct image *im, struct tracker *t)
{
        uint32_t n = t->n_bands, room = t->n_bands;

        image_array(im, &t->places, &n, &room, sizeof(*t->places), 2 * LIMIT_BANDS);
        image_array(im, &t->refused_bytes, &n, &t->n_bands, sizeof(*t->refused_bytes), 2 * LIMIT_BANDS);
        n = t->n_full;
        room = t->full_room;
        image_struct_array(im, &t->now, &n, &room, IMAGE_TYPE(band_now), 2 * LIMIT_BANDS);
        image_array(im, &t->values, &n, &room, sizeof(*t->values), 2 * LIMIT_BANDS);
        image_struct_array(im, &t->recent, &n, &room, IMAGE_TYPE(band_recent), 2 * LIMIT_BANDS);
        n = t->n_full;
        image_array(im, &t->full, &n, &t->full_room, sizeof(*t->full), 2 * LIMIT_BANDS);
        t->n_full = n;
        for (uint32_t i = 0; i < t->n_full; i++) {
                image_structs(im, &t->full[i], 1, 1, IMAGE_TYPE(band_state));
                if (t->full[i])
                        image_band(im, t, t->full[i]);
        }
        for (uint32_t i = 0; im->reads && i < t->n_bands; i++)
                if (t->places[i] > t->n_full || (t->places[i] && i >= bands_count(model_bands(t->model))))
                        image_refuse(im, impossible);
}

void tracker_image(struct image *im, struct tracker *t)
{
        const struct tracker fresh = *t;

        image_struct(im, t, IMAGE_TYPE(tracker));
        if (im->reads) {
                if (!same_scale(&t->config.trend, &fresh.config.trend) || t->config.tick_ns != fresh.config.tick_ns)
                        image_refuse(im, "growth was judged by another --resolution or --leak-after");
                t->config = fresh.config;
                t->model = fresh.model;
                t->tick = fresh.tick;
                t->tick_ctx = fresh.tick_ctx;
                t->held = fresh.held;
                if (!tracker_early_is_sound(t) || t->waits || t->held_from || t->n_held)
                        image_refuse(im, impossible);
        }
        struct image_entries e = image_entries(im, IMAGE_NAMES(series_id), SERIES_COUNT);
        while (image_next(im, &e))
                if (e.lacks)
                        t->series[e.i] = NULL;
                else
                        image_series(im, t, e.i);
        image_bands(im, t);
        uint32_t n = t->n_groups, room = n;

        image_struct_array(im, &t->groups, &n, &room, IMAGE_TYPE(waiting_group), LIMIT_BANDS);
        t->n_groups = n;
        for (uint32_t i = 0; i < n; i++) {
                image_trend(im, t, &t->groups[i].number);
                if (im->reads && (t->groups[i].band == 0 || t->groups[i].band > bands_count(model_bands(t->model))))
                        image_refuse(im, impossible);
        }
        const uint32_t kept = t->kept ? 1 : 0;
        image_structs(im, &t->kept, kept, kept, IMAGE_TYPE(kept_standing));
        if (im->reads && t->kept && !tracker_standing_is_sound(t))
                image_refuse(im, impossible);
        t->scan |= im->reads; /* all of it is new to current subscribers */
}
