/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.c - the key P: a profile of the CPU time of the shown target, which the view Profile shows in place of cost
 * centres. Only one is there at a time; heapwatch-inspect takes it, and the console goes on meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "client/cli/endpoints.h"
#include "client/cli/inspecting.h"
#include "client/console/console.h"
#include "heapwatch/text.h"
#include "proto/base/clock.h"

struct console_profile {
        char target[WORLD_NAME_MAX + 1];
        size_t daemon;
        uint32_t run;
        uint64_t begin_ns;
        struct inspecting *profiler; /* NULL: done */
        struct cpu_tree tree;        /* by thread; n_sentences 0: there is none */
        struct cpu_tree merged;      /* of all threads together */
        bool by_thread;
        bool hidden; /* cost centres are shown */
};

static bool is_shown(const struct console_profile *p, const struct world_target *t)
{
        return p && t && p->daemon == t->daemon && p->run == t->run && !strcmp(p->target, t->name);
}

void console_profile_destroy(struct console *c)
{
        if (!c->profile)
                return;
        inspecting_destroy(&c->profile->profiler);
        cpu_tree_done(&c->profile->merged);
        cpu_tree_done(&c->profile->tree);
        free(c->profile);
        c->profile = NULL;
        c->scene.cpu = NULL;
}

static struct console_profile *start(const struct world_target *t, const char *endpoint, struct error *error)
{
        struct inspecting_options o = { .for_ns = PROFILE_DEFAULT_NS, .most_bytes = CPU_TREE_BYTES };
        struct console_profile *p;

        if (!endpoint_is_here(endpoint, error) || !world_process(t, &o.pid, error))
                return NULL;
        if (!(p = calloc(1, sizeof(*p)))) {
                (void)error_set(error, "out of memory");
                return NULL;
        }
        *p = (struct console_profile){ .daemon = t->daemon, .run = t->run, .begin_ns = clock_mono_ns() };
        (void)snprintf(p->target, sizeof(p->target), "%s", t->name);
        if (!(p->profiler = inspecting_new(&o, error))) {
                free(p);
                return NULL;
        }
        return p;
}

void console_profile_key(struct console *c)
{
        const struct world_target *t = c->scene.live ? c->scene.target : NULL;
        struct console_profile *p;
        struct error error;

        console_show(c, &view_profile);
        if (c->profile && c->profile->profiler) {
                inspecting_finish(c->profile->profiler);
                return;
        }
        if (!t) {
                console_notify(c, true, "no profile: only of a target that runs");
                return;
        }
        if (!(p = start(t, c->scene.endpoint(c->scene.endpoint_ctx, t->daemon), &error))) {
                console_notify(c, true, "no profile: %s", error.text);
                return;
        }
        console_profile_destroy(c);
        c->profile = p;
}

bool console_profile_toggle(struct console *c, int key)
{
        struct console_profile *p = c->profile;

        if (!is_shown(p, c->scene.target) || !p->merged.n_sentences)
                return false;
        if (key == 'x')
                p->hidden = !p->hidden;
        else if (key == 'T')
                p->by_thread = !p->by_thread;
        return key == 'x' || key == 'T';
}

bool console_profile_poll(struct console *c)
{
        struct console_profile *p = c->profile;
        const bool is_done = p && p->profiler && inspecting_is_done(p->profiler);
        char *text = p && p->profiler ? inspecting_detach_text(p->profiler) : NULL;
        struct error error;

        if (text) {
                cpu_tree_done(&p->merged);
                cpu_tree_done(&p->tree);
        }
        if (text && (!cpu_tree_read(&p->tree, text, &error) || !cpu_tree_merge(&p->merged, &p->tree, &error) ||
                     !cpu_tree_sum(&p->merged, &error) || !cpu_tree_sum(&p->tree, &error)))
                console_notify(c, true, "no profile: %s", error.text);
        if (!is_done)
                return text != NULL;
        if (!inspecting_is_good(p->profiler, &error))
                console_notify(c, true, "no profile: %s", error.text);
        inspecting_destroy(&p->profiler);
        return true;
}

void console_profile_prepare(struct console *c)
{
        const struct console_profile *p = c->profile;

        c->scene.cpu = is_shown(p, c->scene.target) && p->merged.n_sentences && !p->hidden
                               ? p->by_thread ? &p->tree : &p->merged
                               : NULL;
}

char *console_profile_text(const struct console *c, char *out, size_t size)
{
        const struct console_profile *p = c->profile;
        char passed[HW_NUMBER_MAX], all[HW_NUMBER_MAX];
        uint64_t ns;

        out[0] = '\0';
        if (p && p->profiler) {
                ns = clock_mono_ns() - p->begin_ns;
                (void)snprintf(out, size, "taking samples of %s: %s of %s; P ends it", p->target,
                               hw_duration_text(passed, sizeof(passed),
                                                (double)(ns < PROFILE_DEFAULT_NS ? ns : PROFILE_DEFAULT_NS)),
                               hw_duration_text(all, sizeof(all), (double)PROFILE_DEFAULT_NS));
        }
        return out;
}
