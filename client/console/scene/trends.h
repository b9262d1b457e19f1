/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trends.h - trends and alerts as values of columns. Everything is absent until
 * the daemon has sent it.
 */
#pragma once

#include "client/answers/answers.h"
#include "client/console/scene/scene.h"
#include "client/console/table/value.h"
#include "proto/base/severity.h"

/* `trend` may be NULL. */
struct value trend_verdict(const Hw__Trend *trend); /* "leak", "growing", "rising", "steady", "unknown" */
struct value trend_gravity(const Hw__Trend *trend); /* the order of these: leak last */
struct value trend_slope(const Hw__Trend *trend);   /* per second; provisional before there is a verdict */
struct value trend_slope_low(const Hw__Trend *trend);
struct value trend_slope_high(const Hw__Trend *trend);
struct value trend_onset(const struct scene *s, const struct world_target *t, const Hw__Trend *trend); /* UNIT_WHEN */

/* A moment of the program, for columns of UNIT_WHEN. */
struct value value_when(const struct scene *s, const struct world_target *t, bool known, uint64_t time_ns);
enum tint trend_tint(const Hw__Trend *trend);
bool trend_known(const Hw__Trend *trend); /* there is a verdict other than "unknown" */

/* Statistics over the published window that comes nearest to `window_ns` (0: the whole run); NULL: there is none. */
const Hw__WindowStatistics *trend_window(const Hw__Trend *trend, uint64_t window_ns);

/* The trend by which a target is judged: of live bytes, or else of RSS; NULL when there is none. */
const Hw__Trend *target_trend(const struct world_target *t);

/* Firing alerts, each leak counted once (client/answers/alert_parts.c); absent while alerts are not published. */
struct value alerts_firing(const struct world_target *t);
enum tint severity_tint(enum severity severity);
enum tint alerts_tint(const struct world_target *t); /* of the most severe of these */

/* said.c: a target's answers (client/answers) for one frame: used often, computed once. */

enum { ANSWER_WHOLE = 2 * ANSWER_TEXT + 64 };

/* The answers for the target used last: rows are drawn and sorted one after the other. */
struct answer_memo {
        const struct world_target *t;     /* NULL: none yet in this frame */
        const struct world_target *brief; /* of which `a` has at least answers_brief(); NULL: none yet */
        struct answers a;
        char whole[QUESTIONS][ANSWER_WHOLE]; /* with moments in the clock of the view; not safe for a terminal */
        char alerts[160];                    /* what fires: "threads-pile-up (warning)", or "" */
        char headline[ANSWER_WHOLE + 32];    /* answers_headline if something grows, otherwise what is wrong */
};

/* Valid until it, or the next one, is called with another target. */
const struct answer_memo *scene_answered(const struct scene *s, const struct world_target *t);

/* What tables of targets show of it: answers_brief(), which all rows are sorted by. */
const struct answers *scene_brief(const struct scene *s, const struct world_target *t);

enum tint answer_tint(enum answer_tone tone);

/* Numbers of a target's answers as values of columns. */
struct value answered_word(const struct scene *s, const struct world_target *t);
struct value answered_rank(const struct scene *s, const struct world_target *t);  /* the worst is the greatest */
struct value answered_slope(const struct scene *s, const struct world_target *t); /* per second; or provisional */
struct value answered_onset(const struct scene *s, const struct world_target *t); /* UNIT_WHEN */
