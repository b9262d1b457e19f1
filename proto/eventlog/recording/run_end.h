/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_end.h - how a recorded run ended, as the daemon that recorded it knew: a small file in the run's directory, and a
 * log message with the same text in an eventlog that is cut from the recording (cutout.c).
 *
 *     heapwatch end 1
 *     state crashed
 *     signal 9
 *     step 60000000000
 *     limit 25769803776
 *     limit-source 3
 *     resident 104857600
 *     resident-at 1796000000000000000
 *     ended-at 1796000000000000000
 *     why-at 1796000000000000000
 *     why 100.0 % of Session is kept by Main.sessions
 *     detail killed by signal 9 (SIGKILL)
 *
 * It is written when the limit is known, "running" then, which holds while a daemon has the run locked, after the last
 * event, and again when more becomes known. A log does not show it: the status is known to
 * the program's parent, resident memory and an exhausted control group to the kernel, what keeps its data to whoever
 * read its memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_END              "end"
#define RUN_END_DETAIL_BYTES 512u
#define RUN_END_WHY_BYTES    512u
#define RUN_END_TEXT_BYTES   (RUN_END_DETAIL_BYTES + RUN_END_WHY_BYTES + 384u)

enum run_end_state {
        RUN_END_UNKNOWN, /* nothing is known: there is no such file, or it is damaged */
        RUN_END_LOST,    /* nobody saw how it ended */
        RUN_END_ENDED,
        RUN_END_FAILED,
        RUN_END_CRASHED,
        RUN_END_RUNNING, /* it has not ended, or the log was cut out of its recording before that */
};

/* Why what grew was kept, as the action `why` of an alert found out. */
struct run_why {
        enum run_why_state {
                RUN_WHY_NONE,
                RUN_WHY_UNDER_WAY, /* only while the program runs */
                RUN_WHY_FOUND,
                RUN_WHY_NOT_FOUND, /* the text is why not */
        } state;
        uint64_t wall_ns; /* of the answer, Unix time; 0: not known */
        char text[RUN_END_WHY_BYTES];
};

struct run_end {
        enum run_end_state state;
        bool exit_known;           /* by the program's parent: */
        uint32_t signal, status;   /* signal 0: it ended with the status */
        bool oom_killed;           /* the kernel killed a process of its control group for memory */
        bool out_of_cpu;           /* the kernel ended it at its limit of processor time */
        uint64_t step_ns;          /* in which its growth was judged; 0: not known */
        uint64_t limit_bytes;      /* the least limit of its process as it was last; 0: not known */
        uint64_t limit_source;     /* hw.TimeToLimit.Source of that */
        uint64_t reserved_bytes;   /* address space for its heap; 0: not limited */
        uint64_t resident_bytes;   /* the last of its process; 0: not known */
        uint64_t resident_wall_ns; /* when that was, Unix time */
        uint64_t ended_wall_ns;    /* when the end was known, Unix time; 0: not known */
        uint64_t started_wall_ns;  /* its start by the clock of its end, which was set meanwhile; 0: it was not */
        struct run_why why;
        char detail[RUN_END_DETAIL_BYTES]; /* in words */
};

/* "crashed"; "" for RUN_END_UNKNOWN. */
const char *run_end_name(enum run_end_state state);

/* Copies a text, the state and the time; what is no UTF-8 becomes it. NULL: no text. */
void run_why_set(struct run_why *why, enum run_why_state state, uint64_t wall_ns, const char *text);

/* The text above. Returns its length. */
size_t run_end_print(const struct run_end *end, char ret[RUN_END_TEXT_BYTES]);

/* False, and RUN_END_UNKNOWN, when it is no such text. */
bool run_end_parse(const char *text, size_t size, struct run_end *ret);

/* Whether a file of a run's directory has that name, or is what a killed daemon left of writing it. */
bool run_end_is(const char *name);

/* Replaces that of the run in an open directory. Returns 0 or -errno. */
int run_end_write(int directory, const struct run_end *end);

/* Of the run in an open directory; RUN_END_UNKNOWN if there is none, or what there is is not one. */
void run_end_read(int directory, struct run_end *ret);
