/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plot_choose.c - DESIGN: as in hp2ps, bands are ranked by their sum over all censuses; those beyond the wanted number
 * or below the threshold become one band, "(other)", on top. The largest is at the bottom, so that it has a flat base.
 * If there are more censuses than columns, each column shows the one of several with the most bytes: peaks stay.
 *
 * An order file has the scales and the labels of another plot, lowest first, as hp2ps' .aux:
 *     X_RANGE 12.5 / Y_RANGE 1048576 / ORDER label
 */
#include "client/out/report/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/convert/format.h"
#include "proto/base/ckd.h"
#include "proto/base/time.h"

#define OTHER    "(other)"
#define HEADROOM 1.03 /* above the highest point */

/* --------------------------------------------------------------- which bands */

struct candidate {
        const struct spool_band *band;
        const char *label;
        double weight;
        size_t place; /* in the order file; SIZE_MAX: not there */
};

static int by_weight(const void *a, const void *b)
{
        const struct candidate *x = a, *y = b;

        if (x->place != y->place)
                return x->place < y->place ? -1 : 1;
        if (x->weight != y->weight)
                return x->weight < y->weight ? 1 : -1;
        return x->band->id < y->band->id ? -1 : 1;
}

static int by_name(const void *a, const void *b)
{
        const struct candidate *x = a, *y = b;
        int order = strcmp(x->label, y->label);

        return order ? order : x->band->id < y->band->id ? -1 : 1;
}

/* ---------------------------------------------------------------- order file */

struct order {
        char *labels[PLOT_BANDS];
        size_t n;
        double x_s;
        uint64_t y_bytes;
};

static int order_read(struct order *o, const char *path)
{
        char *line = NULL;
        size_t room = 0;
        FILE *f = fopen(path, "re");

        if (!f)
                return -errno;
        while (getline(&line, &room, f) > 0) {
                line[strcspn(line, "\n")] = '\0';
                if (!strncmp(line, "X_RANGE ", 8))
                        o->x_s = strtod(line + 8, NULL);
                else if (!strncmp(line, "Y_RANGE ", 8))
                        o->y_bytes = strtoull(line + 8, NULL, 10);
                else if (!strncmp(line, "ORDER ", 6) && o->n < PLOT_BANDS && (o->labels[o->n] = strdup(line + 6)))
                        o->n++;
        }
        int r = ferror(f) ? -EIO : 0;
        free(line);
        (void)fclose(f);
        return r;
}

int plot_save_order(const struct plot_chart *c, const char *path)
{
        FILE *f = fopen(path, "we");

        if (!f)
                return -errno;
        (void)fprintf(f, "X_RANGE %.9f\nY_RANGE %" PRIu64 "\n", (double)c->x_ns / (double)NS_PER_S, c->y_bytes);
        for (size_t i = 0; i < c->n_bands; i++)
                if (c->bands[i].id)
                        (void)fprintf(f, "ORDER %s\n", c->bands[i].label);
        bool bad = ferror(f);
        return fclose(f) || bad ? -EIO : 0;
}

/* --------------------------------------------------------------------- choose */

/* Fills chart->bands with ids and labels. `index`: of each band by id - 1, from 1. 0 or -errno. */
static int choose_bands(struct plot_chart *chart, const struct plot_data *d, const struct world_target *t,
                        const struct plot_options *o, const struct order *order, uint32_t *index)
{
        struct candidate *list = calloc(d->spool.n_bands + 1, sizeof(*list));
        size_t n = 0, kept = 0;
        double all = 0;

        if (!list)
                return -ENOMEM;
        for (uint32_t i = 0; i < d->spool.n_bands; i++) {
                const struct spool_band *b = &d->spool.bands[i];
                if (!b->id)
                        continue;
                all += b->sum;
                const Hw__Band *band = band_of(t, b->id);
                struct candidate *c = &list[n++];
                *c = (struct candidate){ b, band && band->label && band->label[0] ? band->label : "?", b->sum,
                                         SIZE_MAX };
                if (o->sort == SORT_STDDEV) { /* over all censuses: those without the band count as 0 */
                        const double rows = (double)d->spool.n_rows, mean = b->sum / rows;
                        c->weight = sqrt(fmax(b->squares / rows - mean * mean, 0));
                }
                for (size_t k = order->n; k-- > 0;)
                        if (!strcmp(order->labels[k], c->label))
                                c->place = k;
        }
        qsort(list, n, sizeof(*list), by_weight);
        for (size_t i = 0; i < n && kept < o->bands && kept < PLOT_BANDS; i++)
                if (list[i].place != SIZE_MAX || list[i].band->sum * 100 >= o->threshold * all)
                        list[kept++] = list[i];
        if (o->sort == SORT_NAME)
                qsort(list, kept, sizeof(*list), by_name);
        for (size_t i = 0; i < kept; i++) {
                chart->bands[chart->n_bands] =
                        (struct plot_band){ .id = list[i].band->id, .label = strdup(list[i].label) };
                index[list[i].band->id - 1] = (uint32_t)++chart->n_bands;
        }
        free(list);
        return 0;
}

