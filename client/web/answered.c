/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answered.c - DESIGN: a hash of each text that was sent. Both lists are in the order of the world, so one pass matches
 * them; answers depend on a target's state alone, so a target without new messages is skipped.
 */
#include "client/web/answered.h"

#include <stdlib.h>
#include <string.h>

#include "client/api/answers_json.h"
#include "client/serve/answer.h"
#include "proto/base/hash.h"

struct answered_target {
        char name[WORLD_NAME_MAX + 1];
        size_t daemon;
        uint32_t run;
        uint64_t event_time_ns, published_wall_ns; /* of its newest message when it was last checked */
        uint64_t whole, brief;                     /* hashes */
};

/* Where the target is against the one of an entry. */
static int order(const struct world_target *t, const struct answered_target *a)
{
        return world_target_order(t, a->name, a->daemon);
}

static bool same_state(const struct answered_target *a, const struct world_target *t)
{
        return a->run == t->run && a->event_time_ns == t->event_time_ns && a->published_wall_ns == t->published_wall_ns;
}

/* One of the two texts, if its hash differs from `hash`. */
static bool gather(struct update_batch *p, const struct world_target *t, bool live, bool whole, uint64_t *hash)
{
        struct document d;
        bool good = true;

        document_open(&d);
        if (d.to)
                answers_print(&(struct json_out){ .to = d.to }, t, live, whole);
        if (!document_close(&d)) {
                good = false;
        } else if (*hash != hash_bytes(d.text, d.size, 0)) {
                *hash = hash_bytes(d.text, d.size, 0);
                good = update_batch_add_text(p, t->daemon, t->name, d.text, d.size, !whole);
        }
        document_done(&d);
        return good;
}

static bool gather_target(struct update_batch *p, const struct world_target *t, bool live, struct answered_target *now)
{
        (void)snprintf(now->name, sizeof(now->name), "%s", t->name);
        now->daemon = t->daemon;
        now->run = t->run;
        now->event_time_ns = t->event_time_ns;
        now->published_wall_ns = t->published_wall_ns;
        bool good = gather(p, t, live, true, &now->whole);
        return gather(p, t, live, false, &now->brief) && good;
}

bool answered_gather(struct answered *a, const struct world *w, bool live, struct update_batch *p)
{
        size_t n = world_targets(w), old = 0;
        struct answered_target *targets = calloc(n + 1, sizeof(*targets));
        bool good = true;

        if (!targets)
                return false;
        for (size_t i = 0; i < n; i++) {
                const struct world_target *t = world_target(w, i);

                while (old < a->n && order(t, &a->targets[old]) > 0)
                        old++;
                if (old < a->n && order(t, &a->targets[old]) == 0)
                        targets[i] = a->targets[old];
                if (!targets[i].whole || !same_state(&targets[i], t))
                        good = gather_target(p, t, live, &targets[i]) && good;
        }
        answered_done(a);
        *a = (struct answered){ .targets = targets, .n = n };
        return good;
}

void answered_done(struct answered *a)
{
        free(a->targets);
        *a = (struct answered){ 0 };
}
