/* SPDX-License-Identifier: BSD-3-Clause */
/* make.h - `heapwatch-inspect signatures`: a file of signatures, made of static libraries. */
#ifndef HW_INSPECT_CODE_MAKE_H
#define HW_INSPECT_CODE_MAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/error.h"

/* Writes `output`, and prints what it has. False with a sentence. */
bool make_signatures(const char *output, const char *const *libraries, size_t n, struct error *error);

#endif
