/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon.h - the user's daemon, as `heapwatch run` needs it: find or start it,
 * add a target, ask what it saw, remove the target.
 *
 * All calls but daemon_reachable and daemon_started_ns may wait for some seconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/launch/program/own_daemon.h"
#include "heapwatch/wire.h"

struct error;
struct text_list;
struct world;

#define DAEMON_NAME_MAX 65  /* a target's name, NUL included */
#define DAEMON_URI_MAX  360 /* the uri of a run, NUL included */

struct daemon_link {
        char directory[256]; /* of its sockets; mode 0700 and ours */
        char publish[300];   /* endpoints */
        char request[300];
        int wait_ms;    /* for each answer */
        bool no_record; /* a daemon that is started keeps no checkpoints and no recordings */
};

/* Determines the paths and makes the directory. False with `error`. */
bool daemon_link_init(struct daemon_link *link, struct error *error);

/* Whether somebody listens there. Does not wait. */
bool daemon_reachable(const struct daemon_link *link);

/*
 * Which daemon it is: the Unix time in ns at which the socket for requests was made, which each daemon makes anew. 0:
 * there is none. Does not wait. Of one that was killed it stays until the next daemon begins.
 */
uint64_t daemon_started_ns(const struct daemon_link *link);

/* What became of a request to it; `error` says why it is not DAEMON_OK. */
enum daemon_outcome {
        DAEMON_OK,
        DAEMON_SILENT,  /* there is one, but it has not answered in time: it may later */
        DAEMON_REFUSES, /* or there is none, and none can be started */
};

/*
 * Finds the daemon or starts one, detached. Waits for at most link->wait_ms for the one that is there, and start_ms for
 * a new one. ret_started: a sentence about the one that was started; "": none was.
 */
enum daemon_outcome daemon_ensure(const struct daemon_link *link, int start_ms, char ret_started[OWN_DAEMON_TEXT],
                                  struct error *error);

/* A target's name for the program at `path`: its file name, with the characters that a target's name may have. */
void daemon_name_of(const char *path, char ret_name[DAEMON_NAME_MAX]);

/* The same for the program of a process; "child" when that is not known. */
void daemon_name_of_process(pid_t pid, char ret_name[DAEMON_NAME_MAX]);

/* Options of a target. */
struct daemon_wish {
        uint64_t resolution_ns;         /* the step in which its growth is judged; 0: as the daemon does */
        const struct text_list *labels; /* checked, see proto/base/labels.h; NULL: none */
        const char
                *process_only_reason; /* of a source that is a process: why its log cannot be read; "" or NULL: none */
        bool no_record;               /* it is not recorded */
};

/*
 * Adds a target. With `exact` a taken name is an error, otherwise -2, -3 ... is
 * appended; a name whose run has ended is free. ret_name is the name it got.
 * May be repeated: a target of this uri that is there already is taken for it.
 */
enum daemon_outcome daemon_add(const struct daemon_link *link, const char *name, bool exact, const char *uri,
                               const struct daemon_wish *wish, char ret_name[DAEMON_NAME_MAX], struct error *error);

/*
 * Reports to the daemon how process `pid` ended, which is the program of the target of this uri, or has started it; the
 * daemon keeps that target in that state. False when the daemon does not answer. A target that is not there needs no
 * report. `out_of_cpu`: killed at its limit of processor time. `name` becomes what that target is called now: NAME~1
 * where another one has taken its name.
 */
bool daemon_end(const struct daemon_link *link, const char *uri, pid_t pid, int wait_status, bool out_of_cpu,
                char name[DAEMON_NAME_MAX]);

/* False when the daemon does not answer. A target that is not there is removed. */
bool daemon_remove(const struct daemon_link *link, const char *name);

/* A target, by the end of its uri. Both texts are "" when there is none. */
struct daemon_target {
        char name[DAEMON_NAME_MAX];
        char uri[512];
        bool has_run; /* it has shown something of its program, maybe to the daemon before this one */
};

/* Whether it has a target of this name. */
bool daemon_has(const struct daemon_link *link, const char *name);

/* The process that the target of this name runs as; 0: there is none, or it is on another machine than its daemon. */
pid_t daemon_process_of(const struct daemon_link *link, const char *name);

/* Calls `each` for the targets that run on its machine, with the process. False: it does not answer. */
bool daemon_each_process(const struct daemon_link *link, void (*each)(void *ctx, const char *name, pid_t pid),
                         void *ctx);

/* False when the daemon does not answer. */
bool daemon_find(const struct daemon_link *link, const char *uri_end, struct daemon_target *ret);

/*
 * Replaces *world by what the daemon knows of the target now. False: it does not answer, or its target of this name has
 * another uri, and so is another run; *world stays.
 */
bool daemon_read_target(const struct daemon_link *link, const char *name, const char *uri, struct world **world);
