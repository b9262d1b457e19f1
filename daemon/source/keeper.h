/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keeper.h - who keeps descriptors of sources open while the daemon is
 * restarted (daemon/control/fd_store.c), so that a program does not notice.
 *
 * A FIFO and what is in it last as long as anybody has it open: while no
 * daemon reads, its program finds a reader, and waits only when it is full.
 */
#ifndef HW_DAEMON_SOURCE_KEEPER_H
#define HW_DAEMON_SOURCE_KEEPER_H

#define KEEPER_NAME_MAX 64 /* bytes of a name, NUL included: letters, digits, '-' */

struct keeper {
        void *ctx;
        void (*keep)(void *ctx, const char *name, int fd); /* open until keeper_forget; replaces one of that name */
        void (*forget)(void *ctx, const char *name);
};

/* For all sources, from now on; NULL: nobody keeps any, and what is kept already stays so. Must outlive its use. */
void keeper_set(const struct keeper *keeper);

void keeper_keep(const char *name, int fd);
void keeper_forget(const char *name);

#endif
