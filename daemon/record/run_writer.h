/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_writer.h - the files of one run, written frame by frame. Waits for the
 * disk, so it belongs to the recorder's own thread.
 *
 * A frame is in the file whole or not at all: what a full or failing disk
 * accepted of it is truncated again. Blocks that could not be written are lost
 * and counted in the head of the next frame; definitions wait for it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/record/gather.h"
#include "proto/base/error.h"
#include "proto/eventlog/recording/frame.h"
#include "proto/eventlog/recording/limits.h"

struct run_writer;

/*
 * Creates nothing before the first frame. Takes ownership of `header`, that of the eventlog. NULL when out of memory;
 * the header is then freed.
 */
struct run_writer *run_writer_new(const char *directory, const char *target, uint64_t wall_ns, uint8_t *header,
                                  size_t header_size);

/*
 * Before the first frame: continues the files of a run whose header is the same and which nobody else is writing,
 * instead of new ones. False: there are none such, and new ones will be made.
 */
bool run_writer_resume(struct run_writer *w, struct recorded_end *ret_end);

/* Not these files after all: new ones, as if it had not been tried. */
void run_writer_start_anew(struct run_writer *w);

/* The Unix time by which its directory is named: that of run_writer_new, or a little later. */
uint64_t run_writer_begin_ns(const struct run_writer *w);

/* Closes its files. */
void run_writer_destroy(struct run_writer **w);

/*
 * Writes blocks of a segment, or definitions. False with a sentence: blocks are lost, definitions will be tried again.
 * `packer` is the caller's.
 */
bool run_writer_blocks(struct run_writer *w, struct frame_packer *packer, uint32_t segment,
                       const struct frame_head *head, const uint8_t *blocks, struct error *error);
bool run_writer_definitions(struct run_writer *w, struct frame_packer *packer, const struct frame_head *head,
                            const uint8_t *blocks, struct error *error);

/* Of definitions that wait for the disk. */
size_t run_writer_pending_bytes(const struct run_writer *w);

/* Does not try to write, while backing off: blocks are lost, definitions wait. */
void run_writer_skip(struct run_writer *w, const struct frame_head *head, const uint8_t *blocks, bool definitions);

/*
 * Whether a disk that has refused something takes data again: writes a file of PROBE_BYTES into the directory, and
 * removes it. False with the reason. May wait for the disk.
 */
bool probe_write(const char *directory, struct error *error);
