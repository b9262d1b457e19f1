/* SPDX-License-Identifier: BSD-3-Clause */
/* alert_extra.h - what is published about an alert in addition to its state: silence, results of its actions. */
#ifndef HW_DAEMON_PUBLISH_ALERT_EXTRA_H
#define HW_DAEMON_PUBLISH_ALERT_EXTRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALERT_RESULTS_MAX 16u

struct alert_result {
        const char *kind, *detail; /* borrowed; detail may be NULL */
        bool under_way;            /* else `ok` is the outcome */
        bool ok;
        uint64_t wall_ns; /* UNKNOWN_U64 */
        uint32_t attempts;
        uint32_t step; /* index into the rule's actions */
};

struct alert_extra {
        bool silenced;
        uint64_t silenced_until_wall_ns;
        const char *silenced_why; /* borrowed; NULL */
        struct alert_result results[ALERT_RESULTS_MAX];
        size_t n_results;
};

struct alert;

/* Fills *ret, which is zeroed; what it borrows must stay valid until the next call. */
typedef void alert_extra_fn(void *ctx, const char *target, const struct alert *alert, struct alert_extra *ret);

#endif
