/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what a subscriber keeps, and a requester does at once. */
#ifndef HW_PROTO_FOLLOW_LIMITS_H
#define HW_PROTO_FOLLOW_LIMITS_H

#define LIMIT_HELD_MESSAGES  100000u     /* live updates kept while a snapshot is under way ... */
#define LIMIT_HELD_BYTES     (64u << 20) /* ... and their size as sent: beyond, all of them count as lost */
#define LIMIT_RESYNC_TARGETS 256u        /* targets resynced by one snapshot request; the others come next */

#define LIMIT_REPLIES_PER_PUMP 64u                   /* of one daemon, then the others have their turn */
#define LIMIT_QUIET_NS         UINT64_C(10000000000) /* a daemon's wish to be asked later counts for so long at most */

#endif
