/* SPDX-License-Identifier: BSD-3-Clause */
/* process_only.h - a process as a target without the agent: what the system says of it, and nothing of its heap. */
#ifndef HW_CLIENT_ATTACH_PROCESS_ONLY_H
#define HW_CLIENT_ATTACH_PROCESS_ONLY_H

#include <stdbool.h>
#include <sys/types.h>

#include "client/program/obstacle.h"
#include "client/run/daemon.h"
#include "proto/base/error.h"

struct process_wish {
        const char *name;       /* of the target; NULL: that of its program */
        enum obstacle obstacle; /* why not from inside; OBSTACLE_NONE: the user wishes it so */
        struct daemon_wish target;
};

/* Gives it to the daemon, which is started when none runs, and prints what is watched and why. False with an error. */
bool process_only_attach(pid_t pid, const struct process_wish *wish, struct error *error);

/* Removes such a target of that process; false when there is none. */
bool process_only_detach(pid_t pid);

#endif
