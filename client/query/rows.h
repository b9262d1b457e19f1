/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.h - rows of a table as a scan makes them: values in order, texts in one buffer. */
#ifndef HW_CLIENT_QUERY_ROWS_H
#define HW_CLIENT_QUERY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum query_type { QUERY_NULL, QUERY_INTEGER, QUERY_REAL, QUERY_TEXT };

struct query_value {
        enum query_type type;
        union {
                int64_t integer;
                double real;
                size_t text; /* where it begins in `texts` */
        };
};

struct query_rows {
        struct query_value *values;
        size_t n, room; /* of values */
        char *texts;
        size_t n_texts, texts_room;
        bool failed; /* out of memory: rows are missing */

        unsigned width; /* values of a row */
        uint32_t used;  /* a bit for each of them: texts of others are NULL */
};

/* Appends a value. What is not known is NULL: NaN, a text that is NULL. */
void query_rows_add_null(struct query_rows *r);
void query_rows_add_integer(struct query_rows *r, uint64_t value); /* beyond 2^63: as a real number */
void query_rows_add_real(struct query_rows *r, double value);
void query_rows_add_text(struct query_rows *r, const char *text); /* copied, as valid UTF-8 */

/* NULL where it is not there. */
void query_rows_add_optional(struct query_rows *r, bool has, uint64_t value);

/* Whether the value that is added next is used. */
bool query_rows_next_is_used(const struct query_rows *r);

/* Nanoseconds as seconds. */
void query_rows_add_seconds(struct query_rows *r, uint64_t ns);

/* Forgets all rows, keeps the room. */
void query_rows_clear(struct query_rows *r);
void query_rows_done(struct query_rows *r);

#endif
