/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/web/server.h"

#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/command.h"
#include "client/past/diff/side.h"
#include "client/past/diff/print.h"
#include "client/answers/api/state_json.h"
#include "client/out/http/answer.h"

struct diff_job {
        struct worker_job job;
        struct web_subject a, b;
};

static bool read_sides(const struct diff_job *d, struct side *a, struct side *b, struct error *error)
{
        if (!d->a.file || !d->b.file)
                return side_read_live(a, d->a.endpoint, d->a.target, error) &&
                       side_read_live(b, d->b.endpoint, d->b.target, error);
        return (side_read(a, &command_web, d->a.file, NULL) && side_read(b, &command_web, d->b.file, NULL)) ||
               error_set(error, "%s and %s cannot be compared", d->a.target, d->b.target);
}

static bool run_diff(struct worker_job *job, struct json_out *to, struct error *error)
{
        struct side a = { .n = 0 }, b = { .n = 0 };
        bool good = read_sides((const struct diff_job *)job, &a, &b, error) &&
                    (compare_json(to, &a, &b) || error_set(error, "out of memory"));

        side_done(&a);
        side_done(&b);
        return good;
}

/* --------------------------------------------------------------------- the request */

bool web_subject_find(const struct web_subjects *among, const char *text, struct web_subject *ret, struct error *error)
{
        struct detail one = { .n = 0 };

        if (!detail_add(&one, text) || one.n != 1)
                return error_set(error, "expected the name of a target, NAME or D:NAME");
        const struct world_target *t = detail_find(&one, 0, among->world);
        if (!t)
                return error_set(error, "there is no target %.80s", text);
        for (size_t k = 0; k < among->logs->n; k++)
                if (!strcmp(among->logs->items[k], t->name))
                        ret->file = among->files->items[k];
        (void)snprintf(ret->target, sizeof(ret->target), "%s", t->name);
        (void)snprintf(ret->endpoint, sizeof(ret->endpoint), "%s", feed_endpoint(among->feed, t->daemon));
        return true;
}

static bool find_side(const struct web_subjects *among, const struct evkeyvalq *all, const char *name,
                      struct web_subject *ret, struct error *error)
{
        const char *text = evhttp_find_header(all, name);

        return text ? web_subject_find(among, text, ret, error)
                    : error_set(error, "expected the targets a and b, as in /api/diff?a=api&b=api~1");
}

static bool parse(const struct web_subjects *among, const char *query, struct diff_job *ret, struct error *error)
{
        struct evkeyvalq parameters;

        if (!query_parameters(query, &parameters))
                return error_set(error, "malformed query");
        bool good = find_side(among, &parameters, "a", &ret->a, error) &&
                    find_side(among, &parameters, "b", &ret->b, error);
        evhttp_clear_headers(&parameters);
        return good;
}

void api_diff_answer(const struct web_subjects *among, struct worker *worker, struct evhttp_request *req,
                     const char *query)
{
        struct diff_job *d = calloc(1, sizeof(*d));
        struct error error;

        if (d && !parse(among, query, d, &error)) {
                answer_error(req, 400, "%s", error.text);
                free(d);
                return;
        }
        if (d)
                d->job.work = run_diff;
        worker_queue(worker, d ? &d->job : NULL, req);
}
