/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/exporter.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/http/connections.h"
#include "client/out/http/answer.h"
#include "client/out/http/guard.h"
#include "client/out/metrics/collect.h"
#include "proto/base/error.h"

struct scrape {
        struct scrape_options options;
        struct listen_address place;
        struct guard guard;
        struct metrics *metrics;
        struct evhttp *http;
        bool listening;
        uint64_t samples, answers;
        char url[LISTEN_ADDRESS_TEXT_MOST + 16];
};

static bool is_refused(struct scrape *s, struct evhttp_request *req)
{
        struct evkeyvalq *in = evhttp_request_get_input_headers(req);
        struct evhttp_connection *c = evhttp_request_get_connection(req);
        const char *host = evhttp_find_header(in, "Host");
        char local[INET6_ADDRSTRLEN];

        listen_address_of_connection(c ? bufferevent_getfd(evhttp_connection_get_bufferevent(c)) : -1, local);
        if (!guard_host(&s->guard, host, local) && s->guard.n_tokens == 0)
                answer_error(req, 421, "this server does not answer to the name '%s'", host ? host : "");
        else if (!guard_token(&s->guard, evhttp_find_header(in, "Authorization"), NULL)) {
                (void)evhttp_add_header(evhttp_request_get_output_headers(req), "WWW-Authenticate", "Bearer");
                answer_error(req, 401, "a token is needed: 'Authorization: Bearer TOKEN'");
        } else
                return false;
        return true;
}

static void on_request(struct evhttp_request *req, void *arg)
{
        struct scrape *s = arg;
        const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
        const char *path = uri ? evhttp_uri_get_path(uri) : NULL;

        connections_on_request(s->options.connections, req);
        if (answer_ambiguous(req) || is_refused(s, req))
                return;
        if (!path || strcmp(path, "/metrics") != 0) {
                answer_error(req, 404, "only /metrics is served here");
        } else if (!connections_have_room(s->options.connections)) {
                answer_no_room(req);
        } else {
                bool open = metrics_wants_open(evhttp_find_header(evhttp_request_get_input_headers(req), "Accept"));
                struct document d;

                document_open(&d);
                if (d.to) {
                        s->samples += metrics_print(d.to, s->metrics, s->options.source(s->options.ctx), open);
                        s->answers++;
                }
                answer_text(req, open ? METRICS_OPEN_TYPE : METRICS_TYPE, &d);
        }
}

/* A token is required, unless only one user's socket leads here. */
static bool check_listener(struct scrape *s, struct error *error)
{
        const struct sink_plan *p = s->options.plan;

        if (!listen_address_parse(&s->place, p->address))
                return error_set(error,
                                 "sink %s: '%s': expected ADDRESS:PORT, such as 127.0.0.1:9464, or unix:PATH with an "
                                 "absolute path",
                                 p->name, p->address);
        if (p->token_file)
                return guard_read_token(&s->guard, p->token_file, error);
        if (listen_address_is_unix(&s->place) || (p->no_token && listen_address_is_local(&s->place)))
                return true;
        return error_set(error,
                         listen_address_is_local(&s->place)
                                 ? "sink %s: every user of this machine can reach %s; give a token file, listen on "
                                   "unix:PATH, or allow it: --no-token"
                                 : "sink %s: others can reach %s; give a token file, or listen on unix:PATH",
                         p->name, p->address);
}

static bool start_listener(struct scrape *s, struct error *error)
{
        struct event_base *base = s->options.base;
        const struct sink_plan *p = s->options.plan;
        struct metrics_options what = { .bands = p->bands, .series = p->series };
        char name[LISTEN_ADDRESS_TEXT_MOST];

        error_set(error, "out of memory");
        s->metrics = metrics_new(&what);
        s->http = evhttp_new(base);
        if (!s->metrics || !s->http)
                return false;
        evhttp_set_max_headers_size(s->http, HEADERS_MOST_BYTES);
        evhttp_set_max_body_size(s->http, 1024);
        evhttp_set_timeout(s->http, IDLE_SECONDS);
        evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
        evhttp_set_gencb(s->http, on_request, s);
        s->listening = connections_listen(s->options.connections, s->http, &s->place, base, error);
        if (!s->listening)
                return false;
        listen_address_name(&s->place, name, sizeof(name));
        (void)snprintf(s->url, sizeof(s->url), "%s%s", name,
                       listen_address_is_unix(&s->place) ? " /metrics" : "metrics");
        return true;
}

struct scrape *scrape_new(const struct scrape_options *options, struct error *error)
{
        struct scrape *s = calloc(1, sizeof(*s));

        error_set(error, "out of memory");
        if (!s)
                return NULL;
        s->options = *options;
        if (!check_listener(s, error) || (!options->only_check && !start_listener(s, error)))
                scrape_destroy(&s);
        return s;
}

void scrape_destroy(struct scrape **s)
{
        if (!*s)
                return;
        if ((*s)->http)
                evhttp_free((*s)->http);
        if ((*s)->listening)
                listen_address_leave(&(*s)->place);
        metrics_destroy(&(*s)->metrics);
        free(*s);
        *s = NULL;
}

const char *scrape_url(const struct scrape *s)
{
        return s->url;
}

uint64_t scrape_samples(const struct scrape *s)
{
        return s->samples;
}

uint64_t scrape_answers(const struct scrape *s)
{
        return s->answers;
}
