/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: 10^5 definitions and more come in one burst at the start and again at
 * every restart, so each costs only six interned strings and one slot; names
 * that repeat (modules, types) are kept once. A definition may come after its
 * band.
 *
 * Bands are keyed by the address of an info table, and so are definitions,
 * except in GHC 9.4.3, which wrote the address of the entry code instead (GHC
 * issue 22452). The code follows the table, so the table is
 * sizeof(StgInfoTable) before it: on 64 bits layout (8), type (4) and SRT (4),
 * preceded by two more words in the profiled runtime
 * (rts/storage/InfoTables.h).
 */
#include <string.h>

#include "daemon/model/limits.h"
#include "proto/base/hash.h"
#include "daemon/model/state.h"

struct info_table *ipe_find(const struct bands *b, uint64_t key)
{
        uint64_t hash = hash_u64(key, b->seed);
        uint32_t at = idtable_start(&b->table_by_key, hash), i;

        while ((i = idtable_next(&b->table_by_key, hash, &at))) {
                struct info_table *table = pool_at(&b->tables, i);
                if (table->key == key)
                        return table;
        }
        return NULL;
}

void ipe_prefetch(const struct bands *b, const uint64_t *keys, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                idtable_prefetch(&b->table_by_key, hash_u64(keys[i], b->seed));
        for (uint32_t i = 0; i < n; i++) {
                uint64_t hash = hash_u64(keys[i], b->seed);
                uint32_t at = idtable_start(&b->table_by_key, hash), id = idtable_next(&b->table_by_key, hash, &at);
                if (id) {
                        /* Both of its cache lines. */
                        const struct info_table *table = pool_at(&b->tables, id);
                        __builtin_prefetch(&table->key);
                        __builtin_prefetch(&table->band);
                }
        }
}

static struct info_table *make(struct bands *b, uint64_t key)
{
        struct info_table *table = b->tables.count < LIMIT_INFO_TABLES ? pool_add(&b->tables) : NULL;

        if (!table)
                return NULL;
        if (idtable_add(&b->table_by_key, hash_u64(key, b->seed), b->tables.count) < 0) {
                pool_undo(&b->tables);
                return NULL;
        }
        table->key = key;
        return table;
}

/* The address of the table that a definition describes. */
static uint64_t table_address(const struct run *run, const struct hw_event *e)
{
        uint64_t key = hw_event_u64(e, 0);

        if (strcmp(run->ghc_version, "9.4.3") != 0)
                return key;
        return key - (run->profiled ? 32 : 16);
}

static bool read_table(struct bands *b, const struct hw_event *e, uint64_t key, struct info_table *ret)
{
        size_t at = 8;

        *ret = (struct info_table){
                .key = key,
        };
        const char **fields[] = { &ret->name, &ret->closure_type, &ret->type, &ret->label, &ret->module, &ret->source };
        for (unsigned i = 0; i < 6; i++)
                if (!(*fields[i] = bands_string(b, e, &at)))
                        return false;
        ret->named = ret->name[0];
        return true;
}

static bool same(const struct info_table *a, const struct info_table *b)
{
        return a->name == b->name && a->closure_type == b->closure_type && a->type == b->type && a->label == b->label &&
               a->module == b->module && a->source == b->source;
}

void ipe_define(struct model *m, const struct hw_event *e)
{
        struct bands *b = &m->bands;
        uint64_t key = table_address(&m->run, e);
        struct info_table table, *known = ipe_find(b, key);

        if (!known && (b->closed || b->tables.count >= LIMIT_INFO_TABLES)) {
                b->tables_left_out++;
                return;
        }
        if (!read_table(b, e, key, &table) || (!known && !(known = make(b, table.key)))) {
                b->tables_left_out++;
                return;
        }
        if (same(known, &table))
                return;
        table.band = known->band;
        *known = table;
        m->profile.samples.any_defined = true;
        if (b->entries.count)
                bands_resolve(m, known);
}

uint64_t bands_info_tables(const struct bands *b)
{
        return b->tables.count;
}

uint64_t bands_info_tables_left_out(const struct bands *b)
{
        return b->tables_left_out;
}
