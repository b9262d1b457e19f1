/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h - answers clients: snapshot, history, status, targets, rules, silences, recordings. */
#pragma once

#include <stdbool.h>

#include "daemon/publish/transport/bus.h"
#include "daemon/watch/rule_file/rulebook.h"
#include "daemon/source/allow.h"
#include "daemon/watch/targets/targets.h"
#include "proto/cli/keys/key.h"

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

/* recording_requests.c: answers the request about recordings: where they are; brings one up to date. */

/* recorder may be NULL: nothing is recorded. */
void recording_requests_handle(struct recorder *recorder, struct targets *targets, const Hw__RecordingRequest *request,
                               struct bus_client *client);

/* silence_requests.c: answers the requests about silences. */

/* A name that no rule has is refused, with the nearest name: it would silence nothing. Any pattern is accepted. */
void silence_requests_add(struct silence_store *store, const struct ruleset *rules, const Hw__SilenceRequest *request,
                          struct bus_client *client);
void silence_requests_remove(struct silence_store *store, const Hw__UnsilenceRequest *request,
                             struct bus_client *client);
void silence_requests_list(struct silence_store *store, struct bus_client *client);

/*
 * roles.c: what each request asks of who sends it, and the audit of those that change something.
 *
 * Of a request that needs more than `read` one line is logged: what, on what, by whom, and what became of it.
 */

/* The least role that may send it; control for what this version does not know. */
enum key_role role_needed(const Hw__Request *request);

/* False with a sentence: this client's key does not allow it. */
bool role_allows(const struct bus_client *client, const Hw__Request *request, struct error *error);

/* After it was answered: logged and counted, when it is one of those that change something. */
void role_audit(struct bus *bus, struct bus_client *client, const Hw__Request *request, bool allowed);

/* reload.c: reloads the rules of a running daemon: on SIGHUP, and at a client's request. */

/* Reads the rules, applies them to targets and notifier, and logs it. False with diagnostics: nothing has changed. */
bool reload_rules(struct rulebook *book, struct targets *targets, struct notifier *notifier,
                  struct diagnostics *ret_diagnostics);

/* replies.c: the answers that requests of all kinds may get. */

struct bus_client;

extern const char out_of_memory[]; /* a sentence */

void reply_error(struct bus_client *client, const char *error);
/* `run_before`: the name of the run that had that of the target; "": none had. */
void reply_done(struct bus_client *client, const char *target, const char *run_before);
void reply_no_target(struct bus_client *client, const char *name);

/* An error that says to try again in a second. False: the client does not take it now. */
bool offer_retry(struct bus_client *client, const char *error);

/* Likewise, at the end of a request that is given up because of its client: it finds it when it reads again. */
void reply_too_late(struct bus_client *client);
