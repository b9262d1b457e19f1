/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_history.c - histories of many series in one answer.
 *
 * DESIGN: one job per request. All its queries go to the daemons at once; each
 * reply fills its place; the last one sends the answer. If the browser has
 * disconnected meanwhile, libevent just frees the reply.
 *
 * Bands and their total are answered for the same censuses, so that they can be
 * added: the total is requested after the bands, and all are aligned with its
 * points (past_align). A daemon keeps up to 64 of them, for the whole run. From
 * this server's own first census on, its own data is finer; a daemon's point
 * that reaches into it is left out.
 */
#include "client/web/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/history/history.h"
#include "client/out/http/answer.h"
#include "client/web/history_query.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

#define CACHE_MS       1000
#define CACHE_ENTRIES  32
#define CACHE_BYTES    ((size_t)4 << 20) /* of one answer; larger ones are not cached */
#define CACHE_QUERY    1024              /* the same for queries */
#define REQUESTS_PER_S 60.0
#define ITEMS_PER_S    2000.0 /* queries to daemons; a daemon takes some 20 us for one */

enum { ITEMS_MOST = QUERY_ITEMS + QUERY_TARGETS }; /* those requested, and totals besides */

struct token_bucket {
        double tokens;
        uint64_t at_ms;
};

struct cached {
        char query[CACHE_QUERY];
        char *text;
        size_t size;
        uint64_t at_ms;
};

struct api_history {
        struct world *world;
        struct hw_requester *requester; /* NULL: of files */
        struct token_bucket requests, items;
        struct cached cache[CACHE_ENTRIES];
        size_t next;
};

struct place {
        struct job *job;
        struct wanted *wanted;
        bool hidden; /* a total that was not requested */
        struct past past;
        const char *error; /* static, or `refusal` */
        char refusal[160];
};

struct job {
        struct api_history *api_history;
        struct evhttp_request *req;
        char *query;
        struct wanted wanted[ITEMS_MOST];
        struct place places[ITEMS_MOST];
        size_t n, open;
};

/* Takes `cost` out of a bucket that holds two seconds' worth. False: it is empty. */
static bool afford_cost(struct token_bucket *b, double per_s, double cost)
{
        uint64_t now = clock_mono_ms();

        b->tokens += (double)(now - b->at_ms) / 1000 * per_s;
        b->at_ms = now;
        if (b->tokens > 2 * per_s)
                b->tokens = 2 * per_s;
        if (b->tokens < cost)
                return false;
        b->tokens -= cost;
        return true;
}

/* -------------------------------------------------------------------- cache */

static const struct cached *cache_find(const struct api_history *p, const char *query)
{
        uint64_t now = clock_mono_ms();

        for (size_t i = 0; i < CACHE_ENTRIES; i++) {
                const struct cached *c = &p->cache[i];

                if (c->text && now - c->at_ms < CACHE_MS && !strcmp(c->query, query))
                        return c;
        }
        return NULL;
}

static void cache_add(struct api_history *p, const char *query, const struct document *d)
{
        struct cached *c = &p->cache[p->next];
        char *copy;

        if (strlen(query) >= CACHE_QUERY || d->size > CACHE_BYTES)
                return;
        copy = malloc(d->size + 1);
        if (!copy)
                return;
        memcpy(copy, d->text, d->size);
        p->next = (p->next + 1) % CACHE_ENTRIES;
        free(c->text);
        c->text = copy;
        c->size = d->size;
        c->at_ms = clock_mono_ms();
        (void)snprintf(c->query, sizeof(c->query), "%s", query);
}

/* ------------------------------------------------------------- one grid for all */

/* What came in updates of the requested run; NULL: nothing. */
static const struct history *history_of(const struct api_history *p, const struct wanted *w)
{
        const struct world_target *t = world_find_of(p->world, w->daemon, w->target);

        return t && t->run == w->run ? t->history : NULL;
}

static bool is_band(const struct wanted *w)
{
        return w->series == HW__SERIES__SERIES_NONE;
}

static struct place *total_of(struct job *job, const struct wanted *w)
{
        for (size_t i = 0; i < job->n; i++) {
                if (is_band(&job->wanted[i]) && !job->wanted[i].band && job->wanted[i].daemon == w->daemon &&
                    !strcmp(job->wanted[i].target, w->target))
                        return &job->places[i];
        }
        return NULL;
}

