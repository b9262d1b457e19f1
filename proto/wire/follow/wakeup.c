/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/follow/zparts.h"
#include "proto/base/time.h"
#include "proto/base/descriptors.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <zmq.h>

#define WAIT_MAX_MS 60000u /* callers come back and wait again */

static int watch(const struct wakeup *w, int fd)
{
        struct epoll_event event = { .events = EPOLLIN };

        return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int wakeup_open(struct wakeup *w)
{
        w->epoll = epoll_create1(EPOLL_CLOEXEC);
        w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        return w->epoll < 0 || w->timer < 0 ? -errno : watch(w, w->timer);
}

void wakeup_close(struct wakeup *w)
{
        close_fd(&w->epoll);
        close_fd(&w->timer);
}

int wakeup_add(struct wakeup *w, void *socket)
{
        int fd;
        size_t size = sizeof(fd);

        return zmq_getsockopt(socket, ZMQ_FD, &fd, &size) < 0 ? -errno : watch(w, fd);
}

void wakeup_at(struct wakeup *w, uint64_t at_ns)
{
        struct itimerspec due = { .it_value = { 0, 0 } };

        if (at_ns != WAKEUP_NEVER) {
                due.it_value.tv_sec = (time_t)(at_ns / NS_PER_S);
                due.it_value.tv_nsec = (long)(at_ns % NS_PER_S);
        }
        (void)timerfd_settime(w->timer, TFD_TIMER_ABSTIME, &due, NULL); /* a valid descriptor and time */
}

int wakeup_wait(const struct wakeup *w, uint64_t now_ns, uint64_t until_ns)
{
        struct pollfd item = { .fd = w->epoll, .events = POLLIN };
        uint64_t ms = until_ns <= now_ns ? 0 : (until_ns - now_ns) / NS_PER_MS + 1;

        return poll(&item, 1, ms > WAIT_MAX_MS ? (int)WAIT_MAX_MS : (int)ms) < 0 ? -errno : 0;
}
