/* SPDX-License-Identifier: BSD-3-Clause */
/* sched.h - the scheduler: its events, most of a log, are counted rather than stored. */
#ifndef HW_DAEMON_MODEL_SCHED_H
#define HW_DAEMON_MODEL_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#define SCHED_STATUSES 32 /* of STOP_THREAD; others count in the last */

struct sched_cap {
        uint64_t run_ns; /* between RUN_THREAD and STOP_THREAD */
        uint64_t gc_ns;  /* between its own GC_START and GC_END */
        uint64_t runs;
        uint64_t sparks[7]; /* newest SPARK_COUNTERS, in the event's order of fields */
        bool sparks_known;
        bool disabled;
        uint64_t run_since_ns;    /* UNKNOWN_U64 while no thread runs */
        uint64_t allocated_bytes; /* newest HEAP_ALLOCATED */
        uint64_t finished_thread; /* the last that finished here: its later events are ignored; UNKNOWN_U64 */
};

struct sched {
        uint64_t created, finished, migrations, wakeups;
        uint64_t stops[SCHED_STATUSES]; /* by status, in the current numbering, whichever release wrote the log */
        struct sched_cap *caps;         /* n_caps of them */
        uint32_t n_caps;                /* highest seen + 1 */
};

/* What a STOP_THREAD status means; NULL when it is not known. */
const char *sched_stop_reason(uint32_t status);

#endif
