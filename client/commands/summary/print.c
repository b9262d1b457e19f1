/* SPDX-License-Identifier: BSD-3-Clause */
/* print.c - DESIGN: widths are those of `+RTS -s`, so that both can be compared side by side. */
#include "client/commands/summary/summary.h"

#include <inttypes.h>

void print_bytes_row(FILE *to, bool known, uint64_t bytes, const char *words)
{
        if (!known)
                return;
        (void)fprintf(to, "%18s bytes %-42s %10s\n", COUNT_TEXT(bytes), words, BYTES_TEXT(bytes));
}

void print_fact_row(FILE *to, const struct world_target *t, enum fact id, const char *words)
{
        print_bytes_row(to, facts_is_known(t, id), facts_get_u64(t, id, 0), words);
}

const char *plural(uint64_t n)
{
        return n == 1 ? "" : "s";
}
