/* SPDX-License-Identifier: BSD-3-Clause */
/* secret.h - a secret from a file: its first line. The file must be regular and private to its owner: us, or root. */
#ifndef HW_CLIENT_CLI_SECRET_H
#define HW_CLIENT_CLI_SECRET_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/*
 * Reads it into `secret`, without the newline; of a longer line the first size - 1 bytes. False with a message that
 * names the file and what to do, never its contents. May wait for the disk, for nothing else.
 */
bool secret_read(const char *path, char *secret, size_t size, struct error *error);

#endif
