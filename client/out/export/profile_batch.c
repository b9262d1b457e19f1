/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/profile_batch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "proto/base/document.h"
#include "proto/base/time.h"

#define RANDOM_BYTES 12

bool profile_boundary(char ret[static PROFILE_BOUNDARY + 1])
{
        unsigned char random[RANDOM_BYTES] = { 0 };
        int n = snprintf(ret, PROFILE_BOUNDARY + 1, "heapwatch-");

        if (getrandom(random, sizeof(random), 0) < 0)
                return false;
        for (size_t i = 0; i < sizeof(random); i++)
                n += snprintf(ret + n, PROFILE_BOUNDARY + 1 - (size_t)n, "%02x", random[i]);
        return true;
}

/* ------------------------------------------------------------------ the query */

static void put_escaped(FILE *to, const char *text)
{
        for (; *text; text++) {
                unsigned char c = (unsigned char)*text;

                if (isalnum(c) || c == '-' || c == '_' || c == '.')
                        (void)fputc(c, to);
                else
                        (void)fprintf(to, "%%%02X", c);
        }
}

/* Pyroscope's keys have no quotes: what delimits them cannot be in a value. */
static void put_value(FILE *to, const char *text)
{
        char part[2] = "";

        for (; *text; text++) {
                part[0] = strchr("{},=\"", *text) || (unsigned char)*text < ' ' ? '_' : *text;
                put_escaped(to, part);
        }
}

static void put_label(FILE *to, const char *before, const char *name, const char *value)
{
        put_escaped(to, before);
        put_value(to, name);
        put_escaped(to, "=");
        put_value(to, value);
}

static void put_query(FILE *to, const struct profile_batch *p, uint64_t from_ns, uint64_t until_ns)
{
        const char *before = "{";

        (void)fputs("name=", to);
        put_value(to, p->target);
        for (size_t i = 0; i < p->encoding->n_labels; i++, before = ",")
                put_label(to, before, p->encoding->labels[i].name, p->encoding->labels[i].value);
        if (p->daemon) {
                put_label(to, before, "daemon", p->daemon);
                before = ",";
        }
        if (*before == ',')
                put_escaped(to, "}");
        (void)fprintf(to, "&from=%llu&until=%llu&format=pprof&spyName=heapwatch\n",
                      (unsigned long long)(from_ns / NS_PER_S), (unsigned long long)(until_ns / NS_PER_S));
}

/* ------------------------------------------------------------------- the body */

static void put_part(FILE *to, const struct profile_batch *p, const char *name, const char *file)
{
        (void)fprintf(to, "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n\r\n", p->boundary,
                      name, file);
}

static bool put_body(FILE *to, const struct profile_batch *p, const struct profile_kind *kind, const void *ctx,
                     uint64_t *ret_samples)
{
        struct pprof_file file;

        put_part(to, p, "profile", "profile.pprof");
        bool whole = pprof_file_open(&file, to) && kind->write(&file, ctx) == 0 && pprof_close(file.out) == 0;
        *ret_samples = file.out ? pprof_samples(file.out) : 0;
        (void)fputs("\r\n", to);
        put_part(to, p, "sample_type_config", "sample_type_config.json");
        (void)fprintf(to, "%s\r\n--%s--\r\n", kind->config, p->boundary);
        pprof_file_done(&file);
        return whole;
}

uint64_t profile_batch_add(const struct profile_batch *p, const struct profile_kind *kind, const void *ctx,
                           uint64_t from_ns, uint64_t until_ns)
{
        struct batch b = { .wall_ns = p->encoding->wall_ns };
        struct document d;
        bool whole = false;

        document_open(&d);
        if (d.to) {
                put_query(d.to, p, from_ns, until_ns);
                whole = put_body(d.to, p, kind, ctx, &b.samples);
        }
        whole = document_close(&d) && whole;
        if (whole && b.samples > 0) {
                b.size = d.size;
                b.bytes = document_detach(&d);
                p->encoding->take(p->encoding->ctx, &b);
        }
        document_done(&d);
        if (whole)
                return 0;
        return b.samples ? b.samples : 1;
}

/* -------------------------------------------------------------- for the sender */

bool profile_parts(struct profile_parts *ret, const struct batch *batch)
{
        const char *bytes = batch->bytes, *end = bytes + batch->size, *line = memchr(bytes, '\n', batch->size);
        size_t n = 0;

        memset(ret, 0, sizeof(*ret));
        if (!line)
                return false;
        ret->query = bytes;
        ret->query_size = (size_t)(line - bytes);
        ret->body = line + 1;
        ret->body_size = (size_t)(end - ret->body);
        if (ret->body_size < 4 || ret->body[0] != '-' || ret->body[1] != '-')
                return false;
        for (const char *c = ret->body + 2; c < end && *c != '\r'; c++) {
                if (n == PROFILE_BOUNDARY || (!isalnum((unsigned char)*c) && *c != '-'))
                        return false;
                ret->boundary[n++] = *c;
        }
        for (size_t i = 0; i < ret->query_size; i++)
                if (ret->query[i] <= ' ' || ret->query[i] >= 0x7f)
                        return false;
        return n > 0;
}
