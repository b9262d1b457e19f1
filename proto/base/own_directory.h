/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_directory.h - where a user's sockets are: the rule that daemon, commands and agent share.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define SESSION_DIRECTORIES "/run/user"

/*
 * $HEAPWATCH_DIR, else $XDG_RUNTIME_DIR/heapwatch, else /run/heapwatch for root, else heapwatch in the user's folder of
 * `sessions` (SESSION_DIRECTORIES) where there is one, else /tmp/heapwatch-UID. Cron, sudo and assistants start
 * commands without XDG_RUNTIME_DIR: these are to find the daemon of the user's session, too. Returns 0 or
 * -ENAMETOOLONG.
 */
int own_directory(char *out, size_t size, const char *sessions, uid_t user);
