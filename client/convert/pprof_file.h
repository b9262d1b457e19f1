/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pprof_file.h - a profile in pprof's format (profile.proto in gzip): of the heap, with one value, inuse_space, of the
 * bands of censuses; or of time, with ticks, and ns if the log says how long a tick is.
 */
#ifndef HW_CLIENT_CONVERT_PPROF_FILE_H
#define HW_CLIENT_CONVERT_PPROF_FILE_H

#include <stdio.h>

#include "client/state/world.h"

struct pprof_file;

/* Writes to the descriptor of `out`, which is borrowed. NULL when out of memory. */
struct pprof_file *pprof_file_new(FILE *out);
void pprof_file_destroy(struct pprof_file **p);

/* All of these return 0 or -errno. */

/* The header, before the first sample. `at_ns`: event time; `duration_ns` 0: a moment. */
int pprof_file_head(struct pprof_file *p, const struct world_target *t, bool time, uint64_t at_ns,
                    uint64_t duration_ns);

/* A sample for each band. `label_ns`: the time of the census, as a label; UINT64_MAX: none. */
int pprof_file_census(struct pprof_file *p, const struct world_target *t, const Hw__Census *c, uint64_t label_ns);

/* A sample for each stack, of its ticks but for the first `before[id - 1]` of them; without further ones, none. */
int pprof_file_time(struct pprof_file *p, const struct world_target *t, const uint64_t *before, size_t n_before);

/* Completes the file. */
int pprof_file_close(struct pprof_file *p);

uint64_t pprof_file_samples(const struct pprof_file *p);

#endif
