/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h - the state of one target's recording. */
#ifndef HW_DAEMON_RECORD_STATE_H
#define HW_DAEMON_RECORD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an earlier daemon process counted of a run. */
struct recording_counts {
        uint64_t bytes, lost_bytes, lost_frames;
};

struct recording_state {
        bool recording;      /* a run is being recorded */
        bool paused;         /* the disk takes nothing, or not all of it */
        bool first_paused;   /* of all targets that are; when its pause is over another one is */
        size_t paused_runs;  /* of the daemon, this one included */
        char detail[256];    /* why recording is paused, even when no run is being recorded; "": it is not */
        uint64_t bytes;      /* of eventlog in this run so far */
        uint64_t lost_bytes; /* how many of these were left out */
        uint64_t lost_frames;
        uint64_t disk_bytes; /* of all recordings of the daemon, as last measured */
};

#endif
