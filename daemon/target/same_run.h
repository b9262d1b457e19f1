/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * same_run.h - whether a stream that comes after a connection broke is of the run that was lost.
 *
 * Who connects to a running program gets a header and the program's identity again (eventlog-socket does that). Process
 * and start decide: the start is reckoned from WALL_CLOCK_TIME and is equal to within a microsecond each time. And time
 * must go on: a recording that is played again has both, and begins again.
 *
 * Bytes are held back until it is known, SAME_RUN_BYTES at most: identity comes before any event of a capability.
 */
#ifndef HW_DAEMON_TARGET_SAME_RUN_H
#define HW_DAEMON_TARGET_SAME_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/model/model.h"

#define SAME_RUN_BYTES (256u * 1024)

struct same_run;

/* After `lost` has ended without an end. NULL when its process or start is not known, or out of memory. */
struct same_run *same_run_new(const struct model *lost);
void same_run_destroy(struct same_run **s);

enum same_run_answer { SAME_RUN_UNKNOWN, SAME_RUN_YES, SAME_RUN_NO };

/* Looks at the next bytes of the new stream, and holds them if that is not decided yet. Not to be called once it is. */
enum same_run_answer same_run_take(struct same_run *s, const uint8_t *data, size_t size);

/* What came before the bytes that decided it; NULL when nothing. */
const uint8_t *same_run_held(const struct same_run *s, size_t *ret_size);

/* SAME_RUN_YES: event time between the last event of the lost stream and the first of the new one. */
uint64_t same_run_gap_ns(const struct same_run *s);

#endif
