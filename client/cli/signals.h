/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.h - a command that has something to put away is asked to stop, and dies of the signal afterwards. */
#ifndef HW_CLIENT_CLI_SIGNALS_H
#define HW_CLIENT_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP only set a mark. */
void signals_catch(void);

/* For those who catch a signal in another way (libevent): as if it had come here. */
void signals_mark(int number);

/* Whether one of them came. */
bool signals_stop(void);

/* When one came: dies of it, as the shell expects. Otherwise returns. Call with everything put away. */
void signals_die(void);

#endif
