/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - lists and durations on command lines. */
#include "client/cli/options.h"

#include <string.h>

#include "proto/base/nearest.h"
#include "heapwatch/text.h"

int options_add(const struct command *c, struct text_list *list, const char *text)
{
        if (list->n == OPTIONS_MAX)
                return command_usage_error(c, "more than %d arguments of one kind", OPTIONS_MAX);
        list->items[list->n++] = text;
        return 0;
}

int options_pass_on(const struct command *c, struct text_list *list, const char *option, const char *value)
{
        int bad;

        if (list->n + 3 > OPTIONS_MAX) /* a NULL stands behind the last */
                return command_usage_error(c, "too many options");
        bad = options_add(c, list, option);
        return bad ? bad : options_add(c, list, value);
}

int options_split(const struct command *c, struct text_list *list, char *text)
{
        char *part;

        while ((part = strsep(&text, ","))) {
                if (!*part)
                        return command_usage_error(c, "an empty name in a list; expected a,b,c");
                if (options_add(c, list, part))
                        return EXIT_USAGE;
        }
        return 0;
}

static int unknown_kind(const struct command *c, const char *name)
{
        const char *names[32], *meant;
        size_t n = 0;

        for (int k = 1; k < 32; k++) {
                if (hw_kind_name((Hw__Kind)k))
                        names[n++] = hw_kind_name((Hw__Kind)k);
        }
        meant = nearest(name, names, n);
        if (meant)
                return command_usage_error(c, "unknown kind '%s'; did you mean '%s'?", name, meant);
        return command_usage_error(c, "unknown kind '%s'; expected a kind, e.g. heap, gc, census, note", name);
}

int options_kinds(const struct command *c, struct kind_list *list, char *text)
{
        struct text_list names = { .n = 0 };

        if (options_split(c, &names, text))
                return EXIT_USAGE;
        for (size_t i = 0; i < names.n; i++) {
                Hw__Kind kind = hw_kind_parse(names.items[i]);

                if (kind == HW__KIND__KIND_NONE)
                        return unknown_kind(c, names.items[i]);
                if (list->n == OPTIONS_MAX)
                        return command_usage_error(c, "too many kinds");
                list->items[list->n++] = kind;
        }
        return 0;
}

int options_of_trend(const struct command *c, struct text_list *list, int option, const char *value)
{
        const char *name = option == 'R' ? "--resolution" : option == 'L' ? "--leak-after" : "--limit";

        return options_pass_on(c, list, name, value);
}

int options_duration(const struct command *c, const char *option, const char *text, uint64_t *ret_ns)
{
        if (hw_parse_duration(text, ret_ns))
                return 0;
        return command_usage_error(c, "%s '%s' is not a duration; expected a duration, e.g. 500ms, 30s, 5m", option,
                                   text);
}
