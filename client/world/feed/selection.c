/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/world/feed/selection.h"

#include <string.h>

#include "client/world/feed/locate.h"

int selection_sort(const struct command *c, struct selection *s)
{
        const size_t by_option = s->targets.n;

        for (size_t i = 0; i < s->operands.n; i++) {
                const char *what = s->operands.items[i];
                (void)text_list_add(c, locate_is_log(what) ? &s->files : &s->targets, what);
        }
        if (s->files.n && s->endpoints.n)
                return command_usage_error(c, "files and --connect exclude each other");
        if (s->files.n && s->targets.n > by_option)
                return command_usage_error(c, "%s is not a file; files and targets exclude each other",
                                           s->targets.items[by_option]);
        return 0;
}

int selection_check(const struct command *c, struct selection *s)
{
        const char *option = judging_given(&s->judging);
        const int status = selection_sort(c, s);

        if (status == 0 && !s->files.n && option)
                return command_usage_error(c, "%s belongs to files; a daemon has its own", option);
        return status;
}

bool selection_has_target(const struct selection *s, const char *name)
{
        for (size_t i = 0; i < s->targets.n; i++)
                if (!strcmp(s->targets.items[i], name))
                        return true;
        return s->targets.n == 0;
}

struct feed *selection_open(const struct selection *s, const Hw__Kind *kinds, size_t n_kinds, struct error *error)
{
        const struct hw_subscriber_options o = {
                .endpoints = s->endpoints.n ? s->endpoints.items : NULL,
                .n_endpoints = s->endpoints.n,
                .targets = s->targets.n ? s->targets.items : NULL,
                .n_targets = s->targets.n,
                .kinds = n_kinds ? kinds : NULL,
                .n_kinds = n_kinds,
        };

        return s->files.n ? feed_files_wanted(s->files.items, s->files.n, &s->judging, &s->wish, error)
                          : feed_connect(&o, error);
}
