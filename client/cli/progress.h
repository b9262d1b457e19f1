/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.h - how far a command has got with its logs, in one line on standard error that is redrawn in place.
 * Nothing is drawn where standard error is not a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
        const char *command;  /* name, borrowed */
        uint64_t total_bytes; /* of the files; 0: unknown */
        uint64_t shown_ms;    /* when it was last drawn */
        bool terminal;
};

void progress_begin(struct progress *p, const char *command, const char *const *files, size_t n);

/* At most ten times a second. A compressed log has more bytes than its file: then only `done_bytes` is shown. */
void progress_show(struct progress *p, uint64_t done_bytes);

/* Erases the line. */
void progress_end(const struct progress *p);
