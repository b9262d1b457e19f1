/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h - why something failed, as a sentence for the user. The function that
 * fails sets it; the caller shows error.text after the name of what failed. A
 * sentence that is too long is cut. NULL: the caller does not want it.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define ERROR_TEXT_MAX 1024

struct error {
        char text[ERROR_TEXT_MAX];
};

/* Returns false, for `return error_set(error, "...");`. */
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns `code`, a negative errno. */
int error_code(struct error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Flushes the stream. 0, or -errno: why something that was written to it is lost, now or before. The output is broken
 * then, and may have a line end more.
 */
int stream_flush(FILE *to);
