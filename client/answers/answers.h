/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers.h - what every screen says first about a target: is anything wrong and what, since when, what grows, where,
 * why it is kept, until when, what to do next. Decided and worded only here, so that console, page and all other faces
 * agree.
 *
 * DESIGN: pure: a target of the world in, texts out. No text contains a time of day: a moment is a number (event time)
 * between two texts, and the face shows it in the clock that it uses everywhere else. An answer changes only when the
 * state does, or with the age of a number that is old. Texts may contain what the watched program wrote: make them safe
 * for the place where they are shown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/world/state/world.h"
#include "heapwatch/wire.h"
#include "proto/base/severity.h"

#define ANSWER_TEXT    512 /* bytes of a text; longer ones are cut at a whole character */
#define ANSWER_CAVEATS 6

enum target_question {
        QUESTION_WRONG, /* is anything wrong, and what */
        QUESTION_SINCE, /* since when, and what happened then */
        QUESTION_GROWS, /* which band: name, type, module, source location, how fast */
        QUESTION_WHERE, /* live data, memory held by the runtime, or outside the heap */
        QUESTION_WHY,   /* what keeps it alive; the only answer that may be empty */
        QUESTION_UNTIL, /* when the limit is reached */
        QUESTION_NEXT,  /* what to do */
        QUESTIONS
};

enum answer_tone { ANSWER_DIM, ANSWER_GOOD, ANSWER_WARN, ANSWER_BAD }; /* in order of urgency */

struct target_answer {
        enum answer_tone tone;
        const char *key; /* of what is said, for programs: static; NULL: it has none yet */
        bool has_time;
        uint64_t time_ns;        /* event time, shown between the texts */
        char text[ANSWER_TEXT];  /* "since " */
        char after[ANSWER_TEXT]; /* ", 20 ms after the marker “cache on”"; usually "" without a time */
};

/*
 * A moment of a run for texts on standard output: "2026-11-25T23:31:26Z (1m 00s into the run)", or the latter alone
 * while the run's start is not known. Returns `out`.
 */
#define ANSWER_MOMENT 96
char *answer_moment(char out[ANSWER_MOMENT], const struct world_target *t, uint64_t time_ns);

/* The word while there is no verdict and no rise. */
#define STEADY_SO_FAR "steady so far"

struct answers {
        struct target_answer answer[QUESTIONS];
        /*
         * For tables: "leak", "growing", "rising", "steady", "steady so far" (no verdict yet, and no rise), "unknown";
         * how it ended, if badly: "killed", "crashed", ...
         */
        const char *word;
        enum answer_tone tone; /* of the word */
        double rank;           /* how serious it is, by kind and then by nearness of its limit or rate of growth */
        Hw__Verdict verdict;   /* of what grows, wherever that is; what all faces show for a target */
        bool has_slope, has_onset, has_limit, has_live_age;
        double slope;         /* bytes per s, of what was judged */
        uint64_t onset_ns;    /* event time */
        bool ended_rising;    /* it ended in a rise that has no verdict: how it ended is its headline */
        bool onset_is_latest; /* it may have begun at any time before: what is known begins with the rise */
        uint64_t limit_ns;    /* until the limit is reached by the rate, 0: at any time; never of a run that is over */
        uint64_t live_age_ns; /* of live data that were not measured lately */
        uint32_t culprit;     /* id of the band that grows most; 0: unknown */
        char culprit_text[160]; /* its label, or what grows otherwise ("foreign", "threads"), or "" */
        char note[160];         /* what the program said near the onset and may be the cause, or "" */
        size_t n_caveats;       /* reasons to trust all this less: loss, a late start, ... */
        char caveats[ANSWER_CAVEATS][ANSWER_TEXT];
};

/* The share of all time in collections that the heap profile's censuses caused, 0..1; false: unknown, or none. */
bool answers_census_share(const struct world_target *t, double *ret);

/*
 * What collections waited for capabilities to stop: "5.05 s, 18.7 % of the run", "not known: ...". Returns `out`.
 */
#define SYNC_TEXT 128
char *answers_sync_text(char *out, size_t size, const struct world_target *t);

/* Why there is nothing of its threads and capabilities: "not known from outside; ...". */
const char *answers_no_scheduler(const struct world_target *t);

/* Answers from what is known of `t`. `live`: a daemon follows it; false: a finished log. Cannot fail. */
void answers_of(struct answers *ret, const struct world_target *t, bool live);

/* The same without what only a single target's picture shows: all answers but the first, the caveats. For tables. */
void answers_brief(struct answers *ret, const struct world_target *t, bool live);

/* "Is anything wrong?"; and a short key for JSON and tests: "wrong". Static. */
const char *question_text(enum target_question q);
const char *question_key(enum target_question q);

/* "good", "warn" ...; static. */
const char *answer_tone_name(enum answer_tone tone);

/* The answer as one text; `time` is its moment in the clock of the face, ignored when it has none. Returns `out`. */
char *answer_whole(char *out, size_t size, const struct target_answer *a, const char *time);

/* Whether the headline is of growth or a rise: what grows, how fast, since when. */
bool answers_grow(const struct answers *a);

/* It has no verdict of growth: what it says of growth is an early warning. */
static inline bool answers_rises(const struct answers *a)
{
        return a->verdict < HW__VERDICT__VERDICT_GROWING;
}

/* What began at the onset, for a mark in a chart. Static. */
static inline const char *answers_onset_words(const struct answers *a)
{
        return a->onset_is_latest ? "rise began before" : answers_rises(a) ? "rise began" : "growth began";
}

/*
 * The shortest form, what matters most first, so that a narrow place cuts what matters least: "leak: +912 KiB/s since
 * 5m 00s (cache on), main:Main.CartItem, limit in 42m". `onset` is the onset in the clock of the face. Returns `out`.
 */
char *answers_headline(char *out, size_t size, const struct answers *a, const char *onset);

/* What follows its colon: "+912 KiB/s since 5m 00s (cache on), ..."; for a column beside the word. Returns `out`. */
char *answers_growth(char *out, size_t size, const struct answers *a, const char *onset);

/*
 * account.c: a post-mortem: how a run ended, its memory then, the answers, and the facts behind them, most important
 * first. As rows, so that terminal, console and page say the same. Moments are numbers, as in answers.h; texts may
 * contain what the watched program wrote: make them safe for the place where they are shown.
 */

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

/* alert_parts.c: one leak counts as one alert: which alerts of a target are only details of another one. */

/*
 * The alert that `a` is a part of according to its daemon (Alert.part_of), in the same list, which may be NULL. NULL:
 * it is not a part, or the other one is not in the list.
 */
const Hw__Alert *alert_head(const Hw__Alerts *all, const Hw__Alert *a);

/* How severe it is with its parts: what decides its colour and order. */
enum severity alert_severity(const Hw__Alert *a);

/* It fires, is not silenced and not a part of another one: it counts on every face. */
bool alert_counts(const Hw__Alerts *all, const Hw__Alert *a);

/* How many alerts in that state are neither part of another one nor silenced. */
size_t alerts_counted(const Hw__Alerts *all, Hw__Alert__State state);

/* The most severe of these (alert_severity); NULL: none. */
const Hw__Alert *alerts_gravest(const Hw__Alerts *all, Hw__Alert__State state);

/* How many in that state are parts of `head`. */
size_t alerts_below(const Hw__Alerts *all, const Hw__Alert *head, Hw__Alert__State state);
