/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * virtual_time.h - a steady clock, and a wall clock that goes with it, which the program makes itself, for it and the
 * libraries it uses: an event loop that would wait finds that the time has come. So a minute of a daemon takes
 * milliseconds, and the same steps give the same session. Processor time stays the machine's, and so do all clocks of a
 * fuzzer that measures at SIGALRM how long an input takes (virtual_time_spare_alarms()).
 *
 * Included once per program; it takes the place of clock_gettime() and epoll_wait().
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define VIRTUAL_WALL_S  1795000000 /* the wall clock is ahead of the steady one, for good */
#define VIRTUAL_READ_NS 2000u      /* each look at the clock takes this long: who works until a time comes gets there */

static struct {
        bool on;
        uint64_t now_ns;
        struct sigaction on_alarm; /* the fuzzer's */
} virtual_time = { .now_ns = UINT64_C(1000000000000) };

int clock_gettime(clockid_t id, struct timespec *t)
{
        const bool is_wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;

        if (!virtual_time.on ||
            (!is_wall && id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_COARSE && id != CLOCK_BOOTTIME))
                return (int)syscall(SYS_clock_gettime, id, t);
        virtual_time.now_ns += VIRTUAL_READ_NS;
        t->tv_sec = (time_t)(virtual_time.now_ns / 1000000000u) + (is_wall ? VIRTUAL_WALL_S : 0);
        t->tv_nsec = (long)(virtual_time.now_ns % 1000000000u);
        return 0;
}

int epoll_wait(int fd, struct epoll_event *events, int n, int timeout_ms)
{
        int found = (int)syscall(SYS_epoll_pwait, fd, events, n, virtual_time.on ? 0 : timeout_ms, NULL, 0);

        if (virtual_time.on && found == 0 && timeout_ms > 0)
                virtual_time.now_ns += (uint64_t)timeout_ms * 1000000u;
        return found;
}

static void on_alarm(int signal_number, siginfo_t *info, void *context)
{
        const bool on = virtual_time.on;

        virtual_time.on = false;
        if (virtual_time.on_alarm.sa_flags & SA_SIGINFO)
                virtual_time.on_alarm.sa_sigaction(signal_number, info, context);
        else if (virtual_time.on_alarm.sa_handler != SIG_DFL && virtual_time.on_alarm.sa_handler != SIG_IGN)
                virtual_time.on_alarm.sa_handler(signal_number);
        virtual_time.on = on;
}

/* Called once, when the handler of SIGALRM is in place; without one nothing changes. */
static void virtual_time_spare_alarms(void)
{
        const struct sigaction ours = { .sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART };

        if (sigaction(SIGALRM, NULL, &virtual_time.on_alarm) == 0 && virtual_time.on_alarm.sa_handler != SIG_DFL)
                (void)sigaction(SIGALRM, &ours, NULL);
}
