/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * out_file.h - where a command writes: standard output, a device, or a new file that gets its name when it is
 * complete, so that a failure leaves an old one as it was.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct out_file {
        FILE *to;
        const char *name; /* borrowed; NULL: standard output */
        char *temporary;  /* NULL: written in place */
};

/* NULL and "-": standard output. 0 or -errno. */
int out_file_open(struct out_file *o, const char *name);

/* Closes; with status 0 the file gets its name, otherwise it is removed. Returns `status`, or the first error. */
int out_file_close(struct out_file *o, int status);

/* Whether what is to be written is a file that is read, by whatever name. */
bool out_file_is_input(const char *name, const char *input);

/*
 * What the file there begins with, to tell whether it may be replaced: at most `size` bytes into `head`. Returns how
 * many, or -errno: -ENOENT when there is none, -EINVAL when it is no regular file.
 */
ssize_t out_file_head(const char *name, char *head, size_t size);
