/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/rts_options.h"

#include <stdio.h>
#include <string.h>

static bool is(const char *argument, size_t size, const char *whole)
{
        return size == strlen(whole) && !memcmp(argument, whole, size);
}

enum rts_argument rts_argument(struct rts_options *state, const char *argument, size_t size)
{
        bool was_inside = state->inside;

        if (is(argument, size, "--RTS") || is(argument, size, "--"))
                state->over = true;
        if (state->over)
                return RTS_NONE;
        if (is(argument, size, "+RTS")) {
                state->inside = true;
                return RTS_MARK;
        }
        if (is(argument, size, "-RTS")) {
                state->inside = false;
                return was_inside ? RTS_MARK : RTS_NONE;
        }
        return state->inside ? RTS_OPTION : RTS_NONE;
}

void rts_collector_option(struct rts_collector *collector, const char *option, size_t size)
{
        if (is(option, size, "-xn") || is(option, size, "--nonmoving-gc"))
                collector->nonmoving = true;
        else if (is(option, size, "--copying-gc"))
                collector->nonmoving = false;
        else if (is(option, size, "-c"))
                collector->compacting = true;
        else if (is(option, size, "-w"))
                collector->mark_region = true;
}

bool rts_collector_refuses_profile(const struct rts_collector *collector, const char *ghc, bool profiled)
{
        unsigned major = 0, minor = 0, patch = 0;

        (void)sscanf(ghc, "%3u.%3u.%3u", &major, &minor, &patch);
        return (collector->mark_region && !profiled) ||
               (collector->nonmoving && major * 1000000 + minor * 1000 + patch < 9008003);
}
