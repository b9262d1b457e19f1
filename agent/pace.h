/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pace.h - the agent's clock: a thread that flushes, requests censuses within
 * their budget, and carries out requests. Where the runtime is not threaded it
 * only says what is due; the program's own thread does it at the next point.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/budget.h"
#include "agent/control.h"
#include "agent/settings.h"
#include "proto/base/error.h"

/* timetable.c: when the next flush and the next census are due. Pure; all times in ns, of the monotonic clock. */

struct timetable {
        int64_t flush_ns;    /* between flushes */
        int64_t interval_ns; /* between censuses, at least */
        int64_t next_flush_ns, next_census_ns;
        int64_t last_census_ns; /* requested; once there is one */
        struct census_budget budget;
        char profile;      /* the kind of heap profile that censuses are wanted for; 0: none */
        uint64_t censuses; /* requested */
        uint64_t given;    /* read from outside, by another process */
        int64_t given_ns;  /* the newest of these; once there is one */
};

void timetable_set_flush(struct timetable *s, int64_t now, int64_t flush_ns);
void timetable_set_interval(struct timetable *s, int64_t now, int64_t interval_ns);

/* 0: no census is due from now on. The first one of another kind of profile is due soon. */
void timetable_set_profile(struct timetable *s, int64_t now, char profile);

/* From census to census in the long run: interval_ns, or longer for the budget. */
int64_t timetable_census_every(const struct timetable *s, int64_t now);

/* Whether it is due; the next one is scheduled. */
bool timetable_flush(struct timetable *s, int64_t now);
bool timetable_census(struct timetable *s, int64_t now);

/* Whether one would be due, were its pause not longer than the budget allows at all. */
bool timetable_census_forbidden(const struct timetable *s, int64_t now);

/* One that was not due was requested. */
void timetable_spend_census(struct timetable *s, int64_t now);

/*
 * So many censuses were read from outside so far. The next one of the program's own is due as long after the newest of
 * them as it is, in the long run, after one of its own: never, while they come that often.
 */
void timetable_given(struct timetable *s, int64_t now, uint64_t given);

/* Whether one is wanted: of the kind that can be read from outside, and the interval since the last of them is over. */
bool timetable_accepts(const struct timetable *s, int64_t now);

/* How long until something is due. */
int64_t timetable_until_due(const struct timetable *s, int64_t now);

struct pace_setup {
        struct agent_settings settings;
        char version[32]; /* of GHC; "": not known */
        bool attached;    /* the program is already running: the log has to be started */
        bool forked;      /* by forkProcess, just now */

        /* The program's own runtime options; all of them are known once the runtime's start is over. Any thread. */
        void (*parse_options)(struct own_options *ret);
};

/* 0 or an errno. */
int pace_start(const struct pace_setup *setup);

/* The program's own thread, between two of its steps (not threaded): does what is due. Cheap when nothing is. */
void pace_point(void);

/* How long until pace_point has something to do; for a program that is about to sleep. ns. */
int64_t pace_until_due(void);

/* After a collection; `details` is the runtime's GCDetails. */
void pace_collection(const void *details);

/*
 * The end of the runtime begins: returns when no thread of ours is in it or
 * will go into it. Waits for at most a few seconds, for one that is stuck.
 */
void pace_stop(void);

/* The process ends without the runtime's end: flushes once more, if that can be done at once. */
void pace_last_flush(void);

void pace_fork_child(void);
void pace_resume_in_child(void); /* before pace_start there */

/* requests.c: carries out the requests of control.h. */

/* A request and what became of it. */
struct errand {
        struct request request;
        char heap; /* for REQUEST_START: the heap profile to begin; 0: none */
        bool ok;
        struct error reason; /* in words; may be "" */
};

/* Those that need nothing stopped. False: it does. On the agent's thread. */
bool requests_at_once(struct errand *e, struct timetable *s, const char *version);

/* Whether a census is forbidden for its pause; then why. */
bool requests_forbid_census(const struct census_budget *b, struct error *ret);

/* The others. Where runtime_stopped() may be called. */
void requests_carry_out(struct errand *e);

/* Answers it; one that nobody has made, only when it has failed. */
void requests_answer(const struct errand *e);
