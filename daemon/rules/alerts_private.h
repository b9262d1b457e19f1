/* SPDX-License-Identifier: BSD-3-Clause */
/* alerts_private.h - the inside of struct alerts, shared by alerts.c and its image. */
#ifndef HW_DAEMON_RULES_ALERTS_PRIVATE_H
#define HW_DAEMON_RULES_ALERTS_PRIVATE_H

#include "daemon/rules/alert_list.h"

enum meant { MEANT_UNASKED, MEANT_NO, MEANT_YES };

/* Of each rule of the set, for this target. */
struct rule_use {
        bool wanted;
        uint8_t *meant; /* by band id - 1: enum meant; of rules over bands */
        uint32_t n_meant;
        uint64_t *due_ns; /* also: when it may change next; in a gap, else NULL */
        uint32_t n_due;
        uint64_t first_due_ns; /* least of them */
};

/* Where a moment goes on. */
struct stopped_at {
        bool open;
        size_t rule;
        uint32_t band; /* of it, when it is over bands; 1: from the beginning */
};

struct alerts {
        char *target;
        const struct ruleset *rules;
        struct rule_data data;
        struct alerts_sink sink;
        struct rule_use *uses; /* RULES_MAX: a reload needs no memory */
        struct alert_list list;
        uint64_t left_out[2]; /* instances at the newest judging: of rules of runs, of the target */
        uint32_t run;
        uint32_t evaluations;      /* over bands, in this gap */
        struct stopped_at stopped; /* the newest moment of the run, unless all of it was judged */
};

#endif
