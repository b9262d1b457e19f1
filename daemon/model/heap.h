/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - gauges of the heap and the process. UNKNOWN_U64 means not known. Meanings: eventlog events 49-51, 90, 91. */
#ifndef HW_DAEMON_MODEL_HEAP_H
#define HW_DAEMON_MODEL_HEAP_H

#include <stdint.h>

#include "daemon/model/resident.h"
#include "proto/base/process.h"
#include "proto/facts/facts.h"

struct heap {
        uint64_t live_bytes;     /* after the last major collection, or later from outside */
        uint64_t live_time_ns;   /* of it */
        uint64_t max_live_bytes; /* maximum residency */
        uint64_t live_samples;
        uint64_t heap_size_bytes; /* held in megablocks */
        uint64_t max_heap_size_bytes;
        uint64_t blocks_size_bytes;
        uint64_t megablocks_held; /* current - returned of the last MEM_RETURN */
        uint64_t megablocks_needed;
        uint64_t megablocks_returned;
        double size_factor;            /* greatest heap per live block that the runtime needed; 0: not known */
        uint64_t allocated_bytes;      /* sum over capabilities of their newest values */
        double allocation_rate_bps;    /* over the last 10 s of event time; negative = not known */
        struct process_sample process; /* all UNKNOWN when the process is not watched */
        struct resident resident;      /* the newest account of its resident memory */
        double facts[CARRIED_FACTS];   /* those that have no member of their own; NAN: not known */
};

#endif
