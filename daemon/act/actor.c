/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a job is an order and the number of the step it is at. Every step
 * ends in step_over(), which reports and goes on with the next; no step calls
 * it from within its own start, other than through a zero timer, so that a
 * plan of failing steps is no recursion.
 *
 * Waiting orders stand in one list in order of coming. Whenever a job ends the
 * list is searched for the first whose alert no job is busy with.
 */
#include "daemon/act/actor.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/act/exec.h"
#include "daemon/act/http.h"
#include "daemon/act/json.h"
#include "daemon/act/resend.h"
#include "proto/base/clock.h"
#include "heapwatch/text.h"
#include "daemon/log.h"

struct job {
        struct actor *actor;
        struct job *next;
        struct notice *notice;
        struct act_plan *plan;
        bool known;
        uint32_t step, attempts;
        struct event *timer; /* goes on: with the next step, or with another attempt */
        struct exec *exec;   /* at most one of the two */
        struct http_request *request;
};

struct job_list {
        struct job *first, **end;
};

struct actor {
        struct actor_options options;
        struct http *http;
        struct resend *resend;
        struct job_list working, waiting;
        struct actor_stats stats;
};

static const struct act_step *step_of(const struct job *j)
{
        return act_plan_step(j->plan, j->step);
}

/* ------------------------------------------------------------------- lists */

static void list_init(struct job_list *l)
{
        l->first = NULL;
        l->end = &l->first;
}

static void list_append(struct job_list *l, struct job *j)
{
        j->next = NULL;
        *l->end = j;
        l->end = &j->next;
}

static void list_remove(struct job_list *l, struct job *j)
{
        struct job **link = &l->first;

        while (*link != j)
                link = &(*link)->next;
        *link = j->next;
        if (l->end == &j->next)
                l->end = link;
}

static void job_destroy(struct job *j)
{
        exec_cancel(&j->exec);
        http_cancel(&j->request);
        if (j->timer)
                event_free(j->timer);
        act_plan_unref(&j->plan);
        free(j->notice);
        free(j);
}

/* ----------------------------------------------------------------- reports */

static void report(struct job *j, enum act_outcome outcome, const char *detail)
{
        struct act_report r = {
                .fingerprint = j->notice->fingerprint,
                .state = j->notice->state,
                .step = j->step,
                .kind = step_of(j)->kind,
                .outcome = outcome,
                .attempts = j->attempts,
                .wall_ns = clock_wall_ns(),
        };

        (void)hw_terminal_text(r.detail, sizeof(r.detail), detail);
        j->actor->options.report(j->actor->options.ctx, &r);
}

static void log_failure(const struct job *j, const char *detail)
{
        char name[256], rule[128], why[256];

        act_step_text(name, sizeof(name), step_of(j));
        (void)hw_terminal_text(rule, sizeof(rule), j->notice->rule ? j->notice->rule : "");
        (void)hw_terminal_text(why, sizeof(why), detail);
        log_warning("alert=%s target=%s action=%s to=%s attempts=%" PRIu32 " failed: %s", rule, j->notice->target,
                    act_kind_name(step_of(j)->kind), name, j->attempts, why);
}

/* ------------------------------------------------------------------- steps */

static void start_waiting(struct actor *a);

/* Comes back to the job from the loop. */
static void go_on_after(struct job *j, uint64_t ns)
{
        struct timeval after = { .tv_sec = (time_t)(ns / 1000000000u),
                                 .tv_usec = (suseconds_t)(ns % 1000000000u / 1000) };

        if (evtimer_add(j->timer, &after) != 0)
                event_active(j->timer, EV_TIMEOUT, 0); /* out of memory: at once, rather than never */
}

/* The step at hand is over, in one way or the other. */
static void step_over(struct job *j, bool ok, const char *detail)
{
        j->actor->stats.done += ok;
        j->actor->stats.failed += !ok;
        if (!ok)
                log_failure(j, detail);
        report(j, ok ? ACT_DONE : ACT_FAILED, detail);
        j->step++;
        j->attempts = 0;
        go_on_after(j, 0);
}

