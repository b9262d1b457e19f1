/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inspecting.h - an inspection of a process here by heapwatch-inspect, for who cannot wait for it: a thread does. What
 * it may do to the process is what `heapwatch profile`, `heap` and `threads` of the same user may.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "proto/base/error.h"

#define PROFILE_LEAST_NS   UINT64_C(1000000000)
#define PROFILE_MOST_NS    UINT64_C(60000000000)
#define PROFILE_DEFAULT_NS UINT64_C(10000000000)
#define INSPECTING_BYTES   ((size_t)8 << 20) /* of JSON */

enum inspecting_what {
        INSPECTING_PROFILE,    /* CPU time and waiting, as text (client/world/state/cpu_tree.h), anew each second; */
        INSPECTING_ALLOCATION, /* likewise, what Haskell threads allocate */
        INSPECTING_HEAP,       /* JSON, at the end: what is in the heap, */
        INSPECTING_HELD,       /* and who holds what; */
        INSPECTING_THREADS,    /* or the threads in groups */
};

struct inspecting;

struct inspecting_options {
        enum inspecting_what what;
        pid_t pid;
        uint64_t for_ns;   /* of a profile */
        size_t most_bytes; /* of one text */
};

/* Starts. NULL with a sentence. */
struct inspecting *inspecting_new(const struct inspecting_options *what, struct error *error);

bool inspecting_is_done(struct inspecting *p);

/* No more samples of a profile: it is done soon, with those that it has. */
void inspecting_finish(struct inspecting *p);

/* The newest whole text that heapwatch-inspect has printed, for free(). NULL: none since last time. */
char *inspecting_detach_text(struct inspecting *p);

/* Of one that is done. False with a sentence: it has failed. */
bool inspecting_is_good(const struct inspecting *p, struct error *error);

/* Ends the inspection if it goes on. */
void inspecting_destroy(struct inspecting **p);

/*
 * inspector.c: heapwatch-inspect as a child: it reads another program's memory, and whatever it finds there, its
 * output is text for us, and its end an exit status.
 */

enum inspector_end {
        INSPECTOR_GOOD,
        INSPECTOR_REFUSED, /* the kernel does not let it read or stop the process: with a sentence */
        INSPECTOR_FAILED,  /* with a sentence, too */
};

enum inspector_stop { INSPECTOR_STOP_NOT, INSPECTOR_STOP_FINISH, INSPECTOR_STOP_NOW };

struct inspection {
        const char *const *arguments; /* ended by NULL; argument 0 is its name */
        uint64_t most_ns;             /* then it is killed; also when a signal ends us */
        bool may_finish;              /* on a signal it gets SIGINT first, and a moment to print what it has */
        FILE *to;                     /* its output, without control characters */
        const atomic_int *stop;       /* enum inspector_stop, from another thread; NULL: signals alone */
};

/* Runs it to its end. */
enum inspector_end inspector_run(const struct inspection *i, struct error *error);
