/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/profile_batch.h"

#include <stdlib.h>

#include "client/out/convert/pprof_file.h"
#include "client/out/export/sender.h"
#include "client/world/state/world.h"
#include "proto/base/time.h"

/* What was sent of a target. */
struct seen {
        struct kept_of of;
        uint64_t census;        /* number of the newest; 0: none */
        uint64_t event_time_ns; /* of the walk before */
        uint64_t wall_ns;       /* of the walk before, or when the run began */
        uint64_t *ticks;        /* by stack; NULL: none yet */
        size_t n_ticks;
};

struct profiles {
        uint64_t since_wall_ns;
        struct kept targets;
        char boundary[PROFILE_BOUNDARY + 1];
};

static void seen_drop(void *entry)
{
        free(((struct seen *)entry)->ticks);
}

struct profiles *profiles_new(uint64_t wall_ns)
{
        struct profiles *p = calloc(1, sizeof(*p));

        if (!p || !profile_boundary(p->boundary)) {
                free(p);
                return NULL;
        }
        p->since_wall_ns = wall_ns;
        p->targets = (struct kept){ .size = sizeof(struct seen), .drop = seen_drop };
        return p;
}

void profiles_destroy(struct profiles **p)
{
        if (!*p)
                return;
        kept_clear(&(*p)->targets);
        free(*p);
        *p = NULL;
}

/* -------------------------------------------------------- what was sent before */

static const Hw__Run *run_of(const struct world_target *t)
{
        return t->target ? t->target->run_info : NULL;
}

static void remember_ticks(struct seen *s, const struct world_target *t)
{
        uint64_t *grown = realloc(s->ticks, (t->n_stacks ? t->n_stacks : 1) * sizeof(*grown));

        if (!grown) /* the next profile has the ticks of this one once more rather than too few */
                return;
        for (uint32_t i = 0; i < t->n_stacks; i++)
                grown[i] = t->stacks[i] ? t->stacks[i]->ticks : 0;
        s->ticks = grown;
        s->n_ticks = t->n_stacks;
}

/* A run that is seen for the first time. */
static void begin_run(struct profiles *p, struct seen *s, const struct world_target *t, uint64_t now_ns)
{
        const Hw__Run *run = run_of(t);
        bool young = run && run->has_start_wall_ns && run->start_wall_ns >= p->since_wall_ns;

        free(s->ticks);
        *s = (struct seen){ .of = s->of, .wall_ns = now_ns };
        s->of.run = t->run;
        if (young) {
                s->wall_ns = run->start_wall_ns;
        } else {
                s->event_time_ns = t->event_time_ns;
                remember_ticks(s, t);
        }
}

/* ------------------------------------------------------------------ the kinds */

/* The profiles of one target. */
struct walk {
        const struct world_target *t;
        struct seen *seen;
        struct profile_batch to;
        uint64_t lost;
};

static int write_heap(struct pprof_file *file, const void *ctx)
{
        const struct world_target *t = ((const struct walk *)ctx)->t;

        pprof_file_head(file, t, false, t->census->time_ns, 0);
        return pprof_file_census(file, t, t->census, UINT64_MAX);
}

static int write_time(struct pprof_file *file, const void *ctx)
{
        static const uint64_t none;
        const struct walk *w = ctx;
        const struct seen *s = w->seen;
        uint64_t now = w->t->event_time_ns, took = now > s->event_time_ns ? now - s->event_time_ns : 0;

        pprof_file_head(file, w->t, true, s->event_time_ns, took);
        return pprof_file_time(file, w->t, s->ticks ? s->ticks : &none, s->ticks ? s->n_ticks : 0);
}

static void walk_heap(struct walk *w)
{
        static const struct profile_kind kind = {
                "{\"inuse_space\":{\"units\":\"bytes\",\"display-name\":\"inuse_space\","
                "\"aggregation\":\"average\",\"sampled\":false}}",
                write_heap
        };
        const Hw__Census *c = w->t->census;
        const Hw__Run *run = run_of(w->t);
        uint64_t wall_ns = w->to.encoding->wall_ns;

        if (!c || c->unfinished || c->number <= w->seen->census)
                return;
        w->seen->census = c->number;
        if (run && run->has_start_wall_ns && run->start_wall_ns + c->time_ns < wall_ns)
                wall_ns = run->start_wall_ns + c->time_ns;
        w->lost += profile_batch_add(&w->to, &kind, w, wall_ns - NS_PER_S, wall_ns);
}

static void walk_ticks(struct walk *w)
{
        static const struct profile_kind kind = {
                "{\"samples\":{\"units\":\"samples\",\"display-name\":\"cpu\","
                "\"aggregation\":\"sum\",\"sampled\":true}}",
                write_time
        };
        uint64_t now_ns = w->to.encoding->wall_ns;

        if (w->t->ticks)
                w->lost += profile_batch_add(&w->to, &kind, w, w->seen->wall_ns, now_ns);
        remember_ticks(w->seen, w->t);
        w->seen->event_time_ns = w->t->event_time_ns;
        w->seen->wall_ns = now_ns;
}

uint64_t profiles_run(struct profiles *p, const struct encoding *encoding, const struct metrics_source *source)
{
        struct walk w = { .to = { .boundary = p->boundary, .encoding = encoding } };

        if (!kept_follow(&p->targets, source->world))
                return 1;
        for (size_t i = 0; i < p->targets.n; i++) {
                const struct world_target *t = world_target(source->world, i);
                const struct world_daemon *d = world_daemon(source->world, t->daemon);
                struct seen *seen = kept_entry(&p->targets, i);

                if (!seen->wall_ns || seen->of.run != t->run)
                        begin_run(p, seen, t, encoding->wall_ns);
                if (!d || d->stale)
                        continue;
                w.t = t;
                w.seen = seen;
                w.to.target = t->name;
                w.to.daemon = source->n_daemons > 1 ? source->daemon_name(source->ctx, t->daemon) : NULL;
                walk_heap(&w);
                walk_ticks(&w);
        }
        return w.lost;
}

const struct batcher_kind batcher_profiles = { .sender = &sender_profile };
