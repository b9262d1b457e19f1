/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spool.h - all censuses of a run in an unnamed temporary file, for formats that must know all bands and the largest
 * ones before they can write the first line. Memory depends on the number of bands, not on the length of the log.
 * Written completely, then read; not thread-safe.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "heapwatch/wire.h"

struct spool_band {
        uint32_t id;
        double sum, squares; /* of bytes, over them */
        uint64_t max_bytes;
};

struct spool_row {
        uint64_t time_ns, total_bytes, left_out_bytes;
        uint32_t n; /* rows of bands */
};

struct spool {
        FILE *file;
        struct spool_band *bands; /* by id - 1; id 0: not seen */
        uint32_t n_bands;
        uint64_t n_rows;
        uint32_t *band; /* of the row read last */
        uint64_t *bytes;
        uint32_t capacity;
};

/* 0 or -errno. */
int spool_init(struct spool *s);
void spool_done(struct spool *s);

/* Appends a census. 0 or -errno. */
int spool_add(struct spool *s, const Hw__Census *census);

/* Switches to reading, from the beginning; may be called again. 0 or -errno. */
int spool_rewind(struct spool *s);

/* The next census; its rows are in s->band and s->bytes until the next call. 1, 0 at the end, -errno. */
int spool_next(struct spool *s, struct spool_row *ret_row);

/* Ids of bands, largest sum first, at most `max` of them. How many, or -ENOMEM. */
ssize_t spool_largest(const struct spool *s, uint32_t *ids, size_t max);
