/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a job is an order and the number of its current step. Every step ends
 * in step_over(), which reports and continues with the next; a step never calls
 * it from within its own start, except through a zero timer, so that a plan of
 * failing steps does not recurse.
 *
 * Waiting orders are in one list in order of arrival. Whenever a job ends, the
 * list is searched for the first order whose alert has no job.
 */
#include "client/out/notify/executor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "client/out/http/http.h"
#include "client/out/notify/alert_event.h"
#include "proto/base/clock.h"
#include "proto/base/event.h"
#include "proto/base/sibling.h"
#include "client/cli/report.h"
#include "proto/base/error.h"
#include "proto/base/utf8.h"

struct job {
        struct executor *executor;
        TAILQ_ENTRY(job) link;
        struct alert_event *event;
        struct action_plan *plan;
        bool known;
        uint32_t step, attempts;
        struct event *timer; /* for the next step, or for another attempt */
        struct exec *exec;   /* at most one of the two */
        struct http_request *request;
};

TAILQ_HEAD(job_list, job);

struct executor {
        struct executor_options options;
        struct http *http;
        struct resend *resend;
        struct job_list working, waiting;
        uint32_t n_working, n_waiting;
        unsigned whys; /* under way */
};

#define WHY_TURN_NS UINT64_C(1000000000) /* between two looks whether it is one's turn */

static const struct action_step *step_of(const struct job *j)
{
        return action_plan_step(j->plan, j->step);
}

static void job_destroy(struct job *j)
{
        exec_cancel(&j->exec);
        http_cancel(&j->request);
        free_event(&j->timer);
        action_plan_unref(&j->plan);
        alert_event_unref(&j->event);
        free(j);
}

/* ----------------------------------------------------------------- reports */

static void report_outcome(struct job *j, enum action_outcome outcome, const char *detail)
{
        struct action_report r = {
                .fingerprint = j->event->fingerprint,
                .resolved = j->event->resolved,
                .step = j->step,
                .kind = step_of(j)->kind,
                .outcome = outcome,
                .attempts = j->attempts,
                .wall_ns = clock_wall_ns(),
        };

        (void)safe_text(r.detail, sizeof(r.detail), detail);
        j->executor->options.report(j->executor->options.ctx, &r);
}

/* ------------------------------------------------------------------- steps */

static void start_waiting(struct executor *a);

/* Continues the job from the loop. */
static void continue_after(struct job *j, uint64_t ns)
{
        const struct timeval after = timeval_of_ns(ns);

        if (evtimer_add(j->timer, &after) != 0)
                event_active(j->timer, EV_TIMEOUT, 0); /* when out of memory: at once, rather than never */
}

/* The current step is over, successful or not. */
static void step_over(struct job *j, bool ok, const char *detail)
{
        if (!ok) {
                char name[256];

                action_step_text(name, sizeof(name), step_of(j));
                report_warning("alert=%s target=%s action=%s to=%s attempts=%" PRIu32 " failed: %s",
                               SAFE_TEXT(128, alert_event_text(j->event, "alert")),
                               alert_event_text(j->event, "target"), action_kind_name(step_of(j)->kind), name,
                               j->attempts, SAFE_TEXT(256, detail));
        }
        report_outcome(j, ok ? OUTCOME_DONE : OUTCOME_FAILED, detail);
        j->step++;
        j->attempts = 0;
        continue_after(j, 0);
}

static void retry_or_abort(struct job *j, bool again, const char *detail)
{
        uint64_t pause = j->executor->options.retry_ns;

        if (!again || j->attempts >= step_of(j)->attempts) {
                step_over(j, false, detail);
                return;
        }
        for (uint32_t i = 1; i < j->attempts && pause < EXECUTOR_RETRY_MAX_NS; i++)
                pause *= 2;
        continue_after(j, pause < EXECUTOR_RETRY_MAX_NS ? pause : EXECUTOR_RETRY_MAX_NS);
}

