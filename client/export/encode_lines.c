/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encode_lines.c - the three formats with one line per sample: Influx' line protocol, Graphite's plaintext with
 * tags, statsd.
 *
 * None can express infinity: such a sample has no line. statsd has counters, but a lost datagram would be missing in
 * their sums forever: everything is sent as gauges, counters as their running totals.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/export/batcher.h"
#include "client/export/limits.h"
#include "heapwatch/text.h"
#include "proto/base/decimal.h"
#include "proto/base/document.h"

#define VALUE_BYTES 512 /* of a label; longer ones are cut */

struct lines;
typedef void line_writer(FILE *to, const struct lines *l, const struct metric_sample *s, const struct metric_part *p);

struct lines {
        struct batcher base;
        struct document text;
        bool open;
        uint64_t n;
        line_writer *write;
};

static struct batcher *make(line_writer *write)
{
        struct lines *l = calloc(1, sizeof(*l));

        if (!l)
                return NULL;
        l->write = write;
        return &l->base;
}

static uint64_t flush(struct batcher *e)
{
        struct lines *l = (struct lines *)e;

        if (!l->open)
                return 0;
        bool whole = document_close(&l->text);
        size_t size = l->text.size;
        batcher_give(e, whole ? document_detach(&l->text) : NULL, size, l->n);
        document_done(&l->text);
        l->open = false;
        l->n = 0;
        return 0;
}

static void destroy(struct batcher *e)
{
        free(e); /* between walks there is no text */
}

static void add_part(void *ctx, const struct metric_sample *sample, const struct metric_part *part)
{
        struct lines *l = ctx;

        if (!isfinite(part->value))
                return;
        if (!l->open) {
                document_open(&l->text);
                if (!l->text.to) {
                        l->base.no_memory++;
                        return;
                }
                l->open = true;
        }
        l->write(l->text.to, l, sample, part);
        l->n++;
        if (l->n >= BATCH_SAMPLES_MAX || ftell(l->text.to) >= (long)BATCH_BYTES_MAX)
                (void)flush(&l->base);
}

static void add_sample(struct batcher *e, const struct metric_sample *sample)
{
        metric_flatten(sample, add_part, e);
}

/*
 * Calls `put` with each label: the sample's own, the walk's, the part's. Skips empty ones, which none of the
 * formats has.
 */
static void each_label(FILE *to, const struct lines *l, const struct metric_sample *s, const struct metric_part *p,
                       void (*put)(FILE *to, const char *name, const char *value))
{
        const struct encoding *now = l->base.now;

        for (size_t i = 0; i < s->n_labels; i++)
                if (*s->labels[i].value)
                        put(to, s->labels[i].name, s->labels[i].value);
        for (size_t i = 0; i < now->n_labels; i++)
                if (!batcher_has_label(s, now->labels[i].name))
                        put(to, now->labels[i].name, now->labels[i].value);
        if (p->label.name)
                put(to, p->label.name, p->label.value);
}

static void put_number(FILE *to, double value)
{
        char number[DECIMAL_MAX];

        (void)fputs(decimal_shortest(number, value), to);
}

/*
 * Text with the characters of `bad` and all control characters replaced, or (`escape`) a backslash before those of
 * `bad`.
 */
static void put_text(FILE *to, const char *text, const char *bad, bool escape)
{
        char clean[VALUE_BYTES];
        size_t n = hw_utf8_clean(clean, sizeof(clean), text, strlen(text));

        for (size_t i = 0; i < n; i++) {
                bool control = (unsigned char)clean[i] < 0x20 || clean[i] == 0x7f;

                if (control || (!escape && strchr(bad, clean[i])))
                        (void)putc('_', to);
                else if (strchr(bad, clean[i]))
                        (void)fprintf(to, "\\%c", clean[i]);
                else
                        (void)putc(clean[i], to);
        }
}

/* ------------------------------------------------------------------- Influx */

/* A backslash at the end would escape the comma after it. */
static void influx_label(FILE *to, const char *name, const char *value)
{
        size_t n = strlen(value);

        (void)fprintf(to, ",%s=", name);
        put_text(to, value, ", =", true);
        if (value[n - 1] == '\\')
                (void)putc('_', to);
}

static void influx_line(FILE *to, const struct lines *l, const struct metric_sample *s, const struct metric_part *p)
{
        (void)fprintf(to, "%s%s", s->name, p->suffix);
        each_label(to, l, s, p, influx_label);
        (void)fputs(" value=", to);
        put_number(to, p->value);
        (void)fprintf(to, " %" PRIu64 "\n", l->base.now->wall_ns);
}

/* ----------------------------------------------------------------- Graphite */

static void graphite_label(FILE *to, const char *name, const char *value)
{
        (void)fprintf(to, ";%s=", name);
        if (*value == '~')
                (void)putc('_', to);
        put_text(to, *value == '~' ? value + 1 : value, "; ", false);
}

static void graphite_line(FILE *to, const struct lines *l, const struct metric_sample *s, const struct metric_part *p)
{
        (void)fprintf(to, "%s%s", s->name, p->suffix);
        each_label(to, l, s, p, graphite_label);
        (void)putc(' ', to);
        put_number(to, p->value);
        (void)fprintf(to, " %" PRIu64 "\n", l->base.now->wall_ns / 1000000000u);
}

/* ------------------------------------------------------------------- statsd */

static void statsd_label(FILE *to, const char *name, const char *value)
{
        (void)name;
        (void)putc('.', to);
        put_text(to, value, ":|@#. \\/", false);
}

static void statsd_name(FILE *to, const struct lines *l, const struct metric_sample *s, const struct metric_part *p)
{
        (void)fprintf(to, "%s%s", s->name, p->suffix);
        each_label(to, l, s, p, statsd_label);
}

/* In statsd a sign means a difference, so a negative value is sent as 0 and then a difference. */
static void statsd_line(FILE *to, const struct lines *l, const struct metric_sample *s, const struct metric_part *p)
{
        if (p->value < 0) {
                statsd_name(to, l, s, p);
                (void)fputs(":0|g\n", to);
        }
        statsd_name(to, l, s, p);
        (void)putc(':', to);
        put_number(to, p->value);
        (void)fputs("|g\n", to);
}

static struct batcher *make_influx(void)
{
        return make(influx_line);
}

static struct batcher *make_graphite(void)
{
        return make(graphite_line);
}

static struct batcher *make_statsd(void)
{
        return make(statsd_line);
}

#define LINES(m)                                                                                                       \
        {                                                                                                              \
                .type = "text/plain; charset=utf-8", .make = m, .sample = add_sample, .flush = flush,                  \
                .destroy = destroy                                                                                     \
        }

const struct batcher_kind batcher_influx = LINES(make_influx);
const struct batcher_kind batcher_graphite = LINES(make_graphite);
const struct batcher_kind batcher_statsd = LINES(make_statsd);
