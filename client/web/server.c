/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.c - from a connection to an address's function.
 *
 * DESIGN: every request passes the guards in one order: Host, Origin, token,
 * address, method. Nothing is answered before the Host is known to be ours.
 *
 * libevent does not count connections. We make each connection's bufferevent
 * ourselves and keep a reference; one that libevent has let go has no
 * callbacks any more, which a look once a second notices. At the bound the
 * listener is switched off, so late joiners wait in the kernel.
 */
#include "client/web/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>

#include "client/web/answer.h"
#include "client/page/assets.h"
#include "client/web/control.h"
#include "client/metrics/metrics.h"

struct server {
        struct server_options options;
        struct server_parts parts;
        struct event_base *base;
        struct evhttp *http;
        struct evconnlistener *listener; /* owned by http */
        struct event *second;
        struct bufferevent *connections[CONNECTIONS_MOST];
        size_t n_connections;
        char url[128];
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
        struct document d;

        document_open(&d);
        if (d.to)
                metrics_print(d.to, s->parts.state);
        answer_text(req, METRICS_TYPE, &d);
}

/* A stream that is only asked for its headers would never end. */
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

        if (detail_parse(&detail, query))
                get(s, req, &detail);
        else
                answer_error(req, 400, "expected detail=NAME or detail=DAEMON:NAME, at most %d of them", DETAIL_MAX);
}

static void get_page(struct evhttp_request *req, const char *path)
{
        if (strcmp(path, "/"))
                answer_error(req, 404, "there is nothing at this address; see / and /api/state");
        else if (!page_size())
                answer_error(req, 404, "%s. The API is at /api/state", PAGE_MISSING);
        else
                answer_static(req, "text/html; charset=utf-8", page_text(), page_size());
}

static void dispatch(struct server *s, struct evhttp_request *req, const char *path, const char *query)
{
        bool post = evhttp_request_get_command(req) == EVHTTP_REQ_POST, control = !strcmp(path, "/api/control");

        if (control && !s->options.allow_control)
                answer_error(req, 403, "this server is read-only; it was started without --allow-control");
        else if (post != control)
                answer_error(req, 405, control ? "expected POST" : "expected GET or HEAD");
        else if (control)
                control_answer(req, s->parts.requester, s->parts.n_daemons);
        else if (!strcmp(path, "/api/state"))
                with_detail(s, req, query, get_state);
        else if (!strcmp(path, "/api/stream"))
                with_detail(s, req, query, get_stream);
        else if (!strcmp(path, "/api/history"))
                pasts_answer(s->parts.pasts, req, query);
        else if (!strcmp(path, "/api/targets"))
                get_targets(s, req);
        else if (!strcmp(path, "/metrics"))
                get_metrics(s, req);
        else
                get_page(req, path);
}

/* --------------------------------------------------------------------- guards */

/* /?token=TOKEN in a browser: keep it as a cookie, and out of the address bar. */
static bool take_token(struct server *s, struct evhttp_request *req, const char *path, const char *query)
{
        struct evkeyvalq *out = evhttp_request_get_output_headers(req), parameters;
        char cookie[TOKEN_MOST + 64];
        const char *token;
        bool good;

        if (strcmp(path, "/") || !query || evhttp_parse_query_str(query, &parameters) < 0)
                return false;
        token = evhttp_find_header(&parameters, "token");
        good = token && guard_equal(token, s->options.guard.token);
        evhttp_clear_headers(&parameters);
        if (!good)
                return false;
        (void)snprintf(cookie, sizeof(cookie), "heapwatch=%s; HttpOnly; SameSite=Strict; Path=/",
                       s->options.guard.token);
        (void)evhttp_add_header(out, "Set-Cookie", cookie);
        (void)evhttp_add_header(out, "Location", "./");
        answer_headers(req);
        evhttp_send_reply(req, 303, "See Other", NULL);
        return true;
}

