/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * same_run.h - whether a stream that comes after a broken connection belongs to the lost run.
 *
 * A client that connects to a running program gets a header, the program's identity and its definitions again: from
 * eventlog-socket with new times, from the agent with their first ones. Process and start time decide: the start is
 * computed from WALL_CLOCK_TIME and is the same each time, to within a microsecond. And event time must go on, that of
 * the definitions or else of what follows them: a recording that is replayed has the same process and start, but starts
 * over.
 *
 * Bytes are held back until that is decided, at most SAME_RUN_BYTES. If there are more definitions than that, process
 * and start alone decide.
 */
#ifndef HW_DAEMON_TARGET_SAME_RUN_H
#define HW_DAEMON_TARGET_SAME_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/model/model.h"

#define SAME_RUN_BYTES (256u * 1024)

struct same_run;

/* After the run of `lost` has been lost. NULL when its process or start is not known, or out of memory. */
struct same_run *same_run_new(const struct model *lost);
void same_run_destroy(struct same_run **s);

enum same_run_answer { SAME_RUN_UNKNOWN, SAME_RUN_YES, SAME_RUN_NO };

/* Examines the next bytes of the new stream, and holds them while undecided. Not to be called once decided. */
enum same_run_answer same_run_check(struct same_run *s, const uint8_t *data, size_t size);

/* Whether the answer was yes. */
bool same_run_continues(const struct same_run *s);

/* What came before the deciding bytes, or NULL. */
const uint8_t *same_run_held(const struct same_run *s, size_t *ret_size);

/* SAME_RUN_YES: event time between the last event of the lost stream and the first of the new one. */
uint64_t same_run_gap_ns(const struct same_run *s);

#endif
