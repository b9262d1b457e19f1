/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * private_file.h - a file with a secret: regular, and nobody but its owner (we, or root) may read or change it. What
 * belongs to root may also be readable by its group, if we are not root.
 */
#ifndef HW_PROTO_BASE_PRIVATE_FILE_H
#define HW_PROTO_BASE_PRIVATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/*
 * Reads it into `text`, NUL-terminated; of a longer file the first size - 1 bytes. False with a sentence that names the
 * file and what to do, never its contents. May wait for the disk, for nothing else.
 */
bool private_file_read(const char *path, char *text, size_t size, struct error *error);

#endif
