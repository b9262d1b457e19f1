/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/run/inside.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "client/cli/inspecting.h"
#include "proto/base/clock.h"

#define MOST_NS     UINT64_C(5000000000)
#define PATIENCE_NS UINT64_C(1000000000)
#define PAUSE_NS    50000000L

static enum inspector_end try_once(pid_t pid, struct error *error)
{
        char number[24];
        const char *arguments[] = { "heapwatch-inspect", "watch", "--once", "--pid", number, NULL };

        (void)snprintf(number, sizeof(number), "%ld", (long)pid);
        *error = (struct error){ "" };
        return inspector_run(&(struct inspection){ .arguments = arguments, .most_ns = MOST_NS, .to = stdout }, error);
}

bool outside_try(pid_t pid, bool is_new, struct error *error)
{
        static const struct timespec pause = { .tv_nsec = PAUSE_NS };
        const uint64_t until_ns = clock_mono_ns() + (is_new ? PATIENCE_NS : 0);
        enum inspector_end end;

        /* at first it may still be the one that starts the program */
        while ((end = try_once(pid, error)) == INSPECTOR_FAILED && clock_mono_ns() < until_ns && kill(pid, 0) == 0)
                (void)nanosleep(&pause, NULL);
        if (end == INSPECTOR_FAILED && !error->text[0])
                (void)error_set(error, "its heap was not found within some seconds");
        return end == INSPECTOR_GOOD;
}
