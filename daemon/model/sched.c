/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: no table of threads. A program makes millions, and what a monitor
 * shows of them are counts; a run and its stop are on one capability, in
 * order, so a time per capability is all the pairing needs. The cost is a few
 * additions per event; nine out of ten events of a log are of the three kinds
 * in sched_hot.h, which are inlined into the loop in model.c.
 */
#include "daemon/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "proto/eventlog/limits.h"
#include "daemon/model/sched_hot.h"
#include "daemon/model/state.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"

enum { STATUS_READ_MVAR_782 = 8, STATUS_READ_MVAR = 20 };

const char *sched_stop_reason(uint32_t status)
{
        static const char *const reasons[] = {
                [1] = "needed memory",
                [2] = "needed more stack",
                [3] = "yielding",
                [4] = "blocked",
                [5] = "finished",
                [6] = "foreign call",
                [7] = "blocked on MVar",
                [8] = "blocked on black hole",
                [9] = "blocked on read",
                [10] = "blocked on write",
                [11] = "delay",
                [12] = "blocked on STM",
                [13] = "blocked on asynchronous I/O",
                [16] = "blocked in foreign call",
                [17] = "blocked in interruptible foreign call",
                [18] = "blocked in throwTo",
                [19] = "migrating",
                [20] = "blocked on MVar read",
                [21] = "blocked on I/O completion",
        };
        return status < ARRAY_SIZE(reasons) ? reasons[status] : NULL;
}

void sched_use_782_codes(struct model *m)
{
        uint64_t counted[SCHED_STATUSES];

        if (m->run.stop_codes_782)
                return;
        m->run.stop_codes_782 = true;
        m->stop_status[STATUS_READ_MVAR_782] = STATUS_READ_MVAR;
        for (unsigned i = STATUS_READ_MVAR_782 + 1; i <= STATUS_READ_MVAR; i++)
                m->stop_status[i] = (uint8_t)(i - 1);
        memcpy(counted, m->sched.stops, sizeof(counted));
        memset(m->sched.stops, 0, sizeof(m->sched.stops));
        for (unsigned i = 0; i < SCHED_STATUSES; i++)
                m->sched.stops[m->stop_status[i]] += counted[i];
}

void sched_clear(struct model *m)
{
        struct sched_cap *caps = m->sched.caps;

        m->sched = (struct sched){ .caps = caps };
        for (unsigned i = 0; i < SCHED_STATUSES; i++)
                m->stop_status[i] = (uint8_t)i;
}

void sched_done(struct model *m)
{
        free(m->sched.caps);
        free(m->caps);
        m->sched = (struct sched){ 0 };
        m->caps = NULL;
        m->caps_room = 0;
}

static bool make_room(struct model *m, uint32_t want)
{
        uint32_t room = m->caps_room ? m->caps_room : 4;

        if (want <= m->caps_room)
                return true;
        while (room < want)
                room *= 2;
        struct sched_cap *caps = realloc(m->sched.caps, room * sizeof(*caps));
        if (!caps)
                return false;
        m->sched.caps = caps;
        struct cap_state *states = realloc(m->caps, room * sizeof(*states));
        if (!states)
                return false;
        m->caps = states;
        m->caps_room = room;
        return true;
}

static void begin_cap(struct model *m, uint32_t cap)
{
        struct cap_state *state = &m->caps[cap];

        m->sched.caps[cap] = (struct sched_cap){ .run_since_ns = UNKNOWN_U64, .finished_thread = UNKNOWN_U64 };
        *state = (struct cap_state){
                .block_end_ns = UNKNOWN_U64,
                .gc_start_ns = UNKNOWN_U64,
                .gc_request_ns = UNKNOWN_U64,
        };
        heap_clear_allocation(&state->allocation);
}

struct cap_state *sched_cap_state(struct model *m, uint32_t cap)
{
        if (cap < m->sched.n_caps)
                return &m->caps[cap];
        if (cap >= LIMIT_CAPS || !make_room(m, cap + 1))
                return NULL;
        while (m->sched.n_caps <= cap)
                begin_cap(m, m->sched.n_caps++);
        m->run.capabilities = m->sched.n_caps;
        m->changes |= MODEL_RUN | MODEL_SCHED;
        return &m->caps[cap];
}

void sched_create_thread(struct model *m, const struct hw_event *e)
{
        m->sched.created++;
        m->changes |= MODEL_SCHED;
}

void sched_set_threads(struct model *m, uint64_t time_ns, uint64_t threads)
{
        struct sched *s = &m->sched;

        model_set_fact(m, CARRIED_HASKELL_THREADS, time_ns, threads == UNKNOWN_U64 ? NAN : (double)threads);
        if (!s->uncounted || threads == UNKNOWN_U64 || !model_tells_threads(m))
                return;
        s->uncounted = ckd_add(&s->created, s->finished, threads);
        m->changes |= MODEL_SCHED;
}

/* From outside: all threads that a census has found. */
void sched_count_threads(struct model *m, const struct hw_event *e)
{
        const uint64_t threads = hw_event_u64(e, 4);

        sched_set_threads(m, e->time_ns, threads);
        m->census.tells_groups = threads != UNKNOWN_U64; /* the one that comes next */
}

void sched_migrate_thread(struct model *m, const struct hw_event *e)
{
        m->sched.migrations++;
        m->changes |= MODEL_SCHED;
}

void sched_spark_counters(struct model *m, const struct hw_event *e)
{
        struct sched_cap *cap = sched_cap_of(m, e->cap);

        if (!cap)
                return;
        for (unsigned i = 0; i < 7; i++)
                cap->sparks[i] = hw_event_u64(e, i * 8);
        cap->sparks_known = true;
        m->changes |= MODEL_SCHED;
}

void sched_startup(struct model *m, const struct hw_event *e)
{
        uint16_t n = e->size >= 2 ? hw_event_u16(e, 0) : 0;

        if (n)
                (void)sched_cap_state(m, n - 1u); /* if out of memory: made when it is first used */
}

void sched_cap_create(struct model *m, const struct hw_event *e)
{
        (void)sched_cap_state(m, hw_event_u16(e, 0)); /* as above */
}

static void set_disabled(struct model *m, const struct hw_event *e, bool disabled)
{
        struct sched_cap *cap = sched_cap_of(m, hw_event_u16(e, 0));

        if (!cap)
                return;
        cap->disabled = disabled;
        m->changes |= MODEL_SCHED;
}

void sched_cap_disable(struct model *m, const struct hw_event *e)
{
        set_disabled(m, e, true);
}

void sched_cap_enable(struct model *m, const struct hw_event *e)
{
        set_disabled(m, e, false);
}

bool model_tells_threads(const struct model *m)
{
        uint64_t events = m->sched.created | m->sched.finished | m->sched.wakeups;

        for (unsigned i = 0; i < SCHED_STATUSES; i++)
                events |= m->sched.stops[i];
        return events > 0;
}

double model_threads(const struct model *m)
{
        if (!model_tells_threads(m))
                return m->heap.facts[CARRIED_HASKELL_THREADS];
        return m->sched.uncounted ? (double)NAN : (double)sub_sat(m->sched.created, m->sched.finished);
}
