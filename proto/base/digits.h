/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole numbers in decimal digits: neither sign nor blanks before them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The digits at *text, moving past them. False: there are none, or it is above UINT64_MAX; nothing has changed. */
bool digits_read(const char **text, uint64_t *ret);

/* The whole text as a number up to `most`. */
bool digits_parse(const char *text, uint64_t most, uint64_t *ret);
