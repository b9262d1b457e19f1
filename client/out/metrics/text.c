/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a family's header is written with its first sample, so a family without samples is absent, as an unknown
 * value is: never 0.
 */
#include "client/out/metrics/collect.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "proto/base/text_out.h"
#include "proto/base/time.h"

struct sheet {
        FILE *to;
        bool open;
        const struct metric *begun; /* whose header was written last */
        uint64_t unix_ns;           /* of all samples; 0: not written */
        uint64_t samples;
};

bool metrics_wants_open(const char *accept)
{
        const char *at = accept ? strstr(accept, "application/openmetrics-text") : NULL;
        const char *end = at ? at + strcspn(at, ",") : NULL;
        const char *version = at ? strstr(at, "version=") : NULL;

        return at && (!version || version > end || !strncmp(version, "version=1.0", 11) ||
                      !strncmp(version, "version=\"1.0", 12));
}

static void put_label(FILE *to, const char **separator, const char *name, const char *value)
{
        char clean[METRIC_VALUE_MAX];

        (void)metric_label_text(clean, value);
        (void)fprintf(to, "%s%s=\"", *separator, name);
        for (const char *c = clean; *c; c++) {
                if (*c == '"' || *c == '\\')
                        (void)putc('\\', to);
                (void)putc(*c, to);
        }
        (void)putc('"', to);
        *separator = ",";
}

/* OpenMetrics names the family of a counter or an info without its suffix. */
static int family_length(bool open, const struct metric_sample *m)
{
        size_t n = strlen(m->metric->name);
        const char *end = m->metric->type == METRIC_COUNTER ? "_total" : m->metric->type == METRIC_INFO ? "_info" : "";
        size_t cut = strlen(end);

        return (int)(open && n > cut && !strcmp(m->metric->name + n - cut, end) ? n - cut : n);
}

void metrics_print_header(FILE *to, const struct metric_sample *m, bool open)
{
        static const char *const types[] = { "gauge", "counter", "gauge", "summary", "histogram" };
        const char *type = open && m->metric->type == METRIC_INFO ? "info" : types[m->metric->type];
        const char *unit = metric_unit_name(m->metric->unit), *name = m->metric->name;
        int n = family_length(open, m);

        (void)fprintf(to, "# HELP %.*s %s\n# TYPE %.*s %s\n", n, name, metric_help(m->metric), n, name, type);
        if (open && *unit)
                (void)fprintf(to, "# UNIT %.*s %s\n", n, name, unit);
}

static void put_part(void *ctx, const struct metric_sample *m, const struct metric_part *part)
{
        struct sheet *s = ctx;
        const char *separator = "{";

        (void)fprintf(s->to, "%s%s", m->metric->name, part->suffix);
        for (size_t i = 0; i < m->n_labels; i++)
                put_label(s->to, &separator, m->labels[i].name, m->labels[i].value);
        if (part->label.name) {
                char at[DECIMAL_MAX + 2];
                bool whole = s->open && !strpbrk(part->label.value, ".eI");

                (void)snprintf(at, sizeof(at), "%s%s", part->label.value, whole ? ".0" : "");
                put_label(s->to, &separator, part->label.name, at);
        }
        (void)fputs(*separator == ',' ? "} " : " ", s->to);
        /* As these formats have it: +Inf, 0.25, 12345678. */
        char number[DECIMAL_MAX];
        if (isinf(part->value))
                (void)fputs(part->value > 0 ? "+Inf" : "-Inf", s->to);
        else
                (void)fputs(decimal_shortest(number, part->value), s->to);
        if (s->unix_ns)
                (void)fprintf(s->to, " %" PRIu64 ".%09" PRIu64, s->unix_ns / NS_PER_S, s->unix_ns % NS_PER_S);
        s->samples++;
        (void)putc('\n', s->to);
}

uint64_t metrics_print_sample(FILE *to, const struct metric_sample *m, bool open_metrics, uint64_t unix_ns)
{
        struct sheet s = { .to = to, .open = open_metrics, .unix_ns = unix_ns };

        metric_flatten(m, put_part, &s);
        return s.samples;
}

static void put_sample(void *ctx, const struct metric_sample *m)
{
        struct sheet *s = ctx;

        if (s->begun != m->metric)
                metrics_print_header(s->to, m, s->open);
        s->begun = m->metric;
        metric_flatten(m, put_part, s);
}

uint64_t metrics_print(FILE *to, struct metrics *m, const struct metrics_source *source, bool open_metrics)
{
        struct sheet s = { .to = to, .open = open_metrics };

        metrics_collect(m, source, put_sample, &s);
        if (open_metrics)
                (void)fputs("# EOF\n", to);
        return s.samples;
}
