/* SPDX-License-Identifier: BSD-3-Clause */
/* record_file.h - the record as a JSON file, checked in full when it is read. May wait for the disk. */
#ifndef HW_CLIENT_NOTIFY_RECORD_FILE_H
#define HW_CLIENT_NOTIFY_RECORD_FILE_H

#include "client/notify/record.h"

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

#endif
