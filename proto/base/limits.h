/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - caps that both sides of the wire share: what the daemon stops at is what a client makes room for. */
#pragma once

#define LIMIT_BANDS               20000u              /* bands of one run: later ones are counted as left out */
#define LIMIT_STACKS              50000u              /* time profile: ticks of later stacks are counted as left out */
#define LIMIT_TICKY               50000u              /* counters: later ones are left out */
#define LIMIT_RESOLUTION_LEAST_NS UINT64_C(100000000) /* step in which growth is judged: others are refused */
#define LIMIT_RESOLUTION_MOST_NS  UINT64_C(3600000000000)
#define LIMIT_VERDICT_STEPS       18u   /* points of a trend's shortest window: no verdict on fewer */
#define PROCESS_REASON_SIZE       768u  /* of the sentence that says why only a process is watched: longer is refused */
#define LIMIT_TARGETS             1000u /* of one daemon: `add` is refused, a reader takes no more */

#define JOINED_LATE_NS UINT64_C(5000000000) /* a run that is known from a later time on lacks its beginning */

/* A rise foretells so many times its age: beyond that, no time is given at which it meets a limit. */
#define EARLY_REACH 20
