/* SPDX-License-Identifier: BSD-3-Clause */
/* sched_hot.h - the events that a busy program writes most, inline for the loop in model.c. */
#pragma once

#include "proto/base/ckd.h"
#include "daemon/model/state.h"

#define STATUS_FINISHED 5u

/* The capability of an event, made when it is new; NULL when it has none. */
static inline struct sched_cap *sched_cap_of(struct model *m, uint32_t cap)
{
        if (cap < m->sched.n_caps)
                return &m->sched.caps[cap];
        return sched_cap_state(m, cap) ? &m->sched.caps[cap] : NULL;
}

static inline void sched_run_thread(struct model *m, const struct hw_event *e)
{
        struct sched_cap *cap = sched_cap_of(m, e->cap);

        if (!cap || cap->finished_thread == hw_event_u32(e, 0))
                return;
        cap->runs++;
        cap->run_since_ns = e->time_ns;
}

static inline void sched_stop_thread(struct model *m, const struct hw_event *e)
{
        struct sched_cap *cap = sched_cap_of(m, e->cap);
        uint32_t status = hw_event_u16(e, 4);

        status = m->stop_status[status < SCHED_STATUSES ? status : SCHED_STATUSES - 1];
        if (cap) {
                if (cap->run_since_ns != UNKNOWN_U64)
                        cap->run_ns += sub_sat(e->time_ns, cap->run_since_ns);
                else if (cap->finished_thread == hw_event_u32(e, 0))
                        return; /* after the thread has finished: its run was not counted either */
                cap->run_since_ns = UNKNOWN_U64;
        }
        m->sched.stops[status]++;
        if (status == STATUS_FINISHED) {
                m->sched.finished++;
                if (cap)
                        cap->finished_thread = hw_event_u32(e, 0);
        }
}

/* Takes the event in and returns true if it is one of these kinds. */
static inline bool sched_hot(struct model *m, const struct hw_event *e)
{
        switch (e->id) {
        case HW_RUN_THREAD:
                sched_run_thread(m, e);
                break;
        case HW_STOP_THREAD:
                sched_stop_thread(m, e);
                break;
        case HW_THREAD_WAKEUP:
                m->sched.wakeups++;
                break;
        default:
                return false;
        }
        m->changes |= MODEL_SCHED;
        return true;
}
