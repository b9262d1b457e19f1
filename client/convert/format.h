/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * format.h - what `heapwatch convert` can write: a format takes the updates of
 * one run in, in order, and writes to a stream. Another format is another line
 * of the table in convert.c.
 */
#ifndef HW_CLIENT_CONVERT_FORMAT_H
#define HW_CLIENT_CONVERT_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "heapwatch/wire.h"

struct format_options {
        bool names; /* names of info tables instead of their addresses */
};

struct format {
        const char *name; /* of --to */
        const char *summary;

        /* State of one conversion, writing to `out` (borrowed). NULL when out of memory. */
        void *(*begin)(FILE *out, const struct format_options *options);
        /* Takes an update of the run in. 0 or -errno. */
        int (*update)(void *state, const Hw__Update *update);
        /* The run is over: writes what is left. 0, -errno, or -ENODATA when the log holds nothing to convert. */
        int (*finish)(void *state);
        const char *no_data; /* a sentence for -ENODATA: what is missing, what gives it */
        void (*destroy)(void *state);
};

extern const struct format format_hp;

#endif
