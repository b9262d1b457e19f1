/* SPDX-License-Identifier: BSD-3-Clause */
/* export.c - `heapwatch export`: a plan from options and a file, then exporter.c. */
#include "client/cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/options.h"
#include "client/cli/report.h"
#include "client/out/export/exporter.h"
#include "client/out/metrics/collect.h"
#include "proto/base/error.h"

struct export
{
        struct text_list endpoints, labels, addresses[SINK_KINDS];
        const char *config;
        const char *token_file, *bearer_file, *ca_file, *journal;
        uint64_t interval_ns, bands, series;
        bool no_token, check;
        enum log_level level;
};

static const struct option options[] = {
        OPTION_TEXT("config", 'f', "FILE", struct export, config, COMPLETE_FILE,
                    "sinks and what they need (heapwatch-export.yaml(5))"),
#define PULLED(id, kind, option, operand, complete, key, file, help)                                                   \
        OPTION_LIST(option, 0, operand, struct export, addresses[SINK_##id], complete, help),
#define SENT(id, kind, batcher, native, help, ...)                                                                     \
        OPTION_LIST(kind, 0, "URL", struct export, addresses[SINK_##id], COMPLETE_NOTHING, help),
#include "client/out/export/sinks.def"
#undef PULLED
#undef SENT
        OPTION_TEXT("token-file", 0, "FILE", struct export, token_file, COMPLETE_FILE,
                    "the token that scrapers must send: this private file's first line (16 to 512 characters)"),
        OPTION_FLAG("no-token", 0, struct export, no_token, "answer every user of this machine, on loopback"),
        OPTION_TEXT("bearer-file", 0, "FILE", struct export, bearer_file, COMPLETE_FILE,
                    "a private file with the token to send to all URLs above"),
        OPTION_TEXT("ca-file", 0, "FILE", struct export, ca_file, COMPLETE_FILE,
                    "certificate authorities for https; default: the system's"),
        OPTION_CONNECT(struct export, endpoints),
        OPTION_LIST("label", 'l', "NAME=VALUE", struct export, labels, COMPLETE_NOTHING,
                    "a label for all samples that are sent; default: host=THIS HOST; may be repeated"),
        OPTION_DURATION("interval", 'i', struct export, interval_ns, UINT64_C(1000000000), UINT64_C(3600000000000),
                        "how often samples are sent or written, 1s to 1h; default 15s"),
        OPTION_NUMBER("bands", 'b', uint64_t, struct export, bands, 1, BANDS_MOST,
                      "how many of the largest bands of a target, besides the sum of the others; default 20"),
        OPTION_NUMBER("series", 0, uint64_t, struct export, series, 10, 100000,
                      "most samples of a target; default 1000"),
        OPTION_TEXT("journal", 0, "DIR", struct export, journal, COMPLETE_FILE,
                    "where unsent samples survive a restart, or off; default: heapwatch below $XDG_STATE_HOME"),
        OPTION_FLAG("check", 0, struct export, check, "only check the configuration"),
        OPTION_CHOICE("log-level", 0, "LEVEL", enum log_level, struct export, level, log_level_names,
                      "error, warning, info (default) or debug"),
        OPTIONS_END,
};

static bool add_sink(struct plan *p, enum sink_kind kind, const char *address, const struct export *x,
                     struct error *error)
{
        struct sink_plan *s = plan_add(p, kind);
        bool http = !strncmp(address, "http", 4);

        if (!s)
                return error_set(error, "more than %d receivers", EXPORT_SINKS_MAX);
        s->address = strdup(address);
        if (kind == SINK_SCRAPE) {
                s->token_file = x->token_file ? strdup(x->token_file) : NULL;
                s->no_token = x->no_token;
        }
        if (http && x->bearer_file)
                s->bearer_file = strdup(x->bearer_file);
        if (http && x->ca_file)
                s->ca_file = strdup(x->ca_file);
        return s->address || error_set(error, "out of memory");
}

static bool add_labels(struct plan *p, const struct export *x, struct error *error)
{
        char host[256] = "";

        for (size_t i = 0; i < x->labels.n; i++) {
                const char *text = x->labels.items[i], *is = strchr(text, '=');
                char name[128];

                if (!is || (size_t)(is - text) >= sizeof(name))
                        return error_set(error, "--label '%s': expected NAME=VALUE", text);
                (void)snprintf(name, sizeof(name), "%.*s", (int)(is - text), text);
                if (!plan_label(p, name, is + 1, error))
                        return false;
        }
        for (size_t i = 0; i < p->n_labels; i++)
                if (!strcmp(p->labels[i].name, "host"))
                        return true;
        if (gethostname(host, sizeof(host) - 1) < 0 || !*host)
                return true;
        return plan_label(p, "host", host, error);
}

/* Options take precedence over the file. */
static bool fill_plan(struct plan *p, const struct export *x, struct error *error)
{
        p->interval_ns = x->interval_ns;
        p->bands = x->bands;
        p->series = x->series;
        p->no_journal = x->journal && !strcmp(x->journal, "off");
        error_set(error, "out of memory");
        if (x->journal && !p->no_journal && !(p->journal = strdup(x->journal)))
                return false;
        for (size_t i = 0; i < x->endpoints.n; i++) {
                p->daemons[i] = strdup(x->endpoints.items[i]);
                if (!p->daemons[i])
                        return false;
                p->n_daemons++;
        }
        for (size_t kind = 0; kind < SINK_KINDS; kind++)
                for (size_t i = 0; i < x->addresses[kind].n; i++)
                        if (!add_sink(p, (enum sink_kind)kind, x->addresses[kind].items[i], x, error))
                                return false;
        error->text[0] = '\0'; /* plan_read reports by itself */
        if (x->config && !plan_read(p, x->config))
                return false;
        return add_labels(p, x, error) && plan_check(p, error);
}

static int run_export(void *filled)
{
        const struct export *x = filled;
        struct exporter *e = NULL;
        struct plan plan = { .n_sinks = 0 };
        struct error error = { "" };
        int status = EXIT_USAGE;

        report_set_level(x->level);
        if (!fill_plan(&plan, x, &error)) {
                if (error.text[0])
                        (void)command_usage_error(&command_export, "%s", error.text);
        } else if (!(e = exporter_new(&plan, x->check, &error))) {
                command_error(&command_export, "%s", error.text);
        } else if (x->check) {
                (void)printf("%zu sink%s: good\n", plan.n_sinks, plan.n_sinks == 1 ? "" : "s");
                status = EXIT_OK;
        } else {
                status = exporter_run(e);
        }
        exporter_destroy(&e);
        plan_done(&plan);
        return status;
}

const struct command command_export = {
        .name = "export",
        .summary = "metrics for Prometheus and OpenTelemetry; profiles for Pyroscope",
        .usage = TEXTS("--config FILE [OPTION]...", "[--listen|--remote-write|--otlp ...] [OPTION]..."),
        .about = "Follows daemons and exports their state to other systems, several at once: every metric of "
                 "docs/METRICS.md, also verdicts and alerts, and profiles. What a receiver does not accept now waits "
                 "within bounds, "
                 "in memory and on disk, and is sent later; what is lost is counted and exported itself. No receiver "
                 "slows another, or the daemon.",
        .options = options,
        .notes =
                "Each receiver's option may be repeated. It ends on SIGINT, SIGTERM and SIGHUP. "
                "Secrets are in private files (mode 600), never in arguments "
                "or URLs. Prometheus parses scrapes and remote writes under the same names; samples that are sent have "
                "the label host.",
        .status = "0 stopped by a signal, 2 bad usage or configuration.",
        .examples = TEXTS("heapwatch export --listen 127.0.0.1:9464 --token-file ~/.heapwatch-token",
                          "heapwatch export --textfile /var/lib/prometheus/node-exporter/heapwatch.prom",
                          "heapwatch export --remote-write https://metrics.example/api/v1/write --bearer-file ~/.token",
                          "heapwatch export --config /etc/heapwatch/export.yaml --check"),
        .size = sizeof(struct export),
        .defaults = &(const struct export){ .level = LOG_INFO },
        .run = run_export,
};
