/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * facts.h - the numbers that describe a target, each with one identity.
 *
 * DESIGN: a number is a row of facts.def: its id, its name, unit and kind, where it is carried, the event, file or
 * computation that it comes from, and one sentence of help. Whoever shows a number names its id; what is shown of all
 * numbers (metrics, METRICS.md) is made from the table; a view that shows a chosen few has a row with the id, and takes
 * name, unit and help from here.
 *
 * Unknown is NAN, nothing else, and never 0. A value is in the unit of its name: bytes, nanoseconds, a share from 0 to
 * 1, bytes per second, a count; bytes beyond 2^53 (9 PB) lose their last digits.
 *
 * To add a number that an event carries: its row, with the place CARRIED, and in the model's handler of the event
 * model_set_fact() or model_add_fact() with CARRIED_ID. It then travels by its key, which a reader that does not have
 * it ignores. Older numbers have fields of their own in the messages: the client's facts_get()
 * (client/world/state/facts.c) reads those places.
 *
 * A number with a history is also a row of series.def: the model takes samples of it (model_sample()), and all that
 * treats series alike, from the schema to the console's table, is made from that row.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum fact {
        FACT_NONE,
#define X(id, stem, unit, kind, place, source, help) FACT_##id,
#include "proto/facts/facts.def"
#undef X
        FACTS
};

/* FACT_IF_##place(text): the text of those that are CARRIED. */
#define FACT_IF_FIELD(...) FACT_LEAVE_OUT
#define FACT_IF_INNER(...) FACT_LEAVE_OUT
#define FACT_IF_CALL(...)  FACT_LEAVE_OUT
#define FACT_IF_CARRIED    FACT_KEEP
#define FACT_LEAVE_OUT(...)
#define FACT_KEEP(...) __VA_ARGS__

/* What the model keeps, and model_set_fact() and model_add_fact() accept. */
enum carried_fact {
#define X(id, stem, unit, kind, place, source, help) FACT_IF_##place(CARRIED_##id, )
#include "proto/facts/facts.def"
#undef X
        CARRIED_FACTS
};

enum fact_unit {
        FACT_COUNT, /* of things, or a number without unit */
        FACT_BYTES,
        FACT_NS,
        FACT_SHARE,
        FACT_RATE, /* bytes per second */
        FACT_WALL, /* Unix time in ns */
};

enum fact_kind {
        FACT_GAUGE,
        FACT_COUNTER, /* rises, and starts again with each run */
        FACT_HIDDEN,  /* no metric of heapwatch's own: it is the sum of one with labels, or computed from others */
};

/* What follows the stem of a name. */
#define FACT_SUFFIX_COUNT ""
#define FACT_SUFFIX_BYTES "_bytes"
#define FACT_SUFFIX_NS    "_ns"
#define FACT_SUFFIX_SHARE ""
#define FACT_SUFFIX_RATE  "_bps"
#define FACT_SUFFIX_WALL  "_wall_ns"

struct fact_row {
        const char *name; /* with its unit: "live_max_bytes" */
        const char *source, *help;
        enum fact_unit unit;
        enum fact_kind kind;
};

/* By id, from 1. */
extern const struct fact_row fact_rows[FACTS];

extern const enum fact carried_facts[CARRIED_FACTS];

enum series_id {
#define X(number, id, ...) SERIES_##id = (number),
#include "proto/facts/series.def"
#undef X
        SERIES_COUNT = 1 /* each id from 1 is used */
#define X(...) +1
#include "proto/facts/series.def"
#undef X
};

enum series_kind {
        SERIES_LEVEL,
        SERIES_MEASURED, /* a level, of which collections or censuses have one sample each */
        SERIES_AMOUNT,   /* of one collection */
        SERIES_TOTAL,    /* rises within a run */
};

/* How many of its seconds are kept (daemon/model/series.h). */
enum series_seconds { SERIES_FEW_SECONDS, SERIES_SOME_SECONDS, SERIES_ALL_SECONDS };

struct series_row {
        const char *name;
        const char *word, *phrase; /* in rules; in a sentence */
        const char *label;         /* in a table, in a legend */
        enum fact_unit unit;       /* bytes, ns or a count */
        enum series_kind kind;
        enum series_seconds seconds;
        bool minutes;    /* all of them are kept */
        bool of_process; /* looked at by the daemon: not in the log */
        bool judged;
};

/* By id, from 1; and the ids in the order of tables. */
extern const struct series_row series_rows[SERIES_COUNT];
extern const enum series_id series_in_order[SERIES_COUNT - 1];

/* What a message calls a number: a hash of its name, the same in every version. */
uint32_t facts_key(enum fact id);
