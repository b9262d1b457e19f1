/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listener.h - the Unix socket: its path, who has it, who may connect.
 *
 * Mode 0600, in a directory that belongs to the user and that nobody else can
 * write to; only the same user, root and the one of the setting `reader` are
 * let in (SO_PEERCRED).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "agent/descriptor.h"
#include "agent/limits.h"
#include "agent/settings.h"
#include "proto/base/error.h"

/*
 * Behind the path: who has it, with the setting `once`; then, a line each, further programs, which are not served: an
 * empty one without a name.
 */
#define LISTENER_CLAIM       ".pid"
#define LISTENER_CLAIM_NAMES 128   /* bytes; no more names are told then */
#define LISTENER_CLAIM_BYTES 65536 /* nor programs */

struct listener {
        struct descriptor socket, lock; /* the lock is held until the process ends */
        char path[AGENT_PATH_MAX], claim[AGENT_PATH_MAX + sizeof(LISTENER_CLAIM)]; /* "": none */
        uid_t reader;                                                              /* of the settings */
        ino_t inode; /* of the path; 0: it has not listened */
};

/*
 * Decides on the path, and claims it. False with one plain sentence, or none where another program was first (the
 * setting `once`): then nothing is left behind.
 */
bool listener_choose_path(struct listener *l, const struct agent_settings *s, struct error *error);

/*
 * Listens there; a socket that nobody listens on any more is replaced, and those beside it that processes of before
 * have left are removed. False with one plain sentence: then the claim is gone, too.
 */
bool listener_open(struct listener *l, struct error *error);

/*
 * Once the program has closed what it does not know: listens there again, with the claim. Nothing is said where that is
 * not possible any more, as after chroot(2) or with another user's rights.
 */
void listener_open_again(struct listener *l);

/* The next connection of somebody who may; -1: none. */
int listener_accept(struct listener *l);

/* The path goes, where it is still ours; the claim stays. */
void listener_remove_path(const struct listener *l);
