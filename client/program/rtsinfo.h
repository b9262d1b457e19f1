/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rtsinfo.h - what a GHC-compiled program says of its runtime system (RTS).
 *
 * Pure: the text of `PROGRAM +RTS --info` in, a struct out. Asking the
 * program is inquire.h. The text is hostile input: anything may be in it.
 */
#ifndef HW_CLIENT_PROGRAM_RTSINFO_H
#define HW_CLIENT_PROGRAM_RTSINFO_H

#include <stdbool.h>
#include <stddef.h>

struct rtsinfo {
        char version[32];        /* "9.0.2"; it may have letters or four parts */
        unsigned major, minor;   /* 9, 0 */
        char way[64];            /* "rts_thr_l" */
        char with_rtsopts[1024]; /* flags linked into the program; often "" */
        bool threaded;
        bool profiled;
        bool debug;
        bool eventlog; /* this RTS can write an eventlog */
};

/* Reads the output of --info. False when it is not one, or lacks version or way; *ret is then unchanged. */
bool rtsinfo_parse(const char *text, size_t size, struct rtsinfo *ret);

/* Whether the compiler is at least MAJOR.MINOR. */
bool rtsinfo_at_least(const struct rtsinfo *info, unsigned major, unsigned minor);

#endif