static bool is_severe(const struct alert_event *e, const char *severity)
{
        return !e->resolved && !strcmp(alert_event_text(e, "severity"), severity);
}

/* A text of the event as it is shown; `unknown` where there is none. */
static const char *copy_shown(char *out, size_t size, const struct alert_event *e, const char *name,
                              const char *unknown)
{
        const char *text = alert_event_text(e, name);

        return safe_text(out, size, text ? text : unknown);
}

static void do_log(struct job *j)
{
        const struct alert_event *e = j->event;
        char rule[256], band[512], severity[32], value[128], sentence[1024];
        void (*say)(const char *format, ...) = report_info;

        if (is_severe(e, "critical"))
                say = report_error;
        else if (is_severe(e, "warning"))
                say = report_warning;
        (void)copy_shown(band, sizeof(band), e, "band", "");
        say("alert=%s state=%s severity=%s target=%s%s%s value=\"%s\": %s",
            copy_shown(rule, sizeof(rule), e, "alert", ""), alert_event_text(e, "status"),
            copy_shown(severity, sizeof(severity), e, "severity", "unknown"), alert_event_text(e, "target"),
            *band ? " band=" : "", band, copy_shown(value, sizeof(value), e, "valueText", "unknown"),
            copy_shown(sentence, sizeof(sentence), e, "sentence", ""));
        step_over(j, true, "logged");
}

static void on_exec_done(void *ctx, const struct exec_result *result)
{
        struct job *j = ctx;
        char detail[REPORT_DETAIL_MAX];
        const char *output = result->output;

        if (!strncmp(output, "heapwatch why: ", 15)) /* the result says what it is of */
                output += 15;
        const bool is_dumped = result->ok && step_of(j)->kind == ACTION_DUMP;
        size_t line = strcspn(output, "\n");
        for (; is_dumped && output[line] && output[line + 1]; line = strcspn(output, "\n"))
                output += line + 1; /* the bundle's path is printed last, after what could not be in it */
        j->exec = NULL;
        if (step_of(j)->kind == ACTION_WHY)
                j->executor->whys--;
        if (line > 0 && (is_dumped || step_of(j)->kind == ACTION_WHY || step_of(j)->kind == ACTION_CENSUS ||
                         step_of(j)->kind == ACTION_PROGRAM))
                snprintf(detail, sizeof(detail), "%.*s", (int)line, output);
        else if (line > 0)
                snprintf(detail, sizeof(detail), "%s; it said: %.*s", result->detail, (int)(line < 160 ? line : 160),
                         output);
        else
                snprintf(detail, sizeof(detail), "%s", result->detail);
        if (result->ok && !strncmp(detail, ACTION_NOT_DONE, strlen(ACTION_NOT_DONE))) {
                /* A command has left its action out, and said why: neither done nor failed. */
                j->attempts = 0;
                report_outcome(j, OUTCOME_SKIPPED, detail);
                j->step++;
                continue_after(j, 0);
        } else if (result->ok)
                step_over(j, true, detail);
        else
                retry_or_abort(j, true, detail);
}

static void do_exec(struct job *j)
{
        const struct action_step *s = step_of(j);
        struct error error;

        j->exec = exec_start(j->executor->options.base, s->argv, j->event, s->timeout_ns, on_exec_done, j, &error);
        if (!j->exec)
                retry_or_abort(j, true, error.text);
}

/* A command of ours does it, as a program of its own: it may wait for what is to come, and for a disk. */
static void do_command(struct job *j, const char *const *words, const char *const *operands)
{
        const struct action_step *s = step_of(j);
        const char *argv[ACTION_ARGV_MAX + 16];
        char self[4096];
        struct error error;
        size_t n = 0;

        sibling_program("heapwatch", self, sizeof(self));
        argv[n++] = self;
        while (*words)
                argv[n++] = *words++;
        if (j->executor->options.endpoint) {
                argv[n++] = "--connect";
                argv[n++] = j->executor->options.endpoint;
        }
        for (size_t i = 0; s->kind != ACTION_PROGRAM && s->argv && s->argv[i] && i < ACTION_ARGV_MAX; i++)
                argv[n++] = s->argv[i];
        argv[n++] = "--"; /* a band may be called anything */
        while (*operands)
                argv[n++] = *operands++;
        argv[n] = NULL;
        j->exec = exec_start(j->executor->options.base, argv, j->event, s->timeout_ns, on_exec_done, j, &error);
        if (!j->exec)
                retry_or_abort(j, true, error.text);
}

