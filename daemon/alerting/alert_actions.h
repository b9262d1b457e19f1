/* SPDX-License-Identifier: BSD-3-Clause */
/* alert_actions.h - joins alerts to their actions: transitions go there, silences and results come back. */
#ifndef HW_DAEMON_ALERTING_ALERT_ACTIONS_H
#define HW_DAEMON_ALERTING_ALERT_ACTIONS_H

#include "daemon/alerting/alerting.h"

struct act;

/* Hooks for the alerts of any number of targets; `act` must outlive them. */
struct alert_hooks alert_actions(struct act *act);

#endif
