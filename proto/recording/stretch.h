/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stretch.h - which recording, and which stretch of it, as people type it:
 *
 *     recording:TARGET   recording:/var/lib/heapwatch/TARGET@-1?from=-10m&to=5m
 *
 * A moment is a time since the program began (5m), before the recording's end
 * (-10m), after it (+5m), or its end: now.
 */
#ifndef HW_PROTO_RECORDING_STRETCH_H
#define HW_PROTO_RECORDING_STRETCH_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/recording/cutout.h"

#define RECORDING_PREFIX "recording:"

struct stretch {
        char directory[RECORDED_PATH_MAX];             /* "": not given */
        char which[RUN_TARGET_MAX + RUN_NAME_MAX + 2]; /* TARGET or TARGET@RUN */
        char from[32], to[32];                         /* ""; as typed */
};

/* Whether a path names a recording. */
bool stretch_is(const char *text);

/* False with a sentence. */
bool stretch_parse(const char *text, struct stretch *ret, struct error *error);

/* Event time of a moment of that run, as typed; "" is `otherwise`. False with a sentence. */
bool stretch_moment(const char *text, const struct recorded_run *run, uint64_t otherwise, uint64_t *ret_ns,
                    struct error *error);

/* Its range in that run. False with a sentence, also when it is empty. */
bool stretch_range(const struct stretch *s, const struct recorded_run *run, struct cutout_range *ret,
                   struct error *error);

#endif
