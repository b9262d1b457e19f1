/* SPDX-License-Identifier: BSD-3-Clause */
/* census_options.h - what heap censuses may cost the program: options of `run` and `attach`, settings of the agent. */
#ifndef HW_CLIENT_RUN_CENSUS_OPTIONS_H
#define HW_CLIENT_RUN_CENSUS_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "client/cli/options.h"

struct census_options {
        const char *budget;    /* percent; NULL: not given */
        uint64_t max_pause_ns; /* 0: not given */
};

#define OPTIONS_OF_CENSUSES(T, m)                                                                                      \
        OPTION_TEXT("budget", 0, "PERCENT", T, m.budget, COMPLETE_NOTHING,                                             \
                    "share of the time that heap censuses may pause the program: expensive ones are made "             \
                    "less often; 0: no limit (default: 0.05, and up to 1 while live data rises)"),                     \
                OPTION_DURATION("max-pause", 0, T, m.max_pause_ns, 1000, UINT64_C(86400000000000),                     \
                                "make no census that would pause the program longer, and none after one that did "     \
                                "(default: 250ms; 24h: no limit): every face says so")

/* 0, or EXIT_USAGE after a report. */
int census_options_check(const struct command *c, const struct census_options *o);

/* The agent's settings: "budget=1;max-pause=0.05;", "" without any. Returns `out`. */
char *census_options_settings(const struct census_options *o, char *out, size_t size);

#endif
