/* SPDX-License-Identifier: BSD-3-Clause */
/* bands_private.h - bands and the definitions that they depend on, and how both are taken in. */
#pragma once

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

/* A cell of a band's history: there are 64 of each of dozens of bands of each target. */
struct band_point {
        float min, max, mean, last;
        uint32_t count; /* of samples; 0: the other fields mean nothing */
};

/* The same of a band that never had BAND_WHOLE_BYTES. */
struct band_point_thin {
        float mean;
        uint16_t min, max, last;
        uint16_t count; /* stays at its largest value: later samples count a little more in the mean */
};

bool band_point_is_empty(const void *point);
void band_point_reset(void *point);
void band_point_merge(void *to, const void *from);
bool band_point_thin_is_empty(const void *point);
void band_point_thin_reset(void *point);
void band_point_thin_merge(void *to, const void *from);

static const struct fold_shape band_history = {
        { sizeof(struct band_point), band_point_is_empty, band_point_reset, band_point_merge, NULL },
        BAND_POINTS,
        BAND_STRIDE,
        BAND_FIRST_WIDTH_NS,
};

static const struct fold_shape band_history_thin = {
        { sizeof(struct band_point_thin), band_point_thin_is_empty, band_point_thin_reset, band_point_thin_merge,
          NULL },
        BAND_POINTS_THIN,
        BAND_STRIDE,
        BAND_FIRST_WIDTH_NS,
};

#define BAND_UNWANTED UINT32_MAX /* row_census of a band whose rows are not wanted (model_want_band) */

/* What each row needs comes first, in one cache line. */
struct band_entry {
        struct band_entry *follower; /* of the row that came after this one's; NULL: none yet */
        uint32_t row_census;         /* number of the census that `row` belongs to */
        uint32_t row;                /* index of its row there */
        struct band band;
};

/* Cells for the histories of BAND_STRIDE bands, of which `used` have theirs. */
struct band_points {
        unsigned char *cells;
        uint32_t used;
};

struct bands {
        struct pool entries;   /* struct band_entry, by id */
        struct idtable by_key; /* all but those found through an info table */
        struct pool sums;      /* struct band_sums, made with a band's second sample */
        struct pool histories; /* struct fold, of the first bands */
        struct arena points;   /* cells of the histories, for BAND_STRIDE bands at a time */
        struct band_points newest_points, newest_thin_points;
        struct arena stacks;    /* cost-centre ids of bands */
        struct strings strings; /* all texts of bands, info tables, cost centres, ticky */
        uint64_t seed;
        struct band_entry *newest_row; /* band of the newest row; NULL: none */
        uint64_t left_out;             /* most rows left out of one census */
        bool closed;                   /* no new bands are made */
        bool any_unwanted;             /* some band is BAND_UNWANTED */

        struct pool centres; /* struct cost_centre */
        struct idtable centre_by_id;
        uint64_t centres_left_out;
        uint32_t undefined_centre; /* one used before it was defined; valid when any_undefined */
        bool any_undefined;

        struct pool tables; /* struct info_table */
        struct idtable table_by_key;
        uint64_t tables_left_out;
};

void bands_init(struct bands *b);
void bands_done(struct bands *b);
size_t bands_held(const struct bands *b);

/* The band of a row, made when it is new (and passed to the sink); NULL when it is left out. */
struct band_entry *bands_of_text(struct model *m, const char *label, size_t size, uint64_t time_ns);
struct band_entry *bands_of_stack(struct model *m, const uint32_t *centres, uint32_t depth, uint64_t time_ns);

static inline struct band_entry *bands_entry(const struct bands *b, uint32_t id)
{
        return pool_at(&b->entries, id);
}

/* The band that followed the newest row's last time; NULL: none. */
static inline struct band_entry *bands_expected(const struct bands *b)
{
        return b->newest_row ? b->newest_row->follower : NULL;
}

/*
 * The expected band, if its label is the row's text (`size` counts the NUL); else NULL. Not for -hi, where texts are
 * keys. Finds what bands_of_text() would find, inline.
 */
static inline struct band_entry *bands_match_expected(struct bands *b, const char *label, size_t size)
{
        struct band_entry *entry = bands_expected(b);

        if (!entry || entry->band.kind != BAND_TEXT || strings_size(entry->band.label) + 1 != size ||
            memcmp(entry->band.label, label, size) != 0)
                return NULL;
        b->newest_row = entry;
        return entry;
}

