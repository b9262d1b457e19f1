/* SPDX-License-Identifier: BSD-3-Clause */
/* build_id.h - which build of a program a process of this machine runs: the linker's build id (NT_GNU_BUILD_ID). */
#ifndef HW_CLIENT_ARCHIVE_BUILD_ID_H
#define HW_CLIENT_ARCHIVE_BUILD_ID_H

#include <stdbool.h>
#include <stdint.h>

#define BUILD_ID_TEXT 129 /* 64 bytes in hexadecimal */

/* False: it has none, or its file cannot be read. */
bool build_id_of(uint32_t pid, char out[BUILD_ID_TEXT]);

#endif
