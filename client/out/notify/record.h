/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h - which alerts were acted on, to be remembered over a restart. The
 * newest RECORD_MAX. Pure; record_file.c stores it.
 *
 * An alert is in the record from the moment its actions begin, so that one
 * notifier begins nothing twice. Only completed actions survive a restart: those
 * during which a notifier was killed are done again by the next.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/out/notify/alert_event.h"

#define RECORD_MAX 4096u /* the oldest is dropped */

struct record_entry {
        uint64_t fingerprint, fired_wall_ns; /* which alert, and which time that it fired */
        bool fired_over;                     /* all actions for its beginning are completed */
        bool resolved, resolved_over;        /* those for its end have begun; are completed */
};

struct record {
        struct record_entry items[RECORD_MAX]; /* oldest first */
        size_t n;
        uint64_t changes; /* rises with each change that has to be stored */
};

/* The entry of the alert that began to fire at that time, or NULL. */
const struct record_entry *record_find(const struct record *r, uint64_t fingerprint, uint64_t fired_wall_ns);

/* The actions for its beginning, or for its end, begin. */
void record_begin(struct record *r, const struct alert_event *event);

/* They are completed. */
void record_over(struct record *r, const struct alert_event *event);

/* Restores an entry; in order. Keeps what is already known of it. */
void record_add(struct record *r, const struct record_entry *entry);

/* record_file.c: the record as a JSON file, checked in full when it is read. May wait for the disk. */

struct error;

#define RECORD_FILE_BYTES_MAX (4u << 20)

/* What is completed, as a string to free(); NULL when out of memory. */
char *record_text(const struct record *record);

/* Adds the entries of the text. False with a message (where, what was expected) in `error`: then nothing was added. */
bool record_parse(struct record *record, const char *text, size_t size, struct error *error);

/* Reads the file, if there is one. A broken file is moved aside (its name with ".broken") and named in the log. */
void record_read(struct record *record, const char *path);

/* Replaces the file. Returns 0 or -errno. */
int record_write(const struct record *record, const char *path);
