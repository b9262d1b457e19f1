/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state.h - the inside of struct model: one part per concept. Private to the
 * model; other stages read through the functions of model.h.
 */
#ifndef HW_DAEMON_MODEL_STATE_H
#define HW_DAEMON_MODEL_STATE_H

#include "proto/base/strings.h"
#include "daemon/model/bands_private.h"
#include "daemon/model/census_private.h"
#include "daemon/model/clock.h"
#include "daemon/model/gc_private.h"
#include "daemon/model/heap_private.h"
#include "daemon/model/model.h"
#include "daemon/model/notes_private.h"
#include "daemon/model/profile_private.h"
#include "daemon/model/run_private.h"
#include "daemon/model/sched_private.h"

struct model {
        /* What every event touches comes first. */
        struct clock clock;
        unsigned changes;
        bool ended, completed;
        struct sched sched;
        struct cap_state *caps; /* sched.n_caps of them in use */
        uint32_t caps_room;
        uint8_t stop_status[SCHED_STATUSES]; /* maps a log's status to the current numbering */

        struct model_sink sink;
        struct heap heap;
        struct heap_state heap_state;
        struct gc gc;
        struct gc_state gc_state;
        struct bands bands;
        struct census_state census;
        struct notes notes;
        struct profile profile;
        struct ticky ticky;
        struct run run;
        struct strings identity;  /* texts of the run: apart, so that a flood of names cannot crowd them out */
        uint64_t refreshed_ns;    /* event time when rates were last computed */
        uint64_t dropped_samples; /* lost: out of memory for their series */
        struct series_finely finely;
        struct series series[SERIES_COUNT];
};

/* Takes in one sample of a gauge: its series, and the sink. */
void model_sample(struct model *m, enum series_id id, uint64_t time_ns, uint64_t value);

#endif
