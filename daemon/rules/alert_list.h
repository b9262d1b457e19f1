/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alert_list.h - the alerts of one target in order of rule, run and band; and
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
#ifndef HW_DAEMON_RULES_ALERT_LIST_H
#define HW_DAEMON_RULES_ALERT_LIST_H

#include "daemon/rules/alerts.h"

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

/* Whether there is an alert of this rule at place i. */
bool alert_list_is_of(const struct alert_list *l, size_t i, const struct rule *rule);

/* Sorts by the order of these rules, which all alerts must be of; within a rule the order is kept. */
void alert_list_sort(struct alert_list *l, const struct ruleset *rules);

#endif
