/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moment.h - the one census that a format of one moment shows: the newest at or before a time (the first one, when all
 * are later), or the one with the most bytes. And whether time or heap is profiled at all.
 */
#ifndef HW_CLIENT_CONVERT_MOMENT_H
#define HW_CLIENT_CONVERT_MOMENT_H

#include "client/convert/format.h"

struct moment {
        uint64_t at_ns;           /* or AT_PEAK */
        const Hw__Census *census; /* kept by reference; NULL: none came */
};

/* Takes a census in if it is a better one. Unfinished ones are not shown. */
void moment_take(struct moment *m, const Hw__Census *census);
void moment_done(struct moment *m);

/* Which profile is to be written, of a log that may have both, one or none: of heap when a moment was asked for. */
enum profile_of profile_choose(const struct format_options *o, uint64_t ticks, bool any_census);

/* The definition of a band that a census names. NULL: none came. */
const Hw__Band *band_of(const struct world_target *t, uint32_t id);

#endif
