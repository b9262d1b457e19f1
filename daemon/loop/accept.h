/* SPDX-License-Identifier: BSD-3-Clause */
/* accept.h - somebody who looks at each connection when it is accepted, by whichever thread. */
#ifndef HW_DAEMON_LOOP_ACCEPT_H
#define HW_DAEMON_LOOP_ACCEPT_H

#include <stdbool.h>

/*
 * False: the connection is closed at once. It runs on the thread that accepts, must not wait, and sees also what is not
 * its own: `listener` says by its name whose it is.
 */
typedef bool accept_look(int listener, int fd);

/* From now on; NULL: nobody looks. */
void accept_looks(accept_look *look);

#endif
