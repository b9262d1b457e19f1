/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_dir.h - where recordings are kept, and which ones exist.
 *
 *     DIRECTORY/TARGET/RUN/definitions.zst   the eventlog's header; then, as blocks, what later events refer to
 *                          000001.zst ...    segments: the blocks of the stream in the order in which they came
 *                          end               how it ended (run_end.h)
 *                          profile.MOMENT    profiles that were taken meanwhile (client/world/state/cpu_tree.h), each
 *                                            with the moment at which it began, as in RUN
 *
 * RUN is when it began, in UTC, so that names sort by time: 20261122T071841.123Z. `zstd -dc definitions.zst 0*.zst` of
 * a run is an eventlog; cutout.c makes a better one. Whoever writes a run holds a lock (flock) on its definitions.
 * Directories are 0700, files 0600. A program's environment is in none of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/eventlog/recording/limits.h"
#include "proto/eventlog/recording/run_end.h"

#define RUN_DEFINITIONS    "definitions.zst"
#define RUN_TARGET_MAX     64u /* bytes of a target's name */
#define SEGMENT_NAME_BYTES 16u /* "000001.zst" */
#define PROFILE_PREFIX     "profile."
#define PROFILE_NAME_BYTES (sizeof(PROFILE_PREFIX) + RUN_NAME_MAX)

struct recorded_run {
        char target[RUN_TARGET_MAX + 1];
        char name[RUN_NAME_MAX + 1];
        bool live;                 /* a daemon is writing it */
        uint32_t first, last;      /* its segments; 0: there are none (yet) */
        uint32_t last_frame;       /* ordinal of the last whole frame; 0: there is none (yet) */
        uint32_t profiles;         /* that were kept with it */
        uint64_t bytes;            /* on disk */
        uint64_t begin_ns, end_ns; /* event time from the first segment's begin to the last one's end */
        uint64_t begin_wall_ns;    /* Unix time of its name */
        uint64_t end_wall_ns;      /* when the newest byte was read; 0: there is none */
        uint64_t lost_bytes;       /* of eventlog, because the disk was slow, full or gone, or the daemon was killed */
        uint64_t end_offset;       /* in the stream, after the last frame */
        struct run_end end;        /* unknown while it is live */
};

/* The name of a run that begins at that Unix time. */
void run_name_make(char name[RUN_NAME_MAX + 1], uint64_t wall_ns);

/* False: not a valid one. */
bool run_name_read(const char *name, uint64_t *ret_wall_ns);

void segment_name_make(char name[SEGMENT_NAME_BYTES], uint32_t segment);

/* The number of a segment's file; 0: another file. */
uint32_t segment_name_read(const char *name);

/* The name of a profile's file that began at that Unix time. */
void profile_name_make(char name[PROFILE_NAME_BYTES], uint64_t wall_ns);

/* Whether a file of a run's directory is a profile, or is what was left of writing one. */
bool profile_name_is(const char *name);

/*
 * The runs of one target, or of all (NULL), by target, then by time. Returns their number, at most RECORDED_RUNS_MAX,
 * with an array to free() in *ret_runs, or -errno with a sentence. Whatever is not a recording is skipped.
 */
int recorded_runs(const char *directory, const char *target, struct recorded_run **ret_runs, struct error *error);

/*
 * The path of `TARGET`, `TARGET@RUN` (the beginning of a run's name) or `TARGET@-1` (the run before the newest one,
 * and so on). 0, or -ENOENT, -EINVAL or another -errno with a sentence that says what exists.
 */
int recorded_run_find(const char *directory, const char *which, struct recorded_run *ret_run, struct error *error);

/* Of a run that was found. Returns 0 or -ENAMETOOLONG. */
int recorded_run_path(char path[RECORDED_PATH_MAX], const char *directory, const struct recorded_run *run);

/* The newest of its profiles that began in that range of event time; its Unix time. False: there is none. */
bool recorded_run_profile(const char *directory, const struct recorded_run *run, uint64_t from_ns, uint64_t to_ns,
                          char path[RECORDED_PATH_MAX], uint64_t *ret_wall_ns);

/* Whether a daemon is writing the run in that directory. */
bool recorded_run_is_live(const char *path);

/* Removes a run and all its files; the target's directory too when it was the last. -EBUSY: a daemon is writing it. */
int recorded_run_delete(const char *directory, const struct recorded_run *run);

/*
 * pin.c: segments that must stay while somebody still wants to read them:
 * whatever budget the recorder has, it does not remove what is pinned.
 *
 * A pin is an empty file in the run's directory, pin.SEGMENT.PID, locked (flock)
 * by who wants that segment and all later ones. It holds as long as the lock: one
 * that was left behind counts for nothing, and the recorder removes it.
 */

struct pin {
        int fd; /* -1: none */
        char path[RECORDED_PATH_MAX];
};

/* Pins the segment in which that event time is, and all later ones. Returns 0 or -errno; to be released either way. */
int pin_acquire(struct pin *pin, const char *directory, const struct recorded_run *run, uint64_t from_ns);
void pin_release(struct pin *pin);

/* The first segment that a file of that name pins; 0: it is no pin. */
uint32_t pin_name_read(const char *name);

/* Whether somebody still holds it. */
bool pin_is_held(const char *path);
