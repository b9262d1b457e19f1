/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * update_csv.h - updates as rows of one table, for spreadsheets and awk.
 *
 * One number per row (see CSV_HEADER); a column that does not apply is empty.
 * Text is quoted as in RFC 4180 and its control characters are made visible, so
 * a row is one line. Does no output itself: it appends to a buffer.
 */
#ifndef HW_CLIENT_OUT_CONVERT_UPDATE_CSV_H
#define HW_CLIENT_OUT_CONVERT_UPDATE_CSV_H

#include <stddef.h>

#include "client/world/state/world.h"

#define CSV_HEADER "target,run,time_s,wall_time,series,unit,value,band,label\n"

/* A growing text; `text` is owned, NULL while empty. */
struct csv_text {
        char *text;
        size_t length, capacity;
        int error; /* -ENOMEM once out of memory */
};

/* Appends `text` as one field. */
void csv_field(struct csv_text *out, const char *text);

/* Appends the rows of an update that `world` (borrowed) has already applied; none for kinds without numbers. */
void csv_update(struct csv_text *out, const struct world *world, size_t daemon, const Hw__Update *update);

void csv_clear(struct csv_text *out);
void csv_done(struct csv_text *out);

#endif
