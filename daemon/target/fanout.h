/* SPDX-License-Identifier: BSD-3-Clause */
/* fanout.h - one model, several sinks: each is called in turn, in the order given. */
#ifndef HW_DAEMON_TARGET_FANOUT_H
#define HW_DAEMON_TARGET_FANOUT_H

#include "daemon/model/model.h"

#define FANOUT_MAX 4

struct fanout {
        struct model_sink sinks[FANOUT_MAX];
        unsigned n;
        const bool *stop; /* of the sink that may stop the model; NULL: none */
};

/* Functions of `sink` that are NULL are not called. At most FANOUT_MAX. */
void fanout_add(struct fanout *f, const struct model_sink *sink);

/* The sink that calls all sinks; call it after adding the one that stops the model. f must outlive it and not move. */
struct model_sink fanout_sink(struct fanout *f);

#endif
