/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what the recorder keeps in memory, and when it writes it. */
#pragma once

#include <stdint.h>

#define QUEUE_BYTES         (4u << 20) /* of eventlog waiting for the disk, of all targets together */
#define QUEUE_RESERVE_BYTES (1u << 20) /* and this much more for definitions only */
#define QUEUE_BUFFERS       40u        /* of READ_PIECES_BYTES that may hold them */
#define QUEUE_JOBS          4096u      /* waiting */
#define SPARE_JOBS          256u       /* finished jobs kept for reuse */
#define WAKE_JOBS           1024u
#define WAKE_BYTES          (1u << 20)                   /* waiting: wakes the thread before the next tick */
#define BATCH_BYTES         (128u << 10)                 /* of eventlog in a frame, exceeded by at most one stretch */
#define BATCH_AGE_NS        UINT64_C(900000000)          /* of the first event: a frame is written at the next tick */
#define BATCHES_BYTES       (1u << 20)                   /* of all targets together, not yet written as frames */
#define PENDING_BYTES       (1u << 20)                   /* of definitions of one run that are not written yet */
#define DEFINITIONS_BYTES   (64u << 20)                  /* of eventlog, of one run: further ones are counted as lost */
#define PROBE_BYTES         BATCH_BYTES                  /* that a disk must take before it is used again */
#define SLOW_NS             UINT64_C(10000000000)        /* recording is paused so long after the queue was full */
#define SEGMENT_BYTES       (16u << 20)                  /* of eventlog in a segment */
#define SEGMENT_AGE_NS      (600 * UINT64_C(1000000000)) /* event time in a segment */
