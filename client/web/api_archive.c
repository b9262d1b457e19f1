/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/web/api_archive.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/archive/host.h"
#include "client/serve/answer.h"
#include "client/web/archive_query.h"

struct archive_job {
        struct worker_job job;
        const char *path;
        struct archived_query query;
};

static bool read_archive(struct worker_job *job, struct json_out *to, struct error *error)
{
        const struct archive_job *a = (const struct archive_job *)job;

        return archived_print(to, a->path, &a->query, error);
}

static bool parse(struct archive_query *q, const char *query, struct error *error)
{
        struct evkeyvalq parameters;
        bool good;

        if (evhttp_parse_query_str(query ? query : "", &parameters) < 0)
                return error_set(error, "malformed query");
        good = archive_query_parse(q, &parameters, error);
        evhttp_clear_headers(&parameters);
        return good;
}

static struct worker_job *job_of(const struct archive_source *s, const struct archive_query *q)
{
        struct archive_job *a = calloc(1, sizeof(*a));

        if (!a)
                return NULL;
        a->job.work = read_archive;
        a->path = s->path;
        a->query = q->data;
        archive_host(a->query.host, sizeof(a->query.host), feed_endpoint(s->feed, q->daemon));
        return &a->job;
}

void api_archive_answer(const struct archive_source *s, struct evhttp_request *req, const char *query)
{
        static const char none[] = "{\"archive\":false,\"runs\":[],\"older\":0}\n"; /* no error: most have none */
        struct archive_query q;
        struct error error;

        if (!s->path || access(s->path, F_OK) < 0)
                answer_json(req, none, strlen(none));
        else if (!parse(&q, query, &error))
                answer_error(req, 400, "%s", error.text);
        else if (q.daemon >= feed_daemons(s->feed))
                answer_error(req, 400, "there is no daemon of that number");
        else
                worker_queue(s->worker, job_of(s, &q), req);
}
