/* SPDX-License-Identifier: BSD-3-Clause */
/* stubs.c - what the test programs need from the runtime system and C. */
#include <pthread.h>

#include "Rts.h"
#include "rts/EventLogWriter.h"

void restart_eventlog(void);
void hang_for_ever(void);

/* Ends the log and begins another in the same place: a second header in the stream of one process. */
void restart_eventlog(void)
{
        endEventLogging();
        (void)startEventLogging(&FileEventLogWriter);
}

/* Waits for a lock that it holds: which looks from outside like the runtime's own deadlock at exit. */
void hang_for_ever(void)
{
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

        (void)pthread_mutex_lock(&lock);
        (void)pthread_mutex_lock(&lock);
}
