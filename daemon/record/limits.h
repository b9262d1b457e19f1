/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what the recorder keeps in memory, and when it writes it. */
#ifndef HW_DAEMON_RECORD_LIMITS_H
#define HW_DAEMON_RECORD_LIMITS_H

#include <stdint.h>

#define QUEUE_BYTES         (4u << 20) /* of eventlog that wait for the disk, of all targets together */
#define QUEUE_RESERVE_BYTES (1u << 20) /* and so much of definitions alone */
#define QUEUE_BUFFERS       40u        /* of READ_PIECES_BYTES in which they may lie */
#define QUEUE_JOBS          4096u      /* and this many jobs */
#define SPARE_JOBS          256u       /* stay in memory when they are done */
#define WAKE_JOBS           1024u
#define WAKE_BYTES          (128u << 10)                 /* for so much the thread is woken before the next second */
#define BATCH_BYTES         (128u << 10)                 /* of eventlog in a frame; a stretch more at most */
#define BATCH_AGE_NS        UINT64_C(900000000)          /* or so long after its first event, at the next tick */
#define BATCHES_BYTES       (1u << 20)                   /* of all targets together that wait to become frames */
#define PENDING_BYTES       (1u << 20)                   /* of definitions of one run that the disk has not taken yet */
#define DEFINITIONS_BYTES   (64u << 20)                  /* of eventlog, of one run: further ones are counted as lost */
#define SEGMENT_BYTES       (16u << 20)                  /* of eventlog in a segment */
#define SEGMENT_AGE_NS      (600 * UINT64_C(1000000000)) /* event time in a segment */

#endif
