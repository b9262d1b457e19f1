/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answered.c - DESIGN: a hash of each text that was sent. Answers depend on a target's state alone, so a target without
 * new messages is skipped.
 */
#include "client/web/answered.h"

#include "client/api/answers_json.h"
#include "client/serve/answer.h"
#include "proto/base/hash.h"

struct answered_target {
        struct kept_of of;
        uint64_t event_time_ns, published_wall_ns; /* of its newest message when it was last checked */
        uint64_t whole, brief;                     /* hashes */
};

static bool same_state(const struct answered_target *a, const struct world_target *t)
{
        return a->of.run == t->run && a->event_time_ns == t->event_time_ns &&
               a->published_wall_ns == t->published_wall_ns;
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
        now->of.run = t->run;
        now->event_time_ns = t->event_time_ns;
        now->published_wall_ns = t->published_wall_ns;
        bool good = gather(p, t, live, true, &now->whole);
        return gather(p, t, live, false, &now->brief) && good;
}

bool answered_gather(struct answered *a, const struct world *w, bool live, struct update_batch *p)
{
        bool good = true;

        a->targets.size = sizeof(struct answered_target);
        if (!kept_follow(&a->targets, w))
                return false;
        for (size_t i = 0; i < a->targets.n; i++) {
                struct answered_target *sent = kept_entry(&a->targets, i);
                const struct world_target *t = world_target(w, i);

                if (!sent->whole || !same_state(sent, t))
                        good = gather_target(p, t, live, sent) && good;
        }
        return good;
}

void answered_done(struct answered *a)
{
        kept_clear(&a->targets);
}
