/* SPDX-License-Identifier: BSD-3-Clause */
/* said.h - a target's answers (client/answers) for one frame: used often, computed once. */
#ifndef HW_CLIENT_CONSOLE_SCENE_SAID_H
#define HW_CLIENT_CONSOLE_SCENE_SAID_H

#include "client/answers/answers.h"
#include "client/console/scene/scene.h"
#include "client/console/table/value.h"

enum { ANSWER_WHOLE = 2 * ANSWER_TEXT + 64 };

/* The answers for the target used last: rows are drawn and sorted one after the other. */
struct answer_memo {
        const struct world_target *t;     /* NULL: none yet in this frame */
        const struct world_target *brief; /* of which `a` has at least answers_brief(); NULL: none yet */
        struct answers a;
        char whole[QUESTIONS][ANSWER_WHOLE]; /* with moments in the clock of the view; not safe for a terminal */
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

#endif
