/* SPDX-License-Identifier: BSD-3-Clause */
/* subject.h - the run of a target whose process heapwatch-inspect reads for the console. */
#ifndef HW_CLIENT_CONSOLE_SUBJECT_H
#define HW_CLIENT_CONSOLE_SUBJECT_H

#include "client/cli/inspecting.h"
#include "client/console/console.h"

struct console_subject {
        char target[WORLD_NAME_MAX + 1];
        size_t daemon;
        uint32_t run;
        struct inspecting *inspecting; /* NULL: done */
};

/*
 * Begins an inspection with these options; the process is set here. False with a sentence: it is not of this machine,
 * or cannot be inspected. What inspecting_new() has made is the caller's to destroy.
 */
bool console_subject_begin(struct console_subject *s, const struct console *c, const struct world_target *t,
                           struct inspecting_options *options, struct error *error);

/* Whether it is of this target's run; t NULL: no. */
bool console_subject_is(const struct console_subject *s, const struct world_target *t);

#endif
