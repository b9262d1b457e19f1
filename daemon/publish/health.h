/* SPDX-License-Identifier: BSD-3-Clause */
/* health.h - the condition of the stream itself, from every stage of the pipeline. UNKNOWN_U64 = not known. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/record/recording.h"
#include "proto/eventlog/advice.h"
#include "daemon/publish/limits.h"
#include "heapwatch/eventlog.h"

struct health {
        struct hw_eventlog_stats decoder;
        struct hw_eventlog_damage damages[LIMIT_DAMAGES]; /* newest last */
        size_t n_damages;
        uint64_t late_samples, time_anomalies;
        uint64_t reconnects;         /* attaches after the first */
        uint64_t gaps, gap_ns;       /* of the run: how often its connection broke, event time missed */
        uint64_t last_bytes_wall_ns; /* UNKNOWN_U64 before the first byte */
        uint64_t lag_ns;             /* UNKNOWN_U64 while the run's start time is unknown */
        uint64_t watermark_ns;
        uint64_t bands_left_out, info_tables, info_tables_left_out, cost_centres_left_out;
        uint64_t state_bytes;
        const char *unread;          /* why not all of a finished log was read; NULL: it was */
        const char *memory_pressure; /* why it gets no new bands now; NULL: it does */
        enum hw_advice advice[HW_ADVICE_COUNT];
        size_t n_advice;
        bool has_recording; /* the target's runs are recorded */
        struct recording_state recording;
};
