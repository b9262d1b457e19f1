/* SPDX-License-Identifier: BSD-3-Clause */
/* recording_requests.h - answers the request about recordings: where they are; brings one up to date. */
#ifndef HW_DAEMON_CONTROL_RECORDING_REQUESTS_H
#define HW_DAEMON_CONTROL_RECORDING_REQUESTS_H

#include "daemon/target/targets.h"
#include "daemon/transport/bus.h"

struct recorder;

/* recorder may be NULL: nothing is recorded. */
void recording_requests_handle(struct recorder *recorder, struct targets *targets, const Hw__RecordingRequest *request,
                               struct bus_client *client);

#endif
