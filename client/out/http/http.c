/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: libcurl's multi interface with its socket and timer callbacks, which
 * become libevent events. A finished transfer is only marked by libcurl; it is
 * taken out of the multi handle and reported after curl_multi_socket_action has
 * returned, so `done` may start and cancel requests freely.
 *
 * CURLOPT_QUICK_EXIT: without it (libcurl before 7.87), when a request times
 * out, libcurl waits for the thread that resolves its name, however long that
 * takes.
 */
#include "client/out/http/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "proto/base/array.h"
#include "proto/base/digits.h"
#include "proto/base/error.h"
#include "proto/base/event.h"
#include "proto/base/private_directory.h"

/* ------------------------------------------------------------------ tokens */

/* Credentials from a private file of one line. May wait for the disk. */
static bool good_token(const char *token)
{
        if (!*token)
                return false;
        for (; *token; token++)
                if ((unsigned char)*token <= 0x20 || (unsigned char)*token >= 0x7f)
                        return false;
        return true;
}

static bool good_user(const char *user)
{
        if (*user == ':' || !strchr(user, ':'))
                return false;
        for (; *user; user++)
                if ((unsigned char)*user < 0x20 || (unsigned char)*user == 0x7f)
                        return false;
        return true;
}

static const struct credential {
        const char *key, *expected;
        bool (*is_good)(const char *text);
} bearer = { "bearer_file", "one line with a token", good_token },
  basic = { "basic_file", "one line user:password", good_user };

/* The first line. False with a message that names the file, never its contents. */
static bool read_credential(const struct credential *c, const char *path, char *text, size_t size, struct error *error)
{
        struct error why;

        if (!private_file_read(path, text, size, &why))
                return error_set(error, "%s %s", c->key, why.text);
        text[strcspn(text, "\r\n")] = '\0';
        return c->is_good(text) || error_set(error, "%s %s: expected %s", c->key, path, c->expected);
}

/* -------------------------------------------------------------------- http */

#define CONNECTIONS_MAX      32L
#define HOST_CONNECTIONS_MAX 4L
#define CONNECT_MS           5000L /* of the timeout, for connecting */
#define RETRY_AFTER_MAX_S    86400
#define TEXT_MAX             96u /* of an answer, shown if it is an error */

struct http {
        struct event_base *base;
        CURLM *multi; /* NULL until the first request */
        struct event *timer;
        struct http_request *requests; /* all pending ones */
        size_t n;
};

struct http_request {
        struct http *http;
        struct http_request *next, **link;
        CURL *easy;
        struct curl_slist *headers;
        http_done_fn *done;
        void *ctx;
        const char *count; /* name of the header that is wanted, or NULL */
        uint64_t counted;  /* the number in it; UINT64_MAX: none */
        size_t received;   /* bytes of headers and body */
        char *body;
        size_t body_size, body_capacity;
        char curl_error[CURL_ERROR_SIZE];
};

/* ---------------------------------------------------------------- answers */

static size_t on_body(char *data, size_t one, size_t n, void *ctx)
{
        struct http_request *r = ctx;

        r->received += n;
        if (r->received > HTTP_BODY_MAX || !ARRAY_RESERVE(r->body, r->body_capacity, r->body_size + n))
                return 0;
        memcpy(r->body + r->body_size, data, n);
        r->body_size += n;
        return n;
}

/* The number that is all of a header's value, which need not end with a NUL. */
static uint64_t parse_count(const char *value, size_t n)
{
        char text[24];
        uint64_t number;

        while (n && isspace((unsigned char)*value))
                value++, n--;
        while (n && isspace((unsigned char)value[n - 1]))
                n--;
        if (n >= sizeof(text))
                return UINT64_MAX;
        memcpy(text, value, n);
        text[n] = '\0';
        return digits_parse(text, UINT64_MAX, &number) ? number : UINT64_MAX;
}

