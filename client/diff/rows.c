/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/diff/rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/hash.h"

#define NAME_MAX_BYTES 1024u
#define UNNAMED        "(info tables without a name)"
#define LEFT_OUT       "(bands beyond the limit)"
#define NO_ROW         UINT32_MAX

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
        if (r->n == r->room) {
                uint32_t room = r->room ? r->room * 2 : 64;
                struct row *items = realloc(r->items, room * sizeof(*items));
                if (!items)
                        return -ENOMEM;
                r->items = items;
                r->room = room;
        }
        char *copy = strdup(name);
        if (!copy || idtable_add(&r->index, hash, r->n + 1)) {
                free(copy);
                return -ENOMEM;
        }
        r->items[r->n++] = (struct row){ .kind = kind, .name = copy, .unnamed = !strcmp(name, UNNAMED) };
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

/* Makes an array long enough for entry `n - 1`, with zeros. */
static int reach(void **array, uint32_t *have, uint32_t n, size_t size)
{
        if (n <= *have)
                return 0;
        uint32_t room = n > *have * 2 ? n : *have * 2;
        char *grown = realloc(*array, room * size);
        if (!grown)
                return -ENOMEM;
        memset(grown + *have * size, 0, (room - *have) * size);
        *array = grown;
        *have = room;
        return 0;
}

/* --------------------------------------------------------------------- names */

struct name {
        char text[NAME_MAX_BYTES];
        size_t used;
};

static void put(struct name *n, const char *before, const char *text)
{
        if (!text || !text[0])
                return;
        int more = snprintf(n->text + n->used, sizeof(n->text) - n->used, "%s%s", n->used ? before : "", text);
        n->used += (size_t)more < sizeof(n->text) - n->used ? (size_t)more : sizeof(n->text) - n->used - 1;
}

static void put_n(struct name *n, const char *text, size_t size)
{
        char copy[NAME_MAX_BYTES];

        if (size >= sizeof(copy))
                size = sizeof(copy) - 1;
        memcpy(copy, text, size);
        copy[size] = '\0';
        put(n, "", copy);
}

static void put_centre(struct name *n, const Hw__CostCentre *c)
{
        char id[24];

        if (!c->label) {
                (void)snprintf(id, sizeof(id), "cc#%u", c->id);
                put(n, "/", id);
                return;
        }
        put(n, "/", c->module ? c->module : "?");
        put(n, ".", c->label);
}

/* Where the version begins in "package-1.2.3-hash:Module.name"; NULL: there is none. */
static const char *version_in(const char *label)
{
        const char *colon = strchr(label, ':');

        for (const char *p = label; colon && p + 1 < colon; p++)
                if (*p == '-' && p > label && p[1] >= '0' && p[1] <= '9')
                        return p;
        return NULL;
}

static void put_label(struct name *n, const char *label)
{
        const char *version = label ? version_in(label) : NULL;
        if (version)
                put_n(n, label, (size_t)(version - label));
        put(n, "", version ? strchr(version, ':') : label);
}

static bool cut_end(const char *symbol, size_t *end, const char *what)
{
        size_t n = strlen(what);
        bool there = *end > n && !memcmp(symbol + *end - n, what, n);

        *end -= there ? n : 0;
        return there;
}

static bool is_word(char c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/*
 * The length of a symbol without what is specific to a build: Bin_Work of "Bin_Work_2_con_info", sat of
 * "sat_s37w_info".
 */
static size_t stable_length(const char *symbol)
{
        size_t end = strlen(symbol), at;
        bool constructor = cut_end(symbol, &end, "_con_info");

        if (!constructor && !cut_end(symbol, &end, "_info"))
                return end;
        for (at = end; at > 0 && is_word(symbol[at - 1]); at--)
                ;
        if (at > 1 && symbol[at - 1] == '_' && at < end && (constructor || symbol[at] == 's'))
                end = at - 1;
        return end;
}

/* Label, module and source of the table's closure. A constructor's table, among others, has only its symbol. */
static void put_table(struct name *n, const Hw__InfoTable *table)
{
        if (table->label && table->label[0])
                put(n, "", table->label);
        else if (table->name)
                put_n(n, table->name, stable_length(table->name));
        put(n, " ", table->module);
        put(n, " ", table->source && strcmp(table->source, ":") != 0 ? table->source : NULL);
        put(n, " ", table->type);
}

static bool is_address(const char *label)
{
        return !label || !strncmp(label, "0x", 2);
}

static void name_band(struct name *n, const Hw__Band *band)
{
        const Hw__InfoTable *table = band->info_table;

        for (size_t i = 0; i < band->n_stack; i++)
                put_centre(n, band->stack[i]);
        if (band->n_stack)
                return;
        if (table) {
                put_table(n, table);
        } else if (band->has_key && is_address(band->label)) {
                put(n, "", UNNAMED);
        } else {
                put_label(n, band->label);
        }
        if (!n->used)
                put(n, "", "(no label)");
}

/* ---------------------------------------------------------------------- bands */

int rows_define(struct rows *r, const Hw__Bands *bands)
{
        for (size_t i = 0; i < bands->n_bands; i++) {
                const Hw__Band *band = bands->bands[i];
                struct name name = { .used = 0 };
                name_band(&name, band);
                uint32_t row = row_of(r, ROW_BAND, name.text);
                if (row == NO_ROW || reach((void **)&r->bands, &r->n_bands, band->id, sizeof(*r->bands)))
                        return -ENOMEM;
                r->bands[band->id - 1] = row + 1;
        }
        return 0;
}

static void settle(struct row *row)
{
        row->sum += row->now;
        row->peak = fmax(row->peak, row->now);
        row->now = 0;
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
                uint32_t row = row_of(r, ROW_BAND, LEFT_OUT);
                if (row == NO_ROW)
                        return -ENOMEM;
                r->items[row].unnamed = true;
                r->items[row].now += (double)census->bytes_left_out;
        }
        for (uint32_t i = 0; i < r->n; i++)
                if (r->items[i].kind == ROW_BAND)
                        settle(&r->items[i]);
        r->censuses++;
        return 0;
}

/* ------------------------------------------------------------- at the end */

static int add(struct rows *r, enum row_kind kind, const char *name, double amount)
{
        uint32_t row = row_of(r, kind, name);

        if (row == NO_ROW)
                return -ENOMEM;
        r->items[row].sum += amount;
        return 0;
}

int rows_ticky(struct rows *r, const Hw__TickyCounter *counter)
{
        struct name name = { .used = 0 };
        const char *unique; /* "$wgo{v r357} (Work) (fun)": the number is specific to the build */

        if (!counter->name) /* its id is an address: it cannot be matched */
                return 0;
        unique = strchr(counter->name, '{');
        if (unique && strchr(unique, '}')) {
                put_n(&name, counter->name, (size_t)(unique - counter->name));
                put(&name, "", strchr(unique, '}') + 1);
        } else {
                put(&name, "", counter->name);
        }
        return add(r, ROW_TICKY, name.text, (double)counter->allocs);
}

int rows_stack(struct rows *r, const Hw__Stack *stack)
{
        struct name name = { .used = 0 };

        if (stack->n_centres)
                put_centre(&name, stack->centres[0]);
        else
                put(&name, "", "MAIN");
        return add(r, ROW_CENTRE, name.text, (double)stack->ticks);
}

double row_value(const struct rows *r, const struct row *row)
{
        if (row->kind != ROW_BAND)
                return row->sum;
        return r->censuses ? row->sum / (double)r->censuses : NAN;
}
