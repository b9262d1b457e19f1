/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/console/subject.h"

#include <stdio.h>
#include <string.h>

#include "client/cli/endpoints.h"

bool console_subject_begin(struct console_subject *s, const struct console *c, const struct world_target *t,
                           struct inspecting_options *options, struct error *error)
{
        *s = (struct console_subject){ .daemon = t->daemon, .run = t->run };
        (void)snprintf(s->target, sizeof(s->target), "%s", t->name);
        return endpoint_is_here(c->scene.endpoint(c->scene.endpoint_ctx, t->daemon), error) &&
               world_process(t, &options->pid, error) && (s->inspecting = inspecting_new(options, error));
}

bool console_subject_is(const struct console_subject *s, const struct world_target *t)
{
        return t && s->daemon == t->daemon && s->run == t->run && !strcmp(s->target, t->name);
}
