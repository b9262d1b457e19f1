/* SPDX-License-Identifier: BSD-3-Clause */
/* support.h - a synthetic alert event, and an event loop that runs until a condition holds or a deadline passes. */
#ifndef HW_TESTS_UNIT_NOTIFY_SUPPORT_H
#define HW_TESTS_UNIT_NOTIFY_SUPPORT_H

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

#include "client/notify/alert_event.h"
#include "proto/base/clock.h"

#define WALL 1700000000000000000u /* 2023-11-14T22:13:20Z */

enum { FIRING, RESOLVED }; /* for `resolved` */

/* With one reference. A test may change what is in it. */
static inline struct alert_event *made_up_event(bool resolved)
{
        Hw__Label team = HW__LABEL__INIT, dashed = HW__LABEL__INIT, runbook = HW__LABEL__INIT;
        Hw__Label *labels[] = { &team, &dashed }, *annotations[] = { &runbook };
        Hw__Alert a = HW__ALERT__INIT;

        team.name = "team";
        team.value = "db";
        dashed.name = "dash-ed";
        dashed.value = "a\"b\\c\n\x1b[31m";
        runbook.name = "runbook";
        runbook.value = "https://example.org/x";
        a.has_fingerprint = a.has_value = a.has_run = true;
        a.fingerprint = 0x00c0ffee00c0ffee;
        a.value = 1048576.5;
        a.run = 2;
        a.rule = "leak";
        a.group = "memory";
        a.band_label = "Main.cache";
        a.band_source = "Main.hs:3:1-9";
        a.band_name = "sat_info";
        a.severity = "critical";
        a.value_text = "1.00 MiB/min";
        a.sentence = "Main.cache grows without end.";
        a.labels = labels;
        a.n_labels = 2;
        a.annotations = annotations;
        a.n_annotations = 1;
        a.has_since_ns = a.has_since_wall_ns = a.has_fired_ns = a.has_fired_wall_ns = true;
        a.since_ns = 60000000000u;
        a.since_wall_ns = WALL + 60000000000u;
        a.fired_ns = 90000000000u;
        a.fired_wall_ns = WALL + 90000000000u;
        a.has_resolved_ns = a.has_resolved_wall_ns = resolved;
        a.resolved_ns = 120000000000u;
        a.resolved_wall_ns = WALL + 120000000000u;
        return alert_event_new("api-1", &a, resolved);
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

#endif
