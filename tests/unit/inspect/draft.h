/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * draft.h - a made-up program: code with info tables, a heap of megablocks, generations, threads with stacks; as GHC
 * 9.0 lays them out, or another release. Included once per program.
 *
 *      struct draft *d = draft_new(&draft_9_0);
 *      uint64_t just = draft_table(d, CONSTR, 1, 0, "base:GHC.Maybe.Just");
 *      uint64_t x = draft_object(d, 1, (uint64_t[]){ just, y }, 2);
 *      draft_finish(d);                     // d->program is one for ghc_find()
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "inspect/ghc/blocks.h"
#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "inspect/memory/program.h"

#define DRAFT_TEXT  UINT64_C(0x400000)
#define DRAFT_DATA  UINT64_C(0x500000)
#define DRAFT_C     UINT64_C(0x600000) /* what the runtime has from malloc */
#define DRAFT_HEAP  UINT64_C(0x4200000000)
#define DRAFT_BYTES UINT64_C(0x10000) /* of each but the heap */
#if !defined(DRAFT_MEGABLOCKS)
#define DRAFT_MEGABLOCKS 2u
#endif
#define DRAFT_GENERATIONS 2u
#define DRAFT_CAPABILITY  (DRAFT_C + 0x4000)

/* Of a release: offsets in a TSO. */
struct draft_layout {
        unsigned header; /* words */
        unsigned why, why_bytes, block_info, id, capability, label, exceptions, queue, limit, words;
        unsigned generation_bytes;
};

static const struct draft_layout draft_9_0 = { 1, 34, 2, 40, 48, 72, 0, 88, 96, 104, 15, 232 };
static const struct draft_layout draft_9_6 = { 1, 34, 2, 40, 48, 72, 88, 96, 104, 112, 16, 368 };
static const struct draft_layout draft_9_10 = { 1, 40, 4, 48, 56, 80, 96, 104, 112, 120, 17, 368 };
static const struct draft_layout draft_profiled = { 3, 34, 2, 40, 48, 72, 0, 88, 96, 104, 15, 232 };

struct draft_region {
        uint64_t start;
        size_t n, used;
        uint8_t *bytes;
};

struct draft {
        struct draft_layout layout;
        struct draft_region text, data, c, heap;
        struct memory memory;
        struct program program;
        struct provenance provenance;
        unsigned block[DRAFT_GENERATIONS]; /* that objects are put into; 0: none yet */
        unsigned next_block;
        uint64_t threads, end_of_queue; /* of the oldest generation */
        uint64_t tso_table, stack_table, stop_table;
        uint64_t next_id;
        void *ctx; /* of the test */
};

static uint8_t *draft_at(struct draft *d, uint64_t at, size_t n)
{
        struct draft_region *const regions[] = { &d->text, &d->data, &d->c, &d->heap };

        for (size_t i = 0; i < 4; i++)
                if (at >= regions[i]->start && at - regions[i]->start <= regions[i]->n &&
                    n <= regions[i]->n - (at - regions[i]->start))
                        return regions[i]->bytes + (at - regions[i]->start);
        return NULL;
}

static bool draft_read(void *ctx, uint64_t at, void *to, size_t n)
{
        const uint8_t *from = draft_at(ctx, at, n);

        if (from)
                memcpy(to, from, n);
        return from != NULL;
}

static void draft_put(struct draft *d, uint64_t at, const void *bytes, size_t n)
{
        uint8_t *to = draft_at(d, at, n);

        if (!to)
                abort();
        memcpy(to, bytes, n);
}

static void draft_u64(struct draft *d, uint64_t at, uint64_t value)
{
        draft_put(d, at, &value, sizeof(value));
}

static void draft_u32(struct draft *d, uint64_t at, uint32_t value)
{
        draft_put(d, at, &value, sizeof(value));
}

static void draft_u16(struct draft *d, uint64_t at, uint16_t value)
{
        draft_put(d, at, &value, sizeof(value));
}

static uint64_t draft_text(struct draft *d, const char *text)
{
        const uint64_t at = DRAFT_TEXT + d->text.used;

        draft_put(d, at, text, strlen(text) + 1);
        d->text.used += (strlen(text) + 8) & ~(size_t)7;
        return at;
}

