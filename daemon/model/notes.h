/* SPDX-License-Identifier: BSD-3-Clause */
/* notes.h - what the program said: the newest LIMIT_NOTES messages, markers and labels. */
#ifndef HW_DAEMON_MODEL_NOTES_H
#define HW_DAEMON_MODEL_NOTES_H

#include <stdint.h>

#include "daemon/model/limits.h"

enum note_what { /* numbers of the wire */
                 NOTE_MESSAGE = 1,
                 NOTE_MARKER = 2,
                 NOTE_THREAD_LABEL = 3,
                 NOTE_BINARY = 4,
                 NOTE_LOG = 5
};

struct note {
        uint64_t number; /* from 1 within the run */
        uint64_t time_ns;
        const char *text;    /* raw bytes, NUL-terminated; may hold anything */
        uint32_t size_bytes; /* as written by the program */
        uint32_t thread;     /* NOTE_THREAD_LABEL */
        uint16_t text_size;  /* kept: at most LIMIT_NOTE_TEXT_BYTES; 0 for NOTE_BINARY */
        uint16_t room;       /* of `text`, which is the note's own; 0: it is not */
        uint16_t cap;        /* HW_CAP_NONE outside capabilities */
        uint8_t what;        /* enum note_what */
};

struct notes;

/*
 * Notes that are kept however many others come: each message the first time, each marker the first LANDMARK_REPEATS
 * times; texts that differ only in digits count as the same. When there are too many, messages are dropped before
 * markers, and old ones before new ones. index < notes_landmarks(), in no particular order.
 */
#define LANDMARK_REPEATS 8u

uint32_t notes_landmarks(const struct notes *n);
const struct note *notes_landmark(const struct notes *n, uint32_t index);

uint64_t notes_total(const struct notes *n);                          /* number of the newest */
uint64_t notes_oldest(const struct notes *n);                         /* number of the oldest kept; 0 when none is */
const struct note *notes_get(const struct notes *n, uint64_t number); /* NULL when not kept */

#endif
