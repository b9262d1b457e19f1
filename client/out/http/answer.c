/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answer.c - replies.
 *
 * DESIGN: a HEAD request is answered like a GET, but the body is measured and
 * then left out (libevent would send it).
 */
#include "client/out/http/answer.h"

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>

#include "proto/base/json_out.h"
#include "client/page/assets.h"
#include "proto/base/array.h"

static const struct {
        const char *name, *value;
} headers[] = {
        { "Cache-Control", "no-store" },
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "X-Frame-Options", "DENY" },
};

static const struct {
        int status;
        const char *phrase;
} phrases[] = {
        { 200, "OK" },
        { 303, "See Other" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 409, "Conflict" },
        { 413, "Content Too Large" },
        { 415, "Unsupported Media Type" },
        { 421, "Misdirected Request" },
        { 429, "Too Many Requests" },
        { 500, "Internal Server Error" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
};

static const char *status_phrase(int status)
{
        for (size_t i = 0; i < ARRAY_SIZE(phrases); i++) {
                if (phrases[i].status == status)
                        return phrases[i].phrase;
        }
        return "Error";
}

/* Only the page's own content, whose scripts and style are identified by hash. */
static const char *content_policy(void)
{
        static char text[1024];

        if (!text[0])
                (void)snprintf(text, sizeof(text),
                               "default-src 'none'; %s; img-src 'self' data: blob:; "
                               "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                               page_policy());
        return text;
}

void answer_headers(struct evhttp_request *req)
{
        struct evkeyvalq *out = evhttp_request_get_output_headers(req);

        for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
                (void)evhttp_add_header(out, headers[i].name, headers[i].value);
        (void)evhttp_add_header(out, "Content-Security-Policy", content_policy());
}

/* Takes over the body. */
static void send_reply(struct evhttp_request *req, int status, const char *type, struct evbuffer *body)
{
        struct evkeyvalq *out = evhttp_request_get_output_headers(req);
        char length[24];

        answer_headers(req);
        (void)evhttp_add_header(out, "Content-Type", type);
        if (body && evhttp_request_get_command(req) == EVHTTP_REQ_HEAD) {
                (void)snprintf(length, sizeof(length), "%zu", evbuffer_get_length(body));
                (void)evhttp_add_header(out, "Content-Length", length);
                (void)evbuffer_drain(body, evbuffer_get_length(body));
        }
        evhttp_send_reply(req, status, status_phrase(status), body);
        if (body)
                evbuffer_free(body);
}

/* ------------------------------------------------------------- documents */

static void free_text(const void *bytes, size_t size, void *text)
{
        free(text);
}

void answer_text(struct evhttp_request *req, const char *type, struct document *d)
{
        struct evbuffer *body = evbuffer_new();

        if (!body || !document_close(d) || evbuffer_add_reference(body, d->text, d->size, free_text, d->text)) {
                document_done(d);
                if (body)
                        evbuffer_free(body);
                answer_error(req, 500, "out of memory");
                return;
        }
        send_reply(req, 200, type, body);
}

void answer_document(struct evhttp_request *req, struct document *d)
{
        answer_text(req, "application/json", d);
}

/* --------------------------------------------------------------- the others */

void answer_json(struct evhttp_request *req, const void *bytes, size_t size)
{
        struct evbuffer *body = evbuffer_new();

        if (body)
                (void)evbuffer_add(body, bytes, size);
        send_reply(req, body ? 200 : 500, "application/json", body);
}

void answer_no_room(struct evhttp_request *req)
{
        (void)evhttp_add_header(evhttp_request_get_output_headers(req), "Retry-After", "1");
        answer_error(req, 503, "too much data waits to be read by other clients; try again in a second");
}

void answer_static(struct evhttp_request *req, const char *type, const void *bytes, size_t size)
{
        struct evbuffer *body = evbuffer_new();

        if (body)
                (void)evbuffer_add_reference(body, bytes, size, NULL, NULL);
        send_reply(req, body ? 200 : 500, type, body);
}

void answer_error(struct evhttp_request *req, int status, const char *format, ...)
{
        char sentence[512];
        struct document d;
        struct evbuffer *body = evbuffer_new();
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(sentence, sizeof(sentence), format, ap);
        va_end(ap);
        document_open(&d);
        if (d.to) {
                struct json_out j = { .to = d.to };

                json_open(&j, '{');
                json_member_text(&j, "error", sentence);
                json_close(&j, '}');
                json_newline(&j);
        }
        if (document_close(&d) && body)
                (void)evbuffer_add(body, d.text, d.size);
        document_done(&d);
        send_reply(req, status, "application/json", body);
}

bool answer_ambiguous(struct evhttp_request *req)
{
        static const char *const once[] = { "Host", "Origin", "Authorization", "Content-Length", "Transfer-Encoding" };
        const struct evkeyvalq *in = evhttp_request_get_input_headers(req);

        for (size_t i = 0; i < ARRAY_SIZE(once); i++) {
                unsigned n = 0;

                for (const struct evkeyval *h = in->tqh_first; h; h = h->next.tqe_next)
                        n += !strcasecmp(h->key, once[i]);
                if (n > 1) {
                        answer_error(req, 400, "the request has the header %s more than once", once[i]);
                        return true;
                }
        }
        if (!evhttp_find_header(in, "Transfer-Encoding") || !evhttp_find_header(in, "Content-Length"))
                return false;
        answer_error(req, 400, "the request has both Transfer-Encoding and Content-Length");
        return true;
}
