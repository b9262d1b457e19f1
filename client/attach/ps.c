/* SPDX-License-Identifier: BSD-3-Clause */
/* heapwatch ps - the GHC-compiled programs of this machine, and which can be attached to. */
#include <stdio.h>

#include "proto/base/permission.h"
#include "client/attach/processes.h"
#include "client/cli/command.h"
#include "client/cli/options.h"
#include "heapwatch/text.h"

static const struct option options[] = { OPTIONS_END };

struct listing {
        unsigned count;
};

static const char *attachable(const struct ghc_process *p)
{
        const char *missing = permission_missing_here();

        if (p->agent)
                return p->obstacle == OBSTACLE_STOPPED ? "the agent is in it; it is stopped" : "the agent is in it";
        if (p->why.text[0]) {
                static char text[sizeof(p->why.text) + 64];
                (void)snprintf(text, sizeof(text), "%s: %s",
                               missing                            ? "its process alone"
                               : p->obstacle == OBSTACLE_STRIPPED ? "yes if its runtime is known, else from outside"
                                                                  : "from outside",
                               p->obstacle == OBSTACLE_STRIPPED && !missing ? "it is stripped" : p->why.text);
                return text;
        }
        return missing ? missing : "yes";
}

static void print(void *ctx, const struct ghc_process *p)
{
        struct listing *l = ctx;
        char rss[HW_NUMBER_MAX];

        if (l->count++ == 0)
                printf("%8s  %-20s %-8s %-8s %-8s %-8s %10s  %s\n", "PID", "PROGRAM", "GHC", "THREADED", "EVENTLOG",
                       "STRIPPED", "RSS", "ATTACH");
        printf("%8d  %-20s %-8s %-8s %-8s %-8s %10s  %s\n", (int)p->pid, p->name,
               p->fit.version[0] ? p->fit.version : "?", p->fit.threaded ? "yes" : "no",
               p->fit.stripped   ? "?"
               : p->fit.eventlog ? "yes"
                                 : "no",
               p->fit.stripped ? "yes" : "no", hw_bytes_text(rss, sizeof(rss), (double)p->rss_bytes), attachable(p));
}

static int run(void *filled)
{
        struct listing l = { 0 };

        (void)filled;
        if (!processes_each(print, &l))
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
        .usage = (const char *const[]){ "", NULL },
        .about = "Lists the GHC-compiled programs of this machine that you may look at: process, file, GHC's version, "
                 "whether the runtime is threaded and can write an eventlog, whether the file is stripped, resident "
                 "memory, and whether `heapwatch attach` can watch it, or why not. The programs are not touched.",
        .options = options,
        .examples = (const char *const[]){ "heapwatch ps", NULL },
        .size = sizeof(struct nothing),
        .defaults = &(const struct nothing){ 0 },
        .run = run,
};
