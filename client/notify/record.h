/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h - which alerts were acted on: what must not be forgotten over a
 * restart. The newest RECORD_MAX. Pure; record_file.h keeps it.
 *
 * An alert is in the record from the moment in which its actions begin, so that
 * nothing is begun twice by one notifier. Kept over a restart is what is over:
 * actions that a notifier was killed in the middle of are done again by the next.
 */
#ifndef HW_CLIENT_NOTIFY_RECORD_H
#define HW_CLIENT_NOTIFY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/notify/alert_event.h"

#define RECORD_MAX 4096u /* the oldest goes */

struct record_entry {
        uint64_t fingerprint, fired_wall_ns; /* which alert, and which of its lives */
        bool fired_over;                     /* all actions of its beginning are over */
        bool resolved, resolved_over;        /* those of its end have begun; are over */
};

struct record {
        struct record_entry items[RECORD_MAX]; /* oldest first */
        size_t n;
        uint64_t changes; /* rises with each change of what is to be kept */
};

/* The entry of the alert that began to fire at that time, or NULL. */
const struct record_entry *record_find(const struct record *r, uint64_t fingerprint, uint64_t fired_wall_ns);

/* Its actions begin: those of its beginning, or of its end. */
void record_begin(struct record *r, const struct alert_event *event);

/* They are over. */
void record_over(struct record *r, const struct alert_event *event);

/* Restores an entry; in order. What is known of it stays. */
void record_add(struct record *r, const struct record_entry *entry);

#endif
