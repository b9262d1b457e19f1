/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/progress.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/number_text.h"
#include "proto/base/clock.h"

#define DRAW_MS 100

void progress_begin(struct progress *p, const char *command, const char *const *files, size_t n)
{
        struct stat st;

        *p = (struct progress){ .command = command, .terminal = isatty(STDERR_FILENO) };
        for (size_t i = 0; p->terminal && i < n; i++)
                if (stat(files[i], &st) == 0)
                        p->total_bytes += (uint64_t)st.st_size;
}

void progress_show(struct progress *p, uint64_t done_bytes)
{
        uint64_t now = p->terminal ? clock_mono_ms() : 0;

        if (!p->terminal || now - p->shown_ms < DRAW_MS)
                return;
        p->shown_ms = now;
        (void)fprintf(stderr, "\rheapwatch %s: read %s", p->command, BYTES_TEXT(done_bytes));
        if (p->total_bytes && done_bytes <= p->total_bytes)
                (void)fprintf(stderr, " of %s (%u %%)", BYTES_TEXT(p->total_bytes),
                              (unsigned)((double)done_bytes * 100 / (double)p->total_bytes));
        (void)fputs("\x1b[K", stderr);
}

void progress_end(const struct progress *p)
{
        if (p->terminal && p->shown_ms)
                (void)fputs("\r\x1b[K", stderr);
}
