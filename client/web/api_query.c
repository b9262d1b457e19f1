/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: SQL is executed by `heapwatch query` as a child: its authorizer, its time and its memory are its own, and a
 * query that goes wrong costs the server nothing. Lines of its answer are objects of JSON, first the units of columns,
 * then the rows; they are passed on.
 */
#include "client/web/server.h"

#include <ctype.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/cli/endpoints.h"
#include "client/cli/own_command.h"
#include "client/answers/api/state_json.h"
#include "client/out/http/answer.h"
#include "proto/base/array.h"
#include "proto/base/time.h"

#define QUERY_SOURCES   8u
#define QUERY_SQL_BYTES 4096u
#define QUERY_BYTES     ((size_t)4 << 20)
#define QUERY_ROWS      5000u
#define QUERY_TIME      "15s"
#define QUERY_NS        (20 * NS_PER_S) /* with its start, and the answer of a busy daemon */

struct query_job {
        struct worker_job job;
        char sql[QUERY_SQL_BYTES];
        struct source {
                struct web_subject of;
                char archived[64]; /* "@WHEN": runs of it in the archive; "": it is as the page shows it */
        } sources[QUERY_SOURCES];
        size_t n;
        const char *archive;
};

/*
 * Operands NAME=SOURCE, for free(). A source has the name that the page shows, with _ for what no name of a schema may
 * have: two logs of one file name are told apart there already. Where a name is taken the command finds one.
 */
static bool name_sources(const struct query_job *q, char *ret[QUERY_SOURCES])
{
        for (size_t i = 0; i < q->n; i++) {
                const struct source *s = &q->sources[i];
                const char *what = s->of.file ? s->of.file : s->of.target;
                const char *suffix = *s->archived ? "_archived" : "";
                const size_t n = strlen(s->of.target) + strlen(suffix),
                             size = n + strlen(what) + sizeof(s->archived) + 1;
                bool is_taken = !strcasecmp(s->of.target, "main") || !strcasecmp(s->of.target, "temp");

                if (!(ret[i] = malloc(size)))
                        return false;
                (void)snprintf(ret[i], size, "%s%s=%s%s", s->of.target, suffix, what, s->archived);
                for (size_t k = 0; k < n; k++)
                        ret[i][k] = (char)(isalnum((unsigned char)ret[i][k]) ? ret[i][k] : '_');
                for (size_t k = 0; k < i; k++)
                        is_taken = is_taken || !strncasecmp(ret[k], ret[i], n + 1);
                if (is_taken)
                        memmove(ret[i], ret[i] + n + 1, strlen(ret[i] + n + 1) + 1);
        }
        return true;
}

static void add_words(const struct query_job *q, char *const operands[], const char *words[])
{
        static const char *const first[] = { "heapwatch", "query",     "--format", "ndjson",
                                             "--units",   "--timeout", QUERY_TIME };
        const struct source *live = NULL;
        bool any_archived = false;
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(first); i++)
                words[n++] = first[i];
        for (size_t i = 0; i < q->n; i++) {
                any_archived = any_archived || *q->sources[i].archived;
                if (!q->sources[i].of.file && !*q->sources[i].archived)
                        live = &q->sources[i];
        }
        if (any_archived) {
                words[n++] = "--db";
                words[n++] = q->archive;
        }
        if (live) {
                const char *given[ENDPOINTS_WORDS];
                const size_t n_given = endpoints_words(given);
                words[n++] = "--connect";
                words[n++] = live->of.endpoint;
                for (size_t i = 0; i + 1 < n_given; i += 2)
                        if (strcmp(given[i], "--connect") != 0) {
                                words[n++] = given[i];
                                words[n++] = given[i + 1];
                        }
        }
        words[n++] = "--";
        words[n++] = q->sql;
        for (size_t i = 0; i < q->n; i++)
                words[n++] = operands[i];
        words[n] = NULL;
}

