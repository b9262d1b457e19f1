/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * action_plan.h - the actions of one rule: the checked form of its `do:` and
 * `limits:`.
 *
 *      rule file ─▶ plan, in the daemon ─▶ JSON, with each alert ─▶ plan, in heapwatch notify
 *
 * A plan is filled while rules or a line of JSON are read, checked the same way
 * both times, and never changed afterwards; it is shared by reference, because a
 * reload may drop a rule whose actions still run. docs/ACTIONS.md says what each
 * field means to users.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum action_kind {
        ACTION_PUBLISH, /* always done by the daemon itself: no work here */
        ACTION_LOG,
        ACTION_EXEC,
        ACTION_WEBHOOK,
        ACTION_ALERTMANAGER,
        ACTION_CENSUS,  /* the program is asked for a census: `heapwatch ctl census` */
        ACTION_PROGRAM, /* a command to the program's eventlog-socket: `heapwatch ctl program` */
        ACTION_DUMP,    /* a bundle of what the flight recorder has around the alert: `heapwatch recording bundle` */
        ACTION_WHY,     /* what keeps alive what grows: `heapwatch why --brief` */
        ACTION_KINDS
};

#define ACTION_STEPS_MAX      16u           /* of one rule */
#define ACTION_ARGV_MAX       64u           /* words of one exec */
#define ACTION_TEXT_MAX       4096u         /* one word, URL or path, its NUL included */
#define ACTION_TIMEOUT_MAX_NS 300000000000u /* of one attempt */
#define ACTION_ATTEMPTS_MAX   10u

#define ACTION_NOT_DONE "not done: " /* begins the line of a command that has left its action out, and why */

/* Defaults, used where a field is 0. */
#define ACTION_TIMEOUT_NS         10000000000u
#define ACTION_DUMP_BEFORE_NS     600000000000u   /* of what is dumped: before the alert's onset */
#define ACTION_DUMP_AFTER_NS      120000000000u   /* and after it fired */
#define ACTION_DUMP_MOST_NS       86400000000000u /* before, at most; after: ACTION_DUMP_WAIT_NS */
#define ACTION_DUMP_WAIT_NS       1800000000000u
#define ACTION_DUMP_WORK_NS       300000000000u  /* to write and report on it, when all has come */
#define ACTION_DUMP_APART_NS      7200000000000u /* between two bundles of a rule */
#define ACTION_DUMP_PER_DAY       3u
#define ACTION_DUMP_KEEP_BYTES    (UINT64_C(1) << 30) /* of all bundles together */
#define ACTION_WHY_PAUSE          "100ms" /* for which a program may be stopped, unless a rule says otherwise */
#define ACTION_WHY_MEMORY         "4GiB"  /* that it may need: nobody is there who could end it */
#define ACTION_WHY_PAUSE_LEAST_NS 1000000u
#define ACTION_WHY_PAUSE_MOST_NS  UINT64_C(60000000000)
#define ACTION_WHY_NS             UINT64_C(120000000000) /* for all of it */
#define ACTION_CENSUS_NS          60000000000u           /* census, program: it comes to it at its next collection */
#define ACTION_ATTEMPTS           3u                     /* webhook, alertmanager; exec: 1 */
#define ACTION_RESEND_NS          60000000000u           /* alertmanager */
#define ACTION_LIMIT_COUNT        60u                    /* alerts of one rule acted on ... */
#define ACTION_LIMIT_PER_ALERT    6u                     /* ... and times that one alert is acted on ... */
#define ACTION_LIMIT_WINDOW_NS    3600000000000u         /* ... in any window of this length */

struct action_step {
        enum action_kind kind;
        uint64_t timeout_ns;     /* of one attempt; 0: the default */
        uint32_t attempts;       /* tries in all; 0: the default */
        bool firing_only;        /* `resolved: false`: nothing is done when the alert resolves */
        const char *const *argv; /* exec: program (an absolute path) and its arguments; dump, why: options of
                                    `heapwatch recording bundle`, `heapwatch why`; program: the command, one word;
                                    NULL-terminated */
        const char *url;         /* webhook; alertmanager: its base, /api/v2/alerts is added */
        const char *bearer_file; /* a file that holds a token for `Authorization: Bearer`; NULL: none */
        const char *ca_file;     /* PEM file of authorities to trust instead of the system's; NULL: those */
        uint64_t resend_ns;      /* alertmanager: while it fires; 0: the default */
};

struct action_limits {
        uint32_t count, per_alert; /* 0: the defaults */
        uint64_t window_ns;
};

struct error;
struct action_plan;

/* Without steps. NULL when out of memory. */
struct action_plan *action_plan_new(void);

/*
 * Checks a step, fills in its defaults and appends a copy. False with a
 * sentence in `error` that says what was expected.
 */
bool action_plan_add(struct action_plan *plan, const struct action_step *step, struct error *error);
bool action_plan_limit(struct action_plan *plan, const struct action_limits *limits, struct error *error);

struct action_plan *action_plan_ref(struct action_plan *plan);
void action_plan_unref(struct action_plan **plan); /* clears the pointer; NULL allowed */

size_t action_plan_steps(const struct action_plan *plan);
const struct action_step *action_plan_step(const struct action_plan *plan,
                                           size_t index); /* lives as long as the plan */
const struct action_limits *action_plan_limits(const struct action_plan *plan);
uint64_t action_plan_serial(const struct action_plan *plan); /* of no other plan of this process */

/* Whether any step is other than `publish`: if not, there is nothing to run. */
bool action_plan_has_work(const struct action_plan *plan);

/* Whether a step keeps alerts as lasting state elsewhere (alertmanager), so that they can be resolved there. */
bool action_plan_keeps_state(const struct action_plan *plan);

/*
 * Whether a step is to be done: `resolved` at the end of an alert; `known`: the alert was acted on before, only what
 * keeps a state elsewhere is sent again.
 */
bool action_step_applies(const struct action_step *step, bool resolved, bool known);

/* "publish", "log", "exec" ...; and back, or ACTION_KINDS. Static. */
const char *action_kind_name(enum action_kind kind);
enum action_kind action_kind_parse(const char *name);

/* A step as text without secrets: the program of an exec, scheme and host of a URL. */
char *action_step_text(char *out, size_t size, const struct action_step *step);
