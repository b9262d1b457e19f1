/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon_state.h - the daemon's state: its loop, descriptors and memory. */
#ifndef HW_DAEMON_TARGET_DAEMON_STATE_H
#define HW_DAEMON_TARGET_DAEMON_STATE_H

#include "heapwatch/wire.h"
#include "daemon/loop/watchdog.h"

/* Messages that the state borrows. */
struct daemon_loop {
        Hw__LoopTurn longest, recent;
        Hw__LoopShare shares[WATCHDOG_KINDS];
        Hw__LoopShare *list[WATCHDOG_KINDS];
};

/* `state` is valid as long as *loop and until the loop's next turn ends. */
void daemon_loop_fill(struct daemon_loop *loop, Hw__DaemonState *state);

#endif
