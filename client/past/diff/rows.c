/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/state/band_name.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/hash.h"

#define NO_ROW UINT32_MAX

void rows_done(struct rows *r)
{
        for (uint32_t i = 0; i < r->n; i++)
                free(r->items[i].name);
        free(r->items);
        free(r->bands);
        idtable_done(&r->index);
        *r = (struct rows){ .n = 0 };
}

/* ------------------------------------------------------------------ the rows */

static int add_row(struct rows *r, enum row_kind kind, const char *name, uint64_t hash)
{
        if (!ARRAY_RESERVE(r->items, r->room, r->n + 1))
                return -ENOMEM;
        char *copy = strdup(name);
        if (!copy || idtable_add(&r->index, hash, r->n + 1)) {
                free(copy);
                return -ENOMEM;
        }
        r->items[r->n++] = (struct row){ .kind = kind, .name = copy, .unnamed = band_name_is_shared(name) };
        return 0;
}

/* The row of that name, created if need be; NO_ROW when out of memory. */
static uint32_t row_of(struct rows *r, enum row_kind kind, const char *name)
{
        if (!r->seed)
                r->seed = hash_seed(r) | 1;
        uint64_t hash = hash_text(name, r->seed + kind);
        uint32_t at = idtable_start(&r->index, hash), id;

        while ((id = idtable_next(&r->index, hash, &at)))
                if (r->items[id - 1].kind == kind && !strcmp(r->items[id - 1].name, name))
                        return id - 1;
        return add_row(r, kind, name, hash) ? NO_ROW : r->n - 1;
}

/* ---------------------------------------------------------------------- bands */

int rows_define(struct rows *r, const Hw__Bands *bands)
{
        for (size_t i = 0; i < bands->n_bands; i++) {
                const Hw__Band *band = bands->bands[i];
                struct band_name name;
                band_name(&name, band);
                uint32_t row = row_of(r, ROW_BAND, name.text);
                if (row == NO_ROW || !ARRAY_RESERVE_ZEROED(r->bands, r->n_bands, band->id))
                        return -ENOMEM;
                r->bands[band->id - 1] = row + 1;
        }
        return 0;
}

int rows_census(struct rows *r, const Hw__Census *census)
{
        if (census->has_unfinished && census->unfinished)
                return 0;
        for (size_t i = 0; i < census->n_band; i++) {
                uint32_t id = census->band[i];
                if (id >= 1 && id <= r->n_bands && r->bands[id - 1])
                        r->items[r->bands[id - 1] - 1].now += (double)census->bytes[i];
        }
        if (census->bytes_left_out) {
                uint32_t row = row_of(r, ROW_BAND, BAND_NAME_LEFT_OUT);
                if (row == NO_ROW)
                        return -ENOMEM;
                r->items[row].now += (double)census->bytes_left_out;
        }
        const uint64_t since_ns = r->censuses ? sub_sat(census->time_ns, r->last_ns) : 0;
        /* These are unequal, from the agent such that grow with the heap: a band went in straight lines. */
        for (uint32_t i = 0; i < r->n; i++) {
                struct row *row = &r->items[i];

                if (row->kind != ROW_BAND)
                        continue;
                row->sum += row->now;
                row->area += (row->last + row->now) / 2 * (double)since_ns;
                row->peak = fmax(row->peak, row->now);
                row->last = row->now;
                row->now = 0;
        }
        r->last_ns = r->last_ns > census->time_ns ? r->last_ns : census->time_ns;
        r->span_ns += since_ns;
        r->censuses++;
        return 0;
}

int rows_band(struct rows *r, const char *name, double sum, double peak)
{
        uint32_t row = row_of(r, ROW_BAND, name);

        if (row == NO_ROW)
                return -ENOMEM;
        r->by_census = true;
        r->items[row].sum += sum;
        r->items[row].peak = fmax(r->items[row].peak, peak);
        return 0;
}

/* ------------------------------------------------------------- at the end */

static int append_row(struct rows *r, enum row_kind kind, const char *name, double amount)
{
        uint32_t row = row_of(r, kind, name);

        if (row == NO_ROW)
                return -ENOMEM;
        r->items[row].sum += amount;
        return 0;
}

int rows_ticky(struct rows *r, const Hw__TickyCounter *counter)
{
        const char *unique, *end; /* "$wgo{v r357} (Work) (fun)": the number is specific to the build */
        char name[BAND_NAME_MAX];

        if (!counter->name) /* its id is an address: it cannot be matched */
                return 0;
        unique = strchr(counter->name, '{');
        end = unique ? strchr(unique, '}') : NULL;
        (void)snprintf(name, sizeof(name), "%.*s%s", end ? (int)(unique - counter->name) : -1, counter->name,
                       end ? end + 1 : "");
        return append_row(r, ROW_TICKY, name, (double)counter->allocs);
}

int rows_stack(struct rows *r, const Hw__Stack *stack)
{
        struct band_name name;

        centre_name(&name, stack->n_centres ? stack->centres[0] : NULL);
        return append_row(r, ROW_CENTRE, name.text, (double)stack->ticks);
}

double row_value(const struct rows *r, const struct row *row, bool by_census)
{
        if (row->kind != ROW_BAND)
                return row->sum;
        if (r->span_ns > 0 && !by_census)
                return row->area / (double)r->span_ns;
        return r->censuses ? row->sum / (double)r->censuses : NAN;
}
