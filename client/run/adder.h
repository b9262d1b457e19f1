/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adder.h - gives the target to the daemon while the program is running, and starts
 * a daemon that has died again: in a short-lived child, because requests wait.
 */
#ifndef HW_CLIENT_RUN_ADDER_H
#define HW_CLIENT_RUN_ADDER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/run/daemon.h"
#include "proto/base/error.h"

struct adder {
        pid_t pid;         /* of the child; 0: none */
        int answer;        /* pipe from it */
        uint64_t tried_ms; /* when it was started */
};

struct adder_task {
        const struct daemon_link *link;
        const char *name, *uri;
        const char *former_uri; /* of the target that is ours so far, which this one takes the place of; "": none */
        bool exact;             /* as daemon_add */
        bool reopen; /* a target of this uri that has no run yet is removed before, so that its source is opened now */
        pid_t outside; /* the process of that uri, to be watched from outside if that can be; 0: not tried */
        struct daemon_wish wish;
        const sigset_t *mask; /* for the child */
};

struct adder_answer {
        enum daemon_outcome outcome;
        char name[DAEMON_NAME_MAX]; /* with DAEMON_OK, */
        char uri[DAEMON_URI_MAX];   /* and its source, */
        bool from_outside;          /* which reads its memory */
        char not_outside[256];      /* why it is not, where that was tried; "" */
        uint64_t daemon_started_ns; /* and the daemon that has it: daemon_started_ns */
        struct error reason;        /* otherwise */
};

/* Does nothing while a child is at it, and for a second after it began. */
void adder_start(struct adder *a, const struct adder_task *task, uint64_t now_ms);

/* The child was reaped: what the daemon said. */
void adder_ended(struct adder *a, struct adder_answer *ret);

#endif
