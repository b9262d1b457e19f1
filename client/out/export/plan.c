/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/out/export/sender.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

#define INTERVAL_DEFAULT UINT64_C(15000000000)

enum { FORMAT_1_0 = 1, FORMAT_2_0 = 2 }; /* of remote-write */
enum { FORMAT_JSON = 2 };                /* of otlp */

const struct sink_kind_row sink_kinds[SINK_KINDS] = {
#define PULLED(id, kind, option, argument, complete, place, written, help)                                             \
        [SINK_##id] = { .name = kind, .key = place, .operand = argument, .file = written },
#define SENT(id, kind, encoder, has_native, help, ...)                                                                 \
        [SINK_##id] = { .name = kind,                                                                                  \
                        .key = "url",                                                                                  \
                        .operand = "http://...",                                                                       \
                        .batcher = &encoder,                                                                           \
                        .native = has_native,                                                                          \
                        .formats = { __VA_ARGS__ } },
#include "client/out/export/sinks.def"
#undef PULLED
#undef SENT
};

void plan_done(struct plan *p)
{
        for (size_t i = 0; i < p->n_sinks; i++) {
                struct sink_plan *s = &p->sinks[i];
                char *texts[] = { s->name, s->address, s->token_file, s->bearer_file, s->basic_file, s->ca_file };

                for (size_t t = 0; t < ARRAY_SIZE(texts); t++)
                        free(texts[t]);
        }
        for (size_t i = 0; i < p->n_daemons; i++)
                free(p->daemons[i]);
        for (size_t i = 0; i < p->n_labels; i++) {
                free((char *)p->labels[i].name);
                free((char *)p->labels[i].value);
        }
        free(p->journal);
        memset(p, 0, sizeof(*p));
}

struct sink_plan *plan_add(struct plan *p, enum sink_kind kind)
{
        if (p->n_sinks == EXPORT_SINKS_MAX)
                return NULL;
        p->sinks[p->n_sinks].kind = kind;
        return &p->sinks[p->n_sinks++];
}

/* As Prometheus requires; some names are reserved for our own labels. */
static bool is_label_name(const char *name)
{
        static const char *const taken[] = { "target", "daemon", "sink", "le", "quantile" };

        if (!isalpha((unsigned char)*name) && *name != '_')
                return false;
        for (const char *c = name; *c; c++)
                if (!isalnum((unsigned char)*c) && *c != '_')
                        return false;
        for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
                if (!strcmp(name, taken[i]))
                        return false;
        return strncmp(name, "__", 2) != 0;
}

bool plan_label(struct plan *p, const char *name, const char *value, struct error *error)
{
        size_t at = 0;

        if (!is_label_name(name))
                return error_set(error,
                                 "'%s' is not a label name: expected letters, digits and _, and none that "
                                 "heapwatch uses itself (target, daemon, sink)",
                                 name);
        if (!*value)
                return error_set(error, "the label %s has no value", name);
        while (at < p->n_labels && strcmp(p->labels[at].name, name) != 0)
                at++;
        if (at == EXPORT_LABELS_MAX)
                return error_set(error, "more than %d labels", EXPORT_LABELS_MAX);
        if (at == p->n_labels)
                p->labels[p->n_labels++].name = strdup(name);
        free((char *)p->labels[at].value);
        p->labels[at].value = strdup(value);
        return (p->labels[at].name && p->labels[at].value) || error_set(error, "out of memory");
}

const struct batcher_kind *sink_batcher(const struct sink_plan *s)
{
        const bool json = s->format == FORMAT_JSON;

        if (s->kind == SINK_OTLP && s->native == NATIVE_YES)
                return json ? &batcher_otlp_json_native : &batcher_otlp_native;
        return s->kind == SINK_OTLP && json ? &batcher_otlp_json : sink_kinds[s->kind].batcher;
}

enum remote_write_form sink_best_form(const struct sink_plan *s)
{
        if (s->format == FORMAT_1_0)
                return REMOTE_WRITE_1;
        return s->native == NATIVE_NO ? REMOTE_WRITE_2 : REMOTE_WRITE_NATIVE;
}

enum remote_write_form sink_least_form(const struct sink_plan *s)
{
        return s->format == FORMAT_2_0 ? REMOTE_WRITE_2 : REMOTE_WRITE_1;
}

/* ------------------------------------------------------------------ checks */

static bool is_path_with(const char *path, const char *suffix)
{
        const size_t n = strlen(path), m = strlen(suffix);

        return *path == '/' && n > m && !strcmp(path + n - m, suffix);
}

static bool check_sink(struct plan *p, struct sink_plan *s, struct error *error)
{
        const struct sink_kind_row *kind = &sink_kinds[s->kind];
        const bool pulled = !kind->batcher;

        if (!s->address)
                return error_set(error, "sink %s: %s: %s is missing", s->name, kind->key, kind->operand);
        if (!pulled && !address_is_http(s->address))
                return error_set(error, "sink %s: '%s': expected http://… or https://…", s->name, s->address);
        if (kind->file && !is_path_with(s->address, kind->file->suffix))
                return error_set(error, "sink %s: '%s': expected an absolute path that ends with %s", s->name,
                                 s->address, kind->file->suffix);
        if ((s->bearer_file || s->basic_file || s->ca_file) && pulled)
                return error_set(error, "sink %s: bearer_file, basic_file and ca_file only go with http", s->name);
        if (s->bearer_file && s->basic_file)
                return error_set(error, "sink %s: bearer_file and basic_file exclude each other", s->name);
        if (!pulled && strchr(s->address, '@'))
                return error_set(error, "sink %s: no user or password in a URL, which others see; use basic_file",
                                 s->name);
        if (s->token_file && s->kind != SINK_SCRAPE)
                return error_set(error, "sink %s: token_file is for kind scrape; to send one use bearer_file", s->name);
        if (!s->interval_ns)
                s->interval_ns = p->interval_ns;
        if (!s->bands)
                s->bands = p->bands;
        if (!s->series)
                s->series = p->series;
        if (!s->queue_bytes)
                s->queue_bytes = QUEUE_BYTES_DEFAULT;
        if (!s->queue_ns)
                s->queue_ns = QUEUE_TIME_DEFAULT;
        if (!s->timeout_ns)
                s->timeout_ns = SEND_TIMEOUT_DEFAULT;
        return true;
}

/* Named after its kind, "otlp", with a number if there are several, "otlp-2". */
static bool name_sink(struct plan *p, size_t i)
{
        char name[64];
        unsigned n = 1;

        for (size_t k = 0; k < i; k++)
                n += p->sinks[k].kind == p->sinks[i].kind;
        (void)snprintf(name, sizeof(name), n > 1 ? "%s-%u" : "%s", sink_kinds[p->sinks[i].kind].name, n);
        p->sinks[i].name = strdup(name);
        return p->sinks[i].name != NULL;
}

static const char every_option[] =
#define PULLED(id, kind, option, ...) "--" option ", "
#define SENT(id, kind, ...)           "--" kind ", "
#include "client/out/export/sinks.def"
#undef PULLED
#undef SENT
        ;

bool plan_check(struct plan *p, struct error *error)
{
        if (!p->interval_ns)
                p->interval_ns = INTERVAL_DEFAULT;
        if (p->n_sinks == 0)
                return error_set(error, "nothing to export to: give %sor --config", every_option);
        for (size_t i = 0; i < p->n_sinks; i++) {
                if (!p->sinks[i].name && !name_sink(p, i))
                        return error_set(error, "out of memory");
                for (size_t k = 0; k < i; k++)
                        if (!strcmp(p->sinks[k].name, p->sinks[i].name))
                                return error_set(error, "two sinks have the name %s", p->sinks[i].name);
                if (!check_sink(p, &p->sinks[i], error))
                        return false;
        }
        return true;
}
