/* SPDX-License-Identifier: BSD-3-Clause */
/* notifier_requests.h - answers the requests of the notifier: plans (what to do) and outcomes. */
#ifndef HW_DAEMON_CONTROL_NOTIFIER_REQUESTS_H
#define HW_DAEMON_CONTROL_NOTIFIER_REQUESTS_H

#include "daemon/transport/bus.h"

struct notifier;
struct outcomes;
struct ruleset;

void notifier_requests_plans(struct notifier *notifier, const struct ruleset *rules, const Hw__PlansRequest *request,
                             struct bus_client *client);
void notifier_requests_outcomes(struct notifier *notifier, struct outcomes *outcomes,
                                const Hw__OutcomesRequest *request, struct bus_client *client);

#endif
