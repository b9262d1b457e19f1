/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * receive.c - what libzmq reads, seen before it has it.
 *
 * DESIGN: libzmq bounds what is sent, not what comes: a subscriber's messages are taken in as fast as they are written,
 * before any code of ours sees one. As with accept4() (accept.c) the program has a recv() of its own. libzmq calls
 * recv() for the bytes of TCP and ipc connections; libevent and we ourselves use other calls.
 */
#undef _FORTIFY_SOURCE /* with it glibc's header defines recv() inline */

#include "daemon/loop/receive.h"

#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static _Atomic(receive_look *) looks;

void receive_looks(receive_look *look)
{
        atomic_store(&looks, look);
}

ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
        const ssize_t n = syscall(SYS_recvfrom, fd, bytes, size, flags, NULL, NULL);
        receive_look *look = atomic_load(&looks);

        return n > 0 && look && !look(fd, (size_t)n) ? 0 : n;
}
