/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: gauges are written into the block of whichever capability leads a
 * collection, and blocks come out of time order: so each gauge keeps the time
 * of its value, and an older value only counts for the maximum and the series.
 *
 * Allocation is counted per capability (the capset in the event is the same for
 * all), or, by an event outside of capabilities, as a whole. The rate is the sum
 * of every capability's own rate, each from its own points: a late block then
 * delays its own part and distorts nothing else.
 */
#include "daemon/model/heap_private.h"

#include <math.h>
#include <string.h>

#include "proto/base/ckd.h"
#include "daemon/model/sizing.h"
#include "daemon/model/state.h"
#include "proto/base/time.h"

#define RATE_SPAN_NS      (10 * NS_PER_S)
#define SIZE_FACTOR_LEAST (UINT64_C(64) << 20) /* bytes needed */

void heap_clear_allocation(struct allocation *a)
{
        *a = (struct allocation){ .known = false };
        for (unsigned i = 0; i < ALLOCATION_SLOTS; i++)
                a->newest[i].time_ns = UNKNOWN_U64;
}

void heap_clear(struct model *m)
{
        m->heap_state = (struct heap_state){ 0 };
        heap_clear_allocation(&m->heap_state.allocation);
        m->heap = (struct heap){
                .live_bytes = UNKNOWN_U64,
                .live_time_ns = UNKNOWN_U64,
                .max_live_bytes = UNKNOWN_U64,
                .heap_size_bytes = UNKNOWN_U64,
                .max_heap_size_bytes = UNKNOWN_U64,
                .blocks_size_bytes = UNKNOWN_U64,
                .megablocks_held = UNKNOWN_U64,
                .megablocks_needed = UNKNOWN_U64,
                .megablocks_returned = UNKNOWN_U64,
                .allocated_bytes = UNKNOWN_U64,
                .allocation_rate_bps = -1,
        };
        for (size_t i = 0; i < CARRIED_FACTS; i++)
                m->heap.facts[i] = NAN;
        memset(&m->heap.process, 0xff, sizeof(m->heap.process)); /* all UNKNOWN_U64 */
        m->heap.process.cgroup[0] = '\0';
        resident_clear(&m->heap.resident);
}

void model_set_fact(struct model *m, enum carried_fact id, uint64_t time_ns, double value)
{
        if (!isnan(m->heap.facts[id]) && time_ns < m->heap_state.fact_time_ns[id])
                return;
        m->heap_state.fact_time_ns[id] = time_ns;
        m->heap.facts[id] = value;
        m->changes |= MODEL_HEAP;
}

void model_add_fact(struct model *m, enum carried_fact id, double value)
{
        const double sum = m->heap.facts[id];

        m->heap.facts[id] = isnan(sum) ? value : sum + value;
        m->changes |= MODEL_HEAP;
}

static void raise_max(uint64_t *max, uint64_t value)
{
        if (*max == UNKNOWN_U64 || value > *max)
                *max = value;
}

/* Whether a value of `time_ns` replaces the one kept; updates *kept_ns. */
static bool is_newer(uint64_t kept, uint64_t *kept_ns, uint64_t time_ns)
{
        if (kept != UNKNOWN_U64 && time_ns < *kept_ns)
                return false;
        *kept_ns = time_ns;
        return true;
}

void heap_allocated(struct model *m, const struct hw_event *e)
{
        struct cap_state *cap = e->cap == HW_CAP_NONE ? NULL : sched_cap_state(m, e->cap);
        struct allocation *a = cap ? &cap->allocation : &m->heap_state.allocation;
        struct allocation_point point = { e->time_ns, hw_event_u64(e, 4) };

        if (!cap && (e->cap != HW_CAP_NONE || m->sched.n_caps > 0)) /* a log has either */
                return;
        if (m->heap.allocated_bytes == UNKNOWN_U64)
                m->heap.allocated_bytes = 0;
        m->heap.allocated_bytes += point.bytes - a->bytes; /* modulo 2^64: correct also when it falls */
        a->bytes = point.bytes;
        if (cap)
                m->sched.caps[e->cap].allocated_bytes = point.bytes;
        if (!a->known)
                a->first = point;
        a->known = true;
        raise_max(&m->heap_state.allocated_time_ns, e->time_ns);
        a->newest[e->time_ns / NS_PER_S % ALLOCATION_SLOTS] = point;
        m->changes |= MODEL_HEAP;
}

uint64_t heap_own_limit(const struct run *run, const struct heap *heap, bool *ret_reserved)
{
        const double reserved = heap->facts[CARRIED_HEAP_RESERVED];
        const uint64_t max = run->max_heap_bytes ? run->max_heap_bytes : UNKNOWN_U64;

        *ret_reserved = !isnan(reserved) && reserved < (double)max;
        return *ret_reserved ? (uint64_t)reserved : max;
}

