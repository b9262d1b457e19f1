/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon.h - the user's daemon, as `heapwatch run` needs it: find or start it,
 * give it a target, ask what it saw, take the target away.
 *
 * All calls but daemon_reachable may wait for up to some seconds. Errors are
 * one plain sentence.
 */
#ifndef HW_CLIENT_RUN_DAEMON_H
#define HW_CLIENT_RUN_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define DAEMON_NAME_MAX 65 /* a target's name, NUL included */

struct daemon_link {
        char directory[256]; /* of its sockets; 0700 and ours */
        char publish[300];   /* endpoints */
        char request[300];
};

/* Works out the paths and makes the directory. False with `error`. */
bool daemon_link_init(struct daemon_link *link, struct error *error);

/* Whether somebody listens there. At once. */
bool daemon_reachable(const struct daemon_link *link);

/* Finds the daemon or starts one, detached, its messages going to daemon.log in the directory. */
bool daemon_ensure(const struct daemon_link *link, bool *ret_started, struct error *error);

/* A target's name for the program at `path`: its file's, as far as its letters may be in one. */
void daemon_name_of(const char *path, char ret_name[DAEMON_NAME_MAX]);

/*
 * Adds a target whose growth is judged in steps of resolution_ns (0: as the
 * daemon does). With `exact` a taken name is an error, else -2, -3 ... is put
 * behind it; one whose run has ended is none. The name it got is in ret_name.
 */
bool daemon_add(const struct daemon_link *link, const char *name, bool exact, const char *uri, uint64_t resolution_ns,
                char ret_name[DAEMON_NAME_MAX], struct error *error);

/* How the program ended: reports it to the daemon, which keeps the target as it ended. */
void daemon_end(const struct daemon_link *link, const char *name, int wait_status);

void daemon_remove(const struct daemon_link *link, const char *name);

/* For the lines at the end of a run. UNKNOWN_U64 where the daemon does not know. */
struct run_facts {
        bool target; /* it knows the target */
        bool ended;  /* the run is over: ended or crashed */
        bool crashed;
        uint64_t live_bytes, max_live_bytes;
        uint64_t censuses, lost_bytes, events, collections;
        char top_band[80]; /* label of the biggest band of the last census; "" */
        uint64_t top_band_bytes;
        char verdict[512]; /* on live data, in words, with the note around its onset; "" */
};

bool daemon_ask(const struct daemon_link *link, const char *name, struct run_facts *ret_facts);

#endif
