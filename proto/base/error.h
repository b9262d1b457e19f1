/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h - why something failed, as a sentence for the user. Who fails sets it;
 * who asked shows error.text behind the name of what was asked for. A sentence
 * that is too long is cut. NULL: nobody wants to know.
 */
#ifndef HW_PROTO_BASE_ERROR_H
#define HW_PROTO_BASE_ERROR_H

#include <stdbool.h>

#define ERROR_TEXT_MAX 1024

struct error {
        char text[ERROR_TEXT_MAX];
};

/* Returns false, for `return error_set(error, "...");`. */
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns `code`, a negative errno. */
int error_code(struct error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
