/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * update_sink.h - where updates leave the stages that make them. A daemon's is the bus (bus.h): XPUB, for any number of
 * subscribers; never blocks, drops at the high-water mark. Of finished logs it is whoever reads them (log_reader.h).
 */
#pragma once

#include "heapwatch/wire.h"
#include "proto/wire/update_wish.h"

struct update_sink {
        void *ctx;
        /* Packs and sends; the update is borrowed. Returns 0, or -errno when no more can be sent. */
        int (*send)(void *ctx, const Hw__Update *update);
};
