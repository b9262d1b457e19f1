/* SPDX-License-Identifier: BSD-3-Clause */
/* support.h - a made-up notice, and an event loop that runs until a condition holds or half a minute is over. */
#ifndef HW_TESTS_UNIT_ACT_SUPPORT_H
#define HW_TESTS_UNIT_ACT_SUPPORT_H

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

#include "daemon/rules/notice.h"
#include "proto/base/clock.h"

#define WALL 1700000000000000000u /* 2023-11-14T22:13:20Z */

static const struct notice_pair made_up_labels[] = { { "team", "db" }, { "dash-ed", "a\"b\\c\n\x1b[31m" } };
static const struct notice_pair made_up_annotations[] = { { "runbook", "https://example.org/x" } };

/* A copy, to free(). */
static inline struct notice *made_up_notice(enum notice_state state)
{
        const struct notice n = {
                .fingerprint = notice_fingerprint("memory", "leak", "api-1", "Main.cache", "sat_info"),
                .target = "api-1",
                .run = 2,
                .rule = "leak",
                .group = "memory",
                .band = "Main.cache",
                .band_source = "Main.hs:3:1-9",
                .band_name = "sat_info",
                .severity = NOTICE_CRITICAL,
                .state = state,
                .has_value = true,
                .value = 1048576.5,
                .value_text = "1.00 MiB/min",
                .sentence = "Main.cache grows without end.",
                .labels = made_up_labels,
                .n_labels = 2,
                .annotations = made_up_annotations,
                .n_annotations = 1,
                .time_ns = 120000000000u,
                .wall_ns = WALL + 120000000000u,
                .active_ns = 60000000000u,
                .active_wall_ns = WALL + 60000000000u,
                .fired_ns = state >= NOTICE_FIRING ? 90000000000u : NOTICE_NO_TIME,
                .fired_wall_ns = state >= NOTICE_FIRING ? WALL + 90000000000u : NOTICE_NO_TIME,
        };

        return notice_copy(&n);
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
