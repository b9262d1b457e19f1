/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - how much a subscriber keeps, and a requester does in one pump. */
#pragma once

#define LIMIT_HELD_MESSAGES  100000u     /* live updates kept while a snapshot is under way ... */
#define LIMIT_HELD_BYTES     (64u << 20) /* ... and their size as sent: beyond, all of them count as lost */
#define LIMIT_RESYNC_TARGETS 256u        /* targets resynced by one snapshot request; the others come next */

#define LIMIT_TOPIC_TARGETS 32u /* followed by topics of their own; of more, all targets are received: ... */
                                /* ... a SUB drops subscriptions beyond ZMQ_SNDHWM (1,000) without a word */

#define LIMIT_REPLIES_PER_PUMP 64u                   /* of one daemon; then it is the others' turn */
#define LIMIT_QUIET_NS         UINT64_C(10000000000) /* the longest delay that a daemon may demand */

#define LIMIT_TRY_KEY_NS   UINT64_C(1500000000) /* of several keys of a daemon, one is tried so long */
#define LIMIT_TRY_AGAIN_NS UINT64_C(5000000000) /* the only one: libzmq gives up when we were not let in */
