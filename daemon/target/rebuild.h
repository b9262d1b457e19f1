/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebuild.h - the state of a target from its recording, when its checkpoint
 * cannot be read: damaged, or of another version.
 *
 * The recorded streams of the target are read from the beginning, as if they
 * came again, before its source is opened. Its last run is lost then, as when
 * a connection breaks: the source's next stream may continue it. What came
 * after the last recorded frame is in the gap that is counted then. Resident
 * memory and what else was not in the stream is unknown.
 *
 * Files need no recording: they are read again themselves.
 */
#ifndef HW_DAEMON_TARGET_REBUILD_H
#define HW_DAEMON_TARGET_REBUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

struct pipeline;

#define REBUILD_RECORDED_BYTES (128u << 20) /* on disk, of one target: older streams are not read */
#define REBUILD_S              10u          /* for all targets together */

/*
 * For a pipeline that was just made and has no source yet; `directory`: of all recordings. May wait for the disk, until
 * the monotonic clock shows until_ns. False with a clause in `error`: then the pipeline must be destroyed.
 */
bool pipeline_rebuild(struct pipeline *p, const char *directory, uint64_t until_ns, struct error *error);

#endif
