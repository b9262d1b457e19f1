/* SPDX-License-Identifier: BSD-3-Clause */
/* notes_private.h - how notes are taken in. */
#ifndef HW_DAEMON_MODEL_NOTES_PRIVATE_H
#define HW_DAEMON_MODEL_NOTES_PRIVATE_H

#include <stddef.h>

#include "daemon/model/limits.h"
#include "heapwatch/eventlog.h"
#include "daemon/model/notes.h"

struct model;

struct landmark {
        struct note note; /* its text is the one below */
        uint64_t pattern; /* a hash of its kind and its text without digits */
        char text[LIMIT_LANDMARK_BYTES + 1];
};

struct notes {
        struct landmark *landmarks; /* LIMIT_LANDMARKS at most */
        uint32_t n_landmarks, landmarks_room;
        struct note *slots; /* LIMIT_NOTES, at (number - 1) % LIMIT_NOTES; NULL before the first note */
        uint32_t made;      /* slots that have been set up */
        uint64_t total;
        size_t text_bytes; /* held by all slots */
};

void notes_clear(struct notes *n);
void notes_done(struct notes *n);
size_t notes_held(const struct notes *n);

void note_message(struct model *m, const struct hw_event *e);
void note_marker(struct model *m, const struct hw_event *e);
void note_thread_label(struct model *m, const struct hw_event *e);
void note_binary(struct model *m, const struct hw_event *e);
/* Of heapwatch itself, at the newest event's time. */
void note_text(struct model *m, const char *text);
void note_log(struct model *m, const struct hw_event *e);

#endif
