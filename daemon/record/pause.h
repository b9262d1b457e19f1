/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pause.h - whether recording is paused, and why: the disk refuses what is
 * written (full, read-only, gone), or it is so slow that the queue is full.
 *
 * Both threads report what they see; the beginning and the end of a pause are
 * one line each in the log, whatever happens in between.
 */
#ifndef HW_DAEMON_RECORD_PAUSE_H
#define HW_DAEMON_RECORD_PAUSE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAUSE_DETAIL_BYTES 256u

struct pause {
        const char *directory; /* for the log; borrowed */
        pthread_mutex_t lock;  /* guards what follows */
        char disk[PAUSE_DETAIL_BYTES];
        const char *slow;    /* why the disk counts as slow; NULL: it does not */
        uint64_t refused_ns; /* when the queue last refused events; 0: never */
        uint64_t done;       /* jobs, at the last look */
        uint64_t moved_ns;   /* when that number last changed, or nothing waited */
        bool said;
};

void pause_init(struct pause *p, const char *directory);
void pause_done(struct pause *p);

/* Writing thread: why the disk does not take what is written; "": it does. */
void pause_disk(struct pause *p, const char *trouble);

/* Reading thread, by the monotonic clock: the queue has refused events. */
void pause_refused(struct pause *p, uint64_t now_ns);

/* Reading thread, every second: `waiting` jobs, `done` so far. */
void pause_update(struct pause *p, size_t waiting, uint64_t done, uint64_t now_ns);

/* Whether the disk refuses what is written; false while it is only slow. */
bool pause_is_by_disk(struct pause *p);

/* Whether recording is paused; then `out` has the reason, else "". */
bool pause_reason(struct pause *p, char out[PAUSE_DETAIL_BYTES]);

#endif