static size_t on_header(char *data, size_t one, size_t n, void *ctx)
{
        struct http_request *r = ctx;
        const size_t name = r->count ? strlen(r->count) : 0;

        if (name && n > name && data[name] == ':' && !strncasecmp(data, r->count, name))
                r->counted = parse_count(data + name + 1, n - name - 1);
        r->received += n;
        return r->received <= HTTP_BODY_MAX ? n : 0;
}

/* An answer that is not HTTP also counts as an unsupported protocol: another server is there, perhaps not for long. */
static bool is_worth_retrying(CURL *easy, CURLcode code, long status)
{
        long sent = 0; /* bytes of the request that went out */

        (void)curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent);
        if (code == CURLE_OK || status >= 300) /* a 200 with a partial answer proves nothing */
                return status >= 500 || status == 408 || status == 425 || status == 429;
        if (code == CURLE_UNSUPPORTED_PROTOCOL)
                return sent > 0;
        return code != CURLE_URL_MALFORMAT && code != CURLE_WRITE_ERROR;
}

/* Retry-After, in seconds or as a date. */
static uint64_t retry_after(CURL *easy)
{
        curl_off_t seconds = 0;

        if (curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds) != CURLE_OK || seconds <= 0)
                return 0;
        return (uint64_t)(seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S) * 1000000000u;
}

void http_print_text(char *to, size_t size, const char *text, size_t n)
{
        size_t used = 0;

        for (size_t i = 0; i < n && used < TEXT_MAX && used + 1 < size; i++) {
                unsigned char c = (unsigned char)text[i];
                if (c > 0x20 && c < 0x7f)
                        to[used++] = (char)c;
                else if (used > 0 && to[used - 1] != ' ')
                        to[used++] = ' ';
        }
        to[used] = '\0';
}

/* libcurl's message names hosts and ports, never a path or a token. */
static void describe_result(struct http_result *result, CURLcode code, const struct http_request *r)
{
        const char *why = r->curl_error[0] ? r->curl_error : curl_easy_strerror(code);
        char text[TEXT_MAX + 1];

        http_print_text(text, sizeof(text), r->body, r->body_size);
        if (code == CURLE_WRITE_ERROR)
                snprintf(result->detail, sizeof(result->detail), "the answer is longer than %u bytes", HTTP_BODY_MAX);
        else if (code == CURLE_UNSUPPORTED_PROTOCOL) /* libcurl takes it for HTTP/0.9 */
                snprintf(result->detail, sizeof(result->detail),
                         "the answer is not HTTP/1: is this the port of another protocol, such as gRPC?");
        else if (code != CURLE_OK)
                snprintf(result->detail, sizeof(result->detail), "%.180s", why);
        else if (result->status >= 300 && result->status < 400)
                snprintf(result->detail, sizeof(result->detail), "HTTP %ld: redirects are not followed",
                         result->status);
        else if (result->ok || !text[0])
                snprintf(result->detail, sizeof(result->detail), "HTTP %ld", result->status);
        else
                snprintf(result->detail, sizeof(result->detail), "HTTP %ld: %s", result->status, text);
        for (char *c = result->detail; *c; c++)
                if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
                        *c = '?';
}

/* --------------------------------------------------------------- requests */

static void release_request(struct http_request *r)
{
        *r->link = r->next;
        if (r->next)
                r->next->link = r->link;
        r->http->n--;
        if (r->easy) {
                (void)curl_multi_remove_handle(r->http->multi, r->easy);
                curl_easy_cleanup(r->easy);
        }
        curl_slist_free_all(r->headers);
        free(r->body);
        free(r);
}

static void finish_request(struct http_request *r, CURLcode code)
{
        struct http_result result = { .ok = false };
        http_done_fn *done = r->done;
        void *ctx = r->ctx;

        (void)curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &result.status);
        result.ok = code == CURLE_OK && result.status >= 200 && result.status < 300;
        result.again = !result.ok && is_worth_retrying(r->easy, code, result.status);
        result.retry_after_ns = retry_after(r->easy);
        result.count = r->counted;
        result.body = r->body;
        result.body_size = r->body_size;
        describe_result(&result, code, r);
        r->body = NULL;
        release_request(r);
        done(ctx, &result);
        free((char *)result.body);
}

