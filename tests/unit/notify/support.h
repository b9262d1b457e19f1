/* SPDX-License-Identifier: BSD-3-Clause */
/* support.h - a synthetic alert event, and an event loop that runs until a condition holds or a deadline passes. */
#pragma once

#include <event2/event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "client/out/notify/alert_event.h"
#include "proto/base/clock.h"

#define WALL 1700000000000000000u /* 2023-11-14T22:13:20Z */

enum { FIRING, RESOLVED }; /* for `resolved` */

/* With one reference. A test may change what is in it. */
static inline struct alert_event *made_up_event(bool resolved)
{
        json_t *alert = json_pack(
                "{s:i, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:f, s:s, s:s, s:{s:s, s:s}, s:{s:s}, s:s, s:s, "
                "s:s, s:s, "
                "s:s, s:s, s:s}",
                "version", 1, "status", resolved ? "resolved" : "firing", "alert", "leak", "group", "memory", "target",
                "api-1", "run", 2, "band", "Main.cache", "bandSource", "Main.hs:3:1-9", "bandName", "sat_info",
                "severity", "critical", "value", 1048576.5, "valueText", "1.00 MiB/min", "sentence",
                "Main.cache grows without end.", "labels", "team", "db", "dash-ed", "a\"b\\c\n\x1b[31m", "annotations",
                "runbook", "https://example.org/x", "activeAt", "2023-11-14T22:14:20.000Z", "startsAt",
                "2023-11-14T22:14:50.000Z", "at", resolved ? "2023-11-14T22:15:20.000Z" : "2023-11-14T22:14:50.000Z",
                "activeTimeNs", "60000000000", "startsTimeNs", "90000000000", "timeNs",
                resolved ? "120000000000" : "90000000000", "fingerprint", "00c0ffee00c0ffee");
        struct alert_event *e =
                alert_event_new(alert, WALL + 90000000000u, resolved ? WALL + 120000000000u : UNKNOWN_U64);

        json_decref(alert);
        assert_non_null(e);
        return e;
}

/* Runs the loop until *done is at least `wanted`; fails after two minutes. */
static inline void run_until(struct event_base *base, const unsigned *done, unsigned wanted)
{
        struct timeval step = { .tv_usec = 20000 };
        uint64_t end = clock_mono_ns() + 120000000000u;

        while (*done < wanted) {
                assert_true(clock_mono_ns() < end);
                event_base_loopexit(base, &step);
                event_base_loop(base, EVLOOP_ONCE);
        }
}
