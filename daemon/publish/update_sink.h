/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * update_sink.h - where updates leave the process: one interface, two ways.
 *
 * bus (bus.h): XPUB, for any number of subscribers; never blocks, drops at the
 * high-water mark. once (once.h): PUSH to the one client that started us;
 * loses nothing and waits instead.
 */
#ifndef HW_DAEMON_PUBLISH_UPDATE_SINK_H
#define HW_DAEMON_PUBLISH_UPDATE_SINK_H

#include "heapwatch/wire.h"

struct update_sink {
        void *ctx;
        /* Packs and sends; the update is borrowed. Returns 0, or -errno when it can send no more (client gone). */
        int (*send)(void *ctx, const Hw__Update *update);
};

#endif
