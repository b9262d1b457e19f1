/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.h - batches that were not sent yet, on disk, so that a restart can continue.
 *
 *      file    8 bytes "hwqueue1", u64 where the first record that counts begins, then records
 *      record  u32 size, u32 crc32 of all that follows, u64 samples, u64 wall_ns, `size` bytes
 *
 * Numbers are little-endian. A batch is appended when it is queued, and dropped by moving the beginning when it is
 * sent; a file without any is truncated to its head, and one with more dropped bytes than the limit is rewritten. The
 * file may be cut anywhere: what is before the cut is valid. Nothing is synced: a crash of the machine may lose the
 * newest batches, one of the exporter loses nothing.
 *
 * Failed writes are missing in the file, and counted; batches are in memory as well. Writing may wait for the disk.
 */
#ifndef HW_CLIENT_EXPORT_JOURNAL_H
#define HW_CLIENT_EXPORT_JOURNAL_H

#include "client/export/batcher.h"

struct error;
struct journal;

/*
 * Opens or makes the file, private and locked, and calls `take` with each batch in it, of at most `most` bytes. NULL
 * with a message in `error`: another exporter has it, or it cannot be created.
 */
struct journal *journal_open(const char *path, uint64_t most, batch_taker *take, void *ctx, struct error *error);

/* The file stays as it is. */
void journal_close(struct journal **j);

/* Appends a batch. */
void journal_append(struct journal *j, const struct batch *batch);

/* The oldest was sent, or dropped. */
void journal_drop(struct journal *j, const struct batch *oldest);

uint64_t journal_bytes(const struct journal *j);
uint64_t journal_failures(const struct journal *j);

#endif
