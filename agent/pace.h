/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pace.h - the agent's clock: a thread that flushes, requests censuses within
 * their budget, and carries out requests. Where the runtime is not threaded it
 * only says what is due; the program's own thread does it at the next point.
 */
#ifndef HW_AGENT_PACE_H
#define HW_AGENT_PACE_H

#include <stdbool.h>

#include "agent/control.h"
#include "agent/options.h"
#include "agent/settings.h"
#include "agent/timetable.h"
#include "proto/base/error.h"

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

#endif