/* An info table with its code; `name`: of a constructor. The layout of a frame: its size, no bitmap. */
static uint64_t draft_table(struct draft *d, unsigned type, uint32_t pointers, uint32_t others, const char *name)
{
        const uint64_t text = name ? draft_text(d, name) : 0, at = DRAFT_TEXT + d->text.used + 48;

        draft_u32(d, at - 16, pointers);
        draft_u32(d, at - 12, others);
        draft_u32(d, at - 8, type);
        if (name)
                draft_u32(d, at - (d->layout.header > 1 ? 40 : 24), (uint32_t)(text - at));
        d->text.used += 48 + 64;
        return at;
}

/* The code refers to this closure. */
__attribute__((unused)) static void draft_srt(struct draft *d, uint64_t table, uint64_t closure)
{
        draft_u32(d, table - 4, (uint32_t)(closure - table));
}

/* ---------------------------------------------------------------------------- heap */

static uint64_t draft_descriptor(unsigned block)
{
        return DRAFT_HEAP + block / 256 * MEGABLOCK_BYTES + block % 256 * 64;
}

static uint64_t draft_block_start(unsigned block)
{
        return DRAFT_HEAP + block / 256 * MEGABLOCK_BYTES + (uint64_t)(block % 256) * BLOCK_BYTES;
}

static uint64_t draft_generation(const struct draft *d, unsigned g)
{
        return DRAFT_C + 0x1000 + (uint64_t)g * d->layout.generation_bytes;
}

/* A group of `n` blocks, on a list of generation `g` unless that is not one. Returns its first block. */
static unsigned draft_group(struct draft *d, unsigned g, uint16_t flags, unsigned n)
{
        if (d->next_block % 256 < FIRST_BLOCK || d->next_block % 256 + n > 256) /* what is left stays out of use */
                d->next_block = (d->next_block % 256 < FIRST_BLOCK ? d->next_block : d->next_block + 256) / 256 * 256 +
                                FIRST_BLOCK;
        const unsigned block = d->next_block;
        const uint64_t at = draft_descriptor(block), list = draft_generation(d, g) + (flags & BLOCK_LARGE ? 32 : 8);
        const uint64_t first = g < DRAFT_GENERATIONS ? *(uint64_t *)(void *)draft_at(d, list, 8) : 0;

        if (block + n > DRAFT_MEGABLOCKS * 256)
                abort();
        draft_u64(d, at, draft_block_start(block));
        draft_u64(d, at + 8, draft_block_start(block)); /* free */
        draft_u64(d, at + 16, first);
        draft_u64(d, at + 32, draft_generation(d, g < DRAFT_GENERATIONS ? g : 0));
        draft_u16(d, at + 40, g < DRAFT_GENERATIONS ? (uint16_t)g : 0);
        draft_u16(d, at + 46, flags);
        draft_u32(d, at + 48, n);
        if (g < DRAFT_GENERATIONS)
                draft_u64(d, list, at);
        if (g < DRAFT_GENERATIONS && !(flags & BLOCK_LARGE)) {
                const uint64_t count = draft_generation(d, g) + 16;
                draft_u64(d, count, *(uint64_t *)(void *)draft_at(d, count, 8) + n);
        }
        d->next_block += n;
        return block;
}

/* Words at the end of a group. */
static uint64_t draft_append(struct draft *d, unsigned block, const uint64_t *words, size_t n)
{
        const uint64_t free_at = draft_descriptor(block) + 8, at = *(uint64_t *)(void *)draft_at(d, free_at, 8);

        if (n)
                draft_put(d, at, words, n * 8);
        draft_u64(d, free_at, at + n * 8);
        return at;
}

/* A closure in generation `g`. */
static uint64_t draft_object(struct draft *d, unsigned g, const uint64_t *words, size_t n)
{
        const uint64_t used = d->block[g] ? *(uint64_t *)(void *)draft_at(d, draft_descriptor(d->block[g]) + 8, 8) -
                                                    draft_block_start(d->block[g])
                                          : BLOCK_BYTES;

        if (used + n * 8 > BLOCK_BYTES)
                d->block[g] = draft_group(d, g, 0, 1);
        return draft_append(d, d->block[g], words, n);
}

/* A static closure. */
static uint64_t draft_static(struct draft *d, const uint64_t *words, size_t n)
{
        const uint64_t at = DRAFT_DATA + d->data.used;

        draft_put(d, at, words, n * 8);
        d->data.used += n * 8;
        return at;
}

/* ------------------------------------------------------------ places in the source */

enum draft_release { DRAFT_9_6, DRAFT_9_10, DRAFT_9_10_ZSTD };

struct draft_entry {
        uint64_t at; /* of the table */
        const char *table, *type, *label, *file, *span;
};

