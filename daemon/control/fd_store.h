/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fd_store.h - the service manager's store of file descriptors: what was given
 * to it stays open while the daemon is stopped and started again.
 *
 *     FDSTORE=1 with the descriptor ─▶ systemd ─ one daemon ends, another begins ─▶ LISTEN_FDS
 *
 * A daemon that begins holds what it gets back until its own sources have had
 * time to open theirs, then closes it, and has the manager forget what no
 * source has given again: its target is gone. Needs FileDescriptorStoreMax= in
 * the unit.
 */
#ifndef HW_DAEMON_CONTROL_FD_STORE_H
#define HW_DAEMON_CONTROL_FD_STORE_H

#include <stdint.h>

#include "daemon/source/keeper.h"

#define FD_STORE_MAX 2048u /* as FileDescriptorStoreMax= of the unit: further ones are not kept */

struct fd_store;

/* Takes back what the manager passes; removes its variables. `socket`: to the manager, borrowed. NULL: no memory. */
struct fd_store *fd_store_new(int socket);

/* Closes what it holds. What the manager keeps stays so. NULL is allowed. */
void fd_store_destroy(struct fd_store **s);

/* For the sources; valid as long as the store. */
const struct keeper *fd_store_keeper(struct fd_store *s);

/* Now and then: sends what the manager could not take, and after SETTLED_S closes what was taken back. */
void fd_store_update(struct fd_store *s, uint64_t mono_ns);

#endif
