/* SPDX-License-Identifier: BSD-3-Clause */
/* state_path.h - where a program keeps what it must not forget about the daemon at an endpoint. */
#ifndef HW_PROTO_WIRE_STATE_PATH_H
#define HW_PROTO_WIRE_STATE_PATH_H

#include <stddef.h>

#define STATE_PATH_MAX 4096u

/*
 * heapwatch/NAME.json below $XDG_STATE_HOME, else /var/lib for root, else ~/.local/state; NAME-HASH.json for a daemon
 * at another endpoint than the default. NULL: of no daemon in particular. Returns 0, -ENAMETOOLONG or -ENOENT (no
 * home).
 */
int state_path(char *out, size_t size, const char *name, const char *publish_endpoint);

/*
 * In the same place heapwatch/daemon, the directory of the daemon that a client starts; daemon-HASH for another
 * endpoint than that of the user's login, or root's, so that no two daemons of a user share one. Returns as
 * state_path().
 */
int state_directory(char *out, size_t size, const char *publish_endpoint);

#endif
