/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history_query.h - a request to /api/history: the parameters of docs/WEB.md
 * parsed and checked, then resolved against a world into single pasts.
 */
#pragma once

#include "client/world/state/world.h"
#include "client/answers/api/state_json.h"

#define QUERY_TARGETS 32
#define QUERY_BANDS   400
#define QUERY_TOP     200
#define QUERY_ITEMS   400
#define QUERY_POINTS  100000

struct history_query {
        struct detail targets; /* the names; `all` is not used */
        Hw__Series series[SERIES_COUNT];
        size_t n_series;
        uint32_t bands[QUERY_BANDS];
        size_t n_bands;
        uint64_t top; /* N of bands=topN; 0: not given */
        bool has_from, has_to;
        double from_s, to_s; /* event time; a negative `from` counts back from the newest */
        double step_s;       /* 0: the finest */
        uint64_t points;     /* about how many of each at most, instead of a step; 0: not given */
};

/* A parameter that a query may have. */
struct query_parameter {
        const char *name, *expected;
        bool (*take)(void *to, const char *text); /* NULL: a number, in the next five */
        bool list;                                /* "a,b,c": each part is taken */
        const char *before;                       /* the number: "top", or "" */
        uint64_t least, most;
        size_t at; /* where it goes, a uint64_t */
};

/* Takes all parameters of "a=1&b=2" (NULL: none) that `known` has. False with a message, also about further ones. */
bool query_parse(const char *query, const struct query_parameter *known, size_t n, void *to, struct error *error);

/* False with a message in `error`. */
bool history_query_parse(struct history_query *q, const char *query, struct error *error);

/* One wanted past. */
struct wanted {
        size_t daemon;
        char target[WORLD_NAME_MAX + 1];
        uint32_t run;
        bool known;        /* the world has this target */
        Hw__Series series; /* SERIES_NONE: a band */
        uint32_t band;
        char *label;             /* owned */
        struct time_range range; /* to_ns UINT64_MAX: no end */
        uint64_t step_ns;
};

/* Fills `list` (QUERY_ITEMS). False with a message when there would be more, or when out of memory. */
bool history_query_resolve(const struct history_query *q, const struct world *world, struct wanted *list, size_t *ret_n,
                           struct error *error);

void wanted_done(struct wanted *list, size_t n);
