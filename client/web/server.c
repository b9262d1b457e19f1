/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.c - from a connection to the handler of a path.
 *
 * DESIGN: every request passes the guards in one order: Host, Origin, token,
 * path, method. Nothing is answered before the Host is known to be ours.
 * connections.c limits what connections may cost.
 */
#include "client/web/server.h"

#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/answers/api/state_json.h"
#include "client/out/http/answer.h"
#include "client/out/http/connections.h"
#include "client/out/metrics/collect.h"
#include "client/page/assets.h"
#include "proto/base/error.h"

struct server {
        struct server_options options;
        struct server_parts parts;
        struct metrics *metrics;
        struct evhttp *http;
        bool listening;
        char url[LISTEN_ADDRESS_TEXT_MOST];
};

/* ------------------------------------------------------------------ addresses */

static void get_state(struct server *s, struct evhttp_request *req, const struct detail *detail)
{
        struct document d;

        document_open(&d);
        if (d.to)
                state_print(&(struct json_out){ .to = d.to }, s->parts.state, detail);
        answer_document(req, &d);
}

static void get_targets(struct server *s, struct evhttp_request *req)
{
        struct document d;

        document_open(&d);
        if (d.to)
                state_print_targets(&(struct json_out){ .to = d.to }, s->parts.state);
        answer_document(req, &d);
}

static void get_metrics(struct server *s, struct evhttp_request *req)
{
        const struct state_source *state = s->parts.state;
        bool open = metrics_wants_open(evhttp_find_header(evhttp_request_get_input_headers(req), "Accept"));
        struct metrics_source source = { .world = state->world,
                                         .n_daemons = state->n_daemons,
                                         .daemon_name = feed_endpoint_of,
                                         .ctx = state->feed,
                                         .live = state->live };
        struct document d;

        document_open(&d);
        if (d.to)
                metrics_print(d.to, s->metrics, &source, open);
        answer_text(req, open ? METRICS_OPEN_TYPE : METRICS_TYPE, &d);
}

/* A HEAD request must not open a stream, which would never end. */
static void get_stream(struct server *s, struct evhttp_request *req, const struct detail *detail)
{
        if (evhttp_request_get_command(req) == EVHTTP_REQ_HEAD)
                answer_static(req, "text/event-stream", "", 0);
        else
                streams_begin(s->parts.streams, req, detail);
}

static void with_detail(struct server *s, struct evhttp_request *req, const char *query,
                        void (*get)(struct server *, struct evhttp_request *, const struct detail *))
{
        struct detail detail;

        if (!detail_parse(&detail, query)) {
                answer_error(req, 400, "expected detail=NAME or detail=DAEMON:NAME, at most %d of them", DETAIL_MAX);
                return;
        }
        detail_focus(&detail, s->parts.world);
        get(s, req, &detail);
}

static const struct guard_token *holder_of(const struct server *s, struct evhttp_request *req)
{
        const struct evkeyvalq *in = evhttp_request_get_input_headers(req);

        return guard_token(&s->options.guard, evhttp_find_header(in, "Authorization"),
                           evhttp_find_header(in, "Cookie"));
}

static void dispatch_request(struct server *s, struct evhttp_request *req, const char *path, const char *query)
{
        bool post = evhttp_request_get_command(req) == EVHTTP_REQ_POST, control = !strcmp(path, "/api/control");

        if (control && !s->options.allow_control)
                answer_error(req, 403, "this server is read-only; it was started without --allow-control");
        else if (post != control)
                answer_error(req, 405, control ? "expected POST" : "expected GET or HEAD");
        else if (control)
                control_answer(req, &s->parts.control, holder_of(s, req));
        else if (strcmp(path, "/") && !connections_have_room(s->parts.connections))
                answer_no_room(req);
        else if (!strcmp(path, "/api/state"))
                with_detail(s, req, query, get_state);
        else if (!strcmp(path, "/api/stream"))
                with_detail(s, req, query, get_stream);
        else if (!strcmp(path, "/api/history"))
                api_history_answer(s->parts.api_history, req, query);
        else if (!strcmp(path, "/api/archive"))
                api_archive_answer(&s->parts.archive, req, query);
        else if (!strcmp(path, "/api/diff"))
                api_diff_answer(&s->parts.subjects, s->parts.diff_worker, req, query);
        else if (!strcmp(path, "/api/query"))
                api_query_answer(&s->parts.subjects, s->parts.query_worker, req, query);
        else if (!strcmp(path, "/api/profile"))
                inspections_answer(s->parts.control.inspections, INSPECTING_PROFILE, req, query);
        else if (!strcmp(path, "/api/heap"))
                inspections_answer(s->parts.control.inspections, INSPECTING_HEAP, req, query);
        else if (!strcmp(path, "/api/threads"))
                inspections_answer(s->parts.control.inspections, INSPECTING_THREADS, req, query);
        else if (!strcmp(path, "/api/targets"))
                get_targets(s, req);
        else if (!strcmp(path, "/metrics"))
                get_metrics(s, req);
        else if (strcmp(path, "/"))
                answer_error(req, 404, "nothing is served at this address; see / and /api/state");
        else if (!page_size())
                answer_error(req, 404, "%s. The API is at /api/state", PAGE_MISSING);
        else
                answer_static(req, "text/html; charset=utf-8", page_text(), page_size());
}

/* --------------------------------------------------------------------- guards */

