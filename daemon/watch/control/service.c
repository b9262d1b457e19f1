/* SPDX-License-Identifier: BSD-3-Clause */
/* service.c - DESIGN: a nonblocking datagram socket; what the manager does not accept is sent at the next beat. */
#include "daemon/watch/control/service.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/publish/transport/limits.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"

#define STATUS_EVERY_US UINT64_C(10000000) /* without a watchdog */

struct service {
        struct event *beat, *opened;
        service_count *count;
        const void *ctx;
        struct timeval every;
        int socket;
        struct fd_store *store;
        bool ready;
};

/* False: the manager's queue is full. */
static bool notify_service(const struct service *s, const char *text)
{
        return send(s->socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != EAGAIN;
}

static bool notify_state(const struct service *s, const char *first)
{
        char text[128];
        size_t n = s->count(s->ctx);

        (void)snprintf(text, sizeof(text), "%sWATCHDOG=1\nSTATUS=watching %zu target%s\n", first, n, n == 1 ? "" : "s");
        return notify_service(s, text);
}

static void on_beat(evutil_socket_t fd, short what, void *ctx)
{
        struct service *s = ctx;

        if (!s->ready)
                return;
        (void)notify_state(s, "");
        if (s->store)
                fd_store_update(s->store, clock_mono_ns());
}

/*
 * Its timer is behind those with which the sources open: programs that are started now find their FIFOs being read. The
 * manager waits for this message, whose place in its queue may be taken by the descriptors of these FIFOs.
 */
static void on_opened(evutil_socket_t fd, short what, void *ctx)
{
        static const struct timeval soon = { .tv_usec = 20000 };
        struct service *s = ctx;

        s->ready = notify_state(s, "READY=1\n") || event_add(s->opened, &soon) != 0;
}

/* A socket connected to $NOTIFY_SOCKET: a path, or '@' and a name in the abstract namespace. -1 with errno. */
static int open_socket(const char *name)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        size_t n = strlen(name);
        int fd;

        if ((name[0] != '/' && name[0] != '@') || n < 2 || n >= sizeof(address.sun_path)) {
                errno = EINVAL;
                return -1;
        }
        memcpy(address.sun_path, name, n + 1);
        if (name[0] == '@')
                address.sun_path[0] = '\0';
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -1;
        if (connect(fd, (const struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) ==
            0)
                return fd;
        n = (size_t)errno;
        (void)close(fd);
        errno = (int)n;
        return -1;
}

/* Half of the manager's timeout, if it watches this process. */
static uint64_t beat_us(void)
{
        const char *every = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
        uint64_t us = every ? strtoull(every, NULL, 10) : 0;

        if (pid && strtoull(pid, NULL, 10) != (unsigned long long)getpid())
                us = 0;
        return us > 1 ? us / 2 : STATUS_EVERY_US;
}

struct service *service_new(struct event_base *base, service_count *count, const void *ctx)
{
        const char *name = getenv("NOTIFY_SOCKET");
        struct service *s = name && *name ? calloc(1, sizeof(*s)) : NULL;
        uint64_t us = beat_us();

        if (!s)
                return NULL;
        *s = (struct service){ .count = count, .ctx = ctx, .socket = open_socket(name) };
        s->every = (struct timeval){ .tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000) };
        if (s->socket < 0)
                log_warning("NOTIFY_SOCKET=%s the service manager cannot be notified: %s", name, strerror(errno));
        (void)unsetenv("NOTIFY_SOCKET");
        (void)unsetenv("WATCHDOG_USEC");
        (void)unsetenv("WATCHDOG_PID");
        s->beat = event_new(base, -1, EV_PERSIST, on_beat, s);
        s->opened = evtimer_new(base, on_opened, s);
        if (s->socket < 0 || !s->beat || !s->opened || event_priority_set(s->beat, LOOP_FIRST) ||
            event_add(s->beat, &s->every))
                service_destroy(&s);
        else if ((s->store = fd_store_new(s->socket)))
                keeper_set(fd_store_keeper(s->store));
        return s;
}

void service_ready(struct service *s)
{
        static const struct timeval at_once = { 0, 0 };

        if (s && event_add(s->opened, &at_once) != 0)
                on_opened(-1, 0, s);
}

void service_destroy(struct service **s)
{
        if (!*s)
                return;
        if ((*s)->ready)
                (void)notify_service(*s, "STOPPING=1\n");
        keeper_set(NULL); /* what is kept stays so, while the sources close */
        fd_store_destroy(&(*s)->store);
        free_event(&(*s)->beat);
        free_event(&(*s)->opened);
        close_fd(&(*s)->socket);
        free(*s);
        *s = NULL;
}
