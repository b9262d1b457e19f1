/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/inspecting.h"

#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/document.h"
#include "proto/base/thread.h"

#define SPARE_NS    UINT64_C(30000000000) /* beside the samples: symbols are read, and the machine may be busy */
#define TREE_EMPTY  2u                    /* empty lines of a profile: after sentences and rows of a tree */
#define TIME_NS     UINT64_C(60000000000) /* CPU time that heapwatch-inspect may need */
#define NUMBER      32
#define GROUPS_MOST "2000" /* of threads, the largest */

struct inspecting {
        pthread_t thread;
        struct inspecting_options what;
        atomic_int stop; /* enum inspector_stop */
        FILE *output;
        struct document text; /* what it has printed of the next one */
        size_t n_bytes;
        unsigned n_empty; /* lines of that, the last of which ends a profile */
        bool is_in_line;
        pthread_mutex_t lock;
        char *newest; /* under the lock */
        struct error error;
        bool good;
        atomic_bool done; /* after these */
};

/* A whole text is there for who asks; the one before was not asked for. */
static bool hand_over(struct inspecting *p)
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

static bool is_profile(const struct inspecting *p)
{
        return p->what.what == INSPECTING_PROFILE || p->what.what == INSPECTING_ALLOCATION;
}

/* Of CPU time there is another tree, of what waits. */
static unsigned empty_lines(const struct inspecting *p)
{
        return p->what.what == INSPECTING_PROFILE ? 2 * TREE_EMPTY : TREE_EMPTY;
}

/* Output of the inspection. What would be too much ends it. */
static ssize_t write_output(void *ctx, const char *bytes, size_t n)
{
        struct inspecting *p = ctx;

        for (size_t i = 0; i < n; i++) {
                if (!p->text.to)
                        return 0;
                (void)putc(bytes[i], p->text.to);
                p->n_empty += bytes[i] == '\n' && !p->is_in_line;
                p->is_in_line = bytes[i] != '\n';
                const bool is_whole = is_profile(p) && p->n_empty == empty_lines(p);
                if ((is_whole && !hand_over(p)) || ++p->n_bytes > p->what.most_bytes) {
                        atomic_store(&p->stop, INSPECTOR_STOP_NOW);
                        return 0;
                }
        }
        return (ssize_t)n;
}

static enum inspector_end sample_stacks(struct inspecting *p)
{
        char pid[NUMBER], time[NUMBER];
        const char *more = p->what.what == INSPECTING_ALLOCATION ? "--allocation" : "--waiting";
        const char *arguments[] = { "heapwatch-inspect", "profile", "--pid",       pid,  "--for",  time,
                                    "--max-pause",       "5ms",     "--by-thread", more, "--rows", NULL };

        (void)snprintf(pid, sizeof(pid), "%ld", (long)p->what.pid);
        (void)snprintf(time, sizeof(time), "%" PRIu64 "ms", p->what.for_ns / 1000000);
        return inspector_run(&(struct inspection){ .arguments = arguments,
                                                   .most_ns = p->what.for_ns + SPARE_NS,
                                                   .may_finish = true,
                                                   .to = p->output,
                                                   .stop = &p->stop },
                             &p->error);
}

/* What it has printed is of another program's memory: it is one object of JSON, or nothing. */
static bool hand_over_object(struct inspecting *p)
{
        json_error_t why;
        json_t *root;
        bool good;

        if (!p->text.to || fflush(p->text.to) != 0)
                return error_set(&p->error, "out of memory");
        root = json_loadb(p->text.text, p->text.size, JSON_REJECT_DUPLICATES, &why);
        good = json_is_object(root);
        json_decref(root);
        if (!good)
                return error_set(&p->error, "what the inspection printed is damaged: no object of JSON");
        return hand_over(p) || error_set(&p->error, "out of memory");
}

static enum inspector_end read_memory(struct inspecting *p)
{
        const bool is_threads = p->what.what == INSPECTING_THREADS, is_held = p->what.what == INSPECTING_HELD;
        char pid[NUMBER];
        const char *arguments[] = { "heapwatch-inspect",
                                    is_threads ? "threads" : "heap",
                                    "--pid",
                                    pid,
                                    "--format",
                                    "json",
                                    is_threads ? "--brief"
                                    : is_held  ? "--retained"
                                               : NULL,
                                    is_threads ? "--top" : NULL,
                                    GROUPS_MOST,
                                    NULL };

        (void)snprintf(pid, sizeof(pid), "%ld", (long)p->what.pid);
        const enum inspector_end end = inspector_run(
                &(struct inspection){
                        .arguments = arguments, .most_ns = TIME_NS + SPARE_NS, .to = p->output, .stop = &p->stop },
                &p->error);
        return end == INSPECTOR_GOOD && !hand_over_object(p) ? INSPECTOR_FAILED : end;
}

static void *run_inspector(void *ctx)
{
        struct inspecting *p = ctx;
        const enum inspector_end end = is_profile(p) ? sample_stacks(p) : read_memory(p);

        if (p->n_bytes > p->what.most_bytes)
                (void)error_set(&p->error, "the inspection printed more than %zu bytes; what it reads may be damaged",
                                p->what.most_bytes);
        p->good = end == INSPECTOR_GOOD;
        atomic_store(&p->done, true);
        return NULL;
}

static void release_inspecting(struct inspecting *p)
{
        if (p->output)
                (void)fclose(p->output);
        document_done(&p->text);
        free(p->newest);
        (void)pthread_mutex_destroy(&p->lock);
        free(p);
}

struct inspecting *inspecting_new(const struct inspecting_options *what, struct error *error)
{
        struct inspecting *p = calloc(1, sizeof(*p));
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
            !(failed = thread_create_masked(&p->thread, run_inspector, p)))
                return p;
        if (failed)
                (void)error_set(error, "cannot start a thread: %s", strerror(failed));
        release_inspecting(p);
        return NULL;
}

bool inspecting_is_done(struct inspecting *p)
{
        return atomic_load(&p->done);
}

void inspecting_finish(struct inspecting *p)
{
        atomic_store(&p->stop, INSPECTOR_STOP_FINISH);
}

char *inspecting_detach_text(struct inspecting *p)
{
        (void)pthread_mutex_lock(&p->lock);
        char *text = p->newest;
        p->newest = NULL;
        (void)pthread_mutex_unlock(&p->lock);
        return text;
}

bool inspecting_is_good(const struct inspecting *p, struct error *error)
{
        if (!p->good)
                *error = p->error;
        return p->good;
}

void inspecting_destroy(struct inspecting **ref)
{
        struct inspecting *p = *ref;

        *ref = NULL;
        if (!p)
                return;
        atomic_store(&p->stop, INSPECTOR_STOP_NOW);
        (void)pthread_join(p->thread, NULL);
        release_inspecting(p);
}