/* A band that does not match the total gets an error: the client is to request it again. */
static void align_band(struct place *place, const struct past *total)
{
        const struct history_recalled daemon = { .band = &place->past, .total = total };
        struct past joined = { 0 };
        int r = history_band(history_of(place->job->api_history, place->wanted), place->wanted->band, &daemon, &joined);

        if (r == -EAGAIN)
                place->error = "the history changed while it was read; ask again";
        else if (r < 0)
                place->error = "out of memory";
        past_done(&place->past);
        place->past = joined;
        past_cut(&place->past, place->wanted->range);
        past_widen(&place->past, place->wanted->step_ns);
}

/* Totals last, because the bands of their targets are aligned with them. */
static void align_series(struct job *job)
{
        if (!job->api_history->requester)
                return;
        for (int totals = 0; totals <= 1; totals++) {
                for (size_t i = 0; i < job->n; i++) {
                        struct place *p = &job->places[i],
                                     *total = is_band(p->wanted) ? total_of(job, p->wanted) : NULL;

                        if (!total || (total == p) != totals || p->error)
                                continue;
                        if (total->error)
                                p->error = total->error;
                        else
                                align_band(p, &total->past);
                }
        }
}

/* A total for each target of which bands are requested, after the bands. */
static void add_totals(struct job *job)
{
        for (size_t i = 0, n = job->n; i < n; i++) {
                struct wanted *w = &job->wanted[i];

                if (!is_band(w) || total_of(job, w))
                        continue;
                job->wanted[job->n] = *w;
                job->wanted[job->n].band = 0;
                job->wanted[job->n].label = NULL;
                job->places[job->n++].hidden = true;
        }
}

/* ------------------------------------------------------------------ answering */

static void print_place(struct json_out *j, const struct place *place)
{
        const struct wanted *w = place->wanted;
        struct past_owner item = { .daemon = w->daemon,
                                   .target = w->target,
                                   .run = w->run,
                                   .series = w->series,
                                   .band = w->band,
                                   .label = w->label };

        json_line(j);
        past_json_open(j, &item);
        if (place->error) {
                json_member_text(j, "error", place->error);
        } else {
                past_json_columns(j, &place->past);
        }
}

