/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inquire.h - asks a program about its runtime system by starting it with
 * `--info`, which makes the RTS print and exit before the program's main. Where
 * it does not, the program is ended before that: main never runs.
 *
 * No shell; standard input is /dev/null; bounded in time and output. A file
 * that does not look like a GHC-compiled program is never started.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * rtsinfo.c: what a GHC-compiled program says of its runtime system (RTS).
 *
 * Pure: the text of `PROGRAM +RTS --info` in, a struct out. Asking the
 * program is inquire.h. The text is hostile input: anything may be in it.
 */

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

struct error;

enum inquiry {
        INQUIRY_OK,
        INQUIRY_NOT_FOUND,   /* no such program, or not executable */
        INQUIRY_NOT_HASKELL, /* not started: a script, or without a trace of GHC's RTS */
        INQUIRY_NO_RTSOPTS,  /* linked with -rtsopts=none: takes no RTS flags at all */
        INQUIRY_IGNORED,     /* it ran as itself and was ended: -rtsopts=ignoreAll */
        INQUIRY_FAILED       /* no answer in time, or it could not be started */
};

/* Finds a command as execvp would. False when there is none. */
bool inquire_find(const char *command, char *ret_path, size_t size);

/* Asks the program at `path`. `error` gets a message unless INQUIRY_OK. */
enum inquiry inquire_program(const char *path, struct rtsinfo *ret_info, struct error *error);

/* For a program with INQUIRY_OK: whether it takes RTS flags as arguments, or only by GHCRTS (-rtsopts=ignore). */
bool inquire_accepts_arguments(const char *path);

/*
 * Whether the program takes these RTS flags, given as GHCRTS. If not, `reason`
 * gets the RTS's first line about it. Exact, because the RTS's own parser
 * decides.
 */
bool inquire_accepts(const char *path, const char *flags, char *reason, size_t reason_size);

/*
 * sandbox.c: a sandbox (seccomp(2)) for a program that is started only to learn what its runtime says of itself: it
 * is killed where it would go on to its own work.
 *
 * The runtime reads its options first, and prints then what they request. What it does between that and main needs a
 * thread, a timer or signal handlers; none of these is allowed, nor are sockets or writing files.
 */

/* For this process from now on, whatever it executes; a violation ends it with SIGSYS. False: the kernel cannot. */
bool sandbox_enter(void);
