/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info_tables.h - the tables that GHC puts in front of code (x86-64, tables next to code): what a closure or a frame
 * is. A table is known by the address after it, as closures have it. Each is read and checked once.
 *
 *      at - 16   layout: pointers u32 and others u32; a bitmap; or i32 from `at` to a large bitmap
 *      at - 8    type u32
 *      at - 4    constructors: the tag; others: i32 from `at` to the closures that the code refers to (SRT), 0: none
 *      at - 24   constructors: i32 from `at` to "package:Module.Name"; at - 40 in profiled programs
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inspect/memory/program.h"
#include "proto/base/idtable.h"
#include "proto/base/pool.h"

struct closure_table {
        uint64_t at;
        uint64_t layout;
        uint32_t pointers, others; /* of closures that have such a layout */
        uint32_t id;               /* 1, 2 ...: of those that were read */
        int32_t srt;
        uint8_t type; /* enum closure_type; 0: it is none */
        char *name;   /* of a constructor: "package:Module.Name"; of the runtime's own: "DEAD_WEAK" */
};

#define INFO_TABLES_RECENT 512u

struct info_tables {
        struct program *program; /* borrowed */
        struct pool tables;      /* by id */
        struct idtable ids;      /* by address */
        unsigned header_words;   /* of a closure: 3 where the program is profiled, else 1 */
        const struct closure_table *recent[INFO_TABLES_RECENT]; /* by address: what was found last */
};

void info_tables_init(struct info_tables *t, struct program *program, unsigned header_words);
void info_tables_done(struct info_tables *t);

/* NULL when there is none at that address. */
const struct closure_table *info_tables_find(struct info_tables *t, uint64_t at);

/* By the closure's first word. NULL: it is not one, or cannot be read. */
const struct closure_table *info_tables_of_closure(struct info_tables *t, uint64_t closure);

/* Whether the address may have the table of a function, a thunk or a frame: for finding where code begins. */
bool info_tables_is_function(const struct program *program, uint64_t at);

/* The nearest of these at or before an address: where its code begins, without symbols. None: the address. */
#define FUNCTION_BYTES_MOST 65536u /* a local function is not farther from its own */
uint64_t info_tables_before(const struct program *program, uint64_t address);

static inline const struct closure_table *info_tables_nth(const struct info_tables *t, uint32_t id)
{
        return pool_at(&t->tables, id);
}
