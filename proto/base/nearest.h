/* SPDX-License-Identifier: BSD-3-Clause */
/* nearest.h - what a mistyped word was meant to be. */
#ifndef HW_PROTO_BASE_NEAREST_H
#define HW_PROTO_BASE_NEAREST_H

#include <stddef.h>

/* The word of `words` (n of them) that is nearest to `typed`, or NULL when none is near. Borrowed from `words`. */
const char *nearest(const char *typed, const char *const *words, size_t n);

#endif
