/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.h - what to do next, as tables: the first row whose condition holds is the advice. Private to this room.
 *
 * A row says what the evidence supports and no more: which file to read, which profile to switch on, which command to
 * type. To add one: a condition, its words, a line of the table where it belongs, a case in
 * tests/unit/answers/test_answers.c.
 */
#ifndef HW_CLIENT_ANSWERS_ADVICE_H
#define HW_CLIENT_ANSWERS_ADVICE_H

#include "client/answers/evidence.h"

struct advice {
        const char *name; /* NULL: the end of a table */
        bool (*when)(const struct evidence *e);
        void (*say)(char *text, const struct evidence *e); /* appends; begins with a word of its own, never a label */
};

/* The most urgent first; the last row of the last table always holds. */
extern const struct advice advice_of_end[], advice_of_growth[], advice_of_alerts[], advice_of_waiting[];

/* Nothing needs to be done. */
bool is_nothing(const struct advice *a);

static inline bool has_profile(const struct evidence *e)
{
        return e->t->census || e->t->n_bands;
}

#endif
