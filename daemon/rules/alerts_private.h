/* SPDX-License-Identifier: BSD-3-Clause */
/* alerts_private.h - the inside of struct alerts, shared by alerts.c and alerts_image.c. */
#ifndef HW_DAEMON_RULES_ALERTS_PRIVATE_H
#define HW_DAEMON_RULES_ALERTS_PRIVATE_H

#include "daemon/rules/alert_list.h"

enum selected { SELECTED_UNKNOWN, SELECTED_NO, SELECTED_YES };

/* For each rule of the set, on this target. */
struct rule_use {
        bool wanted;
        uint8_t *selected; /* by band id - 1: enum selected; for rules over bands */
        uint32_t n_selected;
        uint64_t *due_ns; /* by band id - 1: when its answer may change next; NULL outside of gaps */
        uint32_t n_due;
        uint64_t first_due_ns; /* the earliest of them */
};

/* Where the judging of a moment continues. */
struct stopped_at {
        bool open;
        size_t rule;
        uint32_t band; /* for rules over bands; 1: from the beginning */
};

struct alerts {
        char *target;
        const struct ruleset *rules;
        struct rule_data data;
        struct alerts_sink sink;
        struct rule_use *uses; /* RULES_MAX: a reload needs no memory */
        size_t n_uses;         /* initialised so far; pages of the others are never touched */
        struct alert_list list;
        uint64_t left_out[2]; /* alerts left out at the newest judging: of rules of runs, of the target */
        uint32_t run;
        uint32_t evaluations;      /* of rules over bands, in this gap */
        struct stopped_at stopped; /* in the newest moment of the run, unless it was judged completely */
};

#endif
