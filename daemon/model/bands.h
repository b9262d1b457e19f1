/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bands.h - what censuses break memory down by: a dense table of bands.
 *
 * A band is found by its key: the label's text, the stack of cost-centre ids,
 * or the info table's number. Ids are dense from 1, in order of first
 * appearance. The first LIMIT_FULL_BANDS bands have a history of their own, a
 * short one while they are small (BAND_POINTS_THIN); the others keep totals.
 * Beyond LIMIT_BANDS a band is left out, and counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/model/limits.h"
#include "proto/facts/fold.h"
#include "proto/base/limits.h"

struct cost_centre {
        uint32_t id;
        const char *label; /* NULL: used but not defined by the log */
        const char *module;
        const char *source; /* file:span */
        bool caf;
};

struct info_table {
        uint64_t key;
        const char *name, *closure_type, *type, *label, *module, *source;
        uint32_t band; /* its id; 0: none yet */
        bool named;    /* the name is not empty */
};

/*
 * History of one band over the whole run: a fold of cells, packed. A census adds to the same one of most bands, so the
 * points of BAND_STRIDE bands are interleaved: memory fills up as time goes on.
 *
 * Most bands of most programs are in no picture: beyond the first BAND_WHOLE_FIRST, a band has BAND_POINTS_THIN small
 * points until it has BAND_WHOLE_BYTES, or 1/BAND_WHOLE_PART of a census; then, from there on, BAND_POINTS.
 */
#define BAND_POINTS         64u
#define BAND_POINTS_THIN    8u
#define BAND_WHOLE_FIRST    32u
#define BAND_WHOLE_BYTES    (64u * 1024)
#define BAND_WHOLE_PART     256u
#define BAND_STRIDE         16u
#define BAND_FIRST_WIDTH_NS UINT64_C(1000000000)

/*
 * What a band had in all its censuses, as sums about its first sample, which struct band has. That costs a handful of
 * additions per sample, and sums about the means follow without loss of precision: the sum of squares of n samples
 * about their mean is at least 1/n of the square of the largest deviation, so rounding costs at most n times 1e-16 of
 * it.
 */
struct band_sums {
        uint64_t n;
        double t, v, tt, tv, vv; /* of deviations from its time in seconds and its bytes, and of their products */
        double min, max;
        double last; /* at last_ns */
        uint64_t last_ns;
};

enum band_kind { BAND_TEXT, BAND_STACK, BAND_KEY }; /* what its rows are */

struct band {
        uint32_t id;
        uint8_t kind;          /* enum band_kind */
        uint8_t depth;         /* -hc: of the stack */
        bool sampled;          /* a finished census had a row of it */
        bool whole;            /* its history has BAND_POINTS, or it gets none */
        const char *label;     /* text of the census row; -hi: the name when defined, else the key's text */
        uint64_t key;          /* -hi: the info table's number; else 0 */
        const uint32_t *stack; /* -hc: cost-centre ids, innermost first */
        const struct info_table *info_table; /* -hi; NULL when not defined (yet) */
        uint64_t first_seen_ns;
        uint64_t bytes;                 /* in the newest finished census; 0 when it had no row */
        uint64_t first_ns, first_bytes; /* its first sample: time of the census, size; valid when sampled */
        struct band_sums *sums;         /* of all samples, absent rows not counted; NULL until the second */
        struct fold *history;           /* NULL before the first sample, and for bands beyond LIMIT_FULL_BANDS */
};

/* Point i of a band's history, without last_ns; false when there is none, or no sample fell into it. */
bool band_point(const struct band *band, uint32_t i, struct cell *ret);

struct bands;

uint32_t bands_count(const struct bands *b);

/*
 * id from 1 to bands_count; NULL outside. Pointers are valid until the run
 * ends; band.label may change once, when its info table is defined late.
 */
const struct band *bands_get(const struct bands *b, uint32_t id);

/* The band's samples since it was first seen; may be empty. */
struct trend_cell band_total(const struct band *band);

/* A cost centre by its id; label is NULL when the log never defined it. */
struct cost_centre bands_cost_centre(const struct bands *b, uint32_t id);

/* Whether both are frames of sampled stacks (FRAME_CENTRES) with one name, whatever their places. */
bool bands_is_same_frame(const struct bands *b, uint32_t id, uint32_t other);

uint64_t bands_left_out(const struct bands *b);

/* Whether new ones are left out now: model_close_bands. */
bool bands_closed(const struct bands *b);
uint64_t bands_info_tables(const struct bands *b);
uint64_t bands_info_tables_left_out(const struct bands *b);
uint64_t bands_cost_centres_left_out(const struct bands *b);
