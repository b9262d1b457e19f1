/* SPDX-License-Identifier: BSD-3-Clause */
/* fanout.h - one model, several sinks: each is called in turn, in the order given. */
#ifndef HW_DAEMON_TARGET_FANOUT_H
#define HW_DAEMON_TARGET_FANOUT_H

#include "daemon/model/model.h"

#define FANOUT_MAX 4

struct fanout {
        struct model_sink sinks[FANOUT_MAX];
        unsigned n;
};

/* Functions of `sink` that are NULL are not called. At most FANOUT_MAX. */
void fanout_add(struct fanout *f, const struct model_sink *sink);

/* The sink that calls them all; f must stay where it is as long as the model lives. */
struct model_sink fanout_sink(struct fanout *f);

#endif
