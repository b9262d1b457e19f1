/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipeline_checkpoint.h - saves all state of a target as bytes, and restores it.
 *
 * How a restored target goes on depends on its source:
 *
 *     socket       the run is lost, as when a connection breaks: same_run.c decides with the next stream's header
 *     file         at the byte after the last one that was read; another file is another run
 *     FIFO         inside the stream: exactly, if the checkpoint was made at the daemon's shutdown, after the last
 *                  byte read; otherwise after a gap of unknown length, which is counted
 *     stdin        never
 *     kept         as it ended
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/uri.h"
#include "proto/base/error.h"
#include "proto/base/labels.h"
#include "proto/base/limits.h"

struct pipeline;

/* What comes first in an image: which target it is of. */
struct checkpoint_target {
        char name[TARGET_NAME_MAX + 1];
        char uri[SOURCE_PATH_MAX + 16];
        char labels[LABELS_SIZE];
        char process_only_reason[PROCESS_REASON_SIZE];
        uint64_t resolution_ns; /* 0: as of all targets */
        bool one_run, no_record, kept;
        bool last; /* nothing was read afterwards by the daemon that made it */
};

/* False: not an image. */
bool checkpoint_target_read(const uint8_t *image, size_t n, struct checkpoint_target *ret);

/*
 * To free(); NULL when out of memory, or when rules of its last moment are not judged before the daemon's shutdown is
 * to go on. Only between two callbacks of the source.
 */
uint8_t *pipeline_checkpoint(struct pipeline *p, bool last, size_t *ret_size);

/* Whether there is anything new to checkpoint. */
bool pipeline_is_dirty(const struct pipeline *p);

/* The same, and a daemon that is killed before would take an ended run for one that goes on. */
bool pipeline_end_is_dirty(const struct pipeline *p);

/* When the newest was made, monotonic; 0: never. */
uint64_t pipeline_checkpoint_mono_ns(const struct pipeline *p);

/* False with a clause in `error` if the image is of a target of that name with another source. */
bool pipeline_is_of(const struct pipeline *p, const uint8_t *image, size_t n, struct error *error);

/*
 * For a pipeline that was just made and has no source yet. False with a clause in `error` when the image cannot be read
 * or is of another source: then the pipeline must be destroyed. *ret_exact: as head.last.
 */
bool pipeline_restore(struct pipeline *p, const uint8_t *image, size_t n, bool *ret_exact, struct error *error);

/*
 * After pipeline_restore, before the source is opened: the run goes on, or waits for its next stream. `exact`: nothing
 * was read after the checkpoint was made.
 */
void pipeline_resume_run(struct pipeline *p, bool exact);
