/* SPDX-License-Identifier: BSD-3-Clause */
/* out_file.h - files that a command writes, whose suffix is their format. */
#ifndef HW_INSPECT_SHOW_OUT_FILE_H
#define HW_INSPECT_SHOW_OUT_FILE_H

#include <stdbool.h>

#include "proto/base/error.h"

/* Which of the suffixes the path ends with; -1: none. */
int out_file_suffix(const char *path, const char *const *suffixes);

/* Whether a file can be made there, with one of these; later it would be too late to say so. False with a sentence. */
bool out_file_check(const char *path, const char *const *suffixes, struct error *error);

#endif
