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
        const char *text;                                     /* begins with a word of its own, never a label */
        void (*append)(char *text, const struct evidence *e); /* in place of a text: appends one like it */
};

/* A condition of one expression, of the evidence `e`. */
#define CONDITION(function, expression)                                                                                \
        static bool function(const struct evidence *e)                                                                 \
        {                                                                                                              \
                return (expression);                                                                                   \
        }

/* The most urgent first; the last row of the last table always holds. */
extern const struct advice advice_of_end[], advice_of_growth[], advice_of_alerts[], advice_of_waiting[];

/* Of a process alone: why it has no log, and what to do. */
void append_process_only(char *text, const struct evidence *e);

/* Where to look for memory that no heap profile shows. */
void append_foreign_advice(char *text, const struct evidence *e);

/* Nothing needs to be done. */
bool is_nothing(const struct advice *a);

/* Live data is known too rarely, since the agent keeps to its budget: how to raise that. False: that is not why. */
static inline bool append_agents_budget(char text[ANSWER_TEXT], const struct evidence *e)
{
        if (e->over || !e->live || !is_by_agent(e) || !e->t->census || !e->trend || e->trend->has_verdict_in_ns)
                return false;
        append_text(text,
                    "Have live data measured more often, in up to 5 %% of its time: heapwatch ctl agent %s budget 5",
                    e->t->name);
        return true;
}

static inline bool has_profile(const struct evidence *e)
{
        return e->t->census || e->t->n_bands;
}

#endif
