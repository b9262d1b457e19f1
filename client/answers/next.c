/* SPDX-License-Identifier: BSD-3-Clause */
/* next.c - what to do next: the first advice that applies (advice.h). */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "client/answers/advice.h"

static const struct advice *find(const struct evidence *e)
{
        static const struct advice *const tables[] = { advice_of_end, advice_of_growth, advice_of_alerts,
                                                       advice_of_waiting };

        for (size_t i = 0;; i++) /* ends: the last row of the last table always holds */
                for (const struct advice *a = tables[i]; a->name; a++)
                        if (a->when(e))
                                return a;
}

const char *advice_name(const struct evidence *e)
{
        return find(e)->name;
}

void answer_next(struct target_answer *a, const struct evidence *e)
{
        const struct advice *found = find(e);
        const char *before = (e->grows || e->rise) && e->ending >= ENDED_BADLY && e->ending <= LOST
                                     ? "Before it runs again: "
                             : e->verdict == HW__VERDICT__VERDICT_GROWING && !e->over ? "If it goes on: "
                                                                                      : "";
        size_t n = strlen(before);

        append_text(a->text, "%s", before);
        if (found->text)
                append_text(a->text, "%s", found->text);
        else
                found->append(a->text, e);
        if (n)
                a->text[n] = (char)tolower((unsigned char)a->text[n]);
        a->key = found->name;
        a->tone = is_nothing(found) ? ANSWER_DIM : ANSWER_WARN;
}
