/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config_trend.h - how growth is judged: resolution, how long growth must last
 * to be a leak, a limit of memory given by the user.
 */
#ifndef HW_DAEMON_CONFIG_CONFIG_TREND_H
#define HW_DAEMON_CONFIG_CONFIG_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

struct tracker_config;

/* 0: not given. */
struct config_trend {
        uint64_t resolution_ns;
        uint64_t leak_after_ns;
        uint64_t limit_bytes;
};

/* Takes one setting as typed. False with what is wrong in `error`, to be shown behind the setting's name. */
bool config_trend_resolution(struct config_trend *c, const char *value, struct error *error);
bool config_trend_leak_after(struct config_trend *c, const char *value, struct error *error);
bool config_trend_limit(struct config_trend *c, const char *value, struct error *error);

/* Whether they go together. */
bool config_trend_check(const struct config_trend *c, struct error *error);

/*
 * What the tracker needs, of settings that go together. For a finished log
 * length_ns is that of its longest run: without a given resolution about four
 * hundred steps of it are made, from 100 ms to a minute. 0: live, one minute.
 */
struct tracker_config config_trend_tracker(const struct config_trend *c, uint64_t length_ns);

#endif
