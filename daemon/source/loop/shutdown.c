/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/source/loop/shutdown.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/time.h"

#define POLL_NS 1000000

/* When each part ends, in percent; what follows the last one takes hardly any time. */
static const unsigned ends[] = {
        [STOP_NOTIFIER] = 25, [STOP_COPIES] = 45, [STOP_CHECKPOINTS] = 70, [STOP_RECORDINGS] = 85, [STOP_SILENCES] = 95
};

static uint64_t began_ns; /* 0: it has not */

void shutdown_begin(void)
{
        began_ns = clock_mono_ns();
}

uint64_t shutdown_left_ns(enum stop_part part)
{
        const uint64_t now_ns = clock_mono_ns();

        return sub_sat((began_ns ? began_ns : now_ns) + STOP_S * NS_PER_S / 100 * ends[part], now_ns);
}

/* Waits POLL_NS; false: the part has had its time. */
static bool may_wait_on(uint64_t until_ns)
{
        const struct timespec pause = { .tv_nsec = POLL_NS };

        if (clock_mono_ns() >= until_ns)
                return false;
        (void)nanosleep(&pause, NULL);
        return true;
}

/* Polled: pthread_timedjoin_np follows the wall clock, which may be set, and GCC 12's TSan takes a thread that
 * pthread_clockjoin_np has joined for a leaked one. */
bool shutdown_join(pthread_t thread, enum stop_part part)
{
        const uint64_t until_ns = clock_mono_ns() + shutdown_left_ns(part);

        while (pthread_tryjoin_np(thread, NULL) == EBUSY) {
                if (!may_wait_on(until_ns))
                        return false;
        }
        return true;
}

bool shutdown_reap(pid_t child, int *ret_status, enum stop_part part)
{
        const uint64_t until_ns = clock_mono_ns() + shutdown_left_ns(part);

        *ret_status = 0;
        while (waitpid(child, ret_status, WNOHANG) == 0) {
                if (!may_wait_on(until_ns))
                        return false;
        }
        return true;
}
