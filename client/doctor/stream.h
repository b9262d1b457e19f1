/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - what a log or a live target showed, gathered from messages, as rows of features.h. */
#ifndef HW_CLIENT_DOCTOR_STREAM_H
#define HW_CLIENT_DOCTOR_STREAM_H

#include "client/doctor/features.h"
#include "heapwatch/wire.h"

#define STREAM_ADVICE_MAX 32

struct stream {
        bool any;       /* a target was heard of */
        bool kinds[32]; /* by Hw__Kind: such a message came with something in it */
        bool ended, crashed;
        char detail[256]; /* of the target's state */
        char program[128], version[32], way[64];
        char advice[STREAM_ADVICE_MAX][512];
        size_t n_advice;
        uint64_t lost_bytes, events;
};

/* Takes one update in. */
void stream_see(struct stream *s, const Hw__Update *update);

/* Rows for all that appeared or did not. */
void features_of_stream(struct features *f, const struct stream *s);

#endif
