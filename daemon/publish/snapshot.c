/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a flush, then all state of the requested kinds, made by the same functions that send it live. After the flush
 * a topic's newest sequence number corresponds to the model, so the late joiner drops what the snapshot covers and
 * continues with the next number. A kind without state yet is left out.
 *
 * A late joiner that takes only so much at a time gets the rest later, by then newer. All parts of a kind have the
 * sequence number of its first one: what changed since comes once more, as an update, and rows are absolute. A census
 * that is newer than the bands that were sent comes after those that were added since.
 */
#include <errno.h>

#include "daemon/publish/publisher.h"
#include "daemon/publish/send.h"
#include "proto/base/array.h"

static bool is_wanted(const struct snapshot *s, Hw__Kind kind)
{
        for (size_t i = 0; i < s->n_kinds; i++)
                if (s->kinds[i] == kind)
                        return true;
        return s->n_kinds == 0;
}

/* ------------------------------------- one kind each, when there is any */

static bool newest_census(struct publisher *p, struct snapshot *to)
{
        const struct census *census = model_census(p->model);

        if ((to->begun & 1u << HW__KIND__KIND_BAND) && !send_all_bands(p, to))
                return false;
        return census->number == 0 || send_census(p, census, to);
}

static bool kept_notes(struct publisher *p, struct snapshot *to)
{
        const struct notes *notes = model_notes(p->model);
        uint64_t oldest = notes_oldest(notes);

        return oldest == 0 || send_notes(p, oldest, notes_total(notes), to);
}

static bool all_profile(struct publisher *p, struct snapshot *to)
{
        return profile_ticks(model_profile(p->model)) == 0 || send_profile(p, to);
}

static bool trends_if_any(struct publisher *p, struct snapshot *to)
{
        return !p->tracker || send_trends_all(p, to);
}

/* In the order in which a late joiner needs them: bands before the census. */
static const struct {
        Hw__Kind kind;
        bool (*send)(struct publisher *p, struct snapshot *to);
        bool if_sent; /* only if sent live in this run: its state means nothing before its first event */
} steps[] = {
        { HW__KIND__KIND_BAND, send_all_bands, false }, { HW__KIND__KIND_CENSUS, newest_census, false },
        { HW__KIND__KIND_HEAP, send_heap, true },       { HW__KIND__KIND_GC, send_gc, true },
        { HW__KIND__KIND_NOTE, kept_notes, false },     { HW__KIND__KIND_PROFILE, all_profile, false },
        { HW__KIND__KIND_TICKY, send_ticky, false },    { HW__KIND__KIND_SCHED, send_sched, true },
        { HW__KIND__KIND_TREND, trends_if_any, false },
};

#define N_STEPS ARRAY_SIZE(steps)

/* What there is of a target even before its first run. */
static bool begin(struct publisher *p, uint64_t wall_ns, struct snapshot *s)
{
        publisher_flush(p, wall_ns);
        *s = (struct snapshot){ .kinds = s->kinds,
                                .n_kinds = s->n_kinds,
                                .each = s->each,
                                .is_over = s->is_over,
                                .ctx = s->ctx,
                                .run = p->run };
        return (!is_wanted(s, HW__KIND__KIND_TARGET) || send_target(p, s)) &&
               (!is_wanted(s, HW__KIND__KIND_HEALTH) || send_health(p, s)) &&
               (!is_wanted(s, HW__KIND__KIND_ALERT) || send_alerts(p, s));
}

static bool resume_snapshot(struct publisher *p, struct snapshot *s)
{
        for (; p->run && s->step <= N_STEPS; s->step++) {
                const Hw__Kind kind = steps[s->step - 1].kind;
                const bool any = !steps[s->step - 1].if_sent || (p->sent & 1u << kind);
                if (any && is_wanted(s, kind) && !steps[s->step - 1].send(p, s))
                        return false;
                s->row = 0;
        }
        return true;
}

int publisher_snapshot(struct publisher *p, uint64_t wall_ns, struct snapshot *s)
{
        p->wall_ns = wall_ns;
        if (s->step == 0 || s->run != p->run) {
                if (!begin(p, wall_ns, s))
                        return s->full ? -EAGAIN : -ENOMEM;
                s->step = 1;
        } else {
                (void)publisher_pending(p); /* the rates are of now */
        }
        if (resume_snapshot(p, s))
                return 0;
        return s->full ? -EAGAIN : -ENOMEM;
}