/* /?token=TOKEN in a browser: keep it as a cookie, and out of the address bar; of who has the cookie already, too. */
static bool accept_token(struct server *s, struct evhttp_request *req, const char *path, const char *query,
                         const struct guard_token *holder)
{
        struct evkeyvalq *out = evhttp_request_get_output_headers(req), parameters;
        const char *proxied = evhttp_find_header(evhttp_request_get_input_headers(req), "X-Forwarded-Proto");
        char cookie[TOKEN_MOST + 128];
        bool tls = proxied && !strcasecmp(proxied, "https");

        if (strcmp(path, "/") || !query_parameters(query, &parameters))
                return false;
        const char *text = evhttp_find_header(&parameters, "token");
        const struct guard_token *token = text ? guard_find(&s->options.guard, text) : NULL;
        const bool is_accepted = token || (text && holder);
        evhttp_clear_headers(&parameters);
        if (!is_accepted)
                return false;
        if (token) {
                (void)snprintf(cookie, sizeof(cookie), "%s=%s; HttpOnly; SameSite=Strict; Path=/%s",
                               s->options.guard.cookie, token->text, tls ? "; Secure" : "");
                (void)evhttp_add_header(out, "Set-Cookie", cookie);
        }
        (void)evhttp_add_header(out, "Location", "./");
        answer_headers(req);
        evhttp_send_reply(req, 303, "See Other", NULL);
        return true;
}

static int connection_fd(struct evhttp_request *req)
{
        struct evhttp_connection *c = evhttp_request_get_connection(req);

        return c ? bufferevent_getfd(evhttp_connection_get_bufferevent(c)) : -1;
}

/* Answers a request that the guards reject. True: it is done. */
static bool is_refused(struct server *s, struct evhttp_request *req, const char *path, const char *query)
{
        struct evkeyvalq *in = evhttp_request_get_input_headers(req);
        const struct guard *g = &s->options.guard;
        const char *host = evhttp_find_header(in, "Host");
        char local[INET6_ADDRSTRLEN];

        listen_address_of_connection(connection_fd(req), local);
        if (!guard_host(g, host, local)) {
                answer_error(req, 421,
                             "this server does not answer to the name '%s'; open it by the address that it listens "
                             "on, or start it with --host NAME",
                             host ? host : "");
                return true;
        }
        if (!guard_origin(evhttp_find_header(in, "Origin"), host)) {
                answer_error(req, 403, "a page of another site may not use this server");
                return true;
        }
        const struct guard_token *holder = holder_of(s, req);
        if (accept_token(s, req, path, query, holder))
                return true;
        if (holder)
                return false;
        (void)evhttp_add_header(evhttp_request_get_output_headers(req), "WWW-Authenticate", "Bearer");
        answer_error(req, 401, "a token is needed: open /?token=TOKEN, or send 'Authorization: Bearer TOKEN'");
        return true;
}

static void on_request(struct evhttp_request *req, void *arg)
{
        const struct server *s = arg;
        const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
        const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
        const char *query = uri ? evhttp_uri_get_query(uri) : NULL;

        connections_on_request(s->parts.connections, req);
        if (!path || !*path)
                path = "/";
        if (uri && evhttp_uri_get_host(uri))
                answer_error(req, 400, "this is not a proxy");
        else if (strlen(evhttp_request_get_uri(req)) > ADDRESS_MOST_BYTES)
                answer_error(req, 414, "the address is longer than %d bytes", ADDRESS_MOST_BYTES);
        else if (!answer_ambiguous(req) && !is_refused(arg, req, path, query))
                dispatch_request(arg, req, path, query);
}

/* ------------------------------------------------------------------- its life */

static bool listen_on(struct server *s, struct event_base *base, struct error *error)
{
        struct listen_address *place = &s->options.place;
        struct guard *g = &s->options.guard;

        s->listening = connections_listen(s->parts.connections, s->http, place, base, error);
        if (!s->listening)
                return false;
        listen_address_name(place, s->url, sizeof(s->url));
        (void)snprintf(g->cookie, sizeof(g->cookie), TOKEN_COOKIE "-%u", listen_address_port(place));
        return true;
}

struct server *server_new(struct event_base *base, const struct server_options *options,
                          const struct server_parts *parts, struct error *error)
{
        struct server *s = calloc(1, sizeof(*s));

        error_set(error, "out of memory");
        if (!s)
                return NULL;
        s->options = *options;
        s->parts = *parts;
        s->metrics = metrics_new(&(struct metrics_options){ .bands = 0 });
        s->http = evhttp_new(base);
        if (!s->http || !s->metrics) {
                server_destroy(&s);
                return NULL;
        }
        evhttp_set_max_headers_size(s->http, HEADERS_MOST_BYTES);
        evhttp_set_max_body_size(s->http, BODY_MOST_BYTES);
        evhttp_set_timeout(s->http, IDLE_SECONDS);
        evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
        evhttp_set_gencb(s->http, on_request, s);
        if (!listen_on(s, base, error))
                server_destroy(&s);
        return s;
}

const char *server_url(const struct server *s)
{
        return s->url;
}

void server_destroy(struct server **s)
{
        if (!*s)
                return;
        if ((*s)->http)
                evhttp_free((*s)->http);
        if ((*s)->listening)
                listen_address_leave(&(*s)->options.place);
        metrics_destroy(&(*s)->metrics);
        free(*s);
        *s = NULL;
}
