/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notes.h - all notes of the logs of a report (the world keeps only the newest
 * 512). Bounded in number and bytes; markers have a share of their own, so that
 * a flood of messages does not push them out. What does not fit is counted.
 */
#ifndef HW_CLIENT_REPORT_NOTES_H
#define HW_CLIENT_REPORT_NOTES_H

#include "client/state/world.h"
#include "proto/base/json_out.h"

#define REPORT_NOTES       8000         /* of each kind (messages, or all others), all targets together */
#define REPORT_NOTES_BYTES (768u << 10) /* the same limit in bytes of JSON */

struct report_notes;

struct report_notes *report_notes_new(void);
void report_notes_destroy(struct report_notes **n);

/* Takes the notes of an update; one of a newer run drops those of the run before. 0 or -ENOMEM. */
int report_notes_add(struct report_notes *n, const Hw__Update *update);

/* Writes those of a target as one update, when there are any. */
void report_notes_put(void *notes, struct json_out *j, const struct world_target *t);

#endif
