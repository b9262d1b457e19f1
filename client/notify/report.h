/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - the outcome of one action, which goes to the daemon, and from there into the alert's message. Plain
 * data.
 */
#ifndef HW_CLIENT_NOTIFY_REPORT_H
#define HW_CLIENT_NOTIFY_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire/action_plan.h"

#define REPORT_DETAIL_MAX 512u

enum action_outcome {
        OUTCOME_UNDER_WAY, /* running, or waiting for its turn */
        OUTCOME_DONE,
        OUTCOME_FAILED, /* finally: all attempts are over, or another would not help */
        OUTCOME_SKIPPED /* not tried: silenced, limited, dropped; the detail says which */
};

struct action_report {
        uint64_t fingerprint; /* of the alert */
        bool resolved;        /* an action for its end */
        uint32_t step;        /* index in its plan */
        enum action_kind kind;
        enum action_outcome outcome;
        uint32_t attempts;              /* 0: skipped */
        uint64_t wall_ns;               /* Unix time of its end */
        char detail[REPORT_DETAIL_MAX]; /* one plain sentence, safe for a terminal; no secrets */
};

typedef void action_report_fn(void *ctx, const struct action_report *report);

#endif
