/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compose.c - what goes into a report, and in what detail.
 *
 * DESIGN: numbers make a report large, so they are rationed. Series get a fixed
 * number of points. The bands that are drawn first (the largest) share one
 * ration; then the grid is made coarser in place and the others share a second
 * one, largest first. A band for which nothing is left has no points, only its
 * statistics, which are always exact. Of a daemon's targets there is what it
 * remembers, which is thinned already: a few dozen points a band.
 */
#include "client/out/report/compose.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/history/history.h"
#include "proto/base/document.h"
#include "proto/base/clock.h"
#include "proto/base/number_text.h"

#define SERIES_POINTS  2000u   /* of one series, all logs together */
#define BANDS_NUMBERS  240000u /* of the bands drawn first, all logs together: about 2 MB */
#define OTHERS_NUMBERS 240000u /* of all other bands */
#define FINE_MOST      1024u   /* columns of the first grid */
#define COARSE_MOST    64u     /* and of the second */
#define COLUMNS        4u      /* numbers a point: last, mean, min, max */

struct ranked {
        uint32_t id;
        double size;
};

/* What was written of one log, for the sentence about thinning. */
struct tally {
        uint64_t samples, points, bands, bands_left_out;
        bool thinned;
};

/* --------------------------------------------------------------------- order */

static int by_size(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        if (x->size != y->size)
                return x->size < y->size ? 1 : -1;
        return x->id < y->id ? -1 : x->id > y->id;
}

/* Bands by integrated size, largest first, as eventlog2html chooses them. NULL: out of memory. */
static struct ranked *rank_bands(const struct grid *g, size_t *ret_n)
{
        struct ranked *list = calloc((size_t)g->n_bands + 1, sizeof(*list));

        *ret_n = 0;
        for (uint32_t id = 1; list && id <= g->n_bands; id++) {
                const struct grid_band *b = grid_band(g, id);

                if (b)
                        list[(*ret_n)++] = (struct ranked){ .id = id, .size = stats_sum(&b->stats) };
        }
        if (list)
                qsort(list, *ret_n, sizeof(*list), by_size);
        return list;
}

/* --------------------------------------------------------------------- items */

struct writer {
        struct json_out *to;
        const struct report *report;
        size_t logs;
        size_t grids; /* written so far */
        struct document grid_list, end_list;
        struct json_out grids_to, ends_to;
        struct tally *tallies; /* by target */
};

/* Without a label: it is in the band's definition. */
static void open_item(struct writer *w, const struct world_target *t, Hw__Series series, uint32_t band)
{
        struct past_owner item = {
                .daemon = t->daemon, .target = t->name, .run = t->run, .series = series, .band = band
        };

        json_line(w->to);
        past_json_open(w->to, &item);
}

static void put_series(struct writer *w, const struct world_target *t, struct history *h, struct tally *tally)
{
        size_t most = SERIES_POINTS / w->logs > 256 ? SERIES_POINTS / w->logs : 256;

        for (int i = 1; i < SERIES_COUNT; i++) {
                struct past *p = &h->series[i];

                if (!p->n)
                        continue;
                past_limit(p, most);
                tally->samples += h->samples[i];
                tally->points += p->n;
                tally->thinned |= h->samples[i] > p->n;
                open_item(w, t, (Hw__Series)i, 0);
                past_json_columns(w->to, p);
                json_close(w->to, '}');
        }
}

/* The times of the grid as it is now; its number. */
static size_t put_grid(struct writer *w, const struct grid *g)
{
        if (!w->grid_list.to || !w->end_list.to)
                return 0;
        json_line(&w->grids_to);
        past_json_grid_times(&w->grids_to, g, false);
        json_line(&w->ends_to);
        past_json_grid_times(&w->ends_to, g, true);
        return w->grids++;
}

static void put_total(struct writer *w, const struct world_target *t, const struct grid *g, size_t grid)
{
        open_item(w, t, HW__SERIES__SERIES_NONE, 0);
        past_json_grid_columns(w->to, g, &g->total, grid);
        json_close(w->to, '}');
}

/* A band with points as long as the ration lasts, always with its statistics. */
static void put_band(struct writer *w, const struct world_target *t, const struct grid *g, uint32_t id, size_t grid,
                     size_t *ration, struct tally *tally)
{
        const struct grid_band *b = grid_band(g, id);
        size_t cost = b->n * (g->thinned ? COLUMNS : 1);

        open_item(w, t, HW__SERIES__SERIES_NONE, id);
        tally->samples += b->stats.rows.cell.n;
        if (cost <= *ration) {
                *ration -= cost;
                tally->points += b->n;
                past_json_grid_columns(w->to, g, b, grid);
        } else {
                *ration = 0;
                tally->bands_left_out++;
                json_member_bool(w->to, "thinned", true);
        }
        past_json_stats(w->to, g, b);
        json_close(w->to, '}');
}

