/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_private.h - how heap gauges are taken in: across blocks, the value with the newest time is kept. */
#ifndef HW_DAEMON_MODEL_HEAP_PRIVATE_H
#define HW_DAEMON_MODEL_HEAP_PRIVATE_H

#include <stdbool.h>

#include "heapwatch/eventlog.h"
#include "daemon/model/heap.h"
#include "daemon/model/sched_private.h"

struct model;

struct heap_state {
        /* of the values in struct heap */
        uint64_t size_time_ns, blocks_time_ns, return_time_ns, fact_time_ns[CARRIED_FACTS];
        struct allocation allocation; /* of the program as a whole, where that is what is known */
};

void heap_clear(struct model *m);
void heap_clear_allocation(struct allocation *a);

void heap_allocated(struct model *m, const struct hw_event *e);
void heap_size(struct model *m, const struct hw_event *e);
void heap_compare_limit(struct model *m); /* for FACT_HEAP_LIMIT_USED */
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

#endif
