/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/profiler.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/inspector.h"
#include "proto/base/document.h"

#define SPARE_NS UINT64_C(30000000000) /* beside the samples: symbols are read, and the machine may be busy */
#define NUMBER   32

struct profiler {
        pthread_t thread;
        struct profiler_options what;
        atomic_int stop; /* enum inspector_stop */
        struct document text;
        struct error error;
        bool good;
        atomic_bool done; /* after these */
};

static void *run(void *ctx)
{
        struct profiler *p = ctx;
        char pid[NUMBER], time[NUMBER];
        const char *arguments[] = { "heapwatch-inspect", "profile", "--pid",       pid,      "--for", time,
                                    "--max-pause",       "5ms",     "--by-thread", "--rows", NULL };

        (void)snprintf(pid, sizeof(pid), "%ld", (long)p->what.pid);
        (void)snprintf(time, sizeof(time), "%" PRIu64 "ms", p->what.for_ns / 1000000);
        const enum inspector_end end = inspector_run(&(struct inspection){ .arguments = arguments,
                                                                           .most_ns = p->what.for_ns + SPARE_NS,
                                                                           .may_finish = true,
                                                                           .to = p->text.to,
                                                                           .most_bytes = p->what.most_bytes,
                                                                           .stop = &p->stop },
                                                     &p->error);
        if (end == INSPECTOR_REFUSED)
                p->what.explain(p->what.pid, &p->error);
        p->good = document_close(&p->text) && end == INSPECTOR_GOOD;
        atomic_store(&p->done, true);
        return NULL;
}

/* Signals belong to the thread that starts it. 0 or an errno. */
static int start_thread(struct profiler *p)
{
        sigset_t all, before;
        int error;

        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(&p->thread, NULL, run, p);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        return error;
}

struct profiler *profiler_new(const struct profiler_options *what, struct error *error)
{
        struct profiler *p = calloc(1, sizeof(*p));
        int failed = 0;

        (void)error_set(error, "out of memory");
        if (!p)
                return NULL;
        p->what = *what;
        (void)error_set(&p->error, "out of memory");
        document_open(&p->text);
        if (p->text.to && !(failed = start_thread(p)))
                return p;
        if (p->text.to)
                (void)error_set(error, "cannot start a thread: %s", strerror(failed));
        document_done(&p->text);
        free(p);
        return NULL;
}

bool profiler_is_done(struct profiler *p)
{
        return atomic_load(&p->done);
}

void profiler_finish(struct profiler *p)
{
        atomic_store(&p->stop, INSPECTOR_STOP_FINISH);
}

char *profiler_detach_text(struct profiler *p, struct error *error)
{
        if (p->good)
                return document_detach(&p->text);
        *error = p->error;
        return NULL;
}

void profiler_destroy(struct profiler **ref)
{
        struct profiler *p = *ref;

        *ref = NULL;
        if (!p)
                return;
        atomic_store(&p->stop, INSPECTOR_STOP_NOW);
        (void)pthread_join(p->thread, NULL);
        document_done(&p->text);
        free(p);
}
