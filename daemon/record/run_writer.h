/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_writer.h - the files of one run, written frame by frame. Waits for the
 * disk, so it belongs to the recorder's own thread.
 *
 * A frame is in the file whole or not at all: what a full or failing disk took
 * of it is cut off again. Blocks that could not be written are lost and counted
 * in the index of the next frame; definitions wait for it.
 */
#ifndef HW_DAEMON_RECORD_RUN_WRITER_H
#define HW_DAEMON_RECORD_RUN_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/recording/frame.h"
#include "proto/recording/limits.h"

struct run_writer;

/*
 * Nothing is touched before the first frame. `header` is that of the eventlog, taken over (free). NULL when out of
 * memory, the header being freed.
 */
struct run_writer *run_writer_new(const char *directory, const char *target, uint64_t wall_ns, uint8_t *header,
                                  size_t header_size);

/* Closes its files. */
void run_writer_destroy(struct run_writer **w);

/*
 * Writes blocks that belong to that segment. False with a sentence: they are lost, or, definitions, will be tried
 * again. `packer` is the caller's.
 */
bool run_writer_blocks(struct run_writer *w, struct frame_packer *packer, uint32_t segment,
                       const struct frame_head *head, const uint8_t *blocks, struct error *error);
bool run_writer_definitions(struct run_writer *w, struct frame_packer *packer, const struct frame_head *head,
                            const uint8_t *blocks, struct error *error);

/* Neither is tried: the disk is left alone for a while. Blocks are lost, definitions wait. */
void run_writer_skip(struct run_writer *w, const struct frame_head *head, const uint8_t *blocks, bool definitions);

#endif
