/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - what became of one action: goes back to the loop, and from there onto the alert's message. Plain data. */
#ifndef HW_DAEMON_ACT_REPORT_H
#define HW_DAEMON_ACT_REPORT_H

#include <stdint.h>

#include "daemon/rules/notice.h"
#include "daemon/act/plan.h"

#define REPORT_DETAIL_MAX 256u

enum act_outcome {
        ACT_UNDER_WAY, /* begun, or waiting for its turn */
        ACT_DONE,
        ACT_FAILED, /* for good: all attempts are over, or another would not help */
        ACT_SKIPPED /* not tried: silenced, limited, dropped; the detail says which */
};

struct act_report {
        uint64_t fingerprint;    /* of the alert */
        enum notice_state state; /* of the transition that was acted on */
        uint32_t step;           /* index into its plan */
        enum act_kind kind;
        enum act_outcome outcome;
        uint32_t attempts;              /* 0: skipped */
        uint64_t wall_ns;               /* Unix time of its end */
        char detail[REPORT_DETAIL_MAX]; /* one plain sentence, safe for a terminal; no secrets */
};

typedef void act_report_fn(void *ctx, const struct act_report *report);

#endif
