/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send_remote_write.c - remote writes in the richest form that the receiver takes.
 *
 * DESIGN: what a receiver takes cannot be asked; it is tried with the batch itself, from the richest form down:
 *
 *      415                             the receiver does not know 2.0: 1.0
 *      200 to 299 without the number   it answered to what it took for an empty write of 1.0: 1.0
 *      of samples written
 *      400, 406, 500, 501              the next form: a Prometheus without native histograms says 500
 *
 * A form that was taken is kept for ten minutes, then the richest is tried again: receivers are upgraded. If none was
 * taken, the form was not the reason, and the first answer counts. A receiver of 2.0 may take part of a batch and say
 * 400; what it did not take is counted as refused.
 */
#include <stdlib.h>

#include "client/cli/report.h"
#include "client/out/export/plan.h"
#include "client/out/export/sender.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"

#define KEEP_FORM_NS UINT64_C(600000000000)
#define WRITTEN      "X-Prometheus-Remote-Write-Samples-Written"

struct remote_writer {
        struct sender base;
        const struct batch *batch;
        enum remote_write_form form; /* of the current attempt */
        enum remote_write_form kept; /* until, monotonic: */
        uint64_t keep_until_ns;
        bool tried;               /* `first` is set: the batch was refused in a richer form */
        struct http_result first; /* the answer that counts if no form is taken */
        void *recoded;            /* body of the current attempt; NULL: the batch itself */
};

static const struct {
        const char *type, *name;
        const char *headers[3];
} forms[] = {
        [REMOTE_WRITE_NATIVE] = { "application/x-protobuf;proto=io.prometheus.write.v2.Request",
                                  "2.0 with native histograms",
                                  { "Content-Encoding: snappy", "X-Prometheus-Remote-Write-Version: 2.0.0" } },
        [REMOTE_WRITE_2] = { "application/x-protobuf;proto=io.prometheus.write.v2.Request",
                             "2.0",
                             { "Content-Encoding: snappy", "X-Prometheus-Remote-Write-Version: 2.0.0" } },
        [REMOTE_WRITE_1] = { "application/x-protobuf",
                             "1.0",
                             { "Content-Encoding: snappy", "X-Prometheus-Remote-Write-Version: 0.1.0" } },
};

static void post_next(struct remote_writer *w)
{
        struct http_post post = sender_post(&w->base, w->batch->bytes, w->batch->size, forms[w->form].type);

        free(w->recoded);
        w->recoded = NULL;
        if (w->form != REMOTE_WRITE_NATIVE) {
                post.body = w->recoded = remote_write_recode(w->batch, w->form, &post.size);
                if (!w->recoded) {
                        sender_refuse(&w->base, "the batch cannot be decoded, or memory is out");
                        return;
                }
        }
        post.headers = forms[w->form].headers;
        post.count = WRITTEN;
        sender_start(&w->base, &post);
}

/* ------------------------------------------------------------- the next form */

/* Whether an answer may be due to the form, and which form to try next. */
static bool next_form(const struct remote_writer *w, const struct http_result *r, enum remote_write_form *ret)
{
        static const long may_be[] = { 400, 406, 500, 501 };
        bool unknown = r->status == 415 || (r->ok && r->count == UINT64_MAX), may = unknown;

        for (size_t i = 0; i < ARRAY_SIZE(may_be); i++)
                may |= r->status == may_be[i];
        *ret = unknown ? REMOTE_WRITE_1 : w->form + 1;
        return may && w->form != REMOTE_WRITE_1 && *ret <= sink_least_form(w->base.plan);
}

/* A receiver of 2.0 took some of it, and refused the rest for good. */
static bool accepted_a_part(const struct remote_writer *w, const struct http_result *r)
{
        return w->form != REMOTE_WRITE_1 && r->status >= 400 && r->status < 500 && !r->again &&
               r->count != UINT64_MAX && r->count > 0;
}

static void judge_answer(struct sender *s, const struct http_result *result)
{
        struct remote_writer *w = (struct remote_writer *)s;
        bool part = accepted_a_part(w, result), no_form = w->tried && !result->ok && !result->again && !w->first.ok;
        struct sent sent = sender_outcome(no_form ? &w->first : result);
        enum remote_write_form next;

        if (!part && next_form(w, result, &next)) {
                if (!w->tried)
                        w->first = *result;
                w->tried = true;
                w->form = next;
                post_next(w);
                return;
        }
        sent.ok |= part;
        if (sent.ok && w->form != REMOTE_WRITE_1 && result->count < w->batch->samples)
                sent.refused = w->batch->samples - result->count;
        if (part && !sent.refused && w->form == REMOTE_WRITE_NATIVE) { /* all but the native histograms */
                w->first = *result;
                w->tried = true;
                w->form = REMOTE_WRITE_2;
        }
        if (sent.ok && w->tried) {
                /* A lesser form was taken where a richer one was not. */
                if (!w->keep_until_ns || w->kept != w->form)
                        report_info(
                                "sink=%s is sent remote_write=\"%s\": its receiver takes no richer form, answer=\"%s\"",
                                w->base.plan->name, forms[w->form].name,
                                w->first.ok ? "taken for 1.0, without a count" : w->first.detail);
                w->kept = w->form;
                w->keep_until_ns = clock_mono_ns() + KEEP_FORM_NS;
        }
        free(w->recoded);
        w->recoded = NULL;
        w->base.done(w->base.ctx, &sent);
}

static void release_writer(struct sender *s)
{
        free(((struct remote_writer *)s)->recoded);
}

static void send_batch(struct sender *s, const struct batch *batch)
{
        struct remote_writer *w = (struct remote_writer *)s;

        w->batch = batch;
        w->tried = false;
        w->form = clock_mono_ns() < w->keep_until_ns ? w->kept : sink_best_form(s->plan);
        post_next(w);
}

const struct sender_kind sender_remote_write = {
        .size = sizeof(struct remote_writer), .send = send_batch, .answered = judge_answer, .release = release_writer
};
