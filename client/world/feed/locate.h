/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locate.h - where recordings are: where the user says, or where the daemon
 * keeps them. The daemon then writes out what it still has in memory. Where none
 * runs it is the directory in which `heapwatch run` has your own daemon keep them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/eventlog/recording/limits.h"

struct locate {
        const char *endpoint;  /* NULL: the default */
        const char *directory; /* as given; NULL: ask the daemon */
};

/* Of a daemon that records nothing at present: why. */
#define LOCATE_PAUSED_MAX 300
bool locate_paused(const struct locate *l, char ret_why[LOCATE_PAUSED_MAX]);

/* The directory. False with an error message. */
bool locate_directory(const struct locate *l, char directory[RECORDED_PATH_MAX], struct error *error);

/*
 * The path as the daemon that reads it needs it: a recording without a directory (proto/eventlog/recording/stretch.h)
 * gets that of your own daemon, which first writes out what it has of the recording; any other path is unchanged. To
 * free(); NULL with an error message.
 */
char *locate_log(const char *path, struct error *error);

/*
 * The newest profile that was kept with a recording, in the stretch that the path names
 * (proto/eventlog/recording/run_dir.h); to free(). NULL: none, or the path is no recording, or with a sentence, which
 * is "" else.
 */
char *locate_profile(const char *path, uint64_t *ret_wall_ns, struct error *error);

/*
 * Where a profile is kept that begins at that Unix time: with the run of a target that is being recorded. False with a
 * sentence.
 */
bool locate_new_profile(const struct locate *l, const char *target, uint64_t wall_ns, char path[RECORDED_PATH_MAX],
                        struct error *error);

/*
 * Whether an argument that may be a target or a log is a log: a path, a recording, or a file here, also a core file. A
 * program or a directory of that name is none: a target is named after its program, and is looked at where that is
 * built.
 */
bool locate_is_log(const char *what);

/*
 * Makes the daemon write out all that it has of the newest run of TARGET, and waits for that. Does nothing for
 * TARGET@RUN, or where a directory was given. False with an error message.
 */
bool locate_seal(const struct locate *l, const char *which, struct error *error);