struct draft_texts {
        char text[4096];
        uint32_t n;
};

static uint32_t draft_add_text(struct draft_texts *t, const char *text)
{
        const uint32_t at = t->n;

        if (t->n + strlen(text) + 1 > sizeof(t->text))
                abort();
        memcpy(t->text + at, text, strlen(text) + 1);
        t->n += (uint32_t)strlen(text) + 1;
        return at;
}

/* Bytes in the data, as they are or compressed. */
static uint64_t draft_bytes(struct draft *d, const void *bytes, size_t n, bool compressed)
{
        char frame[8192];
        const size_t size = compressed ? ZSTD_compress(frame, sizeof(frame), bytes, n, 3) : n;
        const uint64_t at = DRAFT_DATA + d->data.used;

        if (ZSTD_isError(size))
                abort();
        draft_put(d, at, compressed ? frame : bytes, size);
        d->data.used += (size + 7) & ~(size_t)7;
        return at;
}

/* What -finfo-table-map makes of a module; where its node is. */
__attribute__((unused)) static uint64_t draft_provenance(struct draft *d, enum draft_release release,
                                                         const char *module, const struct draft_entry *e, uint32_t n)
{
        const bool old = release == DRAFT_9_6, compressed = release == DRAFT_9_10_ZSTD;
        struct draft_texts texts = { .n = 0 };
        uint32_t entries[64 * 10] = { 0 };
        uint64_t tables[64];

        if (n > 64)
                abort();
        const uint32_t unit = draft_add_text(&texts, "main"), name = draft_add_text(&texts, module);
        for (uint32_t i = 0; i < n; i++) {
                const uint32_t texts_of[] = { draft_add_text(&texts, e[i].table), 0, draft_add_text(&texts, e[i].type),
                                              draft_add_text(&texts, e[i].label), old ? name : 0 };
                uint32_t *to = entries + (size_t)i * (old ? 10 : 6);
                tables[i] = e[i].at;
                if (old)
                        memcpy(to, &e[i].at, 8);
                memcpy(to + (old ? 2 : 0), texts_of, old ? 20 : 16);
                to[old ? 7 : 4] = draft_add_text(&texts, e[i].file);
                to[old ? 8 : 5] = draft_add_text(&texts, e[i].span);
        }
        const uint64_t texts_at = draft_bytes(d, texts.text, texts.n, compressed);
        if (old) {
                const uint64_t node = draft_bytes(d, (uint64_t[]){ 0, texts_at, n }, 24, false);
                (void)draft_bytes(d, entries, (size_t)n * 40, false);
                return node;
        }
        const uint64_t tables_at = draft_bytes(d, tables, (size_t)n * 8, false);
        const uint64_t entries_at = draft_bytes(d, entries, (size_t)n * 24, compressed);
        return draft_bytes(d,
                           (uint64_t[]){ 0, compressed, n, tables_at, entries_at, (uint64_t)n * 24, texts_at, texts.n,
                                         (uint64_t)name << 32 | unit },
                           72, false);
}

/* -------------------------------------------------------------------------- threads */

/* A thread with these words on its stack, from its top; the frame that ends a stack is added. */
__attribute__((unused)) static uint64_t draft_thread(struct draft *d, unsigned why, uint64_t waits_for,
                                                     const uint64_t *frames, size_t n)
{
        const struct draft_layout *l = &d->layout;
        uint64_t words[64] = { d->stack_table }, tso;
        const unsigned h = l->header, shift = (h - 1) * 8, room = 8;

        if (h + 2 + room + n + 1 > 64)
                abort();
        words[h] = room + n + 1;
        for (size_t i = 0; i < n; i++)
                words[h + 2 + room + i] = frames[i];
        words[h + 2 + room + n] = d->stop_table;
        const uint64_t stack = draft_object(d, 1, words, h + 2 + room + n + 1);
        draft_u64(d, stack + shift + 16, stack + 8 * (h + 2 + room));

        memset(words, 0, sizeof(words));
        words[0] = d->tso_table;
        tso = draft_object(d, 1, words, l->words + h - 1);
        draft_u64(d, tso + shift + 16, d->threads);
        draft_u64(d, tso + shift + 24, stack);
        draft_u16(d, tso + shift + 32, 1);
        if (l->why_bytes == 2)
                draft_u16(d, tso + shift + l->why, (uint16_t)why);
        else
                draft_u32(d, tso + shift + l->why, why);
        draft_u64(d, tso + shift + l->block_info, waits_for);
        draft_u64(d, tso + shift + l->id, ++d->next_id);
        draft_u64(d, tso + shift + l->capability, DRAFT_CAPABILITY);
        draft_u64(d, tso + shift + l->exceptions, d->end_of_queue);
        draft_u64(d, tso + shift + l->queue, d->end_of_queue);
        draft_u64(d, tso + shift + l->limit, (uint64_t)-4096);
        d->threads = tso;
        return tso;
}

