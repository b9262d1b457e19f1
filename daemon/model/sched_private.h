/* SPDX-License-Identifier: BSD-3-Clause */
/* sched_private.h - how scheduler events are taken in, and what is kept of each capability in addition to sched.h. */
#ifndef HW_DAEMON_MODEL_SCHED_PRIVATE_H
#define HW_DAEMON_MODEL_SCHED_PRIVATE_H

#include "proto/eventlog/limits.h"
#include "heapwatch/eventlog.h"
#include "daemon/model/gc.h"
#include "daemon/model/sched.h"

struct model;

#define ALLOCATION_SLOTS 12 /* seconds of allocation kept: ten, and both ends */

struct allocation_point {
        uint64_t time_ns; /* UNKNOWN_U64: free */
        uint64_t bytes;
};

/* What one capability has allocated; or all, of a program that is watched from outside. */
struct allocation {
        bool known;
        uint64_t bytes;
        struct allocation_point first;
        struct allocation_point newest[ALLOCATION_SLOTS]; /* of each second, at second % slots */
};

struct cap_state {
        uint64_t block_end_ns; /* newest flush; UNKNOWN_U64 */
        uint64_t blocks;
        uint64_t gc_start_ns;         /* UNKNOWN_U64 while not collecting */
        uint64_t gc_request_ns;       /* UNKNOWN_U64 */
        bool leads;                   /* GC_STATS_GHC was seen, GC_END not yet */
        struct collection collection; /* the current one, while it leads */
        struct allocation allocation;
};

/* The state of a capability, made when it is new; NULL when its number is LIMIT_CAPS or more, or out of memory. */
struct cap_state *sched_cap_state(struct model *m, uint32_t cap);

void sched_clear(struct model *m);
void sched_done(struct model *m);

/* Uses the STOP_THREAD codes of 7.8.1 and 7.8.2; what was already counted is moved too. */
void sched_use_782_codes(struct model *m);

void sched_create_thread(struct model *m, const struct hw_event *e);
void sched_count_threads(struct model *m, const struct hw_event *e);
void sched_migrate_thread(struct model *m, const struct hw_event *e);
void sched_spark_counters(struct model *m, const struct hw_event *e);
void sched_startup(struct model *m, const struct hw_event *e);
void sched_cap_create(struct model *m, const struct hw_event *e);
void sched_cap_disable(struct model *m, const struct hw_event *e);
void sched_cap_enable(struct model *m, const struct hw_event *e);

#endif
