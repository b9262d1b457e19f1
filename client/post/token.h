/* SPDX-License-Identifier: BSD-3-Clause */
/* token.h - credentials from a private file of one line. May wait for the disk. */
#ifndef HW_CLIENT_POST_TOKEN_H
#define HW_CLIENT_POST_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* Reads a token, printable ASCII without blanks. False with a message that names the file, never its contents. */
bool token_read(const char *path, char *token, size_t size, struct error *error);

/* The same for "user:password", which may have blanks. */
bool user_read(const char *path, char *user, size_t size, struct error *error);

#endif
