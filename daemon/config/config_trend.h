/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config_trend.h - how growth is judged: resolution, how long growth must last to be a leak, a memory limit given by
 * the user.
 */
#ifndef HW_DAEMON_CONFIG_CONFIG_TREND_H
#define HW_DAEMON_CONFIG_CONFIG_TREND_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

struct tracker_config;

/* 0: not given. */
struct config_trend {
        uint64_t resolution_ns;
        uint64_t leak_after_ns;
        uint64_t limit_bytes;
};

/* Whether the settings are consistent. */
bool config_trend_check(const struct config_trend *c, struct error *error);

/*
 * The tracker's configuration from consistent settings. For a finished log length_ns is that of its longest run: unless
 * given, the resolution is about a four-hundredth of it, from 100 ms to a minute. 0: live, one minute.
 */
struct tracker_config config_trend_tracker(const struct config_trend *c, uint64_t length_ns);

#endif
