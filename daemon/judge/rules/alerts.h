/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alerts.h - all alerts of one target: its rules judged moment by moment.
 *
 *      rules x bands ─judge─▶ states ─change─▶ sink
 *
 * One alert per rule, and per band where the rule looks at bands. Rules of the
 * target (crashes, the stream) are judged on the target's clock and outlive
 * runs; all others are judged on event time and end with their run: what was
 * pending is dropped, what fired is resolved.
 *
 * Pure. Alerts are bounded (LIMIT_ALERTS), what does not fit is counted.
 * Resolved ones are kept for ALERT_KEEP_NS so that late joiners see them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/judge/rules/data.h"
#include "daemon/judge/rules/rule.h"
#include "proto/base/process.h"

/*
 * From "the condition holds" to "this alert fires": one small machine.
 *
 *               holds            for is over
 *      inactive ------> pending ------------> firing
 *          ^               | does not hold       | over for keep_firing_for
 *          `---------------'                     v
 *          `<--------------------------------- resolved
 *
 * A firing alert is over when `until` holds or, without one, when the
 * expression does not. Unknown changes nothing: the state stays, and the time
 * does not count towards `for` or keep_firing_for.
 *
 * Pure: time is an argument, on the clock that the rule is judged by.
 */

enum alert_state { ALERT_INACTIVE, ALERT_PENDING, ALERT_FIRING, ALERT_RESOLVED };

/* "inactive", "pending", "firing", "resolved". Static. */
const char *alert_state_name(enum alert_state state);

struct state_times {
        uint64_t for_ns, keep_firing_ns;
};

struct state {
        enum alert_state now;
        bool unknown;                              /* the last answer was unknown */
        uint64_t judged_ns;                        /* time of the last step */
        uint64_t held_ns;                          /* since when it has held; later by the time that was unknown */
        uint64_t over_ns;                          /* firing: since when it has been over, likewise; UNKNOWN_U64 */
        uint64_t active_ns, fired_ns, resolved_ns; /* when these states were entered; UNKNOWN_U64 */
};

void state_init(struct state *s);

/*
 * One answer: holds and over are 1, 0 or NaN for unknown; `over` is that of
 * `until`, or the negation of holds. True when the state changed. Two changes
 * in one step (for = 0: inactive to firing) count as one.
 */
bool state_step(struct state *s, const struct state_times *times, double holds, double over, uint64_t now_ns);

/* What is judged has ended: pending becomes inactive, firing resolved. True when the state changed. */
bool state_end(struct state *s, uint64_t now_ns);

#define LIMIT_ALERTS      1000u /* of one target: further ones are counted as left out */
#define ALERT_KEEP_NS     (UINT64_C(900) * 1000000000)
#define GAP_EVALUATIONS   400000u /* of rules over bands in one gap: about 100 ms */
#define ALERT_TEXT_MAX    2048u   /* one expanded annotation: longer ones are cut */
#define ALERT_RESULTS_MAX 16u     /* actions of one rule */

struct alerts;
struct image;

struct stamp { /* event time and Unix time; UNKNOWN_U64 each */
        uint64_t time_ns, wall_ns;
};

/* The newest result of one of its actions. */
struct alert_result {
        char *kind, *detail; /* its own; detail may be NULL */
        bool under_way;      /* else `ok` is the outcome */
        bool ok;
        uint64_t wall_ns;  /* UNKNOWN_U64 */
        uint32_t attempts; /* 0: not tried */
        uint32_t step;     /* index into the rule's actions; below ALERT_RESULTS_MAX */
};

/* What was done about an alert: kept with it, of no meaning here. daemon/watch/control/notifier.c makes it. */
struct alert_deeds {
        struct alert_result results[ALERT_RESULTS_MAX]; /* in order of steps */
        size_t n;
        uint64_t told;     /* what the notifier was told of it last; 0: nothing */
        uint32_t listener; /* the notifier that was told that it fires, and not that it is over; 0: none */
        bool over_told;
};

/* An alert as it is published. It owns all its texts. */
struct alert {
        const struct rule *rule;
        uint32_t run;            /* in which it was last judged */
        uint32_t band;           /* 0: not of a band */
        const char *band_label;  /* NULL: not of a band */
        const char *band_source; /* "src/Main.hs:12:5-30"; NULL: not known */
        const char *band_name;   /* tells bands of one label apart; NULL: not needed or not known */
        struct state state;      /* on the rule's clock */
        struct stamp active, fired, resolved, judged;
        double holds, over; /* the newest answers; over only while firing */
        bool has_value;
        double value;                            /* NaN: not known */
        const char *value_text, *threshold_text; /* NULL: none */
        const char *sentence;
        const struct rule_pair *annotations; /* filled in */
        size_t n_annotations;
        uint64_t fingerprint;
        void *memory;              /* of the texts */
        struct alert_deeds *deeds; /* NULL: none */
};

