/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.h - batches that are not sent yet, on disk: what a restart goes on from.
 *
 *      file    8 bytes "hwqueue1", u64 where the first record that counts begins, then records
 *      record  u32 size, u32 crc32 of all that follows, u64 samples, u64 wall_ns, `size` bytes
 *
 * Numbers are little-endian. A batch is written behind the others when it is queued, and left behind by moving the
 * beginning when it is sent; a file without any is cut to its head, and one with more that is gone than may be kept
 * is written anew. The end of a file may be cut anywhere: what is before is good. Nothing is synced: a crash of the
 * machine may cost the newest, one of the exporter costs nothing.
 *
 * What the disk does not take is not there, and counted; batches are in memory as well. Writing may wait for the disk.
 */
#ifndef HW_CLIENT_EXPORT_JOURNAL_H
#define HW_CLIENT_EXPORT_JOURNAL_H

#include "client/export/batcher.h"

struct error;
struct journal;

/*
 * Opens or makes the file, private and locked, and calls `take` with each batch of it; one has at most `most` bytes.
 * NULL with a sentence in `error`: another exporter has it, or the directory takes no file.
 */
struct journal *journal_open(const char *path, uint64_t most, batch_taker *take, void *ctx, struct error *error);

/* The file stays as it is. */
void journal_close(struct journal **j);

/* Behind the others. */
void journal_append(struct journal *j, const struct batch *batch);

/* The oldest is sent, or given up. */
void journal_drop(struct journal *j, const struct batch *oldest);

uint64_t journal_bytes(const struct journal *j);
uint64_t journal_failures(const struct journal *j);

#endif
