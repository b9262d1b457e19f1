/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a block says when its buffer was started and flushed, so no event in
 * it can be older or newer. What is outside was damaged; it is moved to the
 * nearest end, so that one flipped bit does not throw every window into the far
 * future. Only GC_START and GC_END may be older: the RTS gives them an earlier
 * time.
 *
 * A buffer that was flushed at T holds everything up to T once its block is
 * whole, which the start of the next block shows; the watermark is the least T
 * over all buffers, once each of them has been flushed.
 */

#include "daemon/model/model.h"
#include "daemon/model/state.h"
#include "proto/base/ckd.h"
#include "proto/base/time.h"

void clock_clear(struct clock *c)
{
        *c = (struct clock){ .first_ns = UINT64_MAX, .global_end_ns = UNKNOWN_U64 };
}

bool clock_is_from_outside(const struct model *m)
{
        return m->sched.n_caps == 0 && m->heap.heap_size_bytes != UNKNOWN_U64;
}

/* Whether a block has come from every known capability: a block still missing may hold any time. */
static bool all_buffers_seen(const struct model *m)
{
        uint32_t seen = 0;

        if (m->sched.n_caps == 0)
                return clock_is_from_outside(m);
        for (uint32_t i = 0; i < m->sched.n_caps; i++)
                seen += m->caps[i].block_end_ns != UNKNOWN_U64;
        return seen > 0 && seen >= m->run.capabilities;
}

/* The earliest end among all buffers' newest blocks; 0: none. */
static uint64_t least_end(const struct model *m)
{
        uint64_t least = m->clock.global_end_ns;

        for (uint32_t i = 0; i < m->sched.n_caps; i++)
                if (m->caps[i].block_end_ns < least)
                        least = m->caps[i].block_end_ns;
        return least == UNKNOWN_U64 ? 0 : least;
}

/* The agent repeats them to whoever joins late, with the times at which they were first written. */
bool model_defines(uint16_t event_id)
{
        switch (event_id) {
        case HW_BLOCK_MARKER:
        case HW_CAPSET_CREATE:
        case HW_CAPSET_DELETE:
        case HW_CAPSET_ASSIGN_CAP:
        case HW_CAPSET_REMOVE_CAP:
        case HW_RTS_IDENTIFIER:
        case HW_PROGRAM_ARGS:
        case HW_PROGRAM_ENV:
        case HW_OSPROCESS_PID:
        case HW_OSPROCESS_PPID:
        case HW_WALL_CLOCK_TIME:
        case HW_THREAD_LABEL:
        case HW_CAP_CREATE:
        case HW_CAP_DELETE:
        case HW_CAP_DISABLE:
        case HW_CAP_ENABLE:
        case HW_HEAP_INFO_GHC:
        case HW_HEAP_PROF_BEGIN:
        case HW_HEAP_PROF_COST_CENTRE:
        case HW_PROF_BEGIN:
        case HW_IPE:
        case HW_TICKY_COUNTER_DEF:
                return true;
        default:
                return false;
        }
}

/* From the block's start to its end, once its start has been taken in as known; width 0: never. */
static void update_sure(struct clock *c)
{
        uint64_t end = c->block_begin_ns + c->block_span_ns;

        c->sure_begin_ns = c->block_begin_ns;
        c->sure_width_ns =
                c->observed && c->block_size && c->first_ns <= c->block_begin_ns ? end - c->block_begin_ns + 1 : 0;
}

static bool is_in_block(const struct clock *c, const struct hw_event *e)
{
        return e->offset - c->block_offset < c->block_size;
}

/* A definition may be much older than the time from which everything is known. */
static void see_first(struct clock *c, const struct hw_event *e, uint64_t time_ns)
{
        const bool defines = model_defines(e->id);

        if (defines && c->observed)
                return;
        if (!defines && is_in_block(c, e) && c->block_begin_ns < time_ns)
                time_ns = c->block_begin_ns;
        if (time_ns < c->first_ns || (!defines && !c->observed))
                c->first_ns = time_ns;
        c->observed = c->observed || !defines;
        update_sure(c);
}

void model_has_blocks(struct model *m, uint64_t n)
{
        m->clock.whole_blocks = n;
}

