/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collections.h - single collections of one run, a bounded number of them. When
 * there are more, the longer of two neighbours is kept, and a major one before
 * any other: what a chart of pauses must not lose.
 */
#ifndef HW_CLIENT_HISTORY_COLLECTIONS_H
#define HW_CLIENT_HISTORY_COLLECTIONS_H

#include "heapwatch/wire.h"

#define COLLECTIONS_MOST 4096

struct collections {
        Hw__Collection *list; /* owned; in order of arrival */
        size_t n;
        uint64_t left_out;
};

/* Copies those of `gc`. 0 or -ENOMEM. */
int collections_add(struct collections *c, const Hw__Gc *gc);
/* A copy of all. 0 or -ENOMEM (*ret is empty). */
int collections_copy(const struct collections *c, struct collections *ret);
void collections_done(struct collections *c);

#endif
