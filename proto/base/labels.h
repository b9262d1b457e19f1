/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * labels.h - what a user says of the runs of a target, in words of his own: NAME=VALUE, such as version=1.4.2.
 *
 * The labels of a target are kept as one text, a line each, in the order given.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct error;

#define LABELS_MOST      16
#define LABEL_NAME_MOST  64
#define LABEL_VALUE_MOST 256
#define LABELS_SIZE      1024 /* of the text of all of them, NUL included */

/*
 * Checks them and puts them into a text; "" for none. False with what is wrong, which begins with the label. Names are
 * of A-Z a-z 0-9 . _ - / and occur once; values are UTF-8 without control characters, and not empty.
 */
bool labels_join(const char *const *labels, size_t n, char ret_text[LABELS_SIZE], struct error *error);

/* The label at *at, which is moved behind it; not terminated. NULL: there are no more. */
const char *labels_next(const char **at, size_t *ret_n);