/* Its deeds, made when there are none yet; NULL when out of memory. */
struct alert_deeds *alert_deeds(struct alert *alert);

/* Replaces the result of a step with a copy. False: there is no such step, or no memory. */
bool alert_set_result(struct alert *alert, const struct alert_result *result);
void alert_forget_results(struct alert *alert);

struct alerts_sink {
        void *ctx;
        void (*changed)(void *ctx, const struct alert *alert,
                        const struct rule_moment *at);                       /* a change of state; borrowed */
        void (*removed)(void *ctx, const char *target, struct alert *alert); /* it is about to be; NULL: nobody cares */
        bool (*time_is_up)(void *ctx); /* checked while rules of runs are judged; NULL: never */
};

/*
 * Identifies an alert in all its states. Equal on every machine and in every run if the arguments are; band and
 * band_name may be NULL.
 */
uint64_t alert_fingerprint(const char *group, const char *rule, const char *target, const char *band,
                           const char *band_name);

/*
 * The alert that alert `part` is part of, by place; ALERTS_NONE: it stands alone. The label part_of of its rule names
 * rules; the first of them that has an alert of the whole target decides, unless that alert has not come as far: one
 * that fires is part of one that fires, one that is pending also of one that is pending. If that alert is part of
 * another, both are parts of that one. Rules that name each other in a circle have no parts.
 */
#define ALERTS_NONE SIZE_MAX
size_t alerts_whole(const struct alerts *a, size_t part);

/* `target` is copied; the ruleset and what data points to are borrowed. NULL when out of memory. */
struct alerts *alerts_new(const char *target, const struct ruleset *rules, const struct rule_data *data,
                          const struct alerts_sink *sink);
void alerts_destroy(struct alerts **a);

/* Where a moment is in a gap of the stream: between the moments of a gap no sample comes, only time passes. */
struct rule_gap {
        bool follows; /* nothing has come since the previous moment */
        bool goes_on; /* nothing comes before the next one */
};

/*
 * Judges the rules of runs (at->time_ns known) or those of the target. Moments must not go back. False: time was up
 * before all were judged; a call with the same moment continues, and each call makes progress.
 */
bool alerts_judge_run(struct alerts *a, const struct rule_moment *at, struct rule_gap gap);
void alerts_judge_target(struct alerts *a, const struct rule_moment *at);

/* Whether a gap has cost GAP_EVALUATIONS: its remaining moments should be few. */
bool alerts_gap_is_costly(const struct alerts *a);

/* The run is over: ends its alerts. Judge before. */
void alerts_end_run(struct alerts *a, const struct rule_moment *at);

/* A run begins: band numbers now refer to other bands. */
void alerts_begin_run(struct alerts *a);

/* A band's texts have changed: which rules select it is determined again. */
void alerts_band_changed(struct alerts *a, uint32_t band);

/*
 * Replaces the rules: alerts of rules that have not changed (same group, name and digest) keep their state, the others
 * end.
 */
void alerts_reload(struct alerts *a, const struct ruleset *rules, const struct rule_moment *at);

/* Brings values and texts of active alerts up to date. */
void alerts_refresh(struct alerts *a, const struct rule_moment *at);

const char *alerts_target(const struct alerts *a); /* its name */
size_t alerts_count(const struct alerts *a);
struct alert *alerts_get(const struct alerts *a, size_t i); /* in order of rule and band */
/* That fired at this Unix time (UNKNOWN_U64: it is not known); NULL: none. */
struct alert *alerts_find(const struct alerts *a, uint64_t fingerprint, uint64_t fired_wall_ns);
uint64_t alerts_left_out(const struct alerts *a);   /* alerts that the newest judging had no room for */
uint64_t alerts_generation(const struct alerts *a); /* of the rules in force */
size_t alerts_held_bytes(const struct alerts *a);

/*
 * Their image (daemon/model/image/image.h). Alerts of rules that are still in force, unchanged, keep their states and
 * clocks; others are left out. When reading, there must be no alerts yet.
 */
void alerts_image(struct image *im, struct alerts *a);
