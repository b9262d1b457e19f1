/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c - no SA_RESTART: a wait that a signal interrupts ends early and the loop sees the mark. */
#include "client/cli/signals.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught;

void signals_mark(int number)
{
        caught = number;
}

void signals_catch(void)
{
        struct sigaction action;

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
