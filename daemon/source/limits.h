/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - how much is read at a time. */
#pragma once

#define READ_BUFFER_BYTES    (64u * 1024)  /* one read(2) of a finished log: small, so the rest stays in cache */
#define READ_TURN_BYTES      (256u * 1024) /* one turn of the loop per source: then others, and requests, get theirs */
#define READ_TURN_NS         10000000u     /* ... or after this time: a few bytes may hold days */
#define LIMIT_PIPE_BYTES     (1 << 20)     /* requested for a FIFO: a writer's slack while we are busy */
#define SILENT_WRITER_NS     1000000000u   /* a writer that has sent nothing for so long makes room for another */
#define LIMIT_DAMAGED_BYTES  (256u << 20)  /* of a finished log, more than are whole: the rest is not read */
#define LIMIT_CENSUS_READERS 64u           /* processes: agents of further programs make their censuses themselves */
#define LIMIT_NAMELESS_TICKS 60u           /* seconds without growth until a removed file is given up */
