/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: three kinds of message go to the worker (order, file, stop) and two
 * come back (report, written). Stop is a message like the others, so all that
 * was posted before it has been begun by then. Signals are for the main
 * thread: the worker starts with all of them blocked.
 */
#include "daemon/act/worker.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/act/actor.h"
#include "daemon/act/file.h"
#include "daemon/act/mailbox.h"
#include "daemon/log.h"

enum what { WHAT_ORDER, WHAT_FILE, WHAT_STOP, WHAT_REPORT, WHAT_WRITTEN };

struct message {
        enum what what;
        struct notice *notice;
        struct act_plan *plan;
        bool known;
        char *path, *text;
        struct act_report report;
        char error[256]; /* WRITTEN: empty when all went well */
};

struct worker {
        struct worker_options options;
        pthread_t thread;
        struct event_base *base; /* of the thread */
        struct actor *actor;
        struct mailbox *orders, *reports;
        bool running;
};

static void message_destroy(void *ctx)
{
        struct message *m = ctx;

        free(m->notice);
        act_plan_unref(&m->plan);
        free(m->path);
        free(m->text);
        free(m);
}

/* -------------------------------------------------------- in the worker */

static void send_back(struct worker *w, const struct message *draft)
{
        struct message *m = malloc(sizeof(*m));

        if (m)
                *m = *draft;
        if (m && mailbox_post(w->reports, m) == 0)
                return;
        free(m);
        log_warning("actions: a result was lost: the daemon's loop does not take them");
}

static void on_report(void *ctx, const struct act_report *report)
{
        const struct message m = { .what = WHAT_REPORT, .report = *report };

        send_back(ctx, &m);
}

static void write_file(struct worker *w, const struct message *order)
{
        struct message m = { .what = WHAT_WRITTEN };
        int err = file_write(order->path, order->text, strlen(order->text));

        if (err < 0)
                snprintf(m.error, sizeof(m.error), "%s", strerror(-err));
        send_back(w, &m);
}

static void receive_order(void *ctx, void *message)
{
        struct worker *w = ctx;
        struct message *m = message;

        switch (m->what) {
        case WHAT_ORDER:
                actor_take(w->actor, m->notice, m->plan, m->known);
                m->notice = NULL;
                break;
        case WHAT_FILE:
                write_file(w, m);
                break;
        case WHAT_STOP:
        case WHAT_REPORT:
        case WHAT_WRITTEN:
                (void)event_base_loopbreak(w->base);
                break;
        }
        message_destroy(m);
}

static void *work(void *ctx)
{
        struct worker *w = ctx;

        (void)event_base_dispatch(w->base);
        actor_destroy(&w->actor); /* here: its processes die with the thread that made them */
        return NULL;
}

/* ------------------------------------------------------- in the main loop */

static void receive_report(void *ctx, void *message)
{
        struct worker *w = ctx;
        struct message *m = message;

        if (m->what == WHAT_REPORT)
                w->options.report(w->options.ctx, &m->report);
        else
                w->options.written(w->options.ctx, m->error[0] ? m->error : NULL);
        message_destroy(m);
}

static int post(struct worker *w, struct message *m)
{
        int err = mailbox_post(w->orders, m);

        if (err < 0)
                message_destroy(m);
        return err;
}

int worker_act(struct worker *w, const struct notice *notice, struct act_plan *plan, bool known)
{
        struct message *m = calloc(1, sizeof(*m));

        if (!m)
                return -ENOMEM;
        m->what = WHAT_ORDER;
        m->known = known;
        m->notice = notice_copy(notice);
        m->plan = act_plan_ref(plan);
        if (m->notice)
                return post(w, m);
        message_destroy(m);
        return -ENOMEM;
}

int worker_write(struct worker *w, const char *path, char *text)
{
        struct message *m = calloc(1, sizeof(*m));

        if (!m) {
                free(text);
                return -ENOMEM;
        }
        m->what = WHAT_FILE;
        m->text = text;
        m->path = strdup(path);
        if (m->path)
                return post(w, m);
        message_destroy(m);
        return -ENOMEM;
}

/* ------------------------------------------------------------- start, end */

static bool start_thread(struct worker *w)
{
        sigset_t all, before;

        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        w->running = pthread_create(&w->thread, NULL, work, w) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        return w->running;
}

struct worker *worker_new(const struct worker_options *options)
{
        struct worker *w = calloc(1, sizeof(*w));

        if (!w)
                return NULL;
        w->options = *options;
        w->base = event_base_new();
        if (w->base) {
                const struct mailbox_options in = { .base = w->base,
                                                    .capacity = WORKER_ORDERS_MAX,
                                                    .ctx = w,
                                                    .receive = receive_order,
                                                    .discard = message_destroy };
                const struct mailbox_options out = { .base = options->base,
                                                     .capacity = WORKER_REPORTS_MAX,
                                                     .ctx = w,
                                                     .receive = receive_report,
                                                     .discard = message_destroy };
                const struct actor_options actor = {
                        .base = w->base, .report = on_report, .ctx = w, .retry_ns = options->retry_ns
                };
                w->orders = mailbox_new(&in);
                w->reports = mailbox_new(&out);
                w->actor = actor_new(&actor);
        }
        if (!w->orders || !w->reports || !w->actor || !start_thread(w))
                worker_destroy(&w);
        return w;
}

/* False when the thread does not end: then nothing of it may be touched any more. */
static bool stop_thread(struct worker *w)
{
        struct message *m = calloc(1, sizeof(*m));
        const struct timespec pause = { .tv_nsec = 10000000 };
        struct timespec end;

        if (!m)
                return false;
        m->what = WHAT_STOP;
        (void)clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += WORKER_STOP_S;
        for (int i = 0; mailbox_post(w->orders, m) < 0; i++) {
                if (i == WORKER_STOP_S * 100) {
                        free(m);
                        return false;
                }
                (void)nanosleep(&pause, NULL); /* the daemon has stopped reading: waiting hurts nobody now */
        }
        return pthread_timedjoin_np(w->thread, NULL, &end) == 0;
}

void worker_destroy(struct worker **wp)
{
        struct worker *w = *wp;

        *wp = NULL;
        if (!w)
                return;
        if (w->running && !stop_thread(w)) {
                log_warning("actions: one hangs in the kernel; it is left behind");
                return;
        }
        actor_destroy(&w->actor);
        mailbox_destroy(&w->orders);
        mailbox_destroy(&w->reports);
        if (w->base)
                event_base_free(w->base);
        free(w);
}
