/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon_state.h - what the daemon's state says of its loop, its descriptors and its memory. */
#ifndef HW_DAEMON_TARGET_DAEMON_STATE_H
#define HW_DAEMON_TARGET_DAEMON_STATE_H

#include "heapwatch/wire.h"
#include "daemon/loop/watchdog.h"

/* The messages it borrows from. */
struct daemon_loop {
        Hw__LoopTurn longest, recent;
        Hw__LoopShare shares[WATCHDOG_KINDS];
        Hw__LoopShare *list[WATCHDOG_KINDS];
};

/* `state` holds as long as *loop and until the loop's next turn ends. */
void daemon_loop_fill(struct daemon_loop *loop, Hw__DaemonState *state);

#endif