static void print_answer(struct json_out *j, const struct job *job)
{
        json_open(j, '{');
        json_member_open(j, "items", '[');
        for (size_t i = 0; i < job->n; i++) {
                const struct wanted *w = &job->wanted[i];
                const struct history *h = job->api_history->requester ? NULL : history_of(job->api_history, w);
                const struct grid_band *b = h && is_band(w) && w->band ? grid_band(&h->bands, w->band) : NULL;

                if (job->places[i].hidden)
                        continue;
                print_place(j, &job->places[i]);
                if (b)
                        past_json_stats(j, &h->bands, b);
                json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
        json_newline(j);
}

static void finish_job(struct job *job)
{
        struct document d;

        align_series(job);
        document_open(&d);
        if (d.to)
                print_answer(&(struct json_out){ .to = d.to }, job);
        if (document_close(&d)) {
                cache_add(job->api_history, job->query, &d);
                answer_json(job->req, d.text, d.size);
        } else {
                answer_error(job->req, 500, "out of memory");
        }
        document_done(&d);
        for (size_t i = 0; i < job->n; i++)
                past_done(&job->places[i].past);
        wanted_done(job->wanted, job->n);
        free(job->query);
        free(job);
}

/* ----------------------------------------------------------------- from the world */

static void fill_from_history(struct place *place)
{
        const struct wanted *w = place->wanted;
        const struct history *h = history_of(place->job->api_history, w);
        int r = 0;

        if (h && !is_band(w))
                r = past_copy(history_series(h, w->series), &place->past);
        else if (h && grid_band(&h->bands, w->band))
                r = history_band(h, w->band, NULL, &place->past);
        if (r < 0)
                place->error = "out of memory";
        past_cut(&place->past, w->range);
        past_widen(&place->past, w->step_ns);
}

/* ------------------------------------------------------------------ from daemons */

/* This place is done: filled, or failed. */
static void settle_place(struct place *place)
{
        if (--place->job->open == 0)
                finish_job(place->job);
}

static void refuse_place(struct place *place, const char *why)
{
        (void)snprintf(place->refusal, sizeof(place->refusal), "%s", why);
        place->error = place->refusal;
        settle_place(place);
}

static void on_reply(void *ctx, int status, const Hw__Reply *reply)
{
        struct place *place = ctx;

        if (!reply) {
                refuse_place(place, hw_reply_error(status));
        } else if (reply->what_case != HW__REPLY__WHAT_HISTORY) {
                refuse_place(place, reply->error ? reply->error : "an unexpected reply");
        } else {
                place->wanted->run = reply->history->has_run ? reply->history->run : place->wanted->run;
                if (history_points_of(reply->history, &place->past) < 0)
                        place->error = "out of memory";
                settle_place(place);
        }
}

static Hw__Request *history_request(const struct wanted *w)
{
        Hw__Request *r = hw_request_new(HW__REQUEST__WHAT_HISTORY);
        Hw__HistoryRequest *h = r ? r->history : NULL;

        if (!r || hw_request_set_text(&h->target, w->target) < 0) {
                hw_request_destroy(&r);
                return NULL;
        }
        h->has_series = w->series != HW__SERIES__SERIES_NONE;
        h->series = w->series;
        h->has_band = !h->has_series;
        h->band = w->band;
        if (h->has_series) { /* a band's few points are cut after they are aligned with the total's */
                h->has_from_ns = w->range.from_ns > 0;
                h->from_ns = w->range.from_ns;
                h->has_to_ns = w->range.to_ns != UINT64_MAX;
                h->to_ns = w->range.to_ns;
                h->has_step_ns = w->step_ns > 0;
                h->step_ns = w->step_ns;
        }
        return r;
}

static void fill_place(struct place *place)
{
        if (!place->wanted->known)
                refuse_place(place, "there is no target of that name");
        else if (place->job->api_history->requester) {
                struct hw_requester *requester = place->job->api_history->requester;
                const struct wanted *w = place->wanted;
                Hw__Request *request = history_request(w);
                int r = request ? hw_requester_send(requester, w->daemon, request, WEB_REQUEST_MS, on_reply, place,
                                                    NULL)
                                : -ENOMEM;

                hw_request_destroy(&request);
                if (r < 0)
                        refuse_place(place, hw_reply_error(r));
        } else {
                fill_from_history(place);
                settle_place(place);
        }
}

/* Totals after the bands: the daemon answers in order, so a total is never of an older time than they are. */
static void start_job(struct job *job)
{
        if (job->api_history->requester)
                add_totals(job);
        job->open = job->n + 1; /* one of our own: the job must outlive this loop */
        for (size_t i = 0; i < job->n; i++) {
                job->places[i].job = job;
                job->places[i].wanted = &job->wanted[i];
        }
        for (int totals = 0; totals <= 1; totals++) {
                for (size_t i = 0; i < job->n; i++) {
                        const struct wanted *w = &job->wanted[i];

                        if ((is_band(w) && !w->band) == totals)
                                fill_place(&job->places[i]);
                }
        }
        if (--job->open == 0)
                finish_job(job);
}

/* ------------------------------------------------------------------ requests */

static void too_fast(struct evhttp_request *req)
{
        (void)evhttp_add_header(evhttp_request_get_output_headers(req), "Retry-After", "1");
        answer_error(req, 429, "too many requests for history; try again in a second");
}

void api_history_answer(struct api_history *p, struct evhttp_request *req, const char *query)
{
        const struct cached *known;
        struct history_query *q = calloc(1, sizeof(*q));
        struct job *job = calloc(1, sizeof(*job));
        struct error error = { "out of memory" };

        query = query ? query : "";
        known = cache_find(p, query);
        if (job)
                job->query = strdup(query);
        if (!afford_cost(&p->requests, REQUESTS_PER_S, 1))
                too_fast(req);
        else if (known)
                answer_json(req, known->text, known->size);
        else if (!q || !job || !job->query)
                answer_error(req, 500, "%s", error.text);
        else if (!history_query_parse(q, query, &error) ||
                 !history_query_resolve(q, p->world, job->wanted, &job->n, &error))
                answer_error(req, 400, "%s", error.text);
        else if (!afford_cost(&p->items, ITEMS_PER_S, (double)job->n)) {
                wanted_done(job->wanted, job->n);
                too_fast(req);
        } else {
                detail_focus(&q->targets, p->world);
                job->api_history = p;
                job->req = req;
                start_job(job);
                job = NULL;
        }
        if (job)
                free(job->query);
        free(job);
        free(q);
}

struct api_history *api_history_new(struct world *world, struct hw_requester *requester)
{
        struct api_history *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        p->world = world;
        p->requester = requester;
        p->requests = (struct token_bucket){ .tokens = REQUESTS_PER_S, .at_ms = clock_mono_ms() };
        p->items = (struct token_bucket){ .tokens = ITEMS_PER_S, .at_ms = clock_mono_ms() };
        return p;
}

void api_history_destroy(struct api_history **p)
{
        for (size_t i = 0; *p && i < CACHE_ENTRIES; i++)
                free((*p)->cache[i].text);
        free(*p);
        *p = NULL;
}
