/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: what was sent of a target is kept by name and daemon, in the world's order, as collect.c does for bands. The
 * pprof writer needs a descriptor, so a profile is written to a file in memory and taken from there.
 */
#include "client/export/profiles.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/convert/pprof_file.h"
#include "client/export/sender.h"
#include "proto/base/document.h"

#define RANDOM_BYTES 12
#define NS_PER_S     UINT64_C(1000000000)

/* What was sent of a target. */
struct seen {
        char name[WORLD_NAME_MAX + 1];
        size_t daemon;
        uint32_t run;
        uint64_t census;        /* number of the newest; 0: none */
        uint64_t event_time_ns; /* of the walk before */
        uint64_t wall_ns;       /* of the walk before, or when the run began */
        uint64_t *ticks;        /* by stack; NULL: none yet */
        size_t n_ticks;
};

struct profiles {
        uint64_t since_wall_ns;
        struct seen *targets; /* in the world's order */
        size_t n;
        char boundary[PROFILE_BOUNDARY + 1];
};

/* One profile as it is made. */
struct making {
        struct profiles *profiles;
        const struct encoding *encoding;
        const struct metrics_source *source;
        const struct world_target *t;
        struct seen *seen;
        uint64_t lost;
};

/* One kind of profile. */
struct kind {
        const char *config; /* as Pyroscope wants it: how values of a type are shown and added up */
        int (*write)(struct pprof_file *file, const struct making *m);
};

struct profiles *profiles_new(uint64_t wall_ns)
{
        struct profiles *p = calloc(1, sizeof(*p));
        unsigned char random[RANDOM_BYTES] = { 0 };
        int n;

        if (!p || getrandom(random, sizeof(random), 0) < 0) { /* which no program can have in its names */
                free(p);
                return NULL;
        }
        p->since_wall_ns = wall_ns;
        n = snprintf(p->boundary, sizeof(p->boundary), "heapwatch-");
        for (size_t i = 0; i < sizeof(random); i++)
                n += snprintf(p->boundary + n, sizeof(p->boundary) - (size_t)n, "%02x", random[i]);
        return p;
}

static void seen_done(struct seen *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(list[i].ticks);
        free(list);
}

void profiles_destroy(struct profiles **p)
{
        if (!*p)
                return;
        seen_done((*p)->targets, (*p)->n);
        free(*p);
        *p = NULL;
}

/* -------------------------------------------------------- what was sent before */

/* Where the target is against the one of an entry. */
static int order(const struct world_target *t, const struct seen *s)
{
        return world_target_order(t, s->name, s->daemon);
}

static const Hw__Run *run_of(const struct world_target *t)
{
        return t->target ? t->target->run_info : NULL;
}

static void remember_ticks(struct seen *s, const struct world_target *t)
{
        uint64_t *grown = realloc(s->ticks, (t->n_stacks ? t->n_stacks : 1) * sizeof(*grown));

        if (!grown) /* the next profile has the ticks of this one once more rather than too few */
                return;
        for (uint32_t i = 0; i < t->n_stacks; i++)
                grown[i] = t->stacks[i] ? t->stacks[i]->ticks : 0;
        s->ticks = grown;
        s->n_ticks = t->n_stacks;
}

/* A run that is seen for the first time. */
static void begin_run(struct profiles *p, struct seen *s, const struct world_target *t, uint64_t now_ns)
{
        const Hw__Run *run = run_of(t);
        bool young = run && run->has_start_wall_ns && run->start_wall_ns >= p->since_wall_ns;

        free(s->ticks);
        *s = (struct seen){ .daemon = t->daemon, .run = t->run, .wall_ns = now_ns };
        memcpy(s->name, t->name, sizeof(s->name));
        if (young) {
                s->wall_ns = run->start_wall_ns;
        } else {
                s->event_time_ns = t->event_time_ns;
                remember_ticks(s, t);
        }
}

