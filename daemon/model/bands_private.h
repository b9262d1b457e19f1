/* SPDX-License-Identifier: BSD-3-Clause */
/* bands_private.h - bands and the definitions that they lean on, and how both are taken in. */
#ifndef HW_DAEMON_MODEL_BANDS_PRIVATE_H
#define HW_DAEMON_MODEL_BANDS_PRIVATE_H

#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/idtable.h"
#include "proto/base/pool.h"
#include "proto/base/strings.h"
#include "heapwatch/eventlog.h"
#include "daemon/model/bands.h"

struct census;
struct model;

#define MAX_STACK 255 /* cost centres in one event */

enum band_kind { BAND_TEXT, BAND_STACK, BAND_KEY };

/* What each row asks for comes first, in one cache line. */
struct band_entry {
        struct band_entry *follower; /* of the row that came after its own; NULL: none yet */
        uint64_t row_census;         /* number of the census that `row` belongs to */
        uint32_t row;                /* index of its row there */
        enum band_kind kind;
        struct band band;
};

struct bands {
        struct pool entries;   /* struct band_entry, by id */
        struct idtable by_key; /* all but those that an info table knows */
        struct pool sums;      /* struct band_sums, made with a band's second sample */
        struct pool histories; /* struct fold, histories of the first bands, by id */
        struct arena points;   /* theirs, for BAND_STRIDE bands at a time */
        struct band_point *newest_points;
        struct arena stacks;    /* cost-centre ids of bands */
        struct strings strings; /* all texts of bands, info tables, cost centres, ticky */
        uint64_t seed;
        struct band_entry *newest_row; /* band of the newest row; NULL: none */
        uint64_t left_out;             /* most rows left out of one census */
        bool closed;                   /* no new ones */

        struct pool centres; /* struct cost_centre */
        struct idtable centre_by_id;
        uint64_t centres_left_out;
        uint32_t undefined_centre; /* one that was used before it was defined; meaningful when any_undefined */
        bool any_undefined;

        struct pool tables; /* struct info_table */
        struct idtable table_by_key;
        uint64_t tables_left_out;
};

void bands_init(struct bands *b);
void bands_done(struct bands *b);
size_t bands_held(const struct bands *b);

/* How long a text is that ends with a NUL, or with its room. */
static inline size_t bands_text_size(const void *text, size_t room)
{
        const char *nul = room ? memchr(text, '\0', room) : NULL;

        return nul ? (size_t)(nul - (const char *)text) : room;
}

/* The band of a row, made when it is new (the sink hears of it); NULL when it is left out. */
struct band_entry *bands_of_text(struct model *m, const char *label, size_t size, uint64_t time_ns);
struct band_entry *bands_of_stack(struct model *m, const uint32_t *centres, uint32_t depth, uint64_t time_ns);

static inline struct band_entry *bands_entry(const struct bands *b, uint32_t id)
{
        return pool_at(&b->entries, id);
}

/* The band that came after the newest row's the last time; NULL: none. */
static inline struct band_entry *bands_expected(const struct bands *b)
{
        return b->newest_row ? b->newest_row->follower : NULL;
}

/*
 * The expected band, if the row's text, `size` bytes with the NUL that ends it, is its own; else NULL. Not where texts
 * are keys. It is what bands_of_text() finds, without a call.
 */
static inline struct band_entry *bands_take_expected(struct bands *b, const char *label, size_t size)
{
        struct band_entry *entry = bands_expected(b);

        if (!entry || entry->kind != BAND_TEXT || strings_size(entry->band.label) + 1 != size ||
            memcmp(entry->band.label, label, size) != 0)
                return NULL;
        b->newest_row = entry;
        return entry;
}

/* Whether the newest row brought a new band: the next ones mostly do, too. */
static inline bool bands_growing(const struct bands *b)
{
        return b->newest_row && b->newest_row->band.id == b->entries.count;
}

/* The key that the text of a -hi row spells; false when it is none. */
bool bands_key(const char *label, size_t size, uint64_t *ret);

/*
 * A census has finished. Bands with a row in the one before, but none in this, have 0 bytes now. Returns how many
 * samples found no memory.
 */
uint32_t bands_take(struct bands *b, const struct census *before, const struct census *census);

/* An info table was defined: its band, if there is one already, gets its name (the sink hears of it). */
void bands_resolve(struct model *m, struct info_table *table);

/* Adds a sample: mostly it falls into the same point as the one before. */
static inline void band_history_add(struct fold *history, uint64_t time_ns, double value)
{
        struct band_point *p = fold_cell(&band_history, history, time_ns);
        float v = (float)value;

        p->last = v;
        if (p->count++ == 0) {
                p->min = p->max = p->mean = v;
                return;
        }
        p->min = v < p->min ? v : p->min;
        p->max = v > p->max ? v : p->max;
        p->mean += (v - p->mean) / (float)p->count;
}

/* cost_centres.c */
void cost_centre_define(struct model *m, const struct hw_event *e);

/* Reads u8 depth and so many ids at `at` into ids[MAX_STACK]; false when the payload ends before. */
bool cost_centre_stack(const struct hw_event *e, size_t at, uint32_t *ids, uint32_t *ret_depth);

/* Remembers centres that are used but not defined. */
void cost_centres_check(struct bands *b, const uint32_t *ids, uint32_t depth);

/* Whether something shown still lacks a definition. */
bool cost_centres_lacking(const struct bands *b);

/* The stack as text, "inner/middle/outer", or MAIN; interned; NULL when out of memory. */
const char *cost_centres_text(struct bands *b, const uint32_t *ids, uint32_t depth);

/* ipe.c */
void ipe_define(struct model *m, const struct hw_event *e);
struct info_table *ipe_find(const struct bands *b, uint64_t key);

/* Prefetches the tables of these keys: first for what says where they are, of all of them, then for themselves. */
void ipe_prefetch(const struct bands *b, const uint64_t *keys, uint32_t n);

/* Interns the NUL-terminated text at *at (to the payload's end without a NUL) and moves *at behind it. */
const char *bands_string(struct bands *b, const struct hw_event *e, size_t *at);

#endif
