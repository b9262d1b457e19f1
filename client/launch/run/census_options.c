/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/run/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int census_options_check(const struct command *c, const struct census_options *o)
{
        char *end = NULL;
        double percent = o->budget ? strtod(o->budget, &end) : 0;

        if (o->budget && (end == o->budget || *end || strlen(o->budget) > 16 || !(percent >= 0 && percent <= 100)))
                return command_usage_error(c, "--budget: expected a percentage, 0 to 100, such as 0.05: '%s'",
                                           o->budget);
        return 0;
}

char *census_options_settings(const struct census_options *o, char *out, size_t size)
{
        int n = 0;

        out[0] = '\0';
        if (o->budget)
                n = snprintf(out, size, "budget=%s;", o->budget);
        if (o->max_pause_ns && n >= 0 && (size_t)n < size)
                (void)snprintf(out + n, size - (size_t)n, "max-pause=%.6f;", (double)o->max_pause_ns / 1e9);
        return out;
}