static void try_again_or_give_up(struct job *j, bool again, const char *detail)
{
        uint64_t pause = j->actor->options.retry_ns;

        if (!again || j->attempts >= step_of(j)->attempts) {
                step_over(j, false, detail);
                return;
        }
        for (uint32_t i = 1; i < j->attempts && pause < ACTOR_RETRY_MAX_NS; i++)
                pause *= 2;
        j->actor->stats.retries++;
        go_on_after(j, pause < ACTOR_RETRY_MAX_NS ? pause : ACTOR_RETRY_MAX_NS);
}

static void do_log(struct job *j)
{
        const struct notice *n = j->notice;
        char rule[256], band[512], sentence[1024], line[2048];

        (void)hw_terminal_text(rule, sizeof(rule), n->rule ? n->rule : "");
        (void)hw_terminal_text(band, sizeof(band), n->band ? n->band : "");
        (void)hw_terminal_text(sentence, sizeof(sentence), n->sentence ? n->sentence : "");
        snprintf(line, sizeof(line), "alert=%s state=%s severity=%s target=%s%s%s value=\"%s\": %s", rule,
                 notice_state_name(n->state), notice_severity_name(n->severity), n->target, *band ? " band=" : "", band,
                 n->value_text ? n->value_text : "unknown", sentence);
        if (n->state == NOTICE_FIRING && n->severity == NOTICE_CRITICAL)
                log_error("%s", line);
        else if (n->state == NOTICE_FIRING && n->severity == NOTICE_WARNING)
                log_warning("%s", line);
        else
                log_info("%s", line);
        step_over(j, true, "logged");
}

static void on_exec_done(void *ctx, const struct exec_result *result)
{
        struct job *j = ctx;
        char detail[REPORT_DETAIL_MAX];
        size_t line = strcspn(result->output, "\n");

        j->exec = NULL;
        if (line > 0)
                snprintf(detail, sizeof(detail), "%s; it said: %.*s", result->detail, (int)(line < 160 ? line : 160),
                         result->output);
        else
                snprintf(detail, sizeof(detail), "%s", result->detail);
        if (result->ok)
                step_over(j, true, detail);
        else
                try_again_or_give_up(j, true, detail);
}

static void do_exec(struct job *j)
{
        const struct act_step *s = step_of(j);
        char error[256];

        j->exec = exec_start(j->actor->options.base, s->argv, j->notice, s->timeout_ns, on_exec_done, j, error,
                             sizeof(error));
        if (!j->exec)
                try_again_or_give_up(j, true, error);
}

static void on_http_done(void *ctx, const struct http_result *result)
{
        struct job *j = ctx;

        j->request = NULL;
        if (result->ok)
                step_over(j, true, result->detail);
        else
                try_again_or_give_up(j, result->again, result->detail);
}

/* Sends `body` (taken; NULL: out of memory). */
static void do_post(struct job *j, const char *url, char *body)
{
        const struct act_step *s = step_of(j);
        struct http_post post = { .url = url,
                                  .body = body,
                                  .bearer_file = s->bearer_file,
                                  .ca_file = s->ca_file,
                                  .timeout_ns = s->timeout_ns };
        char error[512] = "out of memory";

        if (body)
                j->request = http_start(j->actor->http, &post, on_http_done, j, error, sizeof(error));
        free(body);
        if (!j->request)
                try_again_or_give_up(j, true, error);
}

static void do_alertmanager(struct job *j)
{
        const struct notice *n = j->notice;
        const struct act_step *s = step_of(j);
        char url[ACT_TEXT_MAX + 32];
        uint64_t now = clock_wall_ns();

        if (n->state == NOTICE_RESOLVED)
                resend_close(j->actor->resend, n->fingerprint, s);
        else if (!resend_open(j->actor->resend, n, s))
                log_warning("alertmanager: too many alerts fire; one is sent once only");
        do_post(j, resend_url(url, sizeof(url), s->url),
                json_alertmanager(&n, 1, now, now + RESEND_LIVES * s->resend_ns));
}

