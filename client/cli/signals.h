/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.h - a command that has something to clean up (.stops) stops in its own time, then dies of the signal. */
#pragma once

#include <stdbool.h>

/* SIGINT, SIGTERM and SIGHUP set a mark. With `may_end` one that comes seconds later ends the program. */
void signals_catch(bool may_end);

/* For code that catches a signal in another way (libevent): as if it had arrived here. */
void signals_mark(int number);

/* Whether one of them has arrived. */
bool signals_stop(void);

/* False, unless the one that has arrived is this: then none has. */
bool signals_forget(int number);

/* If one has arrived, dies of it, as the shell expects; otherwise returns. Call after cleaning up. */
void signals_die(void);
