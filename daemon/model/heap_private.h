/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_private.h - how heap gauges are taken in: across blocks, the value with the newest time is kept. */
#pragma once

#include <stdbool.h>

#include "daemon/model/gc.h"
#include "daemon/model/model.h"
#include "heapwatch/eventlog.h"
#include "proto/eventlog/limits.h"

/* How scheduler events are taken in, and what is kept of each capability in addition to sched.c. */

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

/* All Haskell threads that there were at that time; UNKNOWN_U64: not known. */
void sched_set_threads(struct model *m, uint64_t time_ns, uint64_t threads);
void sched_migrate_thread(struct model *m, const struct hw_event *e);
void sched_spark_counters(struct model *m, const struct hw_event *e);
void sched_startup(struct model *m, const struct hw_event *e);
void sched_cap_create(struct model *m, const struct hw_event *e);
void sched_cap_disable(struct model *m, const struct hw_event *e);
void sched_cap_enable(struct model *m, const struct hw_event *e);

struct heap_state {
        /* of the values in struct heap */
        uint64_t allocated_time_ns, size_time_ns, blocks_time_ns, return_time_ns, fact_time_ns[CARRIED_FACTS];
        struct allocation allocation; /* of the program as a whole, where that is what is known */
};

void heap_clear(struct model *m);
void heap_clear_allocation(struct allocation *a);

void heap_allocated(struct model *m, const struct hw_event *e);
void heap_size(struct model *m, const struct hw_event *e);
/* Samples what was allocated after the last collection, as the runtime tells it at its end. */
void heap_close(struct model *m);
void heap_compare_limit(struct model *m); /* for CARRIED_HEAP_LIMIT_USED */
void heap_live(struct model *m, const struct hw_event *e);
void heap_blocks_size(struct model *m, const struct hw_event *e);
void heap_mem_return(struct model *m, const struct hw_event *e);

/*
 * A fact without a member of its own in struct heap: its newest value, left out where it is of an older time than the
 * one that is kept, or more of a sum. Both mark the heap changed.
 */
void model_set_fact(struct model *m, enum carried_fact id, uint64_t time_ns, double value);
void model_add_fact(struct model *m, enum carried_fact id, double value);

/* Recomputes the allocation rate at `now_ns`; true when it changed. */
bool heap_refresh(struct model *m, uint64_t now_ns);
