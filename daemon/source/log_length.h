/* SPDX-License-Identifier: BSD-3-Clause */
/* log_length.h - how long a finished log is in event time, without decoding it. */
#ifndef HW_DAEMON_SOURCE_LOG_LENGTH_H
#define HW_DAEMON_SOURCE_LOG_LENGTH_H

#include <stdint.h>

struct log_file;

/*
 * The latest end among the block markers of the file, in ns since its program
 * began; of the longest run when there are several. Hops from block to block, a
 * few reads per megabyte; a compressed log is unpacked on the way. 0 when
 * unknown (no blocks, damaged before the first); a file damaged later gives
 * what came before. Starts at the file's current position and moves it.
 */
uint64_t log_length_ns(struct log_file *file);

#endif
