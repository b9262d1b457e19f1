/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a census is taken at the next step of the program and reaches the agent's thread with the flush after
 * that, so the agent's own count of censuses is polled until it has risen.
 */
#include "client/launch/program/agent_census.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/launch/program/process_uri.h"
#include "client/launch/program/program_control.h"
#include "proto/base/agent_peer.h"
#include "proto/base/clock.h"

#define SCHEME    "unix:"
#define CENSUS_MS 10000
#define STEP_MS   50

void agent_find(void *ctx, const Hw__Reply *reply)
{
        struct agent_place *p = ctx;

        if (reply->what_case != HW__REPLY__WHAT_STATUS)
                return;
        for (size_t i = 0; i < reply->status->n_targets; i++) {
                const Hw__Update *u = reply->status->targets[i];
                if (!u->target || strcmp(u->target, p->target) != 0 || u->body_case != HW__UPDATE__BODY_TARGET_STATE)
                        continue;
                p->known = true;
                snprintf(p->uri, sizeof(p->uri), "%s", u->target_state->uri ? u->target_state->uri : "");
        }
}

bool agent_place_request(const struct agent_place *place, const char *request, char *ret, size_t size,
                         struct error *error)
{
        if (!place->known)
                return error_set(error, "there is no target '%s'; `heapwatch status` lists them", place->target);
        if (process_uri_is_outside(place->uri))
                return error_set(error,
                                 "%s is read from outside, where there is no agent; `heapwatch ps` says whether its "
                                 "program can have one",
                                 place->target);
        if (strncmp(place->uri, SCHEME, sizeof(SCHEME) - 1) != 0)
                return error_set(error,
                                 "%s is read from %s, where there is no agent: start the program with "
                                 "`heapwatch run`, or `heapwatch attach` to it",
                                 place->target, place->uri);
        return agent_request(place->uri + sizeof(SCHEME) - 1, request, ASK_MS, ret, size, error);
}

/* A number of the status, "NAME=3"; false: it is not there. */
static bool number_in(const char *status, const char *name, double *ret)
{
        size_t n = strlen(name);
        char *end;

        for (const char *at = status; (at = strstr(at, name)) != NULL; at += n) {
                if ((at > status && at[-1] != ' ') || at[n] != '=')
                        continue;
                *ret = strtod(at + n + 1, &end);
                return end > at + n + 1;
        }
        return false;
}

static bool request_census(const struct agent_place *place, char *ret, size_t size, struct error *error)
{
        char status[600];
        double before, taken, pause_ms;
        uint64_t until;

        if (!agent_place_request(place, "status", status, sizeof(status), error))
                return false;
        if (!number_in(status, "taken", &before))
                return error_set(error, "the agent of %s does not report how many censuses there were", place->target);
        if (!agent_place_request(place, "census", NULL, 0, error))
                return false;
        until = clock_mono_ms() + CENSUS_MS;
        do {
                (void)poll(NULL, 0, STEP_MS);
                if (!agent_place_request(place, "status", status, sizeof(status), error))
                        return false;
                if (number_in(status, "taken", &taken) && taken > before) {
                        if (number_in(status, "pause_ms", &pause_ms) && pause_ms > 0)
                                snprintf(ret, size, "a census of %s was taken; the program paused for %.3g ms",
                                         place->target, pause_ms);
                        else
                                snprintf(ret, size, "a census of %s was taken", place->target);
                        return true;
                }
        } while (clock_mono_ms() < until);
        return error_set(
                error,
                "the census was requested and will be taken at the next step of the program, which has not made "
                "one for %d s",
                CENSUS_MS / 1000);
}

bool program_request(const struct agent_place *place, const struct program_command *command, char *ret, size_t size,
                     struct error *error)
{
        const bool is_census = command == program_commands;
        bool seen;

        if (is_census && (agent_peer_is_uri(place->uri) || !program_command_fits(command, place->uri)))
                return request_census(place, ret, size, error);
        return program_control(place->endpoint, place->target, command, ret, size, &seen, error) &&
               (seen || error_set(error, "%s", ret));
}
