/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bundles.h - a directory of bundles, each a directory of its own, named
 * 20261122T071841Z-TARGET-WHY: how often one may be made, and how much all of
 * them may take. One that is not whole yet has a dot before its name.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/eventlog/recording/limits.h"
#include "proto/eventlog/recording/stretch.h"

struct bundle_limits {
        uint64_t per_day;  /* bundles of one reason; 0: any number */
        uint64_t apart_ns; /* between two of one target for one reason; 0: no matter */
};

/*
 * Begins a bundle: its directory, not whole yet, into `path`. `target` and `why` may hold anything. False with a
 * sentence: the limits forbid it (*ret_limited), or the directory cannot be made.
 */
bool bundle_begin(const char *directory, const char *target, const char *why, const struct bundle_limits *limits,
                  uint64_t wall_ns, char path[RECORDED_PATH_MAX], bool *ret_limited, struct error *error);

/* It is whole: `path` becomes its name for good. */
bool bundle_end(char path[RECORDED_PATH_MAX], struct error *error);

/* Removes one with all that is in it. */
void bundle_remove(const char *path);

/* Removes the oldest, and those that were never finished, until all take no more than that; the newest stays. */
void bundles_trim(const char *directory, uint64_t bytes, uint64_t wall_ns);

/* stretch_file.c: a stretch of a recording into a file. */

/* Until its end or a signal. Returns 0 or -errno; *ret_bytes gets what was written. */
int stretch_file_copy(struct cutout *c, int fd, uint64_t *ret_bytes);