static size_t clamp_size(size_t value, size_t least, size_t most)
{
        return value < least ? least : value > most ? most : value;
}

static void put_bands(struct writer *w, const struct world_target *t, struct grid *g, struct tally *tally)
{
        size_t n = 0, first, columns, ration = BANDS_NUMBERS / w->logs, grid = 0;
        struct ranked *order = rank_bands(g, &n);

        first = !w->report->options->bands || w->report->options->bands > n ? n : w->report->options->bands;
        tally->bands = n;
        if (first)
                grid_limit(g, clamp_size(ration / (COLUMNS * first), 16, FINE_MOST));
        if (n) {
                grid = put_grid(w, g);
                put_total(w, t, g, grid);
        }
        for (size_t i = 0; order && i < first; i++)
                put_band(w, t, g, order[i].id, grid, &ration, tally);
        ration = OTHERS_NUMBERS / w->logs;
        columns = g->columns.n;
        if (first < n)
                grid_limit(g, clamp_size(ration / (COLUMNS * (n - first)), 16, COARSE_MOST));
        if (first < n && g->columns.n != columns) {
                grid = put_grid(w, g);
                put_total(w, t, g, grid);
        }
        for (size_t i = first; order && i < n; i++)
                put_band(w, t, g, order[i].id, grid, &ration, tally);
        tally->thinned |= g->thinned || tally->bands_left_out;
        free(order);
}

/* A band, or the total (0), at the times of the total that the daemon remembers. */
static void put_recalled_band(struct writer *w, const struct world_target *t, const struct history *h, uint32_t band,
                              struct tally *tally)
{
        struct past p = { 0 };
        int r = history_band(h, band, NULL, &p);

        open_item(w, t, HW__SERIES__SERIES_NONE, band);
        if (r < 0) {
                json_member_text(w->to, "error",
                                 r == -EAGAIN ? "the history changed while it was read" : "out of memory");
        } else {
                tally->points += p.n;
                past_json_columns(w->to, &p);
        }
        json_close(w->to, '}');
        past_done(&p);
}

static void put_recalled_bands(struct writer *w, const struct world_target *t, const struct history *h,
                               struct tally *tally)
{
        if (t->n_bands)
                put_recalled_band(w, t, h, 0, tally);
        for (uint32_t i = 0; i < t->n_bands; i++)
                if (t->bands[i])
                        put_recalled_band(w, t, h, t->bands[i]->id, tally);
}

static void put_history(struct writer *w)
{
        const struct world *world = w->report->state->world;

        document_open(&w->grid_list);
        document_open(&w->end_list);
        w->grids_to = (struct json_out){ .to = w->grid_list.to };
        w->ends_to = (struct json_out){ .to = w->end_list.to };
        json_open(w->to, '{');
        json_member_open(w->to, "items", '[');
        for (size_t i = 0; i < world_targets(world); i++) {
                const struct world_target *t = world_target(world, i);
                struct history *h = world_remove_history(w->report->world, i); /* thinned further below */

                if (!h)
                        continue;
                put_series(w, t, h, &w->tallies[i]);
                if (w->report->watched)
                        put_recalled_bands(w, t, h, &w->tallies[i]);
                else
                        put_bands(w, t, &h->bands, &w->tallies[i]);
                history_destroy(&h);
        }
        json_close(w->to, ']');
        json_line(w->to);
        json_member_open(w->to, "grids", '[');
        if (document_close(&w->grid_list))
                json_raw(w->to, w->grid_list.text);
        document_done(&w->grid_list);
        json_close(w->to, ']');
        json_line(w->to);
        json_member_open(w->to, "gridEnds", '[');
        if (document_close(&w->end_list))
                json_raw(w->to, w->end_list.text);
        document_done(&w->end_list);
        json_close(w->to, ']');
        json_close(w->to, '}');
}

/* ---------------------------------------------------------------------- meta */

static void put_list(struct json_out *j, const char *name, const struct text_list *list)
{
        json_member_open(j, name, '[');
        for (size_t i = 0; i < list->n; i++)
                json_text(j, list->items[i]);
        json_close(j, ']');
}

