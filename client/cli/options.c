/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - names of kinds and of series on command lines. */
#include "client/cli/options.h"

#include <string.h>

#define NUMBERS_MAX 64 /* kinds and series have numbers below it */

const char *options_nth_kind(size_t n)
{
        for (int k = 1; k < NUMBERS_MAX; k++)
                if (hw_kind_name((Hw__Kind)k) && !n--)
                        return hw_kind_name((Hw__Kind)k);
        return NULL;
}

const char *options_nth_series(size_t n)
{
        for (int s = 1; s < NUMBERS_MAX; s++)
                if (hw_series_name((Hw__Series)s) && !n--)
                        return hw_series_name((Hw__Series)s);
        return NULL;
}

const char *judging_given(const struct judging *j)
{
        return j->rules.n      ? "--rules"
               : j->resolution ? "--resolution"
               : j->leak_after ? "--leak-after"
               : j->limit      ? "--limit"
                               : NULL;
}

int options_kinds(const struct command *c, const struct option *o, struct kind_list *list, char *text)
{
        char meant[512], *part;

        while ((part = strsep(&text, ","))) {
                Hw__Kind kind = hw_kind_parse(part);

                if (kind == HW__KIND__KIND_NONE)
                        return option_error(c, o, "unknown kind '%s'; %s", part,
                                            option_meant(o, part, NULL, meant, sizeof(meant)));
                if (list->n == OPTIONS_MAX)
                        return option_error(c, o, "too many kinds");
                list->items[list->n++] = kind;
        }
        return 0;
}
