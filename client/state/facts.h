/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * facts.h - the numbers that describe a target, each with one identity.
 *
 * DESIGN: a number is a row of facts.def: its id, its name, unit and kind, where the newest message has it, the event,
 * file or computation that it comes from, and one sentence of help. Nothing else knows where a number is: whoever
 * shows one names its id and calls facts_get(). What is shown of all numbers (metrics, METRICS.md) is made from the
 * table; a view that shows a chosen few has a row with the id, and takes name, unit and help from here.
 *
 * Unknown is NAN, nothing else, and never 0. A value is in the unit of its name: bytes, nanoseconds, a share from 0 to
 * 1, bytes per second, a count; bytes beyond 2^53 (9 PB) lose their last digits.
 *
 * To add a number that a message has: its row in facts.def, with `make metrics` for METRICS.md. `place` is
 * FIELD(message, field) of struct world_target, INNER(message, message in it, field), or CALL(function) of facts.c.
 */
#ifndef HW_CLIENT_STATE_FACTS_H
#define HW_CLIENT_STATE_FACTS_H

#include "client/state/world.h"
#include "proto/base/json_out.h"

enum fact {
        FACT_NONE,
#define X(id, stem, unit, kind, place, source, help) FACT_##id,
#include "client/state/facts.def"
#undef X
        FACTS
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

struct fact_row {
        const char *name; /* with its unit: "live_max_bytes" */
        const char *source, *help;
        enum fact_unit unit;
        enum fact_kind kind;
};

/* By id, from 1. */
extern const struct fact_row fact_rows[FACTS];

/* The newest value, NAN: unknown. */
double facts_get(const struct world_target *t, enum fact id);

/* The same as an integer; `otherwise` when it is unknown. */
uint64_t facts_get_u64(const struct world_target *t, enum fact id, uint64_t otherwise);
bool facts_is_known(const struct world_target *t, enum fact id);

/*
 * Members of a JSON object: the number as such under `key`, or, in the second, each of the n ids under the name of its
 * row in camelCase ("liveBytes"). Nothing for what is unknown.
 */
void facts_print(struct json_out *j, const char *key, const struct world_target *t, enum fact id);
void facts_print_all(struct json_out *j, const struct world_target *t, const enum fact *ids, size_t n);

/* The id of a name, or FACT_NONE. */
enum fact facts_find(const char *name);

#endif
