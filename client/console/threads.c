/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c - the key W: what the threads of the shown target wait for, which the view Threads shows above the
 * scheduler. heapwatch-inspect reads them, and the console goes on meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "client/cli/endpoints.h"
#include "client/cli/inspecting.h"
#include "client/console/console.h"

struct console_threads {
        char target[WORLD_NAME_MAX + 1];
        size_t daemon;
        uint32_t run;
        struct inspecting *inspecting; /* NULL: done */
        struct thread_groups groups;   /* n_sentences 0: there are none */
};

void console_threads_destroy(struct console *c)
{
        if (!c->threads)
                return;
        inspecting_destroy(&c->threads->inspecting);
        thread_groups_done(&c->threads->groups);
        free(c->threads);
        c->threads = NULL;
        c->scene.groups = NULL;
}

static struct console_threads *start(const struct world_target *t, const char *endpoint, struct error *error)
{
        struct inspecting_options o = { .what = INSPECTING_THREADS, .most_bytes = INSPECTING_BYTES };
        struct console_threads *p;

        if (!endpoint_is_here(endpoint, error) || !world_process(t, &o.pid, error))
                return NULL;
        if (!(p = calloc(1, sizeof(*p)))) {
                (void)error_set(error, "out of memory");
                return NULL;
        }
        *p = (struct console_threads){ .daemon = t->daemon, .run = t->run };
        (void)snprintf(p->target, sizeof(p->target), "%s", t->name);
        if (!(p->inspecting = inspecting_new(&o, error))) {
                free(p);
                return NULL;
        }
        return p;
}

void console_threads_key(struct console *c)
{
        const struct world_target *t = c->scene.live ? c->scene.target : NULL;
        struct console_threads *p;
        struct error error;

        console_show(c, &view_threads);
        if (c->threads && c->threads->inspecting)
                return;
        if (!t) {
                console_notify(c, true, "no threads: only of a target that runs");
                return;
        }
        if (!(p = start(t, c->scene.endpoint(c->scene.endpoint_ctx, t->daemon), &error))) {
                console_notify(c, true, "no threads: %s", error.text);
                return;
        }
        console_threads_destroy(c);
        c->threads = p;
        console_notify(c, false, "reading the threads of %s ...", t->name);
}

bool console_threads_poll(struct console *c)
{
        struct console_threads *p = c->threads;
        struct error error;

        if (!p || !p->inspecting || !inspecting_is_done(p->inspecting))
                return false;
        char *text = inspecting_detach_text(p->inspecting);
        const bool good = inspecting_is_good(p->inspecting, &error) && (text || error_set(&error, "out of memory")) &&
                          thread_groups_read(&p->groups, text, &error);
        inspecting_destroy(&p->inspecting);
        free(text);
        if (good) {
                c->message[0] = '\0';
                return true;
        }
        thread_groups_done(&p->groups);
        console_notify(c, true, "no threads: %s", error.text);
        return true;
}

void console_threads_prepare(struct console *c)
{
        const struct console_threads *p = c->threads;
        const struct world_target *t = c->scene.target;
        const bool is_shown = p && t && p->daemon == t->daemon && p->run == t->run && !strcmp(p->target, t->name);

        c->scene.groups = is_shown && p->groups.n_sentences ? &p->groups : NULL;
}
