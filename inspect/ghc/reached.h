/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reached.h - whether what roots reach is the live data of a program that was not stopped for it.
 *
 * They lie between what is reached for certain and that with all that is in doubt (reach_census()). Where a tenth of
 * the one or more is missing to the other, they are not known. And each major collection shows whether it was right:
 * one that leaves more than was reached and has come since says that there is a root which is not known; from then on
 * nothing is believed.
 */
#ifndef HW_INSPECT_GHC_REACHED_H
#define HW_INSPECT_GHC_REACHED_H

#include <stdbool.h>
#include <stdint.h>

struct reach_result {
        uint64_t least_bytes, most_bytes; /* reached for certain; with what is in doubt */
        uint64_t held_bytes;              /* by the generations */
        uint64_t nursery_bytes;           /* that nurseries have room for */
        uint32_t major_collections;       /* that there were before it */
};

struct reached {
        bool is_known;              /* what is reached was found since the newest major collection */
        bool is_wrong;              /* a collection has contradicted it */
        struct reach_result newest; /* that was believed */
};

/* True: what is reached for certain are the live data. */
bool reached_add(struct reached *r, const struct reach_result *found);

/*
 * The nth major collection has left `live_bytes`, before which the generations held `held_bytes`. False: what
 * was found before it was wrong.
 */
bool reached_compare(struct reached *r, uint32_t nth, uint64_t live_bytes, uint64_t held_bytes);

#endif
