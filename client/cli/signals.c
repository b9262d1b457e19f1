/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c - no SA_RESTART: a wait that a signal interrupts ends early and the loop sees the mark. */
#include "client/cli/signals.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define PATIENCE_S 2

static volatile sig_atomic_t caught, ends;
static time_t caught_s;

void signals_mark(int number)
{
        const time_t now = time(NULL);

        if (ends && caught && now - caught_s >= PATIENCE_S) { /* what was to see the mark does not come to it */
                (void)signal(number, SIG_DFL);
                (void)raise(number); /* when this returns */
        }
        caught_s = caught ? caught_s : now;
        caught = number;
}

void signals_catch(bool may_end)
{
        struct sigaction action;

        ends = may_end;
        memset(&action, 0, sizeof(action));
        action.sa_handler = signals_mark;
        (void)sigaction(SIGINT, &action, NULL);
        (void)sigaction(SIGTERM, &action, NULL);
        (void)sigaction(SIGHUP, &action, NULL);
}

bool signals_stop(void)
{
        return caught != 0;
}

bool signals_forget(int number)
{
        if (caught != number)
                return false;
        caught = 0;
        return true;
}

void signals_die(void)
{
        if (!caught)
                return;
        (void)signal(caught, SIG_DFL);
        (void)raise(caught);
}
