/* SPDX-License-Identifier: BSD-3-Clause */
/* token.h - who we are, from a private file of one line. May wait for the disk. */
#ifndef HW_CLIENT_POST_TOKEN_H
#define HW_CLIENT_POST_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* Reads a token, printable ASCII without blanks. False with a sentence that names the file only, never its contents. */
bool token_read(const char *path, char *token, size_t size, struct error *error);

/* The same of "user:password", which may have blanks. */
bool user_read(const char *path, char *user, size_t size, struct error *error);

#endif