static void report_finished(struct http *h)
{
        CURLMsg *message;
        int left;

        while ((message = curl_multi_info_read(h->multi, &left))) {
                struct http_request *r = NULL;
                CURLcode code = message->data.result;

                if (message->msg != CURLMSG_DONE)
                        continue;
                (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &r);
                finish_request(r, code);
        }
}

/* ------------------------------------------------- libcurl inside libevent */

static void on_socket_event(evutil_socket_t fd, short what, void *ctx)
{
        struct http *h = ctx;
        int running, action = (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0);

        (void)curl_multi_socket_action(h->multi, fd, action, &running);
        report_finished(h);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
        struct http *h = ctx;
        int running;

        (void)curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        report_finished(h);
}

static int want_timer(CURLM *multi, long timeout_ms, void *ctx)
{
        struct http *h = ctx;
        struct timeval after = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };

        if (timeout_ms < 0)
                return event_del(h->timer);
        return event_add(h->timer, &after);
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *assigned)
{
        struct http *h = ctx;
        struct event *event = assigned;
        short flags = (short)((what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0) | EV_PERSIST);

        free_event(&event);
        if (what != CURL_POLL_REMOVE) {
                event = event_new(h->base, fd, flags, on_socket_event, h);
                if (!event || event_add(event, NULL) != 0)
                        return -1;
        }
        return curl_multi_assign(h->multi, fd, event) == CURLM_OK ? 0 : -1;
}

/* ------------------------------------------------------------------ start */

/* Where this system has its certificates, if libcurl was built for another one; else NULL. */
static const char *system_ca_file(void)
{
        static const char *const files[] = { "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                             "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem" };
        const char *own = curl_version_info(CURLVERSION_NOW)->cainfo;

        for (size_t i = 0; own && access(own, R_OK) != 0 && i < ARRAY_SIZE(files); i++)
                if (access(files[i], R_OK) == 0)
                        return files[i];
        return NULL;
}

static bool set_options(struct http_request *r, const struct http_post *post, const char *user)
{
        CURL *e = r->easy;
        long timeout_ms = (long)(post->timeout_ns / 1000000u);
        CURLcode code = CURLE_OK;

#define SET(option, value) (code = code == CURLE_OK ? curl_easy_setopt(e, option, value) : code)
        SET(CURLOPT_URL, post->url);
#if LIBCURL_VERSION_NUM >= 0x075500
        SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
        SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
        SET(CURLOPT_FOLLOWLOCATION, 0L);
        SET(CURLOPT_PROXY, "");
        SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
        SET(CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
        SET(CURLOPT_QUICK_EXIT, 1L);
#endif
        SET(CURLOPT_TIMEOUT_MS, timeout_ms > 0 ? timeout_ms : 1L);
        SET(CURLOPT_CONNECTTIMEOUT_MS, timeout_ms < CONNECT_MS ? timeout_ms : CONNECT_MS);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->size);
        SET(CURLOPT_COPYPOSTFIELDS, post->body);
        SET(CURLOPT_HTTPHEADER, r->headers);
        SET(CURLOPT_USERAGENT, "heapwatch/" HEAPWATCH_VERSION);
        SET(CURLOPT_WRITEFUNCTION, on_body);
        SET(CURLOPT_WRITEDATA, r);
        SET(CURLOPT_HEADERFUNCTION, on_header);
        SET(CURLOPT_HEADERDATA, r);
        SET(CURLOPT_ERRORBUFFER, r->curl_error);
        SET(CURLOPT_PRIVATE, r);
        if (post->unix_path)
                SET(CURLOPT_UNIX_SOCKET_PATH, post->unix_path);
        if (user[0])
                SET(CURLOPT_USERPWD, user);
        if (post->ca_file || system_ca_file())
                SET(CURLOPT_CAINFO, post->ca_file ? post->ca_file : system_ca_file());
#undef SET
        return code == CURLE_OK;
}

static bool add_header(struct http_request *r, const char *line)
{
        struct curl_slist *longer = curl_slist_append(r->headers, line);

        if (longer)
                r->headers = longer;
        return longer;
}

static bool add_headers(struct http_request *r, const struct http_post *post, const char *token)
{
        char line[HTTP_TOKEN_MAX + 32];

        snprintf(line, sizeof(line), "Content-Type: %s", post->type);
        if (!add_header(r, line) || !add_header(r, "Expect:"))
                return false;
        for (const char *const *h = post->headers; h && *h; h++)
                if (!add_header(r, *h))
                        return false;
        if (!token[0])
                return true;
        snprintf(line, sizeof(line), "Authorization: Bearer %s", token);
        bool added = add_header(r, line);
        explicit_bzero(line, sizeof(line));
        return added;
}

static struct http_request *make_request(struct http *h, const struct http_post *post, const char *token,
                                         const char *user)
{
        struct http_request *r = calloc(1, sizeof(*r));

        if (!r)
                return NULL;
        r->http = h;
        r->next = h->requests;
        r->link = &h->requests;
        if (r->next)
                r->next->link = &r->next;
        h->requests = r;
        h->n++;
        r->easy = curl_easy_init();
        if (r->easy && add_headers(r, post, token) && set_options(r, post, user) &&
            curl_multi_add_handle(h->multi, r->easy) == CURLM_OK)
                return r;
        release_request(r);
        return NULL;
}

static bool set_multi_options(struct http *h)
{
        return curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, want_socket) == CURLM_OK &&
               curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h) == CURLM_OK &&
               curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, want_timer) == CURLM_OK &&
               curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h) == CURLM_OK &&
               curl_multi_setopt(h->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, CONNECTIONS_MAX) == CURLM_OK &&
               curl_multi_setopt(h->multi, CURLMOPT_MAX_HOST_CONNECTIONS, HOST_CONNECTIONS_MAX) == CURLM_OK;
}

