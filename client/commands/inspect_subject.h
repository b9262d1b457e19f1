/* SPDX-License-Identifier: BSD-3-Clause */
/* subject.h - what TARGET|PID|CORE|GRAPH means: a process of this machine, or a file. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/error.h"

/* coredump.c: the core files that systemd-coredump keeps: which one is of a program, or was of a process. */

#define COREDUMP_PREFIX    "coredump:" /* in place of a file's name: coredump:api, coredump:4711 */
#define COREDUMP_DIRECTORY "/var/lib/systemd/coredump"

struct coredump {
        char path[512];
        uint64_t time_us; /* of the crash, since 1970 */
};

/*
 * The newest one in a directory: of a process with that number, or of a program whose name, as the kernel cuts it, is
 * that. False with a sentence.
 */
bool coredump_find(const char *directory, const char *which, struct coredump *ret, struct error *error);

struct inspectee {
        pid_t pid;            /* 0: a file */
        const char *file;     /* a core file, or a graph of `heapwatch heap -o`; borrowed from the text, or `kept` */
        struct coredump kept; /* what systemd keeps */
        char band[256];       /* of a target, the type that grows most, or its place in the source; "": not known */
        uint64_t band_bytes;  /* of that one in the last census */
        bool foreign;         /* of a target, memory outside its heap grows */
        char labels[4096];    /* of a target, those of its threads that its log has, lines of NUMBER=LABEL */
        uint64_t foreign_bytes, resident_bytes; /* of a target, resident memory and that part; 0: not known */
};

/*
 * A number is a process; a path, or a file here that is no program, such a file; coredump:NAME and coredump:PID the
 * newest core file of that program or process that systemd keeps; a name a target of your daemon, or a
 * GHC-compiled program that runs here once. With an endpoint it is a target of that daemon. False with a sentence.
 */
bool subject_find(struct inspectee *ret, const char *text, const char *endpoint, struct error *error);
