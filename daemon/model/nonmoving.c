/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: phases of one collector in one global buffer, so a time per phase is enough. A second begin (abort paths)
 * starts over; an end without a begin counts no time. Mark may repeat within a cycle; a sweep ends the cycle. Only the
 * sync is a pause; mark and sweep run concurrently with the program.
 */
#include "proto/base/ckd.h"
#include "daemon/model/state.h"

void nonmoving_clear(struct model *m)
{
        m->gc.nonmoving = (struct nonmoving){
                .marked_objects = UNKNOWN_U64,
                .pruned_segments = UNKNOWN_U64,
                .free_segments = UNKNOWN_U64,
        };
        m->gc_state.mark_begin_ns = m->gc_state.sync_begin_ns = m->gc_state.sweep_begin_ns = UNKNOWN_U64;
        m->gc_state.new_cycle = true;
}

static struct nonmoving *see(struct model *m)
{
        m->gc.nonmoving.seen = true;
        m->changes |= MODEL_GC;
        return &m->gc.nonmoving;
}

/* Ends a phase: returns the time since *begin_ns, 0 when it was not begun. */
static uint64_t end_phase(uint64_t *begin_ns, uint64_t time_ns)
{
        uint64_t spent = *begin_ns == UNKNOWN_U64 ? 0 : sub_sat(time_ns, *begin_ns);

        *begin_ns = UNKNOWN_U64;
        return spent;
}

void nonmoving_mark_begin(struct model *m, const struct hw_event *e)
{
        (void)see(m); /* only marks it as seen */
        m->gc_state.mark_begin_ns = e->time_ns;
        m->gc_state.new_cycle = true;
}

void nonmoving_mark_end(struct model *m, const struct hw_event *e)
{
        struct nonmoving *n = see(m);

        n->mark_total_ns += end_phase(&m->gc_state.mark_begin_ns, e->time_ns);
        n->marked_objects = hw_event_u32(e, 0);
}

void nonmoving_sync_begin(struct model *m, const struct hw_event *e)
{
        (void)see(m); /* as above */
        m->gc_state.sync_begin_ns = e->time_ns;
}

void nonmoving_sync_end(struct model *m, const struct hw_event *e)
{
        struct nonmoving *n = see(m);
        uint64_t spent = end_phase(&m->gc_state.sync_begin_ns, e->time_ns);

        n->sync_total_ns += spent;
        if (spent > n->sync_max_ns)
                n->sync_max_ns = spent;
}

void nonmoving_sweep_begin(struct model *m, const struct hw_event *e)
{
        (void)see(m); /* as above */
        m->gc_state.sweep_begin_ns = e->time_ns;
}

void nonmoving_sweep_end(struct model *m, const struct hw_event *e)
{
        struct nonmoving *n = see(m);

        if (m->gc_state.sweep_begin_ns != UNKNOWN_U64)
                n->cycles++;
        n->sweep_total_ns += end_phase(&m->gc_state.sweep_begin_ns, e->time_ns);
}

void nonmoving_flush(struct model *m, const struct hw_event *e)
{
        (void)see(m); /* as above */
}

/* Since 9.8.3 and 9.10 the size in two bytes; before, its base-2 logarithm in one. */
static uint32_t block_bytes(const struct hw_event *e, size_t *ret_rest)
{
        if (e->size >= 14) {
                *ret_rest = 2;
                return hw_event_u16(e, 0);
        }
        *ret_rest = 1;
        return e->payload[0] < 32 ? UINT32_C(1) << e->payload[0] : 0;
}

void nonmoving_census(struct model *m, const struct hw_event *e)
{
        struct nonmoving *n = see(m);
        size_t rest;
        uint32_t size = block_bytes(e, &rest), i = 0;

        if (m->gc_state.new_cycle)
                n->n_census = 0;
        m->gc_state.new_cycle = false;
        while (i < n->n_census && n->census[i].block_bytes != size)
                i++;
        if (i == NONMOVING_SIZES)
                return;
        if (i == n->n_census)
                n->n_census++;
        n->census[i] = (struct nonmoving_segments){
                .block_bytes = size,
                .active = hw_event_u32(e, rest),
                .filled = hw_event_u32(e, rest + 4),
                .live_blocks = hw_event_u32(e, rest + 8),
        };
}

void nonmoving_pruned(struct model *m, const struct hw_event *e)
{
        struct nonmoving *n = see(m);

        if (n->pruned_segments == UNKNOWN_U64)
                n->pruned_segments = 0;
        n->pruned_segments += hw_event_u32(e, 0);
        n->free_segments = hw_event_u32(e, 4);
}