/* Heap and limit are in blocks of different buffers, which come in any order. */
void heap_compare_limit(struct model *m)
{
        bool is_reserved;
        const uint64_t limit = heap_own_limit(&m->run, &m->heap, &is_reserved), most = m->heap.max_heap_size_bytes;

        if (limit != UNKNOWN_U64 && most != UNKNOWN_U64)
                m->heap.facts[CARRIED_HEAP_LIMIT_USED] = (double)most / (double)limit;
}

void heap_size(struct model *m, const struct hw_event *e)
{
        struct heap *h = &m->heap;
        uint64_t bytes = hw_event_u64(e, 4);

        if (is_newer(h->heap_size_bytes, &m->heap_state.size_time_ns, e->time_ns))
                h->heap_size_bytes = bytes;
        raise_max(&h->max_heap_size_bytes, bytes);
        heap_compare_limit(m);
        model_sample(m, SERIES_HEAP_SIZE, e->time_ns, bytes);
        if (h->allocated_bytes != UNKNOWN_U64) /* this event ends every collection: one sample for all capabilities */
                model_sample(m, SERIES_ALLOCATED, e->time_ns, h->allocated_bytes);
        m->changes |= MODEL_HEAP;
}

void heap_close(struct model *m)
{
        const uint64_t time_ns = m->heap_state.allocated_time_ns;

        if (m->heap.allocated_bytes != UNKNOWN_U64 && time_ns > m->heap_state.size_time_ns)
                model_sample(m, SERIES_ALLOCATED, time_ns, m->heap.allocated_bytes);
}

/*
 * After a major collection of a heap that is not small: megablocks needed, less the allocation areas and as much for
 * large objects, over the live blocks (sizing.h). Megablocks are whole, so a small heap tells little.
 */
static double size_factor(const struct model *m)
{
        const struct run *run = &m->run;
        uint64_t areas, needed;

        if (m->heap.megablocks_needed == UNKNOWN_U64 || m->heap.blocks_size_bytes == UNKNOWN_U64 ||
            run->megablock_bytes == UNKNOWN_U64 || run->allocation_area_bytes == UNKNOWN_U64 ||
            ckd_mul(&areas, run->allocation_area_bytes, (uint64_t)(run->capabilities ? run->capabilities : 1)) ||
            ckd_mul(&needed, m->heap.megablocks_needed, run->megablock_bytes) || needed < SIZE_FACTOR_LEAST ||
            m->heap.blocks_size_bytes <= 2 * areas)
                return 0;
        return ((double)needed - 2 * (double)areas) / (double)(m->heap.blocks_size_bytes - areas);
}

void heap_live(struct model *m, const struct hw_event *e)
{
        struct heap *h = &m->heap;
        uint64_t bytes = hw_event_u64(e, 4);

        if (is_newer(h->live_bytes, &h->live_time_ns, e->time_ns))
                h->live_bytes = bytes;
        raise_max(&h->max_live_bytes, bytes);
        h->live_samples++;
        model_add_fact(m, CARRIED_LIVE_SUM, (double)bytes);
        census_live(m, e->time_ns, bytes);
        h->size_factor = fmax(h->size_factor, size_factor(m));
        model_sample(m, SERIES_LIVE, e->time_ns, bytes);
        m->changes |= MODEL_HEAP;
}

void heap_blocks_size(struct model *m, const struct hw_event *e)
{
        uint64_t bytes = hw_event_u64(e, 4);

        if (is_newer(m->heap.blocks_size_bytes, &m->heap_state.blocks_time_ns, e->time_ns))
                m->heap.blocks_size_bytes = bytes;
        model_sample(m, SERIES_BLOCKS_SIZE, e->time_ns, bytes);
        m->changes |= MODEL_HEAP;
}

void heap_mem_return(struct model *m, const struct hw_event *e)
{
        struct heap *h = &m->heap;
        uint32_t current = hw_event_u32(e, 4), returned = hw_event_u32(e, 12);

        if (!is_newer(h->megablocks_held, &m->heap_state.return_time_ns, e->time_ns))
                return;
        h->megablocks_held = sub_sat(current, returned);
        h->megablocks_needed = hw_event_u32(e, 8);
        h->megablocks_returned = returned;
        m->changes |= MODEL_HEAP;
}

/* Bytes per second, from the newest point at least 10 s old, else the oldest; < 0: unknown. */
static double rate_of(const struct allocation *a, uint64_t now_ns)
{
        const struct allocation_point *base = &a->first;
        uint64_t from = sub_sat(now_ns, RATE_SPAN_NS), newest = 0;

        for (unsigned i = 0; i < ALLOCATION_SLOTS; i++) {
                const struct allocation_point *p = &a->newest[i];
                if (p->time_ns == UNKNOWN_U64 || p->time_ns > now_ns)
                        continue;
                if (p->time_ns > newest)
                        newest = p->time_ns;
                if (base->time_ns > from ? p->time_ns < base->time_ns
                                         : p->time_ns > base->time_ns && p->time_ns <= from)
                        base = p;
        }
        if (newest <= from) /* nothing for ten seconds */
                return 0;
        if (base->time_ns == newest)
                return -1;
        return (double)sub_sat(a->bytes, base->bytes) / ((double)(now_ns - base->time_ns) / 1e9);
}

