/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rts_options.h - which of a program's arguments are for its runtime system, found as the RTS finds them
 * (rts/RtsFlags.c): between +RTS and -RTS or the end; --RTS and -- end the search. And which collector they choose.
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct rts_options {
        bool inside, over;
};

enum rts_argument {
        RTS_NONE, /* the program's own */
        RTS_MARK, /* +RTS, or the -RTS that ends it */
        RTS_OPTION
};

/* Call it for one argument after the other, without the program's name; `state` is zeroed before the first. */
enum rts_argument rts_argument(struct rts_options *state, const char *argument, size_t size);

/* How the oldest generation is collected, by the options so far; zeroed before the first. */
struct rts_collector {
        bool nonmoving;   /* -xn, --nonmoving-gc */
        bool compacting;  /* -c */
        bool mark_region; /* -w */
};

void rts_collector_option(struct rts_collector *collector, const char *option, size_t size);

/*
 * Whether the runtime ends a program that makes a heap profile: with the nonmoving collector before GHC 9.8.3, with -w
 * unless it is linked with -prof. `ghc`: its release as "9.6.6"; "" is taken for an old one.
 */
bool rts_collector_refuses_profile(const struct rts_collector *collector, const char *ghc, bool profiled);
