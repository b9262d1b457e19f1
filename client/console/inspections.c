/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inspections.c - the keys P, A and W: what heapwatch-inspect reads of the shown target's process, while the console
 * goes on. A profile of CPU time or allocation is shown by the view Profile in place of cost centres, what threads wait
 * for by the view Threads above the scheduler. Only one of each is there at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/endpoints.h"
#include "client/cli/inspecting.h"
#include "client/console/console.h"
#include "proto/base/number_text.h"
#include "proto/base/clock.h"

/* Begins one of the shown target, if that can be; else says why not. `what` it is, for people. */
static bool begin_inspection(struct console_subject *s, struct console *c, struct inspecting_options options,
                             const char *what)
{
        const struct world_target *t = c->scene.live ? c->scene.target : NULL;
        struct error error;

        if (!t) {
                console_notify(c, true, "no %s: only for a target that runs", what);
                return false;
        }
        *s = (struct console_subject){ .daemon = t->daemon, .run = t->run };
        (void)snprintf(s->target, sizeof(s->target), "%s", t->name);
        if (endpoint_is_here(c->scene.endpoint(c->scene.endpoint_ctx, t->daemon), &error) &&
            world_process(t, &options.pid, &error) && (s->inspecting = inspecting_new(&options, &error)))
                return true;
        console_notify(c, true, "no %s: %s", what, error.text);
        return false;
}

static bool is_of(const struct console_subject *s, const struct world_target *t)
{
        return t && s->daemon == t->daemon && s->run == t->run && !strcmp(s->target, t->name);
}

/* ----------------------------------------------------------------- profile */

static void profile_done(struct console_profile *p)
{
        inspecting_destroy(&p->subject.inspecting);
        cpu_trees_done(&p->merged);
        cpu_trees_done(&p->trees);
        *p = (struct console_profile){ .begin_ns = 0 };
}

void console_profile_key(struct console *c, int key)
{
        struct console_profile *p = &c->profile;
        struct console_subject subject;

        console_show(c, &view_profile);
        if (p->subject.inspecting) {
                inspecting_finish(p->subject.inspecting);
        } else if (begin_inspection(
                           &subject, c,
                           (struct inspecting_options){ .what = key == 'A' ? INSPECTING_ALLOCATION : INSPECTING_PROFILE,
                                                        .for_ns = PROFILE_DEFAULT_NS,
                                                        .most_bytes = CPU_TREE_BYTES },
                           "profile")) {
                c->scene.cpu = NULL;
                profile_done(p);
                p->subject = subject;
                p->begin_ns = clock_mono_ns();
                p->key = key;
        }
}

static bool has_profile(const struct console *c)
{
        return is_of(&c->profile.subject, c->scene.target) && c->profile.merged.running.n_sentences;
}

bool console_profile_toggle(struct console *c, int key)
{
        struct console_profile *p = &c->profile;
        bool *what = key == 'x' ? &p->hidden : key == 'T' ? &p->by_thread : key == 'w' ? &p->of_waiting : NULL;

        if (!what || !has_profile(c))
                return false;
        *what = !*what;
        return true;
}

static bool add_tree(struct cpu_tree *merged, struct cpu_tree *tree, struct error *error)
{
        return cpu_tree_merge(merged, tree, error) && cpu_tree_sum(merged, error) && cpu_tree_sum(tree, error);
}

static bool poll_profile(struct console *c)
{
        struct console_profile *p = &c->profile;
        struct error error;

        if (!p->subject.inspecting)
                return false;
        const bool is_done = inspecting_is_done(p->subject.inspecting);
        char *text = inspecting_detach_text(p->subject.inspecting);
        if (text) {
                cpu_trees_done(&p->merged);
                cpu_trees_done(&p->trees);
        }
        if (text &&
            (!cpu_trees_read(&p->trees, text, &error) || !add_tree(&p->merged.running, &p->trees.running, &error) ||
             !add_tree(&p->merged.waiting, &p->trees.waiting, &error)))
                console_notify(c, true, "no profile: %s", error.text);
        if (!is_done)
                return text != NULL;
        if (!inspecting_is_good(p->subject.inspecting, &error))
                console_notify(c, true, "no profile: %s", error.text);
        inspecting_destroy(&p->subject.inspecting);
        return true;
}

char *console_profile_text(const struct console *c, char *out, size_t size)
{
        const struct console_profile *p = &c->profile;
        uint64_t ns;

        out[0] = '\0';
        if (p->subject.inspecting) {
                ns = clock_mono_ns() - p->begin_ns;
                (void)snprintf(out, size, "taking samples of %s%s: %s of %s; %c ends it", p->subject.target,
                               p->key == 'A' ? ", by allocation" : "",
                               DURATION_TEXT(ns < PROFILE_DEFAULT_NS ? ns : PROFILE_DEFAULT_NS),
                               DURATION_TEXT(PROFILE_DEFAULT_NS), p->key);
        }
        return out;
}

/* ----------------------------------------------------------------- threads */

static void threads_done(struct console_threads *p)
{
        inspecting_destroy(&p->subject.inspecting);
        thread_groups_done(&p->groups);
}

void console_threads_key(struct console *c)
{
        struct console_threads *p = &c->threads;
        struct console_subject subject;

        console_show(c, &view_threads);
        if (p->subject.inspecting ||
            !begin_inspection(&subject, c,
                              (struct inspecting_options){ .what = INSPECTING_THREADS, .most_bytes = INSPECTING_BYTES },
                              "threads"))
                return;
        c->scene.groups = NULL;
        threads_done(p);
        p->subject = subject;
        console_notify(c, false, "reading the threads of %s ...", subject.target);
}

static bool poll_threads(struct console *c)
{
        struct console_threads *p = &c->threads;
        struct error error;

        if (!p->subject.inspecting || !inspecting_is_done(p->subject.inspecting))
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

/* -------------------------------------------------------------------- both */

bool console_inspections_poll(struct console *c)
{
        return poll_profile(c) || poll_threads(c);
}

void console_inspections_prepare(struct console *c)
{
        const struct console_profile *p = &c->profile;
        const struct cpu_trees *trees = p->by_thread ? &p->trees : &p->merged;
        const bool of_waiting = p->of_waiting && p->trees.waiting.n_sentences;
        const struct console_threads *th = &c->threads;

        c->scene.cpu = !has_profile(c) || p->hidden ? NULL : of_waiting ? &trees->waiting : &trees->running;
        c->scene.groups = is_of(&th->subject, c->scene.target) && th->groups.n_sentences ? &th->groups : NULL;
}

void console_inspections_done(struct console *c)
{
        profile_done(&c->profile);
        threads_done(&c->threads);
}
