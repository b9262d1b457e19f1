/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pprof_file.h - a profile for pprof (proto/cli/profile/pprof.h): of the heap, with one value, inuse_space, of the
 * bands of censuses; or of time, with ticks, and ns if the log says how long a tick is.
 */
#pragma once

#include "client/out/convert/frames.h"
#include "client/world/state/world.h"
#include "proto/cli/profile/pprof.h"

struct pprof_file {
        struct pprof *out;    /* owned */
        struct frames frames; /* number n is function n */
};

/* `to` is borrowed. False when out of memory. pprof_file_done() either way. */
bool pprof_file_open(struct pprof_file *p, FILE *to);
void pprof_file_done(struct pprof_file *p);

/* The header. `at_ns`: event time; `duration_ns` 0: a moment. */
void pprof_file_head(struct pprof_file *p, const struct world_target *t, bool time, uint64_t at_ns,
                     uint64_t duration_ns);

/* A sample for each band. `label_ns`: the time of the census, as a label; UINT64_MAX: none. 0 or -ENOMEM. */
int pprof_file_census(struct pprof_file *p, const struct world_target *t, const Hw__Census *c, uint64_t label_ns);

/* A sample for each stack, of its ticks but for the first `before[id - 1]` of them; without further ones, none. */
int pprof_file_time(struct pprof_file *p, const struct world_target *t, const uint64_t *before, size_t n_before);