/* One at a time: each needs a processor, and memory as its program has it. */
static void do_why(struct job *j)
{
        if (j->executor->whys > 0) {
                j->attempts--;
                continue_after(j, WHY_TURN_NS);
                return;
        }
        do_command(j,
                   (const char *const[]){ "why", "--brief", "--max-pause", ACTION_WHY_PAUSE, "--memory",
                                          ACTION_WHY_MEMORY, NULL },
                   (const char *const[]){ alert_event_text(j->event, "target"), alert_event_text(j->event, "band"),
                                          NULL });
        j->executor->whys += j->exec != NULL;
}

static void on_http_done(void *ctx, const struct http_result *result)
{
        struct job *j = ctx;

        j->request = NULL;
        if (result->ok)
                step_over(j, true, result->detail);
        else
                retry_or_abort(j, result->again, result->detail);
}

/* Sends `body` (taken; NULL: out of memory). */
static void do_post(struct job *j, const char *url, char *body)
{
        const struct action_step *s = step_of(j);
        struct http_post post = { .url = url,
                                  .body = body,
                                  .size = body ? strlen(body) : 0,
                                  .type = HTTP_JSON,
                                  .bearer_file = s->bearer_file,
                                  .ca_file = s->ca_file,
                                  .timeout_ns = s->timeout_ns };
        struct error error = { "out of memory" };

        if (body)
                j->request = http_start(j->executor->http, &post, on_http_done, j, &error);
        free(body);
        if (!j->request)
                retry_or_abort(j, true, error.text);
}

static void do_alertmanager(struct job *j)
{
        const struct alert_event *e = j->event;
        const struct action_step *s = step_of(j);
        char url[ACTION_TEXT_MAX + 32];
        uint64_t now = clock_wall_ns();

        if (e->resolved)
                resend_close(j->executor->resend, e->fingerprint, s);
        else if (!resend_open(j->executor->resend, e, j->plan, s))
                report_warning("alertmanager: too many alerts fire; one is only sent once");
        do_post(j, resend_url(url, sizeof(url), s->url),
                json_alertmanager(&e, 1, now, now + RESEND_LIVES * s->resend_ns));
}

static void attempt_step(struct job *j)
{
        j->attempts++;
        switch (step_of(j)->kind) {
        case ACTION_LOG:
                do_log(j);
                return;
        case ACTION_EXEC:
                do_exec(j);
                return;
        case ACTION_WEBHOOK:
                do_post(j, step_of(j)->url, json_webhook(j->event));
                return;
        case ACTION_ALERTMANAGER:
                do_alertmanager(j);
                return;
        case ACTION_DUMP:
                do_command(j, (const char *const[]){ "recording", "bundle", "--alert=-", NULL },
                           (const char *const[]){ alert_event_text(j->event, "target"), NULL });
                return;
        case ACTION_WHY:
                do_why(j);
                return;
        case ACTION_CENSUS:
                do_command(j, (const char *const[]){ "ctl", NULL },
                           (const char *const[]){ "census", alert_event_text(j->event, "target"), NULL });
                return;
        case ACTION_PROGRAM:
                do_command(j, (const char *const[]){ "ctl", NULL },
                           (const char *const[]){ "program", alert_event_text(j->event, "target"), step_of(j)->argv[0],
                                                  NULL });
                return;
        case ACTION_PUBLISH:
        case ACTION_KINDS:
                break;
        }
        step_over(j, true, "published");
}

/* -------------------------------------------------------------------- jobs */

