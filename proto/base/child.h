/* SPDX-License-Identifier: BSD-3-Clause */
/* child.h - starts another program of heapwatch's, and waits for its end. */
#pragma once

#include <sys/types.h>
#include <unistd.h>

#define CHILD_NULL (-1) /* /dev/null */

enum child_place {
        CHILD_APART, /* in its own process group, so that Ctrl-C does not end it, and with no other descriptor */
        CHILD_BESIDE /* in ours: a key on the terminal, and a signal that is ignored, are for it as for us */
};

/*
 * Starts the one that argv[0] names, which is beside this program or in PATH, with `files` as its standard input,
 * output and error, and no signal blocked. Returns 0, or an errno with *ret_pid 0.
 */
int child_spawn(char *const argv[], const int files[3], enum child_place place, pid_t *ret_pid);

/* Two pipes, closed in programs that are executed. 0 or -errno, with nothing open. `flags`: as of pipe2(2), of each. */
int child_pipes(int first[2], int first_flags, int second[2], int second_flags);

/* Waits for its end, also through signals. The status as of waitpid(2); -1: it is not a child of ours. */
int child_wait(pid_t pid);

/* _Fork(3), fork(2) without the handlers of libraries: glibc has it from 2.34 on; before, it is with them. */

#if !__GLIBC_PREREQ(2, 34)
#define _Fork fork
#endif