void clock_block(struct model *m, const struct hw_event *e)
{
        struct clock *c = &m->clock;
        uint64_t end = hw_event_u64(e, 4);
        uint16_t cap = hw_event_u16(e, 12);
        struct cap_state *state = sched_cap_state(m, cap);
        uint64_t *newest_end = state ? &state->block_end_ns : cap == HW_CAP_NONE ? &c->global_end_ns : NULL;

        /* A block begins: all blocks before it are whole. */
        uint64_t watermark = least_end(m);

        if (watermark > m->clock.watermark_ns && all_buffers_seen(m)) {
                m->clock.watermark_ns = watermark;
                PASS_ON(m, watermark, watermark);
        }
        c->block_offset = e->offset;
        c->block_size = hw_event_u32(e, 0);
        c->block_begin_ns = e->time_ns;
        c->block_span_ns = sub_sat(end, e->time_ns);
        c->sure_width_ns = 0;
        if (end < e->time_ns) {
                c->anomalies++;
                c->block_size = 0;
                return;
        }
        if (newest_end && (*newest_end == UNKNOWN_U64 || end > *newest_end))
                *newest_end = end;
        if (state && ++state->blocks > c->blocks)
                c->blocks = state->blocks;
        if (end > c->newest_ns)
                c->newest_ns = end;
        update_sure(c);
}

/* Whether the event is in the newest block, but its time is not. */
static bool is_impossible(const struct clock *c, const struct hw_event *e)
{
        return is_in_block(c, e) && e->time_ns - c->block_begin_ns > c->block_span_ns;
}

bool clock_see(struct clock *c, const struct hw_event *e, uint64_t *ret_time_ns)
{
        uint64_t time_ns = e->time_ns;
        bool moved =
                is_impossible(c, e) && (time_ns > c->block_begin_ns || (e->id != HW_GC_START && e->id != HW_GC_END));

        if (moved) {
                time_ns = c->block_begin_ns + (time_ns > c->block_begin_ns ? c->block_span_ns : 0);
                c->anomalies++;
                *ret_time_ns = time_ns;
        }
        if (time_ns > c->newest_ns)
                c->newest_ns = time_ns;
        see_first(c, e, time_ns);
        return moved;
}

void clock_wall(struct model *m, const struct hw_event *e)
{
        uint64_t wall;

        if (ckd_mul(&wall, hw_event_u64(e, 4), NS_PER_S) || ckd_add(&wall, wall, hw_event_u32(e, 12)) ||
            wall < e->time_ns)
                return;
        wall -= e->time_ns;
        if (m->run.start_wall_ns == UNKNOWN_U64 || sub_abs(wall, m->run.start_wall_ns) < CLOCK_STEP_NS)
                m->run.start_wall_ns = wall;
        else
                m->run.clock_step_ns =
                        (int64_t)(wall - m->run.start_wall_ns); /* a log that was begun anew, after a step */
        m->changes |= MODEL_RUN;
}

static void step_wall(uint64_t *wall_ns, int64_t step_ns)
{
        if (*wall_ns != UNKNOWN_U64)
                *wall_ns += (uint64_t)step_ns;
}

void model_step_clock(struct model *m, int64_t step_ns, const char *note)
{
        m->run.clock_step_ns += step_ns;
        step_wall(&m->heap.process.wall_ns, step_ns);
        step_wall(&m->heap.process.pages.wall_ns, step_ns);
        m->changes |= MODEL_RUN | MODEL_HEAP;
        note_text(m, note);
}

void model_pass_time(struct model *m, uint64_t time_ns)
{
        struct clock *c = &m->clock;

        if (time_ns < c->first_ns)
                c->first_ns = time_ns;
        if (time_ns > c->newest_ns)
                c->newest_ns = time_ns;
        c->observed = true;
        if (time_ns <= c->watermark_ns)
                return; /* the clock was put back */
        c->watermark_ns = time_ns;
        PASS_ON(m, watermark, time_ns);
}

uint64_t model_time_ns(const struct model *m)
{
        return m->clock.newest_ns;
}

uint64_t model_first_time_ns(const struct model *m)
{
        return m->clock.first_ns; /* UINT64_MAX, which is UNKNOWN_U64, before the first */
}

uint64_t model_watermark_ns(const struct model *m)
{
        if (m->ended)
                return m->clock.newest_ns;
        return m->clock.watermark_ns ? m->clock.watermark_ns : UNKNOWN_U64;
}

uint64_t model_event_time(const struct model *m, uint64_t wall_ns)
{
        const uint64_t anchor = run_anchor_wall_ns(&m->run);

        return anchor == UNKNOWN_U64 ? UNKNOWN_U64 : sub_sat(wall_ns, anchor);
}

uint64_t model_wall_time(const struct model *m, uint64_t time_ns)
{
        const uint64_t anchor = run_anchor_wall_ns(&m->run);
        uint64_t wall;

        if (anchor == UNKNOWN_U64 || ckd_add(&wall, anchor, time_ns))
                return UNKNOWN_U64;
        return wall;
}

uint64_t model_time_anomalies(const struct model *m)
{
        return m->clock.anomalies;
}