/* Answers what may not be answered otherwise. True: it is done. */
static bool refused(struct server *s, struct evhttp_request *req, const char *path, const char *query)
{
        struct evkeyvalq *in = evhttp_request_get_input_headers(req);
        const struct guard *g = &s->options.guard;
        const char *host = evhttp_find_header(in, "Host");

        if (!guard_host(g, host)) {
                answer_error(req, 421,
                             "this server does not answer to the name '%s'; open it by its address, or start "
                             "it with --host NAME",
                             host ? host : "");
                return true;
        }
        if (!guard_origin(evhttp_find_header(in, "Origin"), host)) {
                answer_error(req, 403, "a page of another site may not ask this server");
                return true;
        }
        if (guard_token(g, evhttp_find_header(in, "Authorization"), evhttp_find_header(in, "Cookie")))
                return false;
        if (take_token(s, req, path, query))
                return true;
        (void)evhttp_add_header(evhttp_request_get_output_headers(req), "WWW-Authenticate", "Bearer");
        answer_error(req, 401, "a token is needed: open /?token=TOKEN, or send 'Authorization: Bearer TOKEN'");
        return true;
}

static void on_request(struct evhttp_request *req, void *arg)
{
        const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
        const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
        const char *query = uri ? evhttp_uri_get_query(uri) : NULL;

        if (!path || !*path)
                path = "/";
        if (uri && evhttp_uri_get_host(uri))
                answer_error(req, 400, "this is no proxy");
        else if (strlen(evhttp_request_get_uri(req)) > ADDRESS_MOST_BYTES)
                answer_error(req, 414, "the address is longer than %d bytes", ADDRESS_MOST_BYTES);
        else if (!refused(arg, req, path, query))
                dispatch(arg, req, path, query);
}

/* ---------------------------------------------------------------- connections */

/* Whether libevent has let this connection go. */
static bool is_over(struct bufferevent *b)
{
        bufferevent_data_cb read = NULL, write = NULL;
        bufferevent_event_cb event = NULL;
        void *arg = NULL;

        bufferevent_getcb(b, &read, &write, &event, &arg);
        return !read && !write && !event;
}

static void sweep(struct server *s)
{
        size_t n = 0;

        for (size_t i = 0; i < s->n_connections; i++) {
                if (is_over(s->connections[i]))
                        (void)bufferevent_decref(s->connections[i]);
                else
                        s->connections[n++] = s->connections[i];
        }
        s->n_connections = n;
        if (n < CONNECTIONS_MOST)
                (void)evconnlistener_enable(s->listener);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
        (void)fd;
        (void)what;
        sweep(arg);
}

static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
        struct server *s = arg;
        struct bufferevent *b = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

        if (!b || s->n_connections == CONNECTIONS_MOST)
                return b;
        bufferevent_incref(b);
        s->connections[s->n_connections++] = b;
        if (s->n_connections == CONNECTIONS_MOST)
                (void)evconnlistener_disable(s->listener);
        return b;
}

/* ------------------------------------------------------------------- its life */

/* "127.0.0.1:8077", "localhost:8077", "[::1]:8077"; port 0 is any free one. */
static bool parse_listen(const char *text, struct sockaddr_storage *ret, int *ret_length)
{
        struct sockaddr_in *in = (struct sockaddr_in *)ret;
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;
        const char *colon = strrchr(text, ':');
        char address[INET6_ADDRSTRLEN + 2], *end;
        size_t n = colon ? (size_t)(colon - text) : 0;
        unsigned long port;

        memset(ret, 0, sizeof(*ret));
        if (!n || n >= sizeof(address) || strspn(colon + 1, "0123456789") != strlen(colon + 1) || !colon[1])
                return false;
        port = strtoul(colon + 1, &end, 10);
        (void)snprintf(address, sizeof(address), "%.*s", (int)n, !strncmp(text, "localhost:", 10) ? "127.0.0.1" : text);
        if (port > UINT16_MAX)
                return false;
        *ret_length = sizeof(*in);
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        if (inet_pton(AF_INET, address, &in->sin_addr) == 1)
                return true;
        memset(ret, 0, sizeof(*ret));
        *ret_length = sizeof(*in6);
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)port);
        if (address[0] != '[' || address[n - 1] != ']')
                return false;
        address[n - 1] = '\0';
        return inet_pton(AF_INET6, address + 1, &in6->sin6_addr) == 1;
}

