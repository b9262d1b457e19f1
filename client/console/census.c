/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * census.c - the key C: a heap census now, of the shown target.
 *
 * DESIGN: a census is taken at the program's next step, which may take seconds, and never comes when it is stopped. So
 * a thread requests it and waits; its one line is shown when it comes: the console is never held up. Who quits
 * meanwhile does not wait for the thread, which ends with the process.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/console/console.h"
#include "client/launch/program/agent_census.h"
#include "proto/base/thread.h"

struct census_job {
        pthread_t thread;
        struct agent_place place;
        char target[WORLD_NAME_MAX + 1], endpoint[256];
        char text[512];
        struct error error;
        bool good;
        atomic_bool done; /* after all of the above */
};

static void *request_census(void *ctx)
{
        struct census_job *job = ctx;

        job->good = agent_census(&job->place, job->text, sizeof(job->text), &job->error);
        atomic_store(&job->done, true);
        return NULL;
}

void census_request_begin(struct console *c)
{
        const struct world_target *t = c->scene.live ? c->scene.target : NULL;
        struct census_job *job;
        int error;

        if (c->census || !t || !t->target || !t->target->uri || !agent_census_is_possible(t->target->uri)) {
                console_notify(c, !c->census,
                               c->census ? "a census is under way"
                                         : "no census: only of a program with the agent, or with eventlog-socket");
                return;
        }
        job = calloc(1, sizeof(*job));
        if (job) {
                (void)snprintf(job->target, sizeof(job->target), "%s", t->name);
                (void)snprintf(job->place.uri, sizeof(job->place.uri), "%s", t->target->uri);
                (void)snprintf(job->endpoint, sizeof(job->endpoint), "%s",
                               c->scene.endpoint(c->scene.endpoint_ctx, t->daemon));
                job->place.target = job->target;
                job->place.endpoint = job->endpoint;
                job->place.known = true;
        }
        error = job ? thread_create_masked(&job->thread, request_census, job) : ENOMEM;
        if (error) {
                free(job);
                console_notify(c, true, "no census: %s", strerror(error));
                return;
        }
        c->census = job;
        console_notify(c, false, "a census of %s is requested ...", t->name);
}

bool census_poll(struct console *c)
{
        struct census_job *job = c->census;

        if (!job || !atomic_load(&job->done))
                return false;
        (void)pthread_join(job->thread, NULL);
        console_notify(c, !job->good, "%s", job->good ? job->text : job->error.text);
        free(job);
        c->census = NULL;
        return true;
}