/* Initialises libcurl on first use. */
static bool begin_transfers(struct http *h)
{
        if (h->multi)
                return true;
        if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
                return false;
        h->multi = curl_multi_init();
        if (h->multi && set_multi_options(h))
                return true;
        if (h->multi)
                (void)curl_multi_cleanup(h->multi);
        h->multi = NULL;
        curl_global_cleanup();
        return false;
}

struct http_request *http_start(struct http *h, const struct http_post *post, http_done_fn *done, void *ctx,
                                struct error *error)
{
        char token[HTTP_TOKEN_MAX] = "", user[HTTP_TOKEN_MAX] = "";
        struct http_request *r;

        if (h->n >= HTTP_REQUESTS_MAX) {
                error_set(error, "%u requests are under way", HTTP_REQUESTS_MAX);
                return NULL;
        }
        if (post->bearer_file && !read_credential(&bearer, post->bearer_file, token, sizeof(token), error))
                return NULL;
        if (post->basic_file && !read_credential(&basic, post->basic_file, user, sizeof(user), error))
                return NULL;
        r = begin_transfers(h) ? make_request(h, post, token, user) : NULL;
        explicit_bzero(token, sizeof(token));
        explicit_bzero(user, sizeof(user));
        if (!r) {
                error_set(error, "out of memory");
                return NULL;
        }
        r->done = done;
        r->ctx = ctx;
        r->count = post->count;
        r->counted = UINT64_MAX;
        return r;
}

void http_cancel(struct http_request **r)
{
        if (*r)
                release_request(*r);
        *r = NULL;
}

/* ------------------------------------------------------------------- http */

struct http *http_new(struct event_base *base)
{
        struct http *h = calloc(1, sizeof(*h));

        if (!h)
                return NULL;
        h->base = base;
        h->timer = evtimer_new(base, on_timer, h);
        if (!h->timer)
                http_destroy(&h);
        return h;
}

void http_destroy(struct http **hp)
{
        struct http *h = *hp;

        *hp = NULL;
        if (!h)
                return;
        while (h->requests)
                release_request(h->requests);
        if (h->multi) {
                (void)curl_multi_cleanup(h->multi);
                curl_global_cleanup();
        }
        free_event(&h->timer);
        free(h);
}
