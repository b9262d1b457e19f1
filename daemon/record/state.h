/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h - how the recording of one target is. */
#ifndef HW_DAEMON_RECORD_STATE_H
#define HW_DAEMON_RECORD_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct recording_state {
        bool recording;      /* a run is being recorded */
        bool paused;         /* the disk did not take the last frame */
        char detail[256];    /* why; "" */
        uint64_t bytes;      /* of eventlog that this run had so far */
        uint64_t lost_bytes; /* of these, left out */
        uint64_t lost_frames;
        uint64_t disk_bytes; /* of all recordings of the daemon, when last looked at */
};

#endif
