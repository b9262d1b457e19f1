/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.c - the key P: a profile of the CPU time of the shown target, which the view Profile shows in place of cost
 * centres. Only one is there at a time; heapwatch-inspect takes it, and the console goes on meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>

#include "client/console/subject.h"
#include "heapwatch/text.h"
#include "proto/base/clock.h"

struct console_profile {
        struct console_subject subject;
        uint64_t begin_ns;
        struct cpu_trees trees;  /* by thread; no sentences: there are none */
        struct cpu_trees merged; /* of all threads together */
        bool by_thread, of_waiting;
        bool hidden; /* cost centres are shown */
};

static bool is_shown(const struct console_profile *p, const struct world_target *t)
{
        return p && console_subject_is(&p->subject, t);
}

void console_profile_destroy(struct console *c)
{
        if (!c->profile)
                return;
        inspecting_destroy(&c->profile->subject.inspecting);
        cpu_trees_done(&c->profile->merged);
        cpu_trees_done(&c->profile->trees);
        free(c->profile);
        c->profile = NULL;
        c->scene.cpu = NULL;
}

static struct console_profile *start(const struct console *c, const struct world_target *t, struct error *error)
{
        struct inspecting_options o = { .for_ns = PROFILE_DEFAULT_NS, .most_bytes = CPU_TREE_BYTES };
        struct console_profile *p = calloc(1, sizeof(*p));

        if (!p)
                (void)error_set(error, "out of memory");
        else if (console_subject_begin(&p->subject, c, t, &o, error)) {
                p->begin_ns = clock_mono_ns();
                return p;
        }
        free(p);
        return NULL;
}

void console_profile_key(struct console *c)
{
        const struct world_target *t = c->scene.live ? c->scene.target : NULL;
        struct console_profile *p;
        struct error error;

        console_show(c, &view_profile);
        if (c->profile && c->profile->subject.inspecting) {
                inspecting_finish(c->profile->subject.inspecting);
                return;
        }
        if (!t) {
                console_notify(c, true, "no profile: only of a target that runs");
                return;
        }
        if (!(p = start(c, t, &error))) {
                console_notify(c, true, "no profile: %s", error.text);
                return;
        }
        console_profile_destroy(c);
        c->profile = p;
}

bool console_profile_toggle(struct console *c, int key)
{
        struct console_profile *p = c->profile;

        if (!is_shown(p, c->scene.target) || !p->merged.running.n_sentences)
                return false;
        if (key == 'x')
                p->hidden = !p->hidden;
        else if (key == 'T')
                p->by_thread = !p->by_thread;
        else if (key == 'w')
                p->of_waiting = !p->of_waiting;
        return key == 'x' || key == 'T' || key == 'w';
}

static bool sum(struct cpu_tree *merged, struct cpu_tree *tree, struct error *error)
{
        return cpu_tree_merge(merged, tree, error) && cpu_tree_sum(merged, error) && cpu_tree_sum(tree, error);
}

bool console_profile_poll(struct console *c)
{
        struct console_profile *p = c->profile;
        const bool is_done = p && p->subject.inspecting && inspecting_is_done(p->subject.inspecting);
        char *text = p && p->subject.inspecting ? inspecting_detach_text(p->subject.inspecting) : NULL;
        struct error error;

        if (text) {
                cpu_trees_done(&p->merged);
                cpu_trees_done(&p->trees);
        }
        if (text && (!cpu_trees_read(&p->trees, text, &error) || !sum(&p->merged.running, &p->trees.running, &error) ||
                     !sum(&p->merged.waiting, &p->trees.waiting, &error)))
                console_notify(c, true, "no profile: %s", error.text);
        if (!is_done)
                return text != NULL;
        if (!inspecting_is_good(p->subject.inspecting, &error))
                console_notify(c, true, "no profile: %s", error.text);
        inspecting_destroy(&p->subject.inspecting);
        return true;
}

void console_profile_prepare(struct console *c)
{
        const struct console_profile *p = c->profile;

        c->scene.cpu = NULL;
        if (!is_shown(p, c->scene.target) || !p->merged.running.n_sentences || p->hidden)
                return;
        const struct cpu_trees *trees = p->by_thread ? &p->trees : &p->merged;
        c->scene.cpu = p->of_waiting ? &trees->waiting : &trees->running;
}

char *console_profile_text(const struct console *c, char *out, size_t size)
{
        const struct console_profile *p = c->profile;
        char passed[HW_NUMBER_MAX], all[HW_NUMBER_MAX];
        uint64_t ns;

        out[0] = '\0';
        if (p && p->subject.inspecting) {
                ns = clock_mono_ns() - p->begin_ns;
                (void)snprintf(out, size, "taking samples of %s: %s of %s; P ends it", p->subject.target,
                               hw_duration_text(passed, sizeof(passed),
                                                (double)(ns < PROFILE_DEFAULT_NS ? ns : PROFILE_DEFAULT_NS)),
                               hw_duration_text(all, sizeof(all), (double)PROFILE_DEFAULT_NS));
        }
        return out;
}