static bool run_query(struct worker_job *job, struct json_out *to, struct error *error)
{
        const struct query_job *q = (const struct query_job *)job;
        const char *words[18 + ENDPOINTS_WORDS + QUERY_SOURCES];
        char *operands[QUERY_SOURCES] = { NULL };
        struct own_output o = { .n = 0 };

        const bool has_names = name_sources(q, operands) || error_set(error, "out of memory");
        add_words(q, operands, words);
        const struct own_command command = { words, QUERY_NS, QUERY_BYTES, QUERY_ROWS + 1, 0, NULL };
        const bool good = has_names && own_command_run(&command, &o, error);
        for (size_t i = 0; i < q->n; i++)
                free(operands[i]);
        if (good) {
                json_open(to, '{');
                json_member_bool(to, "cut", o.is_cut);
                for (const char *at = o.text, *end = o.text + o.n; at < end;) {
                        const char *stop = memchr(at, '\n', (size_t)(end - at));
                        const size_t size = (size_t)((stop ? stop : end) - at);
                        if (at == o.text)
                                json_key(to, "units");
                        json_raw_bytes(to, at, size);
                        if (at == o.text)
                                json_member_open(to, "rows", '[');
                        at += size + 1;
                }
                json_close(to, ']');
                if (*o.said)
                        json_member_text(to, "said", o.said);
                json_close(to, '}');
        }
        free(o.text);
        return good;
}

/* --------------------------------------------------------------------- the request */

static bool add_subject(const struct web_subjects *among, const char *text, struct query_job *q, struct error *error)
{
        if (q->n == QUERY_SOURCES)
                return error_set(error, "expected at most %u targets", QUERY_SOURCES);
        struct source *s = &q->sources[q->n++];
        const char *first = q->sources[0].of.endpoint, *at = strchr(text, '@');
        char name[128];

        (void)snprintf(name, sizeof(name), "%.*s", (int)(at ? at - text : (long)strlen(text)), text);
        (void)snprintf(s->archived, sizeof(s->archived), "%s", at ? at : "");
        if (at && (!among->archive || strlen(at) >= sizeof(s->archived)))
                return error_set(error,
                                 !among->archive ? "there is no archive" : "expected TARGET@WHEN, such as api@all");
        return web_subject_find(among, name, &s->of, error) &&
               (s->of.file || !strcmp(s->of.endpoint, first) ||
                error_set(error, "expected targets of one daemon: %.80s is of another than %.80s", s->of.target,
                          q->sources[0].of.target));
}

static bool parse_request(const struct web_subjects *among, const char *query, struct query_job *q, struct error *error)
{
        struct evkeyvalq all;
        bool good = true;

        if (!query_parameters(query, &all))
                return error_set(error, "malformed query");
        const char *sql = evhttp_find_header(&all, "sql");
        if (!sql || !*sql || strlen(sql) >= sizeof(q->sql))
                good = error_set(error, "expected sql, a query of 1 to %zu bytes", sizeof(q->sql) - 1);
        else
                (void)snprintf(q->sql, sizeof(q->sql), "%s", sql);
        for (const struct evkeyval *kv = all.tqh_first; good && kv; kv = kv->next.tqe_next)
                good = strcmp(kv->key, "target") != 0 || add_subject(among, kv->value, q, error);
        if (good && q->n == 0)
                good = error_set(error, "expected target, as in /api/query?target=api&sql=SELECT...");
        evhttp_clear_headers(&all);
        return good;
}

void api_query_answer(const struct web_subjects *among, struct worker *worker, struct evhttp_request *req,
                      const char *query)
{
        struct query_job *q = calloc(1, sizeof(*q));
        struct error error;

        if (q && !parse_request(among, query, q, &error)) {
                answer_error(req, 400, "%s", error.text);
                free(q);
                return;
        }
        if (q) {
                q->archive = among->archive;
                q->job.work = run_query;
                q->job.status = 400;
        }
        worker_queue(worker, q ? &q->job : NULL, req);
}
