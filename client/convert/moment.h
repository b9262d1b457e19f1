/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moment.h - the census that a format for one moment shows: the newest at or before a time (the first one, if all are
 * later), or the one with the most bytes. And whether to write a profile of time or of the heap.
 */
#ifndef HW_CLIENT_CONVERT_MOMENT_H
#define HW_CLIENT_CONVERT_MOMENT_H

#include "client/convert/format.h"

struct moment {
        uint64_t at_ns;           /* or AT_PEAK */
        const Hw__Census *census; /* kept by reference; NULL: none yet */
};

/* Keeps a census if it is a better choice. Ignores unfinished ones. */
void moment_add(struct moment *m, const Hw__Census *census);
void moment_done(struct moment *m);

/* Which profile to write from a log that may have both, one or none: that of the heap if a moment was given. */
enum profile_of profile_choose(const struct format_options *o, uint64_t ticks, bool any_census);

/* The definition of a band in a census. NULL: none yet. */
const Hw__Band *band_of(const struct world_target *t, uint32_t id);

#endif
