/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * update_csv.h - updates as rows of one table, for spreadsheets and awk.
 *
 * One number per row (see CSV_HEADER); a column that does not apply is empty.
 * Text is quoted as in RFC 4180 and its control characters are made visible, so
 * a row is one line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/world/state/world.h"

#define CSV_HEADER "target,run,time_s,wall_time,series,unit,value,band,label\n"

struct csv_out {
        FILE *to;       /* its errors stay in it */
        bool headed;    /* the header is written; else the first row writes it */
        bool no_memory; /* some text is missing */
        bool has_start; /* the caller knows when the run began, which its messages may only say later */
        uint64_t start_wall_ns;
};

/* Writes the rows of an update that `world` (borrowed) has already applied; none for kinds without numbers. */
void csv_update(struct csv_out *out, const struct world *world, size_t daemon, const Hw__Update *update);
