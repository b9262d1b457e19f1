/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archived_gaps.c - where nothing followed a run. A row says that the archiver followed it in its interval, also when
 * no sample came: a gap is where there is no row.
 */
#include "client/web/archived_parts.h"

void gaps_row(struct gaps *g, uint64_t time_s, uint64_t width_s)
{
        if (g->end_s && time_s > g->end_s && g->n == ARCHIVED_GAPS) {
                g->items[g->n - 1][1] = time_s;
        } else if (g->end_s && time_s > g->end_s) {
                g->items[g->n][0] = g->end_s;
                g->items[g->n++][1] = time_s;
        }
        if (time_s + width_s > g->end_s)
                g->end_s = time_s + width_s;
}

void gaps_print(struct json_out *j, const struct gaps *g)
{
        json_member_open(j, "gaps", '[');
        for (size_t i = 0; i < g->n; i++) {
                json_open(j, '[');
                json_u64(j, g->items[i][0]);
                json_u64(j, g->items[i][1]);
                json_close(j, ']');
        }
        json_close(j, ']');
}
