/* SPDX-License-Identifier: BSD-3-Clause */
/* alert_actions.h - what an alert's message has in addition to its state: silence, results of its actions. */
#ifndef HW_DAEMON_ALERTING_ALERT_ACTIONS_H
#define HW_DAEMON_ALERTING_ALERT_ACTIONS_H

#include "daemon/alerting/alerting.h"

struct outcomes;
struct silence_store;

struct alert_actions {
        const struct silence_store *silences;
        struct outcomes *outcomes;
        void (*fires)(void *ctx); /* an alert with actions does; called again and again; NULL: not any more */
        void *ctx;
};

/* Hooks for the alerts of any number of targets; `actions` must outlive them. */
struct alert_hooks alert_actions_hooks(struct alert_actions *actions);

#endif
