/* SPDX-License-Identifier: BSD-3-Clause */
/* stretch_file.h - a stretch of a recording into a file. */
#ifndef HW_CLIENT_COMMANDS_STRETCH_FILE_H
#define HW_CLIENT_COMMANDS_STRETCH_FILE_H

#include <stdint.h>

#include "proto/recording/cutout.h"

/* Until its end or a signal. Returns 0 or -errno; *ret_bytes gets what was written. */
int stretch_file_copy(struct cutout *c, int fd, uint64_t *ret_bytes);

#endif
