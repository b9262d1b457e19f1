/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_life.h - this daemon's life (proto/base/daemon_life.h), where it has a place for it: --state, else --checkpoint;
 * and how the daemon before it ended, for the log and the daemon's state.
 */
#ifndef HW_DAEMON_CONTROL_OWN_LIFE_H
#define HW_DAEMON_CONTROL_OWN_LIFE_H

#include <stdbool.h>

#include "daemon/config/config.h"
#include "heapwatch/wire.h"
#include "proto/base/daemon_life.h"

struct own_life {
        int fd;                  /* -1: it has no place */
        Hw__DaemonBefore before; /* its text is NULL: that one ended as asked, or is not known */
        char text[DAEMON_LIFE_TEXT_MAX];
};

/*
 * Begins it; from now on a crash is logged, and recorded where there is a place. False after reporting that another
 * daemon has the place.
 */
bool own_life_begin(struct own_life *own, const struct config *config);

/* This daemon ends as it was asked to. */
void own_life_end(const struct own_life *own);

#endif
