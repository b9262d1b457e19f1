/* SPDX-License-Identifier: BSD-3-Clause */
/* descriptors.h - a descriptor, or all of a process at once, whatever they are and who opened them. */
#ifndef HW_PROTO_BASE_DESCRIPTORS_H
#define HW_PROTO_BASE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "proto/base/error.h"

/* Closes one that may never have been opened (-1), where an error of close() has nothing to tell. */
static inline void close_fd(int *fd)
{
        if (*fd >= 0)
                (void)close(*fd);
        *fd = -1;
}

/* The soft limit of this process; SIZE_MAX: none. */
size_t descriptors_limit(void);

/* Whether that is enough for what serves or asks a daemon: a library that is refused one may end the process. */
bool descriptors_suffice(struct error *error);

/* Raises the soft limit of this process to its hard limit. On failure the limit stays as it was. */
void descriptors_raise(void);

/* Closes those from `first` on. Also in a child of fork(). */
void descriptors_close(int first);

/* Those from `first` on are closed in each program that is executed from now on. */
void descriptors_close_at_exec(int first);

#endif
