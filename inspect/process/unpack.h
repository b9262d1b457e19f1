/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unpack.h - a compressed file, as systemd and people keep core files, as a plain one without a name: in $TMPDIR, else
 * in /var/tmp. It needs no room for what is zero.
 */
#ifndef HW_INSPECT_PROCESS_UNPACK_H
#define HW_INSPECT_PROCESS_UNPACK_H

#include "proto/base/error.h"

/*
 * Of a descriptor that reads a file of gzip or zstd, that of its plain bytes, and the one that was given is closed; of
 * any other file the same one. -1 with a sentence, and it is closed: what it has is damaged, or there is no room.
 */
int unpack(int fd, struct error *error);

#endif