bool server_is_loopback(const char *listen)
{
        struct sockaddr_storage a;
        int length;

        if (!parse_listen(listen, &a, &length))
                return true;
        if (a.ss_family == AF_INET)
                return ntohl(((const struct sockaddr_in *)&a)->sin_addr.s_addr) >> 24 == 127;
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&a)->sin6_addr);
}

static void name_url(struct server *s)
{
        struct sockaddr_storage a;
        socklen_t length = sizeof(a);
        char address[INET6_ADDRSTRLEN] = "?";

        if (getsockname(evconnlistener_get_fd(s->listener), (struct sockaddr *)&a, &length) < 0)
                return;
        if (a.ss_family == AF_INET6) {
                const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)&a;

                (void)inet_ntop(AF_INET6, &in->sin6_addr, address, sizeof(address));
                (void)snprintf(s->url, sizeof(s->url), "http://[%s]:%u/", address, ntohs(in->sin6_port));
        } else {
                const struct sockaddr_in *in = (const struct sockaddr_in *)&a;

                (void)inet_ntop(AF_INET, &in->sin_addr, address, sizeof(address));
                (void)snprintf(s->url, sizeof(s->url), "http://%s:%u/", address, ntohs(in->sin_port));
        }
}

static bool listen_on(struct server *s, char *error, size_t size)
{
        struct sockaddr_storage address;
        int length;

        if (!parse_listen(s->options.listen, &address, &length)) {
                (void)snprintf(error, size,
                               "--listen '%s': expected ADDRESS:PORT, e.g. 127.0.0.1:8077 or "
                               "[::1]:8077",
                               s->options.listen);
                return false;
        }
        s->listener = evconnlistener_new_bind(s->base, NULL, NULL,
                                              LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, 128,
                                              (struct sockaddr *)&address, length);
        if (!s->listener) {
                (void)snprintf(error, size, "cannot listen on %s: %s%s", s->options.listen, strerror(errno),
                               errno == EADDRINUSE ? "; give another port with --listen" : "");
                return false;
        }
        if (!evhttp_bind_listener(s->http, s->listener)) {
                evconnlistener_free(s->listener);
                s->listener = NULL;
                (void)snprintf(error, size, "out of memory");
                return false;
        }
        name_url(s);
        return true;
}

static void configure(struct server *s)
{
        evhttp_set_max_headers_size(s->http, HEADERS_MOST_BYTES);
        evhttp_set_max_body_size(s->http, BODY_MOST_BYTES);
        evhttp_set_timeout(s->http, IDLE_SECONDS);
        evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
        evhttp_set_bevcb(s->http, on_connection, s);
        evhttp_set_gencb(s->http, on_request, s);
}

struct server *server_new(struct event_base *base, const struct server_options *options,
                          const struct server_parts *parts, char *error, size_t size)
{
        static const struct timeval second = { 1, 0 };
        struct server *s = calloc(1, sizeof(*s));

        (void)snprintf(error, size, "out of memory");
        if (!s)
                return NULL;
        s->options = *options;
        s->parts = *parts;
        s->base = base;
        s->http = evhttp_new(base);
        s->second = event_new(base, -1, EV_PERSIST, on_second, s);
        if (!s->http || !s->second || event_add(s->second, &second)) {
                server_destroy(&s);
                return NULL;
        }
        configure(s);
        if (!listen_on(s, error, size))
                server_destroy(&s);
        return s;
}

const char *server_url(const struct server *s)
{
        return s->url;
}

void server_destroy(struct server **s)
{
        struct server *t = *s;

        if (!t)
                return;
        if (t->second)
                event_free(t->second);
        if (t->http)
                evhttp_free(t->http);
        for (size_t i = 0; i < t->n_connections; i++)
                (void)bufferevent_decref(t->connections[i]);
        free(t);
        *s = NULL;
}
