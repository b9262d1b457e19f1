/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recording.h - the recording of one target, as the reading thread has it:
 * tells the recorder where its events lie.
 *
 * A recording belongs to the reading thread. recording_state also has what the
 * writing thread reports about it.
 */
#ifndef HW_DAEMON_RECORD_RECORDING_H
#define HW_DAEMON_RECORD_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/buffer/read_buffer.h"
#include "daemon/record/state.h"
#include "heapwatch/eventlog.h"

struct recorder;
struct recording;

/* For one target, run after run. NULL when out of memory. */
struct recording *recording_new(struct recorder *r, const char *target);
void recording_destroy(struct recording **r);

/* A run begins, as the decoder has just reported. */
void recording_begin(struct recording *r, const struct hw_eventlog *log, uint64_t wall_ns);

/* What the decoder has delivered from `piece` and what it had kept of earlier ones. The piece is kept, not copied. */
void recording_events(struct recording *r, const struct hw_eventlog *log, const struct read_piece *piece,
                      const struct hw_event *events, size_t n, uint64_t wall_ns);

/* A second has passed: what is old enough goes to the disk. */
void recording_tick(struct recording *r);

/* The run is over; `marked`: it had an end marker. */
void recording_end(struct recording *r, bool marked);

/* Hands over all that came so far. Returns the number to wait for: recorder_written. */
uint64_t recording_seal(struct recording *r);

void recording_state(struct recording *r, struct recording_state *ret);

#endif
