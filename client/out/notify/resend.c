/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a peer is an Alertmanager as a step names it (URL, token file,
 * authorities, interval); it has a timer and a list of open alerts. When the
 * timer fires, the list is sent in batches, one request after the other, so
 * that a peer never uses more than one connection for it.
 */
#include "client/out/notify/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/notify/alert_event.h"
#include "proto/base/clock.h"
#include "client/cli/report.h"
#include "proto/base/error.h"
#include "proto/base/event.h"
#include "proto/base/text_out.h"

static const char path[] = "/api/v2/alerts";

struct resent_alert {
        struct resent_alert *next;
        struct alert_event *event;
};

struct peer {
        struct resend *resend;
        struct action_plan *plan;       /* a reference, for: */
        const struct action_step *step; /* the first that named it */
        struct event *timer;
        struct resent_alert *open;
        struct resent_alert *unsent;  /* where the next batch of this round begins */
        struct http_request *request; /* pending, or NULL */
        bool failing;
        long status; /* HTTP's, of the failure that was logged last; 0: no answer, -1: not sent */
};

struct resend {
        struct event_base *base;
        struct http *http;
        struct peer *peers[RESEND_PEERS_MAX];
        size_t n_peers;
        bool held;
        size_t n_open; /* alerts, of all peers */
};

char *resend_url(char *out, size_t size, const char *base_url)
{
        size_t n = strlen(base_url), tail = sizeof(path) - 1;

        while (n > 0 && base_url[n - 1] == '/')
                n--;
        if (n >= tail && !strncmp(base_url + n - tail, path, tail))
                n -= tail;
        snprintf(out, size, "%.*s%s", (int)n, base_url, path);
        return out;
}

/* ------------------------------------------------------------------ rounds */

static void send_batch(struct peer *p);

static void report_peer(struct peer *p, bool ok, long status, const char *detail)
{
        char name[256];

        if (ok == !p->failing && (ok || status == p->status))
                return;
        p->failing = !ok;
        p->status = status;
        action_step_text(name, sizeof(name), p->step);
        if (ok)
                report_info("alertmanager=%s accepts alerts again", name);
        else
                report_warning("alertmanager=%s does not accept alerts: %s; they will be sent again", name, detail);
}

static void on_sent(void *ctx, const struct http_result *result)
{
        struct peer *p = ctx;

        p->request = NULL;
        report_peer(p, result->ok, result->status, result->detail);
        if (result->ok)
                send_batch(p);
}

static void send_batch(struct peer *p)
{
        const struct alert_event *batch[RESEND_BATCH];
        char url[ACTION_TEXT_MAX + 32];
        struct error error = { "out of memory" };
        uint64_t now = clock_wall_ns();
        size_t n = 0;

        for (; p->unsent && n < RESEND_BATCH; p->unsent = p->unsent->next)
                batch[n++] = p->unsent->event;
        if (n == 0)
                return;
        char *body = json_alertmanager(batch, n, now, now + RESEND_LIVES * p->step->resend_ns);
        struct http_post post = { .url = resend_url(url, sizeof(url), p->step->url),
                                  .body = body,
                                  .size = body ? strlen(body) : 0,
                                  .type = HTTP_JSON,
                                  .bearer_file = p->step->bearer_file,
                                  .ca_file = p->step->ca_file,
                                  .timeout_ns = p->step->timeout_ns };
        if (body)
                p->request = http_start(p->resend->http, &post, on_sent, p, &error);
        if (!p->request)
                report_peer(p, false, -1, error.text);
        free(body);
}

static void arm_peer(struct peer *p)
{
        const struct timeval after = timeval_of_ns(p->step->resend_ns);

        if (p->open && !evtimer_pending(p->timer, NULL))
                (void)evtimer_add(p->timer, &after); /* if out of memory, the next open alert retries */
}

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
        struct peer *p = ctx;

        if (!p->request && !p->resend->held) {
                p->unsent = p->open;
                send_batch(p);
        }
        arm_peer(p);
}

/* ------------------------------------------------------------------- peers */

static struct peer *find_peer(const struct resend *r, const struct action_step *s)
{
        for (size_t i = 0; i < r->n_peers; i++) {
                const struct action_step *of = r->peers[i]->step;
                if (text_is_same(of->url, s->url) && text_is_same(of->bearer_file, s->bearer_file) &&
                    text_is_same(of->ca_file, s->ca_file) && of->resend_ns == s->resend_ns)
                        return r->peers[i];
        }
        return NULL;
}

static void peer_destroy(struct peer *p)
{
        struct resent_alert *a;

        http_cancel(&p->request);
        while ((a = p->open)) {
                p->open = a->next;
                alert_event_unref(&a->event);
                free(a);
        }
        free_event(&p->timer);
        action_plan_unref(&p->plan);
        free(p);
}

static struct peer *peer_new(struct resend *r, struct action_plan *plan, const struct action_step *s)
{
        struct peer *p = r->n_peers < RESEND_PEERS_MAX ? calloc(1, sizeof(*p)) : NULL;

        if (!p)
                return NULL;
        p->resend = r;
        p->plan = action_plan_ref(plan);
        p->step = s;
        p->timer = evtimer_new(r->base, on_time, p);
        if (p->timer)
                return r->peers[r->n_peers++] = p;
        peer_destroy(p);
        return NULL;
}

/* A peer without alerts is useless, and its place may be needed after a reload. */
static void drop_if_empty(struct resend *r, struct peer *p)
{
        if (p->open)
                return;
        for (size_t i = 0; i < r->n_peers; i++)
                if (r->peers[i] == p)
                        r->peers[i] = r->peers[--r->n_peers];
        peer_destroy(p);
}

/* ------------------------------------------------------------------ alerts */

static bool remove_alert(struct resend *r, struct peer *p, uint64_t fingerprint)
{
        for (struct resent_alert **link = &p->open; *link; link = &(*link)->next) {
                struct resent_alert *a = *link;
                if (a->event->fingerprint != fingerprint)
                        continue;
                http_cancel(&p->request);
                p->unsent = NULL;
                *link = a->next;
                alert_event_unref(&a->event);
                free(a);
                r->n_open--;
                return true;
        }
        return false;
}

bool resend_open(struct resend *r, const struct alert_event *event, struct action_plan *plan,
                 const struct action_step *step)
{
        struct peer *p = find_peer(r, step);
        struct resent_alert *a = NULL;

        if (p)
                (void)remove_alert(r, p, event->fingerprint);
        else
                p = peer_new(r, plan, step);
        if (p && r->n_open < RESEND_OPEN_MAX)
                a = calloc(1, sizeof(*a));
        if (!a) {
                if (p)
                        drop_if_empty(r, p);
                return false;
        }
        a->event = alert_event_ref(event);
        a->next = p->open;
        p->open = a;
        r->n_open++;
        arm_peer(p);
        return true;
}

void resend_close(struct resend *r, uint64_t fingerprint, const struct action_step *step)
{
        struct peer *p = find_peer(r, step);

        if (p && remove_alert(r, p, fingerprint))
                drop_if_empty(r, p);
}

struct resend *resend_new(struct event_base *base, struct http *http)
{
        struct resend *r = calloc(1, sizeof(*r));

        if (r) {
                r->base = base;
                r->http = http;
        }
        return r;
}

void resend_hold(struct resend *r, bool held)
{
        r->held = held;
}

void resend_destroy(struct resend **rp)
{
        struct resend *r = *rp;

        *rp = NULL;
        if (!r)
                return;
        while (r->n_peers > 0)
                peer_destroy(r->peers[--r->n_peers]);
        free(r);
}
