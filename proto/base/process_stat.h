/* SPDX-License-Identifier: BSD-3-Clause */
/* process_stat.h - files below /proc/PID; the fields of `stat` by their numbers in proc(5). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum process_stat {
        STAT_STATE = 3,
        STAT_PARENT = 4,
        STAT_FLAGS = 9,
        STAT_MINOR_FAULTS = 10,
        STAT_MAJOR_FAULTS = 12,
        STAT_USER_TICKS = 14,
        STAT_SYSTEM_TICKS = 15,
        STAT_THREADS = 20,
        STAT_START_TICKS = 22, /* clock ticks from boot to its start */
        STAT_STACK_START = 28  /* address of the program's stack, which exec changes; 0: it may not be known */
};

/* That field in a text of the file; NULL when it is too short. */
const char *process_stat_find(const char *text, enum process_stat field);

/* The number in that field of a process of this machine. False when there is no such process, or no number. */
bool process_stat_read(pid_t pid, enum process_stat field, uint64_t *ret);

/* The name of its program's file without folders, also of one that was replaced or removed. False: not known. */
bool process_program_name(pid_t pid, char *ret, size_t size);

/*
 * False for a process that is gone or has ended and is not reaped: it gives its memory back before its locks, and has
 * no program from then on.
 */
bool process_has_program(pid_t pid);
