/* SPDX-License-Identifier: BSD-3-Clause */
/* heapwatch ps - the GHC-compiled programs of this machine: which are watched, and which can be attached to. */
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/array.h"
#include "proto/base/permission.h"
#include "client/launch/attach/processes.h"
#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/launch/run/daemon.h"
#include "proto/base/number_text.h"

#define WAIT_MS 1000 /* for the daemon */

static const struct option options[] = { OPTIONS_END };

struct watched {
        pid_t pid;
        char target[DAEMON_NAME_MAX];
};

struct listing {
        struct watched *watched; /* by your daemon */
        size_t n, room;
        unsigned count;
};

static void see_target(void *listing, const char *name, pid_t pid)
{
        struct listing *l = listing;

        if (!ARRAY_RESERVE(l->watched, l->room, l->n + 1))
                return;
        l->watched[l->n].pid = pid;
        (void)snprintf(l->watched[l->n++].target, DAEMON_NAME_MAX, "%s", name);
}

static const char *watched_as(const struct listing *l, pid_t pid)
{
        for (size_t i = 0; i < l->n; i++)
                if (l->watched[i].pid == pid)
                        return l->watched[i].target;
        return NULL;
}

static void attach_text(char *out, size_t size, const struct listing *l, const struct ghc_process *p)
{
        const char *missing = permission_missing_here(), *target = watched_as(l, p->pid);
        const char *stopped = p->obstacle == OBSTACLE_STOPPED ? "; it is stopped" : "";

        if (target)
                (void)snprintf(out, size, "watched as %s%s", target, stopped);
        else if (p->agent)
                (void)snprintf(out, size, "the agent is in it%s", stopped);
        else if (p->why.text[0])
                (void)snprintf(out, size, "%s: %s", missing ? "only its process" : "from outside",
                               p->obstacle == OBSTACLE_STRIPPED && !missing ? "it is stripped" : p->why.text);
        else
                (void)snprintf(out, size, "%s", missing ? missing : "yes");
}

static void print(void *ctx, const struct ghc_process *listed)
{
        struct listing *l = ctx;
        struct ghc_process found = *listed, *p = &found;
        char attach[sizeof(p->why.text) + 64];

        process_reveal(p);
        free(p->symbols);
        attach_text(attach, sizeof(attach), l, p);

        if (l->count++ == 0)
                printf("%8s  %-20s %-8s %-8s %-8s %-8s %10s  %s\n", "PID", "PROGRAM", "GHC", "THREADED", "EVENTLOG",
                       "STRIPPED", "RSS", "ATTACH");
        printf("%8d  %-20s %-8s %-8s %-8s %-8s %10s  %s\n", (int)p->pid, p->name,
               p->fit.version[0] ? p->fit.version : "?", p->fit.threaded ? "yes" : "no",
               p->fit.eventlog                    ? "yes"
               : p->obstacle == OBSTACLE_STRIPPED ? "?"
                                                  : "no",
               p->fit.stripped ? "yes" : "no", BYTES_TEXT(p->rss_bytes), attach);
}

static int run(void *filled)
{
        struct listing l = { 0 };
        struct daemon_link link;
        struct error error;

        if (daemon_link_init(&link, &error) && daemon_reachable(&link)) {
                link.wait_ms = WAIT_MS;
                if (!daemon_each_process(&link, see_target, &l))
                        fputs("your daemon does not answer: which of these it watches is not known\n", stderr);
        }
        const bool good = processes_each(print, &l);
        free(l.watched);
        if (!good)
                return command_error(&command_ps, "cannot read /proc");
        if (l.count == 0)
                fputs("no GHC-compiled program runs here that you may look at\n", stderr);
        return EXIT_OK;
}

struct nothing {
        char unused;
};

const struct command command_ps = {
        .name = "ps",
        .summary = "which GHC-compiled programs run here",
        .usage = TEXTS(""),
        .about = "Lists the GHC-compiled programs of this machine that you may look at: process, file, GHC's version, "
                 "whether the runtime is threaded and can write an eventlog, whether the file is stripped, resident "
                 "memory, and the target that your daemon watches it as, or whether `heapwatch attach` can watch it, "
                 "or why "
                 "not. The programs are not touched. Of a stripped program the runtime is looked for in its file, the "
                 "first time.",
        .options = options,
        .examples = TEXTS("heapwatch ps"),
        .size = sizeof(struct nothing),
        .defaults = &(const struct nothing){ 0 },
        .run = run,
};
