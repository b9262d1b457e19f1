/* SPDX-License-Identifier: BSD-3-Clause */
/* private_directory.h - a directory that nobody but this user may enter: one rule for all that is kept in one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct error;
struct stat;

/* A directory that others use, too, such as /etc, must stay open. */
#define PRIVATE_DIRECTORY_REMEDY "name another directory, or chmod 700 this one if it is for heapwatch alone"

/* What is wrong with it, to be printed after its path; NULL: it is private. */
const char *private_directory_objection(const struct stat *st);

/*
 * Opens it, creating it (0700) when it is missing. Returns a descriptor, closed on exec, or -errno with a sentence that
 * begins with the path. `links`: the path itself may be a symbolic link.
 */
int private_directory_open(const char *path, bool links, struct error *error);

/*
 * A file with a secret: regular, and nobody but its owner (we, or root) may read or change it. What belongs to root may
 * also be readable by its group, if we are not root.
 */

/*
 * Reads it into `text`, NUL-terminated; of a longer file the first size - 1 bytes. False with a sentence that names the
 * file and what to do, never its contents. May wait for the disk, for nothing else.
 */
bool private_file_read(const char *path, char *text, size_t size, struct error *error);
