/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what the recorder keeps in memory, and when it lets go. */
#ifndef HW_DAEMON_RECORD_LIMITS_H
#define HW_DAEMON_RECORD_LIMITS_H

#include <stdint.h>

#define BATCH_BYTES       (128u << 10)                 /* of eventlog in a frame; one event more at most */
#define BATCH_AGE_NS      UINT64_C(1000000000)         /* or so long after its first event */
#define QUEUE_BYTES       (8u << 20)                   /* that wait for the disk, of all targets together */
#define QUEUE_JOBS        4096u                        /* and so many pieces */
#define DEFINITIONS_BYTES (64u << 20)                  /* of eventlog, of one run: further ones are counted as lost */
#define SEGMENT_BYTES     (16u << 20)                  /* of eventlog in a segment */
#define SEGMENT_AGE_NS    (600 * UINT64_C(1000000000)) /* event time in a segment */

#endif
