/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h - answers clients: snapshot, history, status, targets, rules, silences, recordings. */
#ifndef HW_DAEMON_CONTROL_REQUESTS_H
#define HW_DAEMON_CONTROL_REQUESTS_H

#include "daemon/transport/bus.h"
#include "daemon/rules/file/rulebook.h"
#include "daemon/source/allow.h"
#include "daemon/target/targets.h"

struct notifier;
struct pending;
struct recorder;
struct silence_store;

struct requests {
        struct targets *targets; /* set before the loop runs */
        struct bus *bus;
        struct pending *pending;
        struct silence_store *silences;
        struct notifier *notifier;
        struct rulebook *rulebook;
        const struct source_allow *allow; /* which sources a request may add */
        struct recorder *recorder;        /* NULL: nothing is recorded */
        const char *publish_endpoint;
};

/* A bus_handler's function; ctx is a struct requests. */
void requests_handle(void *ctx, const Hw__Request *request, struct bus_client *client);

/* Likewise, of one that was let in before and found no room for its answer. */
void requests_again(void *ctx, const Hw__Request *request, struct bus_client *client);

#endif
