/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unpack.h - a compressed file, as systemd and people keep core files, as a plain one without a name: in $TMPDIR, else
 * in /var/tmp. It needs no room for what is zero.
 */
#ifndef HW_INSPECT_PROCESS_UNPACK_H
#define HW_INSPECT_PROCESS_UNPACK_H

#include <stdbool.h>

#include "proto/base/error.h"

/*
 * The descriptor of the plain bytes of a regular file of gzip or zstd; -1: it is not compressed so. False with a
 * sentence: what it has is damaged, or there is no room.
 */
bool unpack(const char *path, int *ret_fd, struct error *error);

#endif
