/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rule.h - one rule, checked and ready to be judged; and all rules of a daemon.
 *
 * A rule is made from texts (a file's or the built-in pack's) and is immutable.
 * A ruleset owns its rules; alerts borrow from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/severity.h"
#include "daemon/judge/rules/expr.h"

#define RULE_NAME_MAX        63u
#define RULE_PAIRS_MAX       32u /* labels, and annotations, of one rule */
#define RULE_TARGETS_MAX     64u
#define RULES_MAX            500u /* of one daemon */
#define RULE_DURATION_MAX_NS (UINT64_C(30) * 86400 * 1000000000)

struct action_plan; /* what is to be done; kept for the actions, opaque here */

/* A label or an annotation. */
struct rule_pair {
        const char *name, *value;
};

/* A rule as written in a file. NULL = not given. */
struct rule_text {
        const char *group, *name;
        const char *expr, *until, *hold_for, *keep_firing_for;
        struct rule_pair labels[RULE_PAIRS_MAX], annotations[RULE_PAIRS_MAX];
        size_t n_labels, n_annotations;
        const char *targets[RULE_TARGETS_MAX]; /* shell patterns; none = all */
        size_t n_targets;
        bool off; /* `enabled: false` */
};

enum rule_field {
        FIELD_NAME,
        FIELD_EXPR,
        FIELD_UNTIL,
        FIELD_FOR,
        FIELD_KEEP,
        FIELD_LABEL,
        FIELD_ANNOTATION,
        FIELD_TARGET
};

struct rule_error {
        enum rule_field field;
        size_t item;     /* of labels, annotations, targets */
        uint32_t column; /* inside the text, from 1; 0 = all of it */
        char text[EXPR_ERROR_MAX];
};

struct rule {
        struct rule_text text; /* all texts are the rule's own */
        const char *group, *name;
        struct expr expr, until; /* until.root is NULL when there is none */
        uint64_t for_ns, keep_firing_ns;
        enum severity severity;
        bool of_bands, of_target;
        bool builtin;             /* from the pack */
        bool changed;             /* ... and modified by a file */
        uint64_t digest;          /* over everything that decides when it fires */
        struct action_plan *plan; /* NULL: publish only; freed by ruleset.drop_plan */
        struct arena arena;
};

/* NULL with *ret_error filled. The texts are copied. */
struct rule *rule_new(const struct rule_text *text, struct rule_error *ret_error);
void rule_destroy(struct rule **rule);

/* Whether the rule applies to this target. */
bool rule_wants(const struct rule *rule, const char *target);

struct ruleset {
        struct rule *rules[RULES_MAX];
        size_t n;
        void (*drop_plan)(struct action_plan **plan);
        uint64_t generation; /* rises with each reload of a daemon's rules */
};

/* Takes ownership of the rule. False when there are too many: it stays the caller's. */
bool ruleset_add(struct ruleset *set, struct rule *rule);

/* The rule of that name, of any group when `group` is NULL; or NULL. */
struct rule *ruleset_find(const struct ruleset *set, const char *group, const char *name);

/* The rule of that name if its digest is the same; NULL: it was removed or changed. */
struct rule *ruleset_find_same(const struct ruleset *set, const char *group, const char *name, uint64_t digest);

/* What its expressions need of the model's series: those with a window. */
struct series_finely ruleset_reads(const struct ruleset *set);

void ruleset_destroy(struct ruleset **set);

/* The rules that are in force without any file; the one after the last has no name. Reasons: docs/RULES.md. */
extern const struct rule_text builtin_rules[];

/*
 * template.c: annotations: texts with {{names}} that are filled in when an alert is published. Of "[[this|that]]" the
 * first part is kept of which everything is known, so that no sentence has "unknown" in its middle.
 */

struct error;

enum placeholder {
        PLACE_TARGET,
        PLACE_BAND,
        PLACE_SOURCE,
        PLACE_VALUE,
        PLACE_THRESHOLD,
        PLACE_SLOPE,
        PLACE_SINCE,
        PLACE_ONSET,
        PLACE_NOTE,
        PLACE_TIME_TO_LIMIT,
        PLACE_WHERE,
        PLACE_VERDICT,
        PLACE_SIZING,
        PLACE_RUNS_OUT,
        PLACE_THREADS,
        PLACE_REASON,
        PLACES
};

/* The name; NULL outside. */
const char *placeholder_name(enum placeholder p);

/* False when a {{name}} is unknown or not closed: *ret_column (from 1, in characters) and a sentence. */
bool template_check(const char *text, bool of_bands, uint32_t *ret_column, struct error *error);

/* Fills in a checked text; a value of NULL is not known. Cut at `size`. Returns the length. */
size_t template_expand(const char *text, const char *const values[PLACES], char *out, size_t size);
