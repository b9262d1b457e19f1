/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept.c - accepts connections only while descriptors are left for them.
 *
 * DESIGN: libzmq accepts on a thread of its own, at once, and ends the process
 * when there is no descriptor left (ipc_listener.cpp 4.3.4 asserts that errno
 * is not EMFILE). None of its options bounds the number of peers, and nothing
 * can be put in front of a socket that it listens on. So the program has an
 * accept4() of its own, which the linker gives to all libraries: a connection
 * that arrives when the table is nearly full is accepted and closed at once, so
 * that the peer sees an end of file and tries again, and the listener does not
 * spin. For a table that is full, a spare descriptor is kept to do that with.
 *
 * The kernel gives the lowest free number: one close to the limit says that
 * nearly all below are taken, without another system call.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/loop/accept.h"
#include "daemon/loop/descriptors.h"

static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static int spare = -1;
static atomic_ulong n_refused;
static _Atomic(accept_look *) looks;

void accept_looks(accept_look *look)
{
        atomic_store(&looks, look);
}

unsigned long descriptors_refused(void)
{
        return atomic_load(&n_refused);
}

/* Before the first connection. */
__attribute__((constructor)) static void keep_spare(void)
{
        spare = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3); /* any file will do */
}

static void say_refused(void)
{
        unsigned long n = atomic_fetch_add(&n_refused, 1) + 1;

        log_warning(
                "connections_refused=%lu descriptors=%zu too few are left for another connection; raise the limit "
                "(ulimit -Hn, LimitNOFILE=) or find out who connects so often",
                n, descriptors_limit());
}

/*
 * Accepts and closes the oldest waiting connection, with the spare descriptor. Nobody may be waiting: the kernel looks
 * for a descriptor first; then the spare one is opened again. A connection that left no place for that keeps it until
 * the next call, shut down.
 */
static void turn_away(int listener)
{
        (void)pthread_mutex_lock(&spare_lock);
        if (spare >= 0)
                (void)close(spare);
        spare = (int)syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC);
        const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (spare >= 0 && null < 0) {
                (void)shutdown(spare, SHUT_RDWR);
        } else {
                if (spare >= 0)
                        (void)close(spare);
                spare = null;
        }
        (void)pthread_mutex_unlock(&spare_lock);
}

/* What is not let in is closed: to the caller it was never there. */
static int look_at(int listener, int fd)
{
        accept_look *look = atomic_load(&looks);

        if (!look || look(listener, fd))
                return fd;
        (void)close(fd);
        errno = EAGAIN;
        return -1;
}

/* As <sys/socket.h> declares it, with a union of all kinds of addresses. */
int accept4(int listener, __SOCKADDR_ARG address, socklen_t *restrict size, int flags)
{
        const size_t limit = descriptors_limit();
        int fd = (int)syscall(SYS_accept4, listener, address.__sockaddr__, size, flags);

        if (fd < 0 && errno == EMFILE)
                turn_away(listener);
        else if (fd < 0)
                return fd;
        else if ((size_t)fd + DESCRIPTORS_KEPT < limit)
                return look_at(listener, fd);
        else
                (void)close(fd);
        say_refused();
        errno = EAGAIN;
        return -1;
}
