/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.c - form fields to a request, its reply as JSON.
 *
 * Another site's page can make a browser post a form; it cannot add a header
 * of its own without asking first (CORS), which is refused: so the header
 * X-Heapwatch must be there.
 */
#include "client/web/control.h"

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>

#include "client/history/put.h"
#include "client/web/answer.h"

#define BODY_MOST 16384

static void on_reply(void *ctx, const Hw__Reply *reply, const char *error)
{
        struct evhttp_request *req = ctx;
        struct document d;

        if (!reply) {
                answer_error(req, 504, "%s", error);
        } else if (reply->error) {
                answer_error(req, 409, "%s", reply->error);
        } else {
                document_open(&d);
                if (d.to)
                        put_message(d.to, &reply->base);
                answer_document(req, &d);
        }
}

static void perform(struct evhttp_request *req, struct asker *asker, const struct evkeyvalq *form)
{
        const char *action = evhttp_find_header(form, "action");
        Hw__Request request = HW__REQUEST__INIT;
        Hw__AddTargetRequest add = HW__ADD_TARGET_REQUEST__INIT;
        Hw__RemoveTargetRequest remove = HW__REMOVE_TARGET_REQUEST__INIT;

        if (action && !strcmp(action, "add")) {
                add.uri = (char *)evhttp_find_header(form, "uri");
                add.name = (char *)evhttp_find_header(form, "name");
                request.what_case = HW__REQUEST__WHAT_ADD_TARGET;
                request.add_target = &add;
        } else if (action && !strcmp(action, "remove")) {
                remove.name = (char *)evhttp_find_header(form, "target");
                request.what_case = HW__REQUEST__WHAT_REMOVE_TARGET;
                request.remove_target = &remove;
        } else {
                answer_error(req, 400, "unknown action; expected add or remove");
                return;
        }
        asker_ask(asker, &request, on_reply, req);
}

static char *body_text(struct evhttp_request *req)
{
        struct evbuffer *body = evhttp_request_get_input_buffer(req);
        size_t n = evbuffer_get_length(body);
        char *text = n <= BODY_MOST ? malloc(n + 1) : NULL;

        if (!text)
                return NULL;
        n = (size_t)evbuffer_remove(body, text, n);
        text[n] = '\0';
        return text;
}

void control_answer(struct evhttp_request *req, struct asker **askers, size_t n_askers)
{
        struct evkeyvalq form;
        const char *daemon;
        char *text, *end;
        unsigned long index;

        if (!evhttp_find_header(evhttp_request_get_input_headers(req), "X-Heapwatch")) {
                answer_error(req, 403, "the header 'X-Heapwatch: control' is missing");
                return;
        }
        text = body_text(req);
        if (!text) {
                answer_error(req, 413, "the request is longer than %d bytes", BODY_MOST);
                return;
        }
        if (evhttp_parse_query_str(text, &form) < 0) {
                answer_error(req, 400, "the form cannot be read");
                free(text);
                return;
        }
        daemon = evhttp_find_header(&form, "daemon");
        index = daemon ? strtoul(daemon, &end, 10) : 0;
        if (index >= n_askers || (daemon && (*end || daemon[0] < '0' || daemon[0] > '9')))
                answer_error(req, 400, "there is no daemon of that number");
        else
                perform(req, askers[index], &form);
        evhttp_clear_headers(&form);
        free(text);
}
