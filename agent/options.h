/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h - the program's own runtime options: -with-rtsopts, GHCRTS, and the
 * arguments between +RTS and -RTS. The program keeps them; what the runtime
 * refuses together with them is not done. Pure.
 */
#ifndef HW_AGENT_OPTIONS_H
#define HW_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* What the program's own options say. */
struct own_options {
        bool log;          /* -l */
        bool no_log;       /* --null-eventlog-writer: there is one, and it is written nowhere */
        bool heap_profile; /* -h... */
        bool cost_profile; /* -p, -P: it names its files as the heap profile does */
        bool no_census;    /* a collector that refuses heap profiles: -xn, --nonmoving-gc, -w */
};

void options_of_words(struct own_options *o, const char *words); /* -with-rtsopts, GHCRTS; NULL: none */

/* Arguments as /proc/PID/cmdline has them: each ends with NUL; those between +RTS and -RTS count. */
void options_of_arguments(struct own_options *o, const char *arguments, size_t size);

/* Why no heap profile can be added to these: one plain sentence; NULL when it can. */
const char *options_refuse_profile(const struct own_options *o);

#endif
