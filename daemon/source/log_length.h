/* SPDX-License-Identifier: BSD-3-Clause */
/* log_length.h - how long a finished log is in event time, without decoding it. */
#ifndef HW_DAEMON_SOURCE_LOG_LENGTH_H
#define HW_DAEMON_SOURCE_LOG_LENGTH_H

#include <stdint.h>

/*
 * The latest end among the block markers of the file, in ns since its program
 * began; of the longest run when there are several. Hops from block to block, a
 * few reads a megabyte. 0 when it cannot tell (not a regular file, no blocks,
 * damaged before the first); a file damaged later gives what came before.
 * Leaves the file's position alone.
 */
uint64_t log_length_ns(int fd);

#endif