/* The rows of the current census as a column. */
static void fill_column(struct plot_chart *c, const struct spool *s, const struct spool_row *row, const uint32_t *index,
                        size_t column)
{
        for (size_t i = 0; i < c->n_bands; i++)
                c->bands[i].bytes[column] = 0;
        c->times_ns[column] = row->time_ns;
        c->bands[c->n_bands - 1].bytes[column] = row->left_out_bytes;
        for (uint32_t i = 0; i < row->n; i++) {
                uint32_t id = s->band[i], at = id && id <= s->n_bands ? index[id - 1] : 0;
                c->bands[at ? at - 1 : c->n_bands - 1].bytes[column] += s->bytes[i];
        }
        if (row->total_bytes < c->peak_bytes)
                return;
        c->peak_bytes = row->total_bytes;
        c->peak_ns = row->time_ns;
        for (size_t i = 0; i < c->n_bands; i++)
                c->bands[i].peak_bytes = c->bands[i].bytes[column];
}

static int fill_columns(struct plot_chart *c, struct spool *s, const uint32_t *index)
{
        uint64_t each = (s->n_rows + PLOT_COLUMNS - 1) / PLOT_COLUMNS, seen = 0, last_ns = 0, last_bytes = 0, most = 0;
        struct spool_row row;
        int r = spool_rewind(s);

        while (r == 0 && (r = spool_next(s, &row)) == 1) {
                r = 0;
                row.time_ns = row.time_ns < last_ns ? last_ns : row.time_ns; /* never back */
                c->integral += (double)(row.time_ns - last_ns) / (double)NS_PER_S *
                               ((double)row.total_bytes + (double)last_bytes) / 2;
                last_ns = row.time_ns;
                last_bytes = row.total_bytes;
                if (seen++ % each == 0) {
                        fill_column(c, s, &row, index, c->n_columns++);
                        most = row.total_bytes;
                } else if (row.total_bytes > most) {
                        fill_column(c, s, &row, index, c->n_columns - 1);
                        most = row.total_bytes;
                }
        }
        return r;
}

static void find_scales(struct plot_chart *c, const struct plot_data *d, const struct plot_options *o,
                        const struct order *order)
{
        double most = (double)c->peak_bytes;

        if (o->traces) {
                most = 0;
                for (size_t i = 0; i < c->n_bands; i++)
                        for (size_t k = 0; k < c->n_columns; k++)
                                most = (double)c->bands[i].bytes[k] > most ? (double)c->bands[i].bytes[k] : most;
        }
        for (int i = 0; i < PLOT_LINES; i++)
                for (size_t k = 0; c->lines[i] && k < d->lines[i].n; k++)
                        most = d->lines[i].points[k].cell.max > most ? d->lines[i].points[k].cell.max : most;
        c->x_ns = d->last_ns ? d->last_ns : 1;
        c->y_bytes = most >= 1 ? u64_sat(most * HEADROOM) : 1;
        if (order->x_s > 0 && order->x_s < 1e9)
                c->x_ns = (uint64_t)(order->x_s * (double)NS_PER_S);
        if (order->y_bytes > 0)
                c->y_bytes = order->y_bytes;
        if (o->y_axis_bytes > 0)
                c->y_bytes = o->y_axis_bytes;
}

int plot_choose(struct plot_chart *c, struct plot_data *d, const struct world_target *t, const struct plot_options *o)
{
        struct order order = { .n = 0 };
        bool any_line = false;

        *c = (struct plot_chart){ .n_bands = 0 };
        for (int i = 0; i < PLOT_LINES; i++) {
                bool wanted = o->lines_given ? o->lines[i] : i == 0 || d->spool.n_rows == 0;
                c->lines[i] = wanted && d->lines[i].n > 0;
                any_line |= c->lines[i];
        }
        if (d->spool.n_rows == 0 && !any_line)
                return -ENODATA;
        uint32_t *index = calloc(d->spool.n_bands + 1, sizeof(*index));
        int r = index ? 0 : -ENOMEM;
        if (r == 0 && o->order)
                r = order_read(&order, o->order);
        if (r == 0 && d->spool.n_rows > 0) {
                const size_t columns = d->spool.n_rows < PLOT_COLUMNS ? (size_t)d->spool.n_rows : PLOT_COLUMNS;
                r = choose_bands(c, d, t, o, &order, index);
                struct plot_band *other = &c->bands[c->n_bands];
                if (r == 0)
                        c->bands[c->n_bands++].label = strdup(OTHER);
                c->times_ns = calloc(columns, sizeof(*c->times_ns));
                bool whole = c->times_ns != NULL, any = false;
                for (size_t i = 0; i < c->n_bands; i++) {
                        c->bands[i].bytes = calloc(columns, sizeof(uint64_t));
                        whole &= c->bands[i].bytes && c->bands[i].label;
                }
                r = r ? r : whole ? fill_columns(c, &d->spool, index) : -ENOMEM;
                for (size_t i = 0; r == 0 && i < c->n_columns; i++)
                        any |= other->bytes[i] > 0;
                if (r == 0 && !any) {
                        free(other->label);
                        free(other->bytes);
                        c->n_bands--;
                }
        }
        find_scales(c, d, o, &order);
        for (size_t i = 0; i < order.n; i++)
                free(order.labels[i]);
        free(index);
        return r;
}

void plot_chart_done(struct plot_chart *c)
{
        for (size_t i = 0; i < c->n_bands; i++) {
                free(c->bands[i].label);
                free(c->bands[i].bytes);
        }
        free(c->times_ns);
        *c = (struct plot_chart){ .n_bands = 0 };
}
