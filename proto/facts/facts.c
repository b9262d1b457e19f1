/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/facts/facts.h"

const struct fact_row fact_rows[FACTS] = {
#define X(id, stem, u, k, place, src, text)                                                                            \
        [FACT_##id] = { .name = stem FACT_SUFFIX_##u, .source = src, .help = text, .unit = FACT_##u, .kind = FACT_##k },
#include "proto/facts/facts.def"
#undef X
};

const enum fact carried_facts[CARRIED_FACTS] = {
#define X(id, stem, unit, kind, place, source, help) FACT_IF_##place([CARRIED_##id] = FACT_##id, )
#include "proto/facts/facts.def"
#undef X
};

/* The words of the columns. */
enum { LOG = false, PROCESS = true, UNJUDGED = false, JUDGED = true, MINUTES_FEW = false, MINUTES_ALL = true };

const struct series_row series_rows[SERIES_COUNT] = {
#define X(number, id, called, u, k, origin, secs, mins, is_judged, in_rules, in_text, in_tables, meaning)              \
        [number] = { .name = called,                                                                                   \
                     .word = in_rules,                                                                                 \
                     .phrase = in_text,                                                                                \
                     .label = in_tables,                                                                               \
                     .unit = FACT_##u,                                                                                 \
                     .kind = SERIES_##k,                                                                               \
                     .seconds = SERIES_##secs##_SECONDS,                                                               \
                     .minutes = MINUTES_##mins,                                                                        \
                     .of_process = origin,                                                                             \
                     .judged = is_judged },
#include "proto/facts/series.def"
#undef X
};

const enum series_id series_in_order[SERIES_COUNT - 1] = {
#define X(number, id, ...) SERIES_##id,
#include "proto/facts/series.def"
#undef X
};

/* FNV-1a. */
uint32_t facts_key(enum fact id)
{
        uint32_t key = UINT32_C(2166136261);

        for (const char *c = fact_rows[id].name; *c; c++)
                key = (key ^ (unsigned char)*c) * UINT32_C(16777619);
        return key;
}
