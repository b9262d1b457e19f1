/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h - what one rule wants done: the checked form of its `do:` and `limits:`.
 *
 * Pure. A plan is filled while rules are read and never changed afterwards; it
 * is shared by reference, because a reload may drop a rule whose actions still
 * run. docs/ACTIONS.md says what each field means to users.
 */
#ifndef HW_DAEMON_ACT_PLAN_H
#define HW_DAEMON_ACT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum act_kind {
        ACT_PUBLISH, /* always done by the daemon itself: no work here */
        ACT_LOG,
        ACT_EXEC,
        ACT_WEBHOOK,
        ACT_ALERTMANAGER,
        ACT_CENSUS, /* reserved: ask the program for a census; refused by act_plan_add */
        ACT_DUMP,   /* reserved: write the flight recorder out; refused by act_plan_add */
        ACT_KINDS
};

#define ACT_STEPS_MAX      16u           /* of one rule */
#define ACT_ARGV_MAX       64u           /* words of one exec */
#define ACT_TEXT_MAX       4096u         /* one word, URL or path, its NUL included */
#define ACT_TIMEOUT_MAX_NS 300000000000u /* of one attempt */
#define ACT_ATTEMPTS_MAX   10u

/* Defaults, used where a field is 0. */
#define ACT_TIMEOUT_NS      10000000000u
#define ACT_ATTEMPTS        3u             /* webhook, alertmanager; exec: 1 */
#define ACT_RESEND_NS       60000000000u   /* alertmanager */
#define ACT_LIMIT_COUNT     60u            /* alerts of one rule acted on ... */
#define ACT_LIMIT_PER_ALERT 6u             /* ... and times that one alert is acted on ... */
#define ACT_LIMIT_WINDOW_NS 3600000000000u /* ... in any window of this length */

struct act_step {
        enum act_kind kind;
        uint64_t timeout_ns;     /* of one attempt; 0: the default */
        uint32_t attempts;       /* tries in all; 0: the default */
        bool firing_only;        /* `resolved: false`: nothing is done when the alert resolves */
        const char *const *argv; /* exec: program (an absolute path) and its arguments; NULL-terminated */
        const char *url;         /* webhook; alertmanager: its base, /api/v2/alerts is added */
        const char *bearer_file; /* a file that holds a token for `Authorization: Bearer`; NULL: none */
        const char *ca_file;     /* PEM file of authorities to trust instead of the system's; NULL: those */
        uint64_t resend_ns;      /* alertmanager: while it fires; 0: the default */
};

struct act_limits {
        uint32_t count, per_alert; /* 0: the defaults */
        uint64_t window_ns;
};

struct act_plan;

/* Without steps. NULL when out of memory. */
struct act_plan *act_plan_new(void);

/*
 * Checks a step, fills in its defaults and appends a copy. False with a
 * sentence in `error` that says what was expected.
 */
bool act_plan_add(struct act_plan *plan, const struct act_step *step, char *error, size_t error_size);
bool act_plan_limit(struct act_plan *plan, const struct act_limits *limits, char *error, size_t error_size);

struct act_plan *act_plan_ref(struct act_plan *plan);
void act_plan_unref(struct act_plan **plan); /* clears the pointer; NULL allowed */

size_t act_plan_steps(const struct act_plan *plan);
const struct act_step *act_plan_step(const struct act_plan *plan, size_t index); /* lives as long as the plan */
const struct act_limits *act_plan_limits(const struct act_plan *plan);

/* Whether any step is more than `publish`: otherwise there is nothing to run. */
bool act_plan_has_work(const struct act_plan *plan);

/* Whether a step is told of alerts as a state that lasts (alertmanager), and can be told that one is over. */
bool act_plan_keeps_state(const struct act_plan *plan);

/* Whether a step is to be done: `resolved` at the end of an alert; `known`: see actor_take(). */
bool act_step_applies(const struct act_step *step, bool resolved, bool known);

/* "publish", "log", "exec" ...; and back, or ACT_KINDS. Static. */
const char *act_kind_name(enum act_kind kind);
enum act_kind act_kind_parse(const char *name);

/* What may be told of a step without telling a secret: the program of an exec, scheme and host of a URL. */
char *act_step_text(char *out, size_t size, const struct act_step *step);

#endif
