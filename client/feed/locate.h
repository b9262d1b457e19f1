/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locate.h - where recordings are: where the user says, or where the daemon
 * keeps them, which then writes what it still has in memory.
 */
#ifndef HW_CLIENT_FEED_LOCATE_H
#define HW_CLIENT_FEED_LOCATE_H

#include "proto/base/error.h"
#include "proto/recording/limits.h"

struct locate {
        const char *endpoint;  /* NULL: the default */
        const char *directory; /* as given; NULL: ask the daemon */
};

/* The directory. False with a sentence. */
bool locate_directory(const struct locate *l, char directory[RECORDED_PATH_MAX], struct error *error);

/*
 * A path for the daemon that reads it: of a recording without a directory (proto/recording/stretch.h), that of your own
 * daemon, which writes what it has of it; of any other, the same. To free(); NULL with a sentence.
 */
char *locate_log(const char *path, struct error *error);

/* Whether an argument that may be a target or a log is a log: a path, or a recording. */
bool locate_is_log(const char *what);

/*
 * Has the daemon write all that it has of the newest run of TARGET, and waits for that. Nothing is done for TARGET@RUN,
 * or where a directory was given. False with a sentence.
 */
bool locate_seal(const struct locate *l, const char *which, struct error *error);

#endif