/* ----------------------------------------------------------------------- the whole */

static void draft_region(struct draft_region *r, uint64_t start, uint64_t n)
{
        *r = (struct draft_region){ .start = start, .n = (size_t)n, .bytes = calloc(1, (size_t)n) };
        if (!r->bytes)
                abort();
}

static void draft_map(struct draft *d, const struct draft_region *r, bool writable)
{
        if (!program_add_mapping(&d->program, (struct mapping){ .start = r->start,
                                                                .end = r->start + r->n,
                                                                .readable = true,
                                                                .writable = writable }))
                abort();
}

static struct draft *draft_new(const struct draft_layout *layout)
{
        struct draft *d = calloc(1, sizeof(*d));

        if (!d)
                abort();
        d->layout = *layout;
        draft_region(&d->text, DRAFT_TEXT, DRAFT_BYTES);
        draft_region(&d->data, DRAFT_DATA, DRAFT_BYTES);
        draft_region(&d->c, DRAFT_C, DRAFT_BYTES);
        draft_region(&d->heap, DRAFT_HEAP, DRAFT_MEGABLOCKS * MEGABLOCK_BYTES);
        d->memory = (struct memory){ .read = draft_read, .ctx = d };
        d->program = (struct program){ .memory = &d->memory, .provenance = &d->provenance };
        draft_map(d, &d->text, false);
        draft_map(d, &d->data, true);
        draft_map(d, &d->c, true);
        draft_map(d, &d->heap, true);
        d->program.code = malloc(sizeof(struct range));
        d->program.data = malloc(sizeof(struct range));
        d->program.variables = malloc(sizeof(struct range));
        if (!d->program.code || !d->program.data || !d->program.variables)
                abort();
        *d->program.code = (struct range){ DRAFT_TEXT, DRAFT_TEXT + DRAFT_BYTES };
        *d->program.data = (struct range){ DRAFT_DATA, DRAFT_DATA + DRAFT_BYTES };
        *d->program.variables = (struct range){ DRAFT_C, DRAFT_C + DRAFT_BYTES };
        d->program.n_code = d->program.n_data = d->program.n_variables = 1;
        d->next_block = FIRST_BLOCK;
        for (unsigned g = 0; g < DRAFT_GENERATIONS; g++) {
                draft_u32(d, draft_generation(d, g), g);
                draft_u64(d, draft_generation(d, g) + 120,
                          draft_generation(d, g + 1 < DRAFT_GENERATIONS ? g + 1 : g)); /* to */
        }
        d->tso_table = draft_table(d, TSO, 0, 0, NULL);
        d->stack_table = draft_table(d, STACK, 0, 0, NULL);
        d->stop_table = draft_table(d, STOP_FRAME, 0, 0, NULL);
        d->end_of_queue = draft_static(d, (uint64_t[]){ draft_table(d, CONSTR_NOCAF, 0, 0, NULL), 0, 0, 0 }, 4);
        d->threads = d->end_of_queue;
        (void)draft_group(d, 0, 0, 1); /* something young, by which generations are found */
        return d;
}

/* After the last thread. */
__attribute__((unused)) static void draft_finish(struct draft *d)
{
        draft_u64(d, draft_generation(d, 1) + 104, d->threads);
        draft_u64(d, draft_generation(d, 0) + 104, d->end_of_queue);
}

__attribute__((unused)) static void draft_symbol(struct draft *d, uint64_t address, uint64_t size, const char *name)
{
        struct elf_symbols *s = &d->program.symbols;

        s->items = realloc(s->items, (s->n + 1) * sizeof(*s->items));
        if (!s->items)
                abort();
        s->items[s->n++] = (struct elf_symbol){ address, size, name };
        s->capacity = s->n;
        d->program.has_symbols = true;
        elf_symbols_sort(s);
}

static void draft_destroy(struct draft *d)
{
        program_done(&d->program);
        provenance_done(&d->provenance);
        memory_forget(&d->memory);
        free(d->text.bytes);
        free(d->data.bytes);
        free(d->c.bytes);
        free(d->heap.bytes);
        free(d);
}
