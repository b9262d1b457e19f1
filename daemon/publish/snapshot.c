/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a flush, then all state of the requested kinds, made by the same functions that send it live. After the flush
 * a topic's newest sequence number corresponds to the model, so the late joiner drops what the snapshot covers and
 * continues with the next number. A kind without state yet is left out.
 */
#include <errno.h>

#include "daemon/publish/publisher.h"
#include "daemon/publish/send.h"

static bool is_wanted(const Hw__Kind *kinds, size_t n, Hw__Kind kind)
{
        for (size_t i = 0; i < n; i++)
                if (kinds[i] == kind)
                        return true;
        return n == 0;
}

/* ------------------------------------- one kind each, when there is any */

static bool newest_census(struct publisher *p, const struct late_joiner *to)
{
        const struct census *census = model_census(p->model);

        return census->number == 0 || send_census(p, census, to);
}

static bool all_bands(struct publisher *p, const struct late_joiner *to)
{
        return send_bands(p, NULL, bands_count(model_bands(p->model)), to);
}

static bool kept_notes(struct publisher *p, const struct late_joiner *to)
{
        const struct notes *notes = model_notes(p->model);
        uint64_t oldest = notes_oldest(notes);

        return oldest == 0 || send_notes(p, oldest, notes_total(notes), to);
}

static bool all_profile(struct publisher *p, const struct late_joiner *to)
{
        return profile_ticks(model_profile(p->model)) == 0 || send_profile(p, to);
}

/* For kinds whose state means nothing before their first event: only if sent live in this run. */
static bool was_sent(const struct publisher *p, Hw__Kind kind)
{
        return p->sent & 1u << kind;
}

static bool heap_if_any(struct publisher *p, const struct late_joiner *to)
{
        return !was_sent(p, HW__KIND__KIND_HEAP) || send_heap(p, to);
}

static bool gc_if_any(struct publisher *p, const struct late_joiner *to)
{
        return !was_sent(p, HW__KIND__KIND_GC) || send_gc(p, to);
}

static bool sched_if_any(struct publisher *p, const struct late_joiner *to)
{
        return !was_sent(p, HW__KIND__KIND_SCHED) || send_sched(p, to);
}

static bool trends_if_any(struct publisher *p, const struct late_joiner *to)
{
        return !p->tracker || send_trends_all(p, to);
}

/* In the order in which a late joiner needs them: bands before the census. */
static const struct {
        Hw__Kind kind;
        bool (*send)(struct publisher *p, const struct late_joiner *to);
} steps[] = {
        { HW__KIND__KIND_BAND, all_bands },      { HW__KIND__KIND_CENSUS, newest_census },
        { HW__KIND__KIND_HEAP, heap_if_any },    { HW__KIND__KIND_GC, gc_if_any },
        { HW__KIND__KIND_NOTE, kept_notes },     { HW__KIND__KIND_PROFILE, all_profile },
        { HW__KIND__KIND_TICKY, send_ticky },    { HW__KIND__KIND_SCHED, sched_if_any },
        { HW__KIND__KIND_TREND, trends_if_any },
};

int publisher_snapshot(struct publisher *p, const struct target_facts *facts, const struct health *health,
                       uint64_t wall_ns, const Hw__Kind *kinds, size_t n_kinds,
                       void (*each)(void *ctx, const Hw__Update *update), void *ctx)
{
        const struct late_joiner to = { .each = each, .ctx = ctx };
        bool good = true;

        publisher_flush(p, wall_ns);
        if (is_wanted(kinds, n_kinds, HW__KIND__KIND_TARGET))
                good = send_target(p, facts, &to);
        if (is_wanted(kinds, n_kinds, HW__KIND__KIND_HEALTH))
                good = send_health(p, health, &to) && good;
        if (is_wanted(kinds, n_kinds, HW__KIND__KIND_ALERT))
                good = send_alerts(p, &to) && good;
        for (size_t i = 0; p->run && i < sizeof(steps) / sizeof(steps[0]); i++)
                if (is_wanted(kinds, n_kinds, steps[i].kind))
                        good = steps[i].send(p, &to) && good;
        return good ? 0 : -ENOMEM;
}
