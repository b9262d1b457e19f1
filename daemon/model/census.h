/* SPDX-License-Identifier: BSD-3-Clause */
/* census.h - one heap profile sample: bytes per band at one moment. Duplicate rows of one band are added. */
#ifndef HW_DAEMON_MODEL_CENSUS_H
#define HW_DAEMON_MODEL_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

struct census_row {
        uint32_t band; /* id in bands.h */
        uint64_t bytes;
};

struct census {
        uint64_t number; /* from 1 within the run; 0 = none yet */
        uint64_t time_ns;
        uint64_t total_bytes;          /* left-out rows included */
        const struct census_row *rows; /* in order of first appearance; valid until the next census begins */
        uint32_t n_rows;
        uint64_t rows_left_out, bytes_left_out;
        bool unfinished; /* the log ended inside it */
};

#endif
