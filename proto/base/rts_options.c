/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/rts_options.h"

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
