/* SPDX-License-Identifier: BSD-3-Clause */
/* alert_extra.h - what is published about an alert in addition to what it knows itself: its silence. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct alert_extra {
        bool silenced;
        uint64_t silenced_until_wall_ns;
        const char *silenced_why; /* borrowed; NULL */
};

struct alert;

/*
 * Fills *ret, which is zeroed; what it borrows must stay valid until the next call. It may change the alert's deeds.
 */
typedef void alert_extra_fn(void *ctx, const char *target, struct alert *alert, struct alert_extra *ret);
