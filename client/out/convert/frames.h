/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frames.h - places in a program as other tools name them: a function, a file, a line. Each place is there once, with
 * a number from 1 in order of first use.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "heapwatch/wire.h"
#include "proto/base/idtable.h"

struct code_place {
        char *name;            /* "Main.parse", or the label of a band */
        char *file;            /* NULL: unknown */
        uint32_t line, column; /* from 1; 0: unknown */
};

struct frames {
        struct code_place *frames; /* by number - 1 */
        uint32_t n, capacity;
        struct idtable ids;
};

void frames_done(struct frames *f);

/* The number of a cost centre, or 0 when out of memory. NULL: unknown; without a label it is named after its `id`. */
uint32_t frames_of_centre(struct frames *f, uint32_t id, const char *label, const char *module, const char *source);

/* The frames of a band, innermost first: of its stack, or one with its label. How many, 0 when out of memory. */
size_t frames_of_band(struct frames *f, const Hw__Band *band, uint32_t *numbers, size_t max);

/* Those of a stack; an empty one is MAIN. */
size_t frames_of_stack(struct frames *f, Hw__CostCentre *const *centres, size_t n, uint32_t *numbers, size_t max);

/* "Main.parse" of a cost centre, "cc#7" if the log never defined it. Returns `out`. */
char *frame_name(char *out, size_t size, uint32_t id, const char *label, const char *module);

#define FRAMES_DEEP 4096 /* of one stack; the runtime writes at most 255 */
