/* SPDX-License-Identifier: BSD-3-Clause */
/* trend.h - how a target's trends are shown: which rows, in which order, as text or JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/world/state/world.h"

enum trend_order {
        ORDER_GAINED, /* largest certain gain first */
        ORDER_SLOPE,
        ORDER_SIZE,
        ORDER_NAME
};

struct trend_show {
        enum trend_order order; /* of bands; series have their own */
        size_t bands;           /* most rows of bands */
        bool windows;           /* the statistics of each window, too */
        bool live;              /* a daemon follows the runs */
};

/* A line a target, the worst first: its word, and in one sentence what is known. */
void trend_list(FILE *to, const struct world_target *const *all, size_t n, bool live);

/* For people. */
void trend_text(FILE *to, const struct world_target *t, const struct trend_show *show);

/* One object on one line: target, run, trends (the wire's message, all of them), labels of bands by id. */
void trend_json(FILE *to, const struct world_target *t, bool live);

/* The strongest verdict on live data, heap and RSS, or on a band. */
Hw__Verdict trend_worst(const struct world_target *t);
