/* SPDX-License-Identifier: BSD-3-Clause */
/* token.h - a secret from a file of one line: printable ASCII without blanks. May wait for the disk. */
#ifndef HW_CLIENT_NOTIFY_TOKEN_H
#define HW_CLIENT_NOTIFY_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* Reads it into `token`. False with a sentence that names the file only, never its contents. */
bool token_read(const char *path, char *token, size_t size, struct error *error);

#endif
