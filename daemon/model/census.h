/* SPDX-License-Identifier: BSD-3-Clause */
/* census.h - one heap profile sample: bytes per band at one moment. Duplicate rows of one band are added. */
#pragma once

#include "daemon/model/bands.h"

struct census_row {
        uint32_t band;    /* id in bands.h */
        uint32_t threads; /* of a band of threads, from outside; else 0 */
        uint64_t bytes;
        uint64_t closures; /* where census_has_closures() */
};

/* What most of a row is by the types of what its closures hold, read from outside. */
struct census_contents {
        uint32_t band;
        uint64_t bytes;    /* at most the row's */
        uint64_t of_bytes; /* those of the row of the earlier census that told it; 0: this one did */
        char name[160];    /* cut where it is longer; may contain anything */
};

struct census {
        uint64_t number; /* from 1 within the run; 0 = none yet */
        uint64_t time_ns;
        uint64_t total_bytes;          /* left-out rows included */
        const struct census_row *rows; /* in order of first appearance; valid until the next census begins */
        uint32_t n_rows;
        const struct census_row *groups; /* of threads, whose bytes are in rows of other bands; valid likewise */
        uint32_t n_groups;
        uint32_t n_counted;                     /* of the first so many rows the closures are known */
        const struct census_contents *contents; /* of some rows; valid likewise */
        uint32_t n_contents;
        uint64_t rows_left_out, bytes_left_out;
        bool unfinished;     /* the log ended inside it */
        bool outside;        /* read by another process: no collection was made for it */
        bool splits;         /* threads that wait at one place are a band of their own; else they are in other bands */
        bool counts_threads; /* all threads: the number is of its moment (model_threads) */
        bool tells_groups;   /* `groups` and rows of threads are all there are; else it is not known which there are */
        double spread;       /* of its bands, which are estimated (proto/base/outside_census.h); 0: they were counted */
};

/* Whether it is known how many closures each of its bands has: of those that were read from outside. */
static inline bool census_has_closures(const struct census *c)
{
        return c->n_rows > 0 && c->n_counted == c->n_rows && c->rows_left_out == 0;
}

/*
 * The totals of all censuses of a run, at the widths at which bands keep their histories.
 *
 * Bands appear after the run begins and start with the same width, so a cell here is never narrower than a band's and
 * begins where one of the band's cells begins: what a band held at the last census of a cell is the `last` of its
 * newest cell within. So a total and all its bands can be given for exactly the same censuses.
 *
 * All bytes 0 is an empty one. Must not be copied: the fold points into it.
 */
struct census_history {
        struct fold fold;
        struct cell cells[BAND_POINTS];
        uint64_t first_ns; /* of the oldest census whose bands are like the newest ones'; valid when there is one */
        double spread;     /* the largest of any */
};

/* Cell i; NULL when it is empty. It begins at fold_time_ns(). */
static inline const struct cell *census_history_at(const struct census_history *h, uint32_t i)
{
        return i < h->fold.n && h->cells[i].n ? &h->cells[i] : NULL;
}
