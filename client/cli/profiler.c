/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/profiler.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/inspector.h"
#include "proto/base/document.h"
#include "proto/base/thread.h"

#define SPARE_NS UINT64_C(30000000000) /* beside the samples: symbols are read, and the machine may be busy */
#define NUMBER   32

struct profiler {
        pthread_t thread;
        struct profiler_options what;
        atomic_int stop; /* enum inspector_stop */
        FILE *output;
        struct document text; /* what it has printed of the next profile */
        size_t n_bytes;
        unsigned n_empty; /* lines of that, the second of which ends it */
        bool is_in_line;
        pthread_mutex_t lock;
        char *newest; /* under the lock */
        struct error error;
        bool good;
        atomic_bool done; /* after these */
};

/* A whole profile is there for who asks; the one before was not asked for. */
static bool hand_over(struct profiler *p)
{
        if (!document_close(&p->text))
                return false;
        (void)pthread_mutex_lock(&p->lock);
        free(p->newest);
        p->newest = document_detach(&p->text);
        (void)pthread_mutex_unlock(&p->lock);
        p->n_empty = 0;
        p->n_bytes = 0;
        document_open(&p->text);
        return p->text.to != NULL;
}

/* Output of the inspection. What would be too much ends it. */
static ssize_t write_output(void *ctx, const char *bytes, size_t n)
{
        struct profiler *p = ctx;

        for (size_t i = 0; i < n; i++) {
                if (!p->text.to)
                        return 0;
                (void)putc(bytes[i], p->text.to);
                p->n_empty += bytes[i] == '\n' && !p->is_in_line;
                p->is_in_line = bytes[i] != '\n';
                if ((p->n_empty == 2 && !hand_over(p)) || ++p->n_bytes > p->what.most_bytes) {
                        atomic_store(&p->stop, INSPECTOR_STOP_NOW);
                        return 0;
                }
        }
        return (ssize_t)n;
}

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
                                                                           .to = p->output,
                                                                           .stop = &p->stop },
                                                     &p->error);
        if (p->n_bytes > p->what.most_bytes)
                (void)error_set(&p->error, "the inspection printed more than %zu bytes; what it reads may be damaged",
                                p->what.most_bytes);
        p->good = end == INSPECTOR_GOOD;
        atomic_store(&p->done, true);
        return NULL;
}

static void release(struct profiler *p)
{
        if (p->output)
                (void)fclose(p->output);
        document_done(&p->text);
        free(p->newest);
        (void)pthread_mutex_destroy(&p->lock);
        free(p);
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
        (void)pthread_mutex_init(&p->lock, NULL);
        document_open(&p->text);
        p->output = fopencookie(p, "w", (cookie_io_functions_t){ .write = write_output });
        if (p->text.to && p->output && setvbuf(p->output, NULL, _IONBF, 0) == 0 &&
            !(failed = thread_create_masked(&p->thread, run, p)))
                return p;
        if (failed)
                (void)error_set(error, "cannot start a thread: %s", strerror(failed));
        release(p);
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

char *profiler_detach_text(struct profiler *p)
{
        (void)pthread_mutex_lock(&p->lock);
        char *text = p->newest;
        p->newest = NULL;
        (void)pthread_mutex_unlock(&p->lock);
        return text;
}

bool profiler_is_good(const struct profiler *p, struct error *error)
{
        if (!p->good)
                *error = p->error;
        return p->good;
}

void profiler_destroy(struct profiler **ref)
{
        struct profiler *p = *ref;

        *ref = NULL;
        if (!p)
                return;
        atomic_store(&p->stop, INSPECTOR_STOP_NOW);
        (void)pthread_join(p->thread, NULL);
        release(p);
}
