/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * summary.h - one run of a finished log, or of a target up to now, in sections.
 *
 * The state is the world's; what the world does not keep (how many notes of each
 * sort, how many censuses) is counted here. A section shows only what the log
 * has: an unknown number has no line and no key.
 *
 * To add a section: two functions and a line of the table in sections.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/number_text.h"
#include "proto/base/json_out.h"
#include "client/world/state/world.h"
#include "proto/base/utf8.h"

#define SUMMARY_BANDS 10 /* largest ones shown in text */
#define NOTE_SORTS    6  /* indexed by Hw__Note__What */

struct summary {
        const struct world_target *t; /* borrowed */
        uint64_t notes[NOTE_SORTS];
        uint64_t censuses; /* complete ones; an unfinished last one is not counted */
        bool census_unfinished;
        bool last; /* the last run of its log: the stream's health belongs to it */
        bool now;  /* of a target: what only the messages of its whole life tell is unknown */
};

/* Counts what is in a message of the run. */
void summary_count(struct summary *s, const Hw__Update *update);

/* Of a target, from a daemon's snapshot. */
struct summary summary_of_now(const struct world_target *t);

/* What is derived from several messages; each member with whether it is known. */
struct elapsed {
        bool known;       /* span */
        uint64_t span_ns; /* from the oldest event to the newest */
        bool late;        /* the log begins well after the program's start: the oldest event is not near 0 */
        bool gc_known;    /* some collections were logged, all with their pauses */
        uint64_t gc_ns;   /* sum of the leaders' pauses */
        uint64_t mut_ns;  /* the rest of the span */
};

struct elapsed summary_elapsed(const struct summary *s);

struct summary_section {
        const char *key; /* of its object in JSON; NULL: its members are in the run's own object */
        void (*text)(FILE *to, const struct summary *s);
        /* Writes members of the object. */
        void (*json)(struct json_out *j, const struct summary *s);
        bool (*known)(const struct summary *s); /* whether there is anything to show; NULL: always */
};

extern const struct summary_section summary_sections[];
extern const size_t summary_n_sections;

/* The sections, by file. */
void identity_text(FILE *to, const struct summary *s);
void identity_json(struct json_out *j, const struct summary *s);
bool memory_known(const struct summary *s);
void memory_text(FILE *to, const struct summary *s);
void memory_json(struct json_out *j, const struct summary *s);
bool collections_known(const struct summary *s);
void collections_text(FILE *to, const struct summary *s);
void collections_json(struct json_out *j, const struct summary *s);
bool time_known(const struct summary *s);
void time_text(FILE *to, const struct summary *s);
void time_json(struct json_out *j, const struct summary *s);
bool profile_known(const struct summary *s);
void profile_text(FILE *to, const struct summary *s);
void profile_json(struct json_out *j, const struct summary *s);
bool ticks_known(const struct summary *s);
void ticks_text(FILE *to, const struct summary *s);
void ticks_json(struct json_out *j, const struct summary *s);
bool ticky_known(const struct summary *s);
void ticky_text(FILE *to, const struct summary *s);
void ticky_json(struct json_out *j, const struct summary *s);
bool growth_known(const struct summary *s);
void growth_text(FILE *to, const struct summary *s);
void growth_json(struct json_out *j, const struct summary *s);
bool notes_known(const struct summary *s);
void notes_text(FILE *to, const struct summary *s);
void notes_json(struct json_out *j, const struct summary *s);
bool threads_known(const struct summary *s);
void threads_text(FILE *to, const struct summary *s);
void threads_json(struct json_out *j, const struct summary *s);
bool stream_known(const struct summary *s);
void stream_text(FILE *to, const struct summary *s);
void stream_json(struct json_out *j, const struct summary *s);

/* "s" unless n is 1. */
static inline const char *plural(uint64_t n)
{
        return n == 1 ? "" : "s";
}