static void attempt(struct job *j)
{
        j->attempts++;
        switch (step_of(j)->kind) {
        case ACT_LOG:
                do_log(j);
                return;
        case ACT_EXEC:
                do_exec(j);
                return;
        case ACT_WEBHOOK:
                do_post(j, step_of(j)->url, json_webhook(j->notice));
                return;
        case ACT_ALERTMANAGER:
                do_alertmanager(j);
                return;
        case ACT_CENSUS: /* a plan cannot hold these two yet: act_plan_add refuses them */
        case ACT_DUMP:
        case ACT_PUBLISH:
        case ACT_KINDS:
                break;
        }
        step_over(j, true, "published");
}

/* -------------------------------------------------------------------- jobs */

static bool has_to_be_done(const struct job *j)
{
        return act_step_applies(step_of(j), j->notice->state == NOTICE_RESOLVED, j->known);
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
        struct job *j = ctx;
        struct actor *a = j->actor;

        (void)fd;
        (void)what;
        while (j->step < act_plan_steps(j->plan) && !has_to_be_done(j))
                j->step++;
        if (j->step < act_plan_steps(j->plan)) {
                attempt(j);
                return;
        }
        list_remove(&a->working, j);
        a->stats.working--;
        job_destroy(j);
        start_waiting(a);
}

static bool is_busy(const struct actor *a, uint64_t fingerprint)
{
        for (const struct job *j = a->working.first; j; j = j->next)
                if (j->notice->fingerprint == fingerprint)
                        return true;
        return false;
}

static void start_waiting(struct actor *a)
{
        struct job *next;

        for (struct job *j = a->waiting.first; j && a->stats.working < ACTOR_JOBS_MAX; j = next) {
                next = j->next;
                if (is_busy(a, j->notice->fingerprint))
                        continue;
                list_remove(&a->waiting, j);
                a->stats.waiting--;
                list_append(&a->working, j);
                a->stats.working++;
                go_on_after(j, 0);
        }
}

static void drop(struct job *j, const char *why)
{
        j->actor->stats.dropped++;
        log_warning("alert of target=%s: actions %s", j->notice->target, why);
        for (j->step = 0; j->step < act_plan_steps(j->plan); j->step++)
                if (has_to_be_done(j))
                        report(j, ACT_SKIPPED, why);
        job_destroy(j);
}

void actor_take(struct actor *a, struct notice *notice, struct act_plan *plan, bool known)
{
        struct job *j = calloc(1, sizeof(*j));

        a->stats.taken++;
        if (!j) {
                a->stats.dropped++;
                free(notice);
                return;
        }
        j->actor = a;
        j->notice = notice;
        j->plan = act_plan_ref(plan);
        j->known = known;
        j->timer = evtimer_new(a->options.base, on_turn, j);
        if (!j->timer) {
                drop(j, "not done: out of memory");
        } else if (a->stats.waiting >= ACTOR_WAITING_MAX) {
                drop(j, "not done: too many wait already");
        } else {
                list_append(&a->waiting, j);
                a->stats.waiting++;
                start_waiting(a);
        }
}

const struct actor_stats *actor_stats(const struct actor *a)
{
        return &a->stats;
}

struct actor *actor_new(const struct actor_options *options)
{
        struct actor *a = calloc(1, sizeof(*a));

        if (!a)
                return NULL;
        a->options = *options;
        if (!a->options.retry_ns)
                a->options.retry_ns = ACTOR_RETRY_NS;
        list_init(&a->working);
        list_init(&a->waiting);
        a->http = http_new(options->base);
        a->resend = a->http ? resend_new(options->base, a->http) : NULL;
        if (!a->resend)
                actor_destroy(&a);
        return a;
}

void actor_destroy(struct actor **ap)
{
        struct actor *a = *ap;
        struct job *j;

        *ap = NULL;
        if (!a)
                return;
        while ((j = a->working.first)) {
                list_remove(&a->working, j);
                job_destroy(j);
        }
        while ((j = a->waiting.first)) {
                list_remove(&a->waiting, j);
                job_destroy(j);
        }
        resend_destroy(&a->resend);
        http_destroy(&a->http);
        free(a);
}
