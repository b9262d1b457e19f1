/* SPDX-License-Identifier: BSD-3-Clause */
/* views/ticky.c - ticky counters: entries and allocation of each closure. */
#include "client/console/views/ticky.h"

#include "client/console/scene/shown.h"
#include "client/console/draw/widgets.h"
#include "proto/base/array.h"

static const Hw__TickyCounter *counter(const void *row)
{
        return row;
}

static struct value name(const struct scene *s, const void *row)
{
        (void)s;
        return value_text(counter(row)->name);
}

#define TICKY_VALUE(function, field)                                                                                   \
        static struct value function(const struct scene *s, const void *row)                                           \
        {                                                                                                              \
                (void)s;                                                                                               \
                return value_number(counter(row)->has_##field, (double)counter(row)->field);                           \
        }

TICKY_VALUE(entries, entries)
TICKY_VALUE(allocs, allocs)
TICKY_VALUE(allocd, allocd)
TICKY_VALUE(arity, arity)

static struct value kinds(const struct scene *s, const void *row)
{
        (void)s;
        return value_text(counter(row)->argument_kinds);
}

/* clang-format off */
static const struct column ticky_columns[] = {
        { .title = "entries", .name = "entries", .unit = UNIT_COUNT, .width = 14, .value = entries,
          .help = "how often this code was entered, since the run began" },
        { .title = "allocated by", .name = "allocs_bytes", .unit = UNIT_BYTES, .width = 12, .value = allocs,
          .help = "bytes that it allocated" },
        { .title = "allocated of", .name = "allocd_bytes", .unit = UNIT_BYTES, .width = 12, .rank = 1, .value = allocd,
          .help = "bytes of its closures that were allocated" },
        { .title = "arity", .name = "arity", .unit = UNIT_COUNT, .width = 5, .rank = 2, .value = arity,
          .help = "number of arguments" },
        { .title = "kinds", .name = "argument_kinds", .width = 10, .rank = 3, .value = kinds,
          .help = "kinds of the arguments, in the RTS's letters" },
        { .title = "ticky counter", .name = "name", .width = -30, .value = name,
          .help = "closure; names only come at the program's end" },
};
/* clang-format on */

static void ticky_rows(const struct console *c, struct table *t)
{
        const struct world_target *target = c->scene.target;

        for (uint32_t i = 0; target && i < target->n_ticky; i++)
                table_add(t, target->ticky[i]->id, target->ticky[i]);
}

static const char *ticky_text(const void *row)
{
        return counter(row)->name;
}

const struct table_class ticky_table = {
        .name = "ticky",
        .empty = UNKNOWN_TEXT "  no ticky counters: build with -ticky and run with +RTS -lT",
        .columns = ticky_columns,
        .n_columns = ARRAY_SIZE(ticky_columns),
        .sort = 0,
        .rows = ticky_rows,
        .text = ticky_text,
};
