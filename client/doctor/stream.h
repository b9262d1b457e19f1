/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - what a log or a live target showed, collected from messages, as rows of features.h. */
#ifndef HW_CLIENT_DOCTOR_STREAM_H
#define HW_CLIENT_DOCTOR_STREAM_H

#include "client/doctor/features.h"
#include "heapwatch/wire.h"

#define STREAM_ADVICE_MAX 32

struct stream {
        bool any;       /* there was a target */
        bool kinds[32]; /* by Hw__Kind: a message with content came */
        bool ended, crashed;
        bool process_only; /* a process alone: there is no log whose contents could be missing */
        char process_only_reason[512];
        char detail[256]; /* of the target's state */
        char program[128], version[32], way[64];
        char advice[STREAM_ADVICE_MAX][512];
        size_t n_advice;
        uint64_t lost_bytes, events;
};

/* Takes one update. */
void stream_take(struct stream *s, const Hw__Update *update);

/* Rows for everything, whether it appeared or not. */
void features_of_stream(struct features *f, const struct stream *s);

#endif
