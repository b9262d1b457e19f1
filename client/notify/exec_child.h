/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exec_child.h - what happens in the forked process of one exec action.
 *
 *      notifier ─fork─▶ keeper ─fork─▶ the program ─▶ whatever it starts
 *
 * The keeper adopts every orphan below it (PR_SET_CHILD_SUBREAPER), so nothing
 * that the program starts can escape by forking twice or by making a session of
 * its own. When the program ends, or on SIGTERM, it kills everything that is
 * left and exits. It dies with the notifier, and the program dies with it.
 *
 * Only async-signal-safe calls: libcurl and ZeroMQ have threads in the
 * notifier.
 */
#ifndef HW_CLIENT_NOTIFY_EXEC_CHILD_H
#define HW_CLIENT_NOTIFY_EXEC_CHILD_H

#include <stdnoreturn.h>

/* Everything is prepared before the fork. The three descriptors are above 3. */
struct exec_child {
        char *const *argv;
        char *const *env;
        int input, output; /* of the program: standard input; standard output and error */
        int report;        /* a pipe that gets one struct exec_report, two when the program could not start */
        int parent;        /* process id of the notifier */
};

enum exec_end {
        EXEC_NOT_STARTED, /* number: errno of execve */
        EXEC_EXITED,      /* number: its exit status */
        EXEC_SIGNALLED    /* number: the signal */
};

struct exec_report {
        enum exec_end end;
        int number;
};

/* Runs in the child of fork; never returns. */
noreturn void exec_child(const struct exec_child *c);

#endif