static bool has_to_be_done(const struct job *j)
{
        return action_step_applies(step_of(j), j->event->resolved, j->known);
}

static void report_over(const struct job *j)
{
        if (!j->known)
                j->executor->options.over(j->executor->options.ctx, j->event);
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
        struct job *j = ctx;
        struct executor *a = j->executor;

        while (j->step < action_plan_steps(j->plan) && !has_to_be_done(j))
                j->step++;
        if (j->step < action_plan_steps(j->plan)) {
                attempt_step(j);
                return;
        }
        TAILQ_REMOVE(&a->working, j, link);
        a->n_working--;
        report_over(j);
        job_destroy(j);
        start_waiting(a);
}

static bool is_busy(const struct executor *a, uint64_t fingerprint)
{
        for (const struct job *j = TAILQ_FIRST(&a->working); j; j = TAILQ_NEXT(j, link))
                if (j->event->fingerprint == fingerprint)
                        return true;
        return false;
}

static void start_waiting(struct executor *a)
{
        struct job *next;

        for (struct job *j = TAILQ_FIRST(&a->waiting); j && a->n_working < EXECUTOR_JOBS_MAX; j = next) {
                next = TAILQ_NEXT(j, link);
                if (is_busy(a, j->event->fingerprint))
                        continue;
                TAILQ_REMOVE(&a->waiting, j, link);
                a->n_waiting--;
                TAILQ_INSERT_TAIL(&a->working, j, link);
                a->n_working++;
                continue_after(j, 0);
        }
}

static void drop_job(struct job *j, const char *why)
{
        report_warning("alert of target=%s: actions %s", alert_event_text(j->event, "target"), why);
        for (j->step = 0; j->step < action_plan_steps(j->plan); j->step++)
                if (has_to_be_done(j))
                        report_outcome(j, OUTCOME_SKIPPED, why);
        report_over(j);
        job_destroy(j);
}

void executor_add(struct executor *a, const struct alert_event *event, struct action_plan *plan, bool known)
{
        struct job *j = calloc(1, sizeof(*j));

        if (!j) {
                report_warning("alert of target=%s: actions not done: out of memory",
                               alert_event_text(event, "target"));
                return;
        }
        j->executor = a;
        j->event = alert_event_ref(event);
        j->plan = action_plan_ref(plan);
        j->known = known;
        j->timer = evtimer_new(a->options.base, on_turn, j);
        if (!j->timer) {
                drop_job(j, "not done: out of memory");
        } else if (a->n_waiting >= EXECUTOR_WAITING_MAX) {
                drop_job(j, "not done: too many wait already");
        } else {
                TAILQ_INSERT_TAIL(&a->waiting, j, link);
                a->n_waiting++;
                start_waiting(a);
        }
}

void executor_hold(struct executor *a, bool held)
{
        resend_hold(a->resend, held);
}

struct executor *executor_new(const struct executor_options *options)
{
        struct executor *a = calloc(1, sizeof(*a));

        if (!a)
                return NULL;
        a->options = *options;
        if (!a->options.retry_ns)
                a->options.retry_ns = EXECUTOR_RETRY_NS;
        TAILQ_INIT(&a->working);
        TAILQ_INIT(&a->waiting);
        a->http = http_new(options->base);
        a->resend = a->http ? resend_new(options->base, a->http) : NULL;
        if (!a->resend)
                executor_destroy(&a);
        return a;
}

void executor_destroy(struct executor **ap)
{
        struct executor *a = *ap;
        struct job *j;

        *ap = NULL;
        if (!a)
                return;
        while ((j = TAILQ_FIRST(&a->working))) {
                TAILQ_REMOVE(&a->working, j, link);
                job_destroy(j);
        }
        while ((j = TAILQ_FIRST(&a->waiting))) {
                TAILQ_REMOVE(&a->waiting, j, link);
                job_destroy(j);
        }
        resend_destroy(&a->resend);
        http_destroy(&a->http);
        free(a);
}
