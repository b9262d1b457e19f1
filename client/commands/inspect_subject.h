/* SPDX-License-Identifier: BSD-3-Clause */
/* subject.h - what TARGET|PID|CORE means: a process of this machine, or a core file. */
#ifndef HW_CLIENT_COMMANDS_INSPECT_SUBJECT_H
#define HW_CLIENT_COMMANDS_INSPECT_SUBJECT_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/error.h"

struct inspectee {
        pid_t pid;        /* 0: a core file */
        const char *core; /* borrowed from the text */
};

/*
 * A number is a process; a path, or a file here that is no program, a core file; a name a GHC-compiled program that
 * runs here once, or a target of your daemon. False with a sentence.
 */
bool subject_find(struct inspectee *ret, const char *text, struct error *error);

#endif