/* The file's name without directories, which are private. */
static const char *file_name(const struct world_target *t)
{
        const char *uri = t->target && t->target->uri ? t->target->uri : t->name;
        const char *slash = strrchr(uri, '/');

        return slash ? slash + 1 : strncmp(uri, "file:", 5) ? uri : uri + 5;
}

static void put_log(const struct writer *w, const struct world_target *t, const struct tally *tally)
{
        struct json_out *j = w->to;
        char bands[80] = "", sentence[256] = "";

        json_line(j);
        json_open(j, '{');
        json_member_u64(j, "daemon", t->daemon);
        json_member_text(j, "target", t->name);
        json_member_text(j, "file", file_name(t));
        if (t->health && t->health->has_bytes)
                json_member_u64_string(j, "sizeBytes", t->health->bytes);
        json_member_bool(j, "thinned", tally->thinned || w->report->watched);
        if (w->report->watched)
                (void)snprintf(sentence, sizeof(sentence),
                               "what its daemon remembered when the report was made, as %s points: coarser the older "
                               "they are",
                               COUNT_TEXT(tally->points));
        else if (tally->thinned) {
                if (tally->bands_left_out)
                        (void)snprintf(bands, sizeof(bands), "; %" PRIu64 " of %" PRIu64 " bands have statistics only",
                                       tally->bands_left_out, tally->bands);
                (void)snprintf(sentence, sizeof(sentence),
                               "%s samples are drawn as %s points; minima and maxima are kept%s",
                               COUNT_TEXT(tally->samples), COUNT_TEXT(tally->points), bands);
        }
        json_known_text(j, "thinning", sentence[0] ? sentence : NULL);
        json_close(j, '}');
}

static void put_meta(const struct writer *w)
{
        const struct world *world = w->report->state->world;
        struct json_out *j = w->to;

        json_open(j, '{');
        json_member_text(j, "version", HEAPWATCH_VERSION);
        json_member_u64_string(j, "madeWallNs", clock_wall_ns());
        json_line(j);
        json_key(j, "options");
        const struct report_options *o = w->report->options;
        json_open(j, '{');
        json_member_u64(j, "bands", o->bands);
        json_member_text(j, "sort", o->sort);
        json_member_bool(j, "reverse", o->reverse);
        put_list(j, "include", &o->include);
        put_list(j, "exclude", &o->exclude);
        json_member_bool(j, "traces", !o->no_notes);
        json_member_bool(j, "traceEvents", o->trace_events);
        json_key(j, "yAxis");
        if (o->y_axis_bytes)
                json_u64(j, o->y_axis_bytes);
        else
                json_none(j);
        json_close(j, '}');
        json_line(j);
        json_member_open(j, "logs", '[');
        for (size_t i = 0; i < world_targets(world); i++)
                put_log(w, world_target(world, i), &w->tallies[i]);
        json_close(j, ']');
        json_close(j, '}');
}

/* Of two logs, what `heapwatch diff` says about them. */
static void put_inspected(struct json_out *j, const char *key, const struct report_inspected *inspected)
{
        if (!inspected)
                return;
        json_line(j);
        json_key(j, key);
        report_inspected_put(j, inspected);
}

static void put_diff(struct json_out *j, const struct report *r)
{
        struct document d;

        if (!r->pair)
                return;
        document_open(&d);
        bool good = d.to && pair_put(r->pair, &(struct json_out){ .to = d.to });
        if (document_close(&d) && good) {
                json_line(j);
                json_key(j, "diff");
                json_raw_bytes(j, d.text, d.size);
        }
        document_done(&d);
}

bool compose_report(struct json_out *j, const struct report *r)
{
        static const struct detail all = { .all = true };
        size_t logs = world_targets(r->state->world);
        struct writer w = { .to = j, .report = r, .logs = logs ? logs : 1 };

        w.tallies = calloc(w.logs, sizeof(*w.tallies));
        if (!w.tallies)
                return false;
        json_open(j, '{');
        json_key(j, "state");
        state_print(j, r->state, &all);
        json_line(j);
        json_key(j, "history");
        put_history(&w);
        json_line(j);
        json_key(j, "meta");
        put_meta(&w); /* after the history: it says what was thinned */
        put_diff(j, r);
        if (r->profiles) {
                json_line(j);
                json_key(j, "profiles");
                report_profiles_put(j, r->profiles);
        }
        put_inspected(j, "heaps", r->heaps);
        put_inspected(j, "threads", r->threads);
        json_close(j, '}');
        json_newline(j);
        free(w.tallies);
        return true;
}
