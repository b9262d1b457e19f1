/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * account.h - a post-mortem: how a run ended, its memory then, the answers, and the facts behind them, most important
 * first. As rows, so that terminal, console and page say the same. Moments are numbers, as in answers.h; texts may
 * contain what the watched program wrote: make them safe for the place where they are shown.
 */
#ifndef HW_CLIENT_ANSWERS_ACCOUNT_H
#define HW_CLIENT_ANSWERS_ACCOUNT_H

#include "client/answers/answers.h"

#define ACCOUNT_BANDS 5 /* that grew most */
#define ACCOUNT_NOTES 5 /* newest */
#define ACCOUNT_ROWS  (9 + QUESTIONS + ANSWER_CAVEATS + ACCOUNT_BANDS + ACCOUNT_NOTES + 8)

/* How a run ended. */
enum account_end { END_RUNS, END_WELL, END_BADLY, END_UNKNOWN };

struct account_row {
        const char *key; /* "end", "memory", "since", ...; rows of one subject follow each other. Static */
        struct target_answer says;
};

struct account {
        enum account_end end;
        size_t n;
        struct account_row rows[ACCOUNT_ROWS]; /* what is unknown is left out; the first one is the end */
};

enum account_end account_end(const struct world_target *t);

/* `live`: a daemon follows it; false: a finished log. Cannot fail. */
void account_of(struct account *ret, const struct world_target *t, bool live);

/* Bands by what they gained since their first census, largest first. Returns how many. */
size_t account_bands(const struct world_target *t, const struct world_band *grown[ACCOUNT_BANDS]);

/* The lowest limit that is known, and its name: "the heap limit -M"; false: none. */
bool account_limit(const struct world_target *t, uint64_t *ret_bytes, const char **ret_words);

/* What counts towards that limit and its name ("its heap"); false: unknown, also when no limit is known. */
bool account_used(const struct world_target *t, const char **ret_name, uint64_t *ret_bytes);

#endif