/* Whether the newest row made a new band: the next ones mostly do too. */
static inline bool bands_growing(const struct bands *b)
{
        return b->newest_row && b->newest_row->band.id == b->entries.count;
}

/* The key in the text of a -hi row; false when it is not a key. */
bool bands_key(const char *label, size_t size, uint64_t *ret);

/*
 * Takes in a finished census. Bands with a row in the previous one, but none in this, have 0 bytes now. Returns how
 * many samples were lost when out of memory.
 */
uint32_t bands_add_census(struct bands *b, const struct census *before, const struct census *census);

/* An info table was defined: its band, if there is one already, gets its name (and is passed to the sink). */
void bands_resolve(struct model *m, struct info_table *table);

static inline const struct fold_shape *band_history_shape(const struct band *band)
{
        return band->whole ? &band_history : &band_history_thin;
}

/* A value too large for it is one of a band that found no memory for larger points: it is not kept. */
static inline void band_history_add_thin(struct band *band, uint64_t time_ns, uint64_t bytes)
{
        struct band_point_thin *p = bytes <= UINT16_MAX ? fold_cell(&band_history_thin, band->history, time_ns) : NULL;
        uint16_t v = (uint16_t)bytes;

        if (!p)
                return;
        if (p->count == 0) {
                *p = (struct band_point_thin){ .mean = (float)v, .min = v, .max = v, .last = v, .count = 1 };
                return;
        }
        p->last = v;
        if (p->count < UINT16_MAX)
                p->count++;
        p->min = v < p->min ? v : p->min;
        p->max = v > p->max ? v : p->max;
        p->mean += ((float)v - p->mean) / (float)p->count;
}

/* Adds a sample to the history that a band has: mostly it falls into the same point as the one before. */
static inline void band_history_add(struct band *band, uint64_t time_ns, uint64_t bytes)
{
        if (!band->whole) {
                band_history_add_thin(band, time_ns, bytes);
                return;
        }
        struct band_point *p = fold_cell(&band_history, band->history, time_ns);
        float v = (float)bytes;

        p->last = v;
        if (p->count++ == 0) {
                p->min = p->max = p->mean = v;
                return;
        }
        p->min = v < p->min ? v : p->min;
        p->max = v > p->max ? v : p->max;
        p->mean += (v - p->mean) / (float)p->count;
}

/*
 * band_history.c: a band without a history gets one, and a `large` one the whole of it; when out of memory, it keeps
 * what it has.
 */
void bands_fit_history(struct bands *b, struct band *band, bool large);

/* cost_centres.c */
void cost_centre_define(struct model *m, const struct hw_event *e);

/* Replaces the cost centre of that id, or adds it; its texts are interned ones. False: it is left out. */
bool cost_centre_set(struct bands *b, const struct cost_centre *centre);

/* Reads u8 depth and that many ids at `at` into ids[MAX_STACK]; false when the payload is too short. */
bool cost_centre_stack(const struct hw_event *e, size_t at, uint32_t *ids, uint32_t *ret_depth);

/* Remembers centres that are used but not defined. */
void cost_centres_check(struct bands *b, const uint32_t *ids, uint32_t depth);

/* Whether a shown cost centre still lacks a definition. */
bool cost_centres_lacking(const struct bands *b);

#define STACK_TEXT_SIZE 513 /* of a stack as text, or of a frame's; NUL included */

/* The stack as text, "inner/middle/outer", "..." in place of what is too long, or MAIN; interned; NULL: no memory. */
const char *cost_centres_text(struct bands *b, const uint32_t *ids, uint32_t depth);

/* ipe.c */
void ipe_define(struct model *m, const struct hw_event *e);
struct info_table *ipe_find(const struct bands *b, uint64_t key);

/* Prefetches the tables of these keys: first all of their index slots, then the tables themselves. */
void ipe_prefetch(const struct bands *b, const uint64_t *keys, uint32_t n);

/* A text of the program, kept once; NULL when out of memory, at the cap, or when it is new while closed. */
const char *bands_keep_text(struct bands *b, const void *bytes, size_t size);

/* Interns the text at *at, which ends with a NUL or with the payload, and moves *at past it. */
const char *bands_string(struct bands *b, const struct hw_event *e, size_t *at);
