/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send_otlp.c - a batch is the body of a POST. A receiver may accept it and yet leave out data points ("partial
 * success"), which its answer says in the form of the request: https://opentelemetry.io/docs/specs/otlp/
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/export/otlp.pb-c.h"
#include "client/out/export/plan.h"
#include "client/out/export/sender.h"

static void send_batch(struct sender *s, const struct batch *batch)
{
        const struct http_post post = sender_post(s, batch->bytes, batch->size, sink_batcher(s->plan)->type);

        sender_start(s, &post);
}

static uint64_t rejected_protobuf(const struct http_result *r, char *why, size_t size)
{
        HwOtlp__ExportMetricsServiceResponse *m =
                hw_otlp__export_metrics_service_response__unpack(NULL, r->body_size, (const uint8_t *)r->body);
        const HwOtlp__ExportMetricsPartialSuccess *p = m ? m->partial_success : NULL;
        uint64_t rejected = p && p->rejected_data_points > 0 ? (uint64_t)p->rejected_data_points : 0;

        if (rejected && p->error_message)
                http_print_text(why, size, p->error_message, strlen(p->error_message));
        if (m)
                hw_otlp__export_metrics_service_response__free_unpacked(m, NULL);
        return rejected;
}

/* A number of 64 bits is a text, or a number. */
static uint64_t rejected_json(const struct http_result *r, char *why, size_t size)
{
        json_t *m = json_loadb(r->body, r->body_size, 0, NULL);
        const json_t *p = json_object_get(m, "partialSuccess"), *n = json_object_get(p, "rejectedDataPoints");
        const char *text = json_string_value(json_object_get(p, "errorMessage"));
        const long long rejected = json_is_string(n) ? strtoll(json_string_value(n), NULL, 10) : json_integer_value(n);

        if (rejected > 0 && text)
                http_print_text(why, size, text, strlen(text));
        json_decref(m);
        return rejected > 0 ? (uint64_t)rejected : 0;
}

static void report_answer(struct sender *s, const struct http_result *r)
{
        struct sent sent = sender_outcome(r);
        char why[sizeof(r->detail)] = "";

        if (sent.ok && r->body_size) {
                sent.refused =
                        r->body[0] == '{' ? rejected_json(r, why, sizeof(why)) : rejected_protobuf(r, why, sizeof(why));
                sent.detail = why;
        }
        s->done(s->ctx, &sent);
}

const struct sender_kind sender_otlp = { .size = sizeof(struct sender), .send = send_batch, .answered = report_answer };
