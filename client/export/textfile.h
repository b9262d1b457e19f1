/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * textfile.h - a file that is always complete, for node_exporter's textfile collector: written under another
 * name and renamed.
 */
#ifndef HW_CLIENT_EXPORT_TEXTFILE_H
#define HW_CLIENT_EXPORT_TEXTFILE_H

#include <stdbool.h>

#include "client/metrics/collect.h"

struct error;

/* Whether it is not there, empty, or one that textfile_write() has written. */
bool textfile_may_replace(const char *path);

/* Readable by all. Returns how many samples it has; 0 with a message in `error`, then the old file is untouched. */
uint64_t textfile_write(const char *path, struct metrics *m, const struct metrics_source *source, struct error *error);

#endif