bool heap_refresh(struct model *m, uint64_t now_ns)
{
        const struct allocation *whole = &m->heap_state.allocation;
        double sum = whole->known ? rate_of(whole, now_ns) : -1, before = m->heap.allocation_rate_bps;

        for (uint32_t i = 0; i < m->sched.n_caps; i++) {
                if (!m->caps[i].allocation.known)
                        continue;
                double rate = rate_of(&m->caps[i].allocation, now_ns);
                if (rate >= 0)
                        sum = sum < 0 ? rate : sum + rate;
        }
        m->heap.allocation_rate_bps = sum;
        return sum < before || sum > before;
}

static void set_process_fact(struct model *m, enum carried_fact id, uint64_t time_ns, uint64_t value)
{
        model_set_fact(m, id, time_ns, value == UNKNOWN_U64 ? NAN : (double)value);
}

static void process_sample(struct model *m, enum series_id id, uint64_t time_ns, uint64_t value)
{
        if (value != UNKNOWN_U64)
                model_sample(m, id, time_ns, value);
}

/* What the runtime needs for its live data: as it logged that (since GHC 9.2), else by its own formula. */
static uint64_t needed_bytes(const struct model *m)
{
        const struct heap *h = &m->heap;
        struct sizing s = sizing_of(&m->run, h);
        uint64_t needed;

        if (h->megablocks_needed == UNKNOWN_U64 || m->run.megablock_bytes == UNKNOWN_U64 ||
            ckd_mul(&needed, h->megablocks_needed, m->run.megablock_bytes))
                needed = h->live_bytes == UNKNOWN_U64 ? UNKNOWN_U64 : sizing_heap(&s, h->live_bytes);
        if (needed != UNKNOWN_U64 && h->blocks_size_bytes != UNKNOWN_U64 && h->blocks_size_bytes > needed)
                needed = h->blocks_size_bytes;
        return needed;
}

void model_process(struct model *m, uint64_t time_ns, const struct process_sample *sample)
{
        if (time_ns == UNKNOWN_U64)
                time_ns = m->clock.newest_ns;
        m->heap.process = *sample;
        /* Makes a new account of resident memory when the kernel's count is a new one. */
        const struct resident_pages *pages = &sample->pages;
        static const enum series_id series[RESIDENT_PARTS] = {
                [RESIDENT_LIVE] = SERIES_LIVE_RESIDENT, [RESIDENT_RESERVE] = SERIES_RESERVE,
                [RESIDENT_KEPT] = SERIES_KEPT,          [RESIDENT_GIVEN_BACK] = SERIES_GIVEN_BACK,
                [RESIDENT_FILES] = SERIES_FILES,        [RESIDENT_FOREIGN] = SERIES_FOREIGN,
        };
        const struct resident_heap heap = { m->heap.heap_size_bytes, m->heap.live_bytes, needed_bytes(m) };
        struct resident *r = &m->heap.resident;

        if (pages->wall_ns != r->wall_ns) {
                resident_account(pages, &heap, r);
                r->time_ns = time_ns;
                r->wall_ns = pages->wall_ns;
                r->heap_time_ns = heap.size_bytes == UNKNOWN_U64 ? UNKNOWN_U64 : m->heap_state.size_time_ns;
                r->live_time_ns = m->heap.live_time_ns;
                for (unsigned i = 0; i < RESIDENT_PARTS; i++)
                        process_sample(m, series[i], time_ns, r->parts[i]);
        }
        set_process_fact(m, CARRIED_RESIDENT_HELD, time_ns, resident_held(sample));
        set_process_fact(m, CARRIED_FILES_DIRTY, time_ns, sample->pages.dirty_bytes);
        set_process_fact(m, CARRIED_CGROUP_HELD, time_ns, sample->cgroup_held_bytes);
        set_process_fact(m, CARRIED_DATA, time_ns, sample->data_bytes);
        set_process_fact(m, CARRIED_DATA_LIMIT, time_ns, sample->data_limit_bytes);
        if (sample->pages.reserved_bytes != UNKNOWN_U64) { /* for as long as the process lives */
                set_process_fact(m, CARRIED_HEAP_RESERVED, time_ns, sample->pages.reserved_bytes);
                heap_compare_limit(m);
        }
        process_sample(m, SERIES_RSS, time_ns, sample->rss_bytes);
        process_sample(m, SERIES_PSS, time_ns, sample->pss_bytes);
        process_sample(m, SERIES_SWAP, time_ns, sample->swap_bytes);
        process_sample(m, SERIES_CPU, time_ns, sample->cpu_ns);
        process_sample(m, SERIES_CGROUP, time_ns, sample->cgroup_current_bytes);
        m->changes |= MODEL_HEAP;
}
