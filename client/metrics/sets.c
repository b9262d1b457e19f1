/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client/metrics/tables.h"
#include "proto/base/text_out.h"

const struct metric_set metric_sets[] = {
        { .name = "heapwatch",
          .about = "everything",
          .of_target = heapwatch_of_target,
          .of_daemon = heapwatch_of_daemon,
          .of_sink = heapwatch_of_sink },
        { .name = "prometheus-metrics-ghc",
          .about = "as prometheus-metrics-ghc has them",
          .of_target = prometheus_ghc_of_target },
        { .name = "ekg", .about = "as ekg-core has them", .of_target = ekg_of_target },
        { .name = "otel", .about = "as hs-opentelemetry has them", .of_target = otel_of_target, .suffixed = true },
        { .name = "eventlog-live",
          .about = "as eventlog-live has them",
          .of_target = eventlog_live_of_target,
          .suffixed = true },
        { .name = NULL },
};

const struct metric_set *metric_set_find(const char *name)
{
        for (const struct metric_set *s = metric_sets; s->name; s++)
                if (!strcmp(s->name, name))
                        return s;
        return NULL;
}

const char *metric_help(const struct metric *m)
{
        return m->help || !m->fact ? m->help : fact_rows[m->fact].help;
}

const char *metric_unit_name(enum metric_unit unit)
{
        static const char *const names[] = {
                "",          "bytes",     "seconds", "ratio", "bytes_per_second", "milliseconds", "nanoseconds",
                "megabytes", "megablocks"
        };

        return names[unit];
}

const char *metric_unit_ucum(enum metric_unit unit)
{
        static const char *const names[] = { "", "By", "s", "1", "By/s", "ms", "ns", "MiBy", "{mblock}" };

        return names[unit];
}

static void suffix(char out[METRIC_NAME_MAX], const char *word)
{
        size_t n = strlen(out);

        if (*word && !text_has_suffix(out, word))
                (void)snprintf(out + n, METRIC_NAME_MAX - n, "_%s", word);
}

void metric_prometheus_name(char out[METRIC_NAME_MAX], const struct metric_set *set, const struct metric *m)
{
        size_t n = 0;

        for (; m->name[n] && n < METRIC_NAME_MAX - 1; n++)
                out[n] = isalnum((unsigned char)m->name[n]) ? m->name[n] : '_';
        out[n] = '\0';
        if (!set->suffixed)
                return;
        if (m->unit != UNIT_MEGABLOCKS) /* a unit in braces says what is counted and is not a suffix */
                suffix(out, metric_unit_name(m->unit));
        if (m->type == METRIC_COUNTER)
                suffix(out, "total");
}
