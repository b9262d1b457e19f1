/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h - carries out the requests of control.h. */
#ifndef HW_AGENT_REQUESTS_H
#define HW_AGENT_REQUESTS_H

#include <stdbool.h>

#include "agent/control.h"
#include "agent/timetable.h"
#include "proto/base/error.h"

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
