/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * executor.h - executes plans, in order, and reports the outcome.
 *
 *      order ─▶ waiting ─▶ job: step, step, step ─▶ a report for each
 *
 * The steps of an order are done one after the other, also after a failed one.
 * Orders of one alert are done one after the other, too, so that its end never
 * overtakes its beginning; those of different alerts run in parallel,
 * EXECUTOR_JOBS_MAX at once. A step that is retried after a pause keeps its
 * place. Belongs to one event loop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "client/out/http/http.h"
#include "client/out/notify/alert_event.h"
#include "proto/wire/action_plan.h"

#define EXECUTOR_JOBS_MAX     16u         /* running at once */
#define EXECUTOR_WAITING_MAX  1000u       /* orders that wait; further ones are dropped, reported and counted */
#define EXECUTOR_RETRY_NS     1000000000u /* pause before the second attempt; doubles with each further one */
#define EXECUTOR_RETRY_MAX_NS 30000000000u

struct event_base;
struct executor;

struct executor_options {
        struct event_base *base;
        action_report_fn *report;
        /* All steps of an event are over, or it was dropped; not called for known ones. */
        void (*over)(void *ctx, const struct alert_event *event);
        void *ctx;
        uint64_t retry_ns;    /* 0: EXECUTOR_RETRY_NS */
        const char *endpoint; /* of the daemon, for its recordings; borrowed */
};

/* NULL when out of memory. */
struct executor *executor_new(const struct executor_options *options);

/* Kills what is running, drops what waits, reports nothing. */
void executor_destroy(struct executor **executor);

/*
 * One event to act on; event and plan are shared by reference. `known` says that
 * it was acted on before: only what keeps a state elsewhere (alertmanager) is
 * done again.
 */
void executor_add(struct executor *executor, const struct alert_event *event, struct action_plan *plan, bool known);

/*
 * While held, nothing is sent to Alertmanagers again: the daemon is silent, so the state of alerts is
 * unknown. They expire there.
 */
void executor_hold(struct executor *executor, bool held);

/*
 * exec.c: runs one program for one event, whatever it does.
 *
 * No shell. Standard input is the event as JSON (a memory file, which need not be
 * read), the environment has only HEAPWATCH_..., the working directory is /. Its
 * output is kept up to EXEC_OUTPUT_BYTES; beyond EXEC_FLOOD_BYTES it is killed. On
 * timeout, and also when it ends, all processes that it started are killed
 * (exec_child.c).
 *
 * Belongs to one event loop.
 */

#define EXEC_OUTPUT_BYTES 4096u      /* of its output that are kept */
#define EXEC_FLOOD_BYTES  (1u << 20) /* of its output; beyond that it is killed */

struct error;
struct exec;

struct exec_result {
        bool ok; /* it exited by itself with status 0 */
        bool timed_out;
        char detail[128];                   /* "exit status 3", "killed: no end within 10.0 s", "cannot start: ..." */
        char output[EXEC_OUTPUT_BYTES + 1]; /* unchanged, NUL-terminated: escape before showing */
        size_t output_size;
        uint64_t output_total; /* bytes of its output that were read */
};

typedef void exec_done_fn(void *ctx, const struct exec_result *result);

/*
 * Starts argv[0] (an absolute path). `done` is called once from the loop, when
 * the program and all that it started are gone; the exec is freed then. NULL
 * with a message in `error` when no process could be created.
 */
struct exec *exec_start(struct event_base *base, const char *const *argv, const struct alert_event *event,
                        uint64_t timeout_ns, exec_done_fn *done, void *ctx, struct error *error);

/* Kills it without calling `done`; clears the pointer. NULL allowed. */
void exec_cancel(struct exec **exec);

/*
 * exec_child.c: what happens in the forked process of one exec action.
 *
 *      notifier ─fork─▶ keeper ─fork─▶ the program ─▶ whatever it starts
 *
 * The keeper adopts every orphan below it (PR_SET_CHILD_SUBREAPER), so nothing
 * that the program starts can escape by forking twice or by making a session of
 * its own. When the program ends, or on SIGTERM, it kills everything that is
 * left and exits. It dies with the notifier, and the program dies with it.
 *
 * Only async-signal-safe calls: libcurl and ZeroMQ have threads in the
 * notifier.
 */

/* Everything is prepared before the fork. The three descriptors are above 3. */
struct exec_child {
        char *const *argv;
        char *const *env;
        int input, output; /* of the program: standard input; standard output and error */
        int report;        /* a pipe that gets one struct exec_report, two when the program could not start */
        int parent;        /* process id of the notifier */
};

enum exec_end {
        EXEC_NOT_STARTED, /* number: errno of execve */
        EXEC_EXITED,      /* number: its exit status */
        EXEC_SIGNALLED    /* number: the signal */
};

struct exec_report {
        enum exec_end end;
        int number;
};

/* Runs in the child of fork; never returns. */
noreturn void exec_child(const struct exec_child *c);

/*
 * resend.c: repeatedly sends the firing alerts to Alertmanagers.
 *
 * Alertmanager forgets a firing alert when its endsAt has passed, so every open
 * one is sent again each `resend_ns` with an endsAt RESEND_LIVES intervals
 * ahead, so alerts of a notifier that died expire. Alerts for the same
 * Alertmanager go in one request. A failed request is not repeated: the next
 * interval is soon enough. The first failure is logged, and the first success
 * after it.
 */

#define RESEND_LIVES     4u
#define RESEND_OPEN_MAX  4096u /* open alerts in total; further ones are only sent once, and counted */
#define RESEND_BATCH     64u   /* alerts in one request */
#define RESEND_PEERS_MAX 64u   /* different Alertmanagers */

struct resend;

/* `http` is borrowed. NULL when out of memory. */
struct resend *resend_new(struct event_base *base, struct http *http);
void resend_destroy(struct resend **r);

/* From now on `event`, which fires, is sent repeatedly to the Alertmanager of a step of its plan. False: no room. */
bool resend_open(struct resend *r, const struct alert_event *event, struct action_plan *plan,
                 const struct action_step *step);

/* Stops that; cancels a pending request with it, so that nothing overtakes the message of its end. */
void resend_close(struct resend *r, uint64_t fingerprint, const struct action_step *step);

/* The address that alerts are posted to, for a step's URL. ACTION_TEXT_MAX + 32 bytes are always enough. */
char *resend_url(char *out, size_t size, const char *base_url);

/* While held, nothing is sent again. */
void resend_hold(struct resend *r, bool held);