/* Brings the list in line with the world's targets; both are in order of name and daemon. */
static bool follow(struct profiles *p, const struct world *w, uint64_t now_ns)
{
        size_t n = world_targets(w), old = 0;
        struct seen *list = calloc(n ? n : 1, sizeof(*list));

        if (!list)
                return false;
        for (size_t i = 0; i < n; i++) {
                const struct world_target *t = world_target(w, i);
                bool known;

                while (old < p->n && order(t, &p->targets[old]) > 0)
                        old++;
                known = old < p->n && order(t, &p->targets[old]) == 0;
                if (known) {
                        list[i] = p->targets[old];
                        p->targets[old++].ticks = NULL;
                }
                if (!known || list[i].run != t->run)
                        begin_run(p, &list[i], t, now_ns);
        }
        seen_done(p->targets, p->n);
        p->targets = list;
        p->n = n;
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

static void put_query(FILE *to, const struct making *m, uint64_t from_ns, uint64_t until_ns)
{
        const char *before = "{";

        (void)fputs("name=", to);
        put_value(to, m->t->name);
        for (size_t i = 0; i < m->encoding->n_labels; i++, before = ",")
                put_label(to, before, m->encoding->labels[i].name, m->encoding->labels[i].value);
        if (m->source->n_daemons > 1) {
                put_label(to, before, "daemon", m->source->daemon_name(m->source->ctx, m->t->daemon));
                before = ",";
        }
        if (*before == ',')
                put_escaped(to, "}");
        (void)fprintf(to, "&from=%llu&until=%llu&format=pprof&spyName=heapwatch\n",
                      (unsigned long long)(from_ns / NS_PER_S), (unsigned long long)(until_ns / NS_PER_S));
}

/* ------------------------------------------------------------------- the body */

static void put_part(FILE *to, const struct profiles *p, const char *name, const char *file)
{
        (void)fprintf(to, "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n\r\n", p->boundary,
                      name, file);
}

/* The profile as it is in the file in memory. False: out of memory. */
static bool put_file(FILE *to, int fd)
{
        char buffer[16384];
        off_t at = 0;
        ssize_t n;

        while ((n = pread(fd, buffer, sizeof(buffer), at)) > 0) {
                (void)fwrite(buffer, 1, (size_t)n, to);
                at += n;
        }
        return n == 0;
}

static bool put_body(FILE *to, const struct making *m, const struct kind *kind, uint64_t *ret_samples)
{
        int fd = memfd_create("profile", MFD_CLOEXEC);
        FILE *written = fd >= 0 ? fdopen(fd, "w+") : NULL;
        struct pprof_file *file = written ? pprof_file_new(written) : NULL;
        bool whole = file && kind->write(file, m) == 0 && pprof_file_close(file) == 0;

        put_part(to, m->profiles, "profile", "profile.pprof");
        whole = whole && put_file(to, fd);
        *ret_samples = file ? pprof_file_samples(file) : 0;
        (void)fputs("\r\n", to);
        put_part(to, m->profiles, "sample_type_config", "sample_type_config.json");
        (void)fprintf(to, "%s\r\n--%s--\r\n", kind->config, m->profiles->boundary);
        pprof_file_destroy(&file);
        if (written)
                (void)fclose(written);
        else if (fd >= 0)
                (void)close(fd);
        return whole;
}

static void make(struct making *m, const struct kind *kind, uint64_t from_ns, uint64_t until_ns)
{
        struct batch b = { .wall_ns = m->encoding->wall_ns };
        struct document d;
        bool whole = false;

        document_open(&d);
        if (d.to) {
                put_query(d.to, m, from_ns, until_ns);
                whole = put_body(d.to, m, kind, &b.samples);
        }
        if (document_close(&d) && whole && b.samples > 0) {
                b.size = d.size;
                b.bytes = document_take(&d);
                m->encoding->take(m->encoding->ctx, &b);
        } else if (!whole) {
                m->lost += b.samples ? b.samples : 1;
        }
        document_done(&d);
}

/* ------------------------------------------------------------------ the kinds */

static int write_heap(struct pprof_file *file, const struct making *m)
{
        int r = pprof_file_head(file, m->t, false, m->t->census->time_ns, 0);

        return r ? r : pprof_file_census(file, m->t, m->t->census, UINT64_MAX);
}

static int write_time(struct pprof_file *file, const struct making *m)
{
        static const uint64_t none;
        const struct seen *s = m->seen;
        uint64_t now = m->t->event_time_ns, took = now > s->event_time_ns ? now - s->event_time_ns : 0;
        int r = pprof_file_head(file, m->t, true, s->event_time_ns, took);

        return r ? r : pprof_file_time(file, m->t, s->ticks ? s->ticks : &none, s->ticks ? s->n_ticks : 0);
}

static void heap(struct making *m)
{
        static const struct kind kind = {
                "{\"inuse_space\":{\"units\":\"bytes\",\"display-name\":\"inuse_space\","
                "\"aggregation\":\"average\",\"sampled\":false}}",
                write_heap
        };
        const Hw__Census *c = m->t->census;
        const Hw__Run *run = run_of(m->t);
        uint64_t wall_ns = m->encoding->wall_ns;

        if (!c || c->unfinished || c->number <= m->seen->census)
                return;
        m->seen->census = c->number;
        if (run && run->has_start_wall_ns && run->start_wall_ns + c->time_ns < wall_ns)
                wall_ns = run->start_wall_ns + c->time_ns;
        make(m, &kind, wall_ns - NS_PER_S, wall_ns);
}

static void ticks(struct making *m)
{
        static const struct kind kind = {
                "{\"samples\":{\"units\":\"samples\",\"display-name\":\"cpu\","
                "\"aggregation\":\"sum\",\"sampled\":true}}",
                write_time
        };

        if (m->t->ticks)
                make(m, &kind, m->seen->wall_ns, m->encoding->wall_ns);
        remember_ticks(m->seen, m->t);
        m->seen->event_time_ns = m->t->event_time_ns;
        m->seen->wall_ns = m->encoding->wall_ns;
}

uint64_t profiles_run(struct profiles *p, const struct encoding *encoding, const struct metrics_source *source)
{
        struct making m = { .profiles = p, .encoding = encoding, .source = source };

        if (!follow(p, source->world, encoding->wall_ns))
                return 1;
        for (size_t i = 0; i < p->n; i++) {
                m.t = world_target(source->world, i);
                m.seen = &p->targets[i];
                const struct world_daemon *d = world_daemon(source->world, m.t->daemon);
                if (!d || d->stale)
                        continue;
                heap(&m);
                ticks(&m);
        }
        return m.lost;
}

/* ----------------------------------------------------------- a batch, for senders */

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

const struct batcher_kind profiles_kind = { .over_http = &sender_profile };
