/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.c - the key C: a heap census now, of the shown target, or another command to its program.
 *
 * DESIGN: a program comes to it at its next step, which may take seconds, and never when it is stopped. So a thread
 * sends it and waits for the effect; its one line is shown when it comes: the console is never held up. Who quits
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

struct command_job {
        pthread_t thread;
        struct agent_place place;
        char target[WORLD_NAME_MAX + 1], endpoint[256];
        const struct program_command *command;
        char text[512];
        struct error error;
        bool good;
        atomic_bool done; /* after all of the above */
};

static void *request_command(void *ctx)
{
        struct command_job *job = ctx;

        job->good = program_request(&job->place, job->command, job->text, sizeof(job->text), &job->error);
        atomic_store(&job->done, true);
        return NULL;
}

void command_key(struct console *c)
{
        const struct world_target *t = c->scene.live ? c->scene.target : NULL;
        const char *uri = t && t->target ? t->target->uri : NULL;

        if (c->command)
                console_notify(c, false, "%s: under way", c->command->command->text);
        else if (!uri || !program_command_fits(&program_commands[0], uri))
                console_notify(c, true, "no census: only for a program with the agent, or with eventlog-socket");
        else if (program_command_fits(&program_commands[1], uri))
                entry_begin(c, ENTRY_COMMAND);
        else
                command_begin(c, &program_commands[0]);
}

void command_begin(struct console *c, const struct program_command *command)
{
        const struct world_target *t = c->scene.target;
        struct command_job *job = t && t->target && !c->command ? calloc(1, sizeof(*job)) : NULL;

        if (job) {
                (void)snprintf(job->target, sizeof(job->target), "%s", t->name);
                (void)snprintf(job->place.uri, sizeof(job->place.uri), "%s", t->target->uri);
                (void)snprintf(job->endpoint, sizeof(job->endpoint), "%s",
                               c->scene.endpoint(c->scene.endpoint_ctx, t->daemon));
                job->place.target = job->target;
                job->place.endpoint = job->endpoint;
                job->place.known = true;
                job->command = command;
        }
        const int error = job ? thread_create_masked(&job->thread, request_command, job) : ENOMEM;
        if (error) {
                free(job);
                console_notify(c, true, "%s: %s", command->text, strerror(error));
                return;
        }
        c->command = job;
        console_notify(c, false, "%s of %s is requested ...", command->text, t->name);
}

bool command_poll(struct console *c)
{
        struct command_job *job = c->command;

        if (!job || !atomic_load(&job->done))
                return false;
        (void)pthread_join(job->thread, NULL);
        console_notify(c, !job->good, "%s", job->good ? job->text : job->error.text);
        free(job);
        c->command = NULL;
        return true;
}
