/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebuild.h - the state of a target from its recording, when its checkpoint
 * cannot be read: damaged, or of a version that kept something in another way.
 *
 *     recording ─▶ decoder, model, tracker, alerts     in slices, between the turns of all sources
 *     source ─▶ held (held_stream.h)                   from the first moment: its program does not wait
 *
 * The recorded streams are read as if they came again, one target after the
 * other. Then a socket's run is lost, as when a connection breaks, and its
 * next stream may continue it; a FIFO's goes on inside the stream. What came
 * after the last recorded frame is in the gap that is counted then. Then what
 * was held is taken, recorded as usual, until the target has caught up.
 *
 * Meanwhile subscribers see a target without a run, which says why. Resident
 * memory and what else was not in the stream is unknown afterwards. Files need
 * no recording: they are read again themselves.
 */
#ifndef HW_DAEMON_TARGET_REBUILD_H
#define HW_DAEMON_TARGET_REBUILD_H

#include <stdbool.h>

#include "daemon/publish/publisher.h"
#include "daemon/source/source.h"
#include "proto/base/error.h"

struct pipeline;
struct pipeline_options;
struct rebuild;

#define REBUILD_RECORDED_BYTES (128u << 20) /* on disk, of one target: what is older is not read */

/*
 * For a pipeline that was just made and has no source yet: p->rebuild, until it is over. False with a clause in
 * `error`, and nothing has changed: there is nothing to rebuild from.
 */
bool rebuild_begin(struct pipeline *p, const struct pipeline_options *options, struct error *error);

/* Ends it, wherever it is. NULL allowed. */
void rebuild_destroy(struct rebuild **r);

/* What the source reports meanwhile. */
void rebuild_bytes(struct rebuild *r, const struct read_piece *piece);
void rebuild_cut(struct rebuild *r, const char *why);
void rebuild_source_state(struct rebuild *r, enum source_state state, const char *why);

/* How the program ended, as reported by its parent meanwhile. */
void rebuild_exited(struct rebuild *r, const struct run_exit *how);

/* Whether the recording is still being read: what is known of the target is of the past. Until then subscribers see: */
bool rebuild_reads(const struct rebuild *r);
struct publisher *rebuild_publisher(struct rebuild *r);
struct target_facts rebuild_facts(struct rebuild *r);
void rebuild_publish(struct rebuild *r);

/* That of the pipeline, while it is set aside. */
struct recording *rebuild_recording(struct rebuild *r);

#endif
