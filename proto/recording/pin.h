/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pin.h - segments that must stay while somebody still wants to read them:
 * whatever budget the recorder has, it does not remove what is pinned.
 *
 * A pin is an empty file in the run's directory, pin.SEGMENT.PID, locked (flock)
 * by who wants that segment and all later ones. It holds as long as the lock: one
 * that was left behind counts for nothing, and the recorder removes it.
 */
#ifndef HW_PROTO_RECORDING_PIN_H
#define HW_PROTO_RECORDING_PIN_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/recording/run_dir.h"

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

#endif
