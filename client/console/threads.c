/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c - the key W: what the threads of the shown target wait for, which the view Threads shows above the
 * scheduler. heapwatch-inspect reads them, and the console goes on meanwhile.
 */
#include <stdlib.h>

#include "client/console/subject.h"

struct console_threads {
        struct console_subject subject;
        struct thread_groups groups; /* n_sentences 0: there are none */
};

void console_threads_destroy(struct console *c)
{
        if (!c->threads)
                return;
        inspecting_destroy(&c->threads->subject.inspecting);
        thread_groups_done(&c->threads->groups);
        free(c->threads);
        c->threads = NULL;
        c->scene.groups = NULL;
}

static struct console_threads *start(const struct console *c, const struct world_target *t, struct error *error)
{
        struct inspecting_options o = { .what = INSPECTING_THREADS, .most_bytes = INSPECTING_BYTES };
        struct console_threads *p = calloc(1, sizeof(*p));

        if (!p)
                (void)error_set(error, "out of memory");
        else if (console_subject_begin(&p->subject, c, t, &o, error))
                return p;
        free(p);
        return NULL;
}

void console_threads_key(struct console *c)
{
        const struct world_target *t = c->scene.live ? c->scene.target : NULL;
        struct console_threads *p;
        struct error error;

        console_show(c, &view_threads);
        if (c->threads && c->threads->subject.inspecting)
                return;
        if (!t) {
                console_notify(c, true, "no threads: only of a target that runs");
                return;
        }
        if (!(p = start(c, t, &error))) {
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

        if (!p || !p->subject.inspecting || !inspecting_is_done(p->subject.inspecting))
                return false;
        char *text = inspecting_detach_text(p->subject.inspecting);
        const bool good = inspecting_is_good(p->subject.inspecting, &error) &&
                          (text || error_set(&error, "out of memory")) && thread_groups_read(&p->groups, text, &error);
        inspecting_destroy(&p->subject.inspecting);
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
        const bool is_shown = p && console_subject_is(&p->subject, c->scene.target);

        c->scene.groups = is_shown && p->groups.n_sentences ? &p->groups : NULL;
}
