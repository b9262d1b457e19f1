/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/info_tables.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "proto/base/hash.h"

#define TABLES_MOST   (UINT32_C(1) << 20)
#define POINTERS_MOST 4096u
#define OTHERS_MOST   8192u
#define SELECTOR_MOST 1024u

void info_tables_init(struct info_tables *t, struct program *program, unsigned header_words)
{
        *t = (struct info_tables){ .program = program, .header_words = header_words };
        pool_init(&t->tables, sizeof(struct closure_table), 10);
}

void info_tables_done(struct info_tables *t)
{
        for (uint32_t id = 1; id <= t->tables.count; id++)
                free(((struct closure_table *)pool_at(&t->tables, id))->name);
        pool_done(&t->tables);
        idtable_done(&t->ids);
        memset(t->recent, 0, sizeof(t->recent));
}

/* ------------------------------------------------------------------------ checks */

/* "DEAD_WEAK", "C_FINALIZER_LIST": of the runtime itself. "SRT_2" is a list that it goes through, never in the heap. */
static bool is_of_runtime(const char *text)
{
        return strlen(text) >= 4 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text) &&
               strncmp(text, "SRT_", 4) != 0;
}

/* "ghc-prim:GHC.Types.:", "main:Main.Session" */
static bool is_description(const char *text)
{
        const char *colon = strchr(text, ':');

        return colon ? colon > text && strchr(colon + 1, '.') != NULL : is_of_runtime(text);
}

static bool read_raw(const struct program *p, uint64_t at, struct closure_table *ret)
{
        struct {
                uint32_t pointers, others, type;
                int32_t srt;
        } raw;

        if ((at & 7) || !program_is_code(p, at) || !memory_read_kept(p->memory, at - sizeof(raw), &raw, sizeof(raw)) ||
            raw.type == 0 || raw.type >= CLOSURE_TYPES)
                return false;
        *ret = (struct closure_table){
                .at = at,
                .layout = (uint64_t)raw.others << 32 | raw.pointers,
                .pointers = raw.pointers,
                .others = raw.others,
                .srt = raw.srt,
                .type = (uint8_t)raw.type,
        };
        return true;
}

/* Types that say their layout in their names: from 1_0 to 0_2. */
static bool has_named_layout(const struct closure_table *i, unsigned first)
{
        static const uint8_t pointers[] = { 1, 0, 2, 1, 0 }, others[] = { 0, 1, 0, 1, 2 };

        return i->pointers == pointers[i->type - first] && i->others == others[i->type - first];
}

static bool is_plausible(const struct closure_table *i)
{
        switch (i->type) {
        case CONSTR:
        case CONSTR_NOCAF:
        case FUN:
        case FUN_STATIC:
        case THUNK_STATIC:
        case PRIM:
        case MUT_PRIM:
                return i->pointers <= POINTERS_MOST && i->others <= OTHERS_MOST;
        case THUNK:
                return i->pointers <= POINTERS_MOST && i->others <= OTHERS_MOST && i->pointers + i->others > 0;
        case THUNK_SELECTOR:
                return i->layout <= SELECTOR_MOST;
        default:
                if (i->type > CONSTR && i->type <= CONSTR_0_2)
                        return has_named_layout(i, CONSTR + 1);
                if (i->type >= FUN_1_0 && i->type <= FUN_0_2)
                        return has_named_layout(i, FUN_1_0);
                if (i->type >= THUNK_1_0 && i->type <= THUNK_0_2)
                        return has_named_layout(i, THUNK_1_0);
                return true;
        }
}

bool info_tables_is_function(const struct program *program, uint64_t at)
{
        struct closure_table i;

        return read_raw(program, at, &i) && is_plausible(&i) &&
               ((i.type >= FUN && i.type <= THUNK_SELECTOR) || closure_is_frame(i.type));
}

uint64_t info_tables_before(const struct program *program, uint64_t address)
{
        const uint64_t from = address & ~UINT64_C(7);

        for (uint64_t at = from; at + FUNCTION_BYTES_MOST > from && program_is_code(program, at); at -= 8)
                if (info_tables_is_function(program, at))
                        return at;
        return address;
}

/* ---------------------------------------------------------------------- the table */

/* NULL: out of memory, or there are too many. */
static const struct closure_table *add_table(struct info_tables *t, uint64_t at, uint64_t hash)
{
        struct closure_table *i = t->tables.count < TABLES_MOST ? pool_add(&t->tables) : NULL;

        if (i && idtable_add(&t->ids, hash, t->tables.count) != 0) {
                pool_undo(&t->tables);
                return NULL;
        }
        if (i) {
                /* A constructor without a description is none of the heap. */
                struct memory *m = t->program->memory;
                char name[PROGRAM_NAME_BYTES];
                int32_t offset;

                if (!read_raw(t->program, at, i) || !is_plausible(i)) {
                        i->type = 0;
                        i->at = at;
                } else if (closure_is_constructor(i->type) &&
                           memory_read_kept(m, at - (t->header_words > 1 ? 40 : 24), &offset, sizeof(offset)) &&
                           memory_text_kept(m, at + (uint64_t)(int64_t)offset, name, sizeof(name)) &&
                           is_description(name)) {
                        i->name = strdup(name);
                }
                i->id = t->tables.count;
        }
        return i;
}

const struct closure_table *info_tables_find(struct info_tables *t, uint64_t at)
{
        const struct closure_table **recent = &t->recent[at / 8 % INFO_TABLES_RECENT];

        if (*recent && (*recent)->at == at)
                return *recent;
        if ((at & 7) || !program_is_code(t->program, at))
                return NULL;
        const uint64_t hash = hash_u64(at, 0);
        uint32_t place = idtable_start(&t->ids, hash), id;
        while ((id = idtable_next(&t->ids, hash, &place)) && info_tables_nth(t, id)->at != at)
                ;
        const struct closure_table *i = id ? info_tables_nth(t, id) : add_table(t, at, hash);
        if (!i || i->type == 0)
                return NULL;
        *recent = i;
        return i;
}

const struct closure_table *info_tables_of_closure(struct info_tables *t, uint64_t closure)
{
        uint64_t at;

        return closure && !(closure & 7) && memory_read(t->program->memory, closure, &at, sizeof(at))
                       ? info_tables_find(t, at)
                       : NULL;
}
