/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live_data.h - live data of a program that is read while it runs: how much the last major collection has left.
 *
 * It is known only right after one. The next minor collections add what they promote to the oldest generation, so when
 * they have come between two readings, its size says too much. But the runtime has written down itself what was left:
 * max_blocks, the size at which the oldest generation is collected next, is a multiple (-F, 2 unless it is given) of
 * it, and changes at major collections alone. Where both disagree, the live data of that collection is not known.
 */
#ifndef HW_INSPECT_GHC_LIVE_DATA_H
#define HW_INSPECT_GHC_LIVE_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/ghc/blocks.h"

struct live_data {
        struct generations last;
        bool begun;
        bool pending;   /* a major collection was seen; it is over when the next reading is of no other */
        bool is_clean;  /* and no other collection has followed it */
        double factor;  /* -F as found out; 0: not yet */
        uint64_t known; /* major collections whose live data was found out */
        uint64_t unknown;
};

/* A reading, read twice with the same result. True: *ret_bytes were live after the last major collection. */
bool live_data_update(struct live_data *l, const struct generations *g, uint64_t *ret_bytes);

/* What the generations hold, of closures that a collection has come to. */
uint64_t live_data_held_bytes(const struct generations *g);

/* Read twice, and nothing changed between. False: they changed, a collection is under way, or they cannot be read. */
bool live_data_read(struct generations *g, const struct program *p, bool *ret_readable);

#endif
