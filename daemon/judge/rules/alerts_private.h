/* SPDX-License-Identifier: BSD-3-Clause */
/* alerts_private.h - the inside of struct alerts, shared by alerts.c and alerts_image.c. */
#pragma once

#include "daemon/judge/rules/alerts.h"

/*
 * The alerts of one target in order of rule, run and band; and
 * what identifies each of them.
 *
 * An alert of a band is identified by the band's label and by its name, which
 * tells bands of one label apart (info tables of one function). Both are the
 * same in every run of the same program, so Alertmanager and the record of past
 * actions recognise the alert after a restart. Bands that share both are told
 * apart by their number, which is valid for one run only. Label and name are
 * fixed when the alert begins: a later definition does not change them.
 *
 * Pure. Bounded by LIMIT_ALERTS.
 */

struct alert_list {
        struct alert **items; /* all bytes 0: empty */
        size_t n, room;
};

/* A new alert of the run at place i; NULL when the list is full or out of memory. */
struct alert *alerts_insert(struct alerts *a, size_t i, const struct rule *rule, uint32_t band);

/* Takes ownership of an alert, at the end. False when the list is full or out of memory: it stays the caller's. */
bool alert_list_append(struct alert_list *l, struct alert *alert);
void alert_free(struct alert *alert);
void alert_list_remove(struct alert_list *l, size_t i);
void alert_list_done(struct alert_list *l);

/* Sorts by the order of these rules, which all alerts must be of; within a rule the order is kept. */
void alert_list_sort(struct alert_list *l, const struct ruleset *rules);

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

/* alert_text.c: the texts of an alert: value, threshold, sentence, annotations. Private to the alerts. */

/* Rewrites all texts of an alert. When out of memory the old ones stay. */
void alert_text_refresh(struct alert *alert, const char *target, const struct rule_data *data,
                        const struct rule_moment *at);

/* Adds to the sentence of an alert that is resolved by the end of its run that this is why. */
void alert_text_end_run(struct alert *alert);

/* value, threshold, sentence, then name and text of each annotation. */
#define TEXTS_BEFORE 3u
#define TEXTS_MAX    (TEXTS_BEFORE + 2 * RULE_PAIRS_MAX)

/* Those texts of an alert, borrowed; "" where there is none. Returns how many. */
uint32_t alert_text_list(const struct alert *alert, const char *ret[TEXTS_MAX]);

/* Sets the texts, which are copied. False when out of memory: the old ones stay. */
bool alert_text_keep(struct alert *alert, const char *const *texts, size_t n);

#define BAND_TEXT_MAX 512u

/* Texts of a band for people, valid UTF-8, cut; empty when not known; the label never is. */
struct alert_band {
        char label[BAND_TEXT_MAX], source[BAND_TEXT_MAX], name[BAND_TEXT_MAX];
};

void alert_text_band(const struct rule_data *data, uint32_t band, struct alert_band *ret);
