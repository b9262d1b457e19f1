/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * row.h - the columns of a row that a statement has just returned. What is not known is NULL in the file: NaN, 0 or a
 * NULL pointer here, as each function says.
 */
#ifndef HW_CLIENT_ARCHIVE_ROW_H
#define HW_CLIENT_ARCHIVE_ROW_H

#include <math.h>
#include <sqlite3.h>
#include <stdint.h>

/* Of this row, until the next step; NULL: unknown. */
static inline const char *row_text(sqlite3_stmt *s, int column)
{
        return (const char *)sqlite3_column_text(s, column);
}

/* NaN: unknown. */
static inline double row_real(sqlite3_stmt *s, int column)
{
        return sqlite3_column_type(s, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, column);
}

/* 0: unknown, or below. */
static inline uint64_t row_number(sqlite3_stmt *s, int column)
{
        int64_t value = sqlite3_column_int64(s, column);

        return value > 0 ? (uint64_t)value : 0;
}

#endif
