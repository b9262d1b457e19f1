/* SPDX-License-Identifier: BSD-3-Clause */
/* hits.h - what can be clicked: filled while drawing, looked up by a click. */
#ifndef HW_CLIENT_CONSOLE_DRAW_HITS_H
#define HW_CLIENT_CONSOLE_DRAW_HITS_H

#include "client/console/draw/canvas.h"
#include "proto/base/time.h"

enum { HITS_MAX = 1024 };

enum hit_what { HIT_NONE, HIT_TAB, HIT_COLUMN, HIT_ROW, HIT_TIME };

struct table;

struct hit {
        enum hit_what what;
        size_t index;        /* of the tab, column or row */
        struct table *table; /* of the column or row */
        struct area area;
        struct time_range range; /* HIT_TIME: what the area spans */
};

struct hits {
        struct hit list[HITS_MAX];
        size_t n;
};

/* Makes the area clickable, unless `h` is NULL (in a report). Areas beyond HITS_MAX are not clickable. */
void hits_add(struct hits *h, struct area area, struct hit hit);

/* What was drawn last at a place; NULL when nothing can be clicked there. */
const struct hit *hits_at(const struct hits *h, int row, int column);

#endif
