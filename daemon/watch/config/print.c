/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: texts of users are JSON strings, which are YAML too: a path may hold anything. */
#include "daemon/watch/config/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/judge/trend/tracker.h"
#include "proto/base/json_out.h"
#include "proto/base/labels.h"

static void print_bytes(const char *before, const char *text, size_t n)
{
        struct json_out j = { .to = stdout };

        printf("%s", before);
        json_text_bytes(&j, text, n);
}

static void print_text(const char *before, const char *text)
{
        print_bytes(before, text, strlen(text));
        printf("\n");
}

static void print_ms(const char *key, uint64_t ns)
{
        printf("  %s: %" PRIu64 "ms\n", key, ns / 1000000);
}

static void print_daemon(const struct config *c)
{
        char levels[LOG_LEVELS_TEXT];

        log_print_levels(levels, &c->log_level);
        print_text("publish: ", c->publish_endpoint);
        print_text("request: ", c->request_endpoint);
        if (c->listen[0]) {
                print_text("listen: ", c->listen);
                print_text("keys: ", c->keys);
        }
        print_text("notify: ", c->notify_off ? "off" : "on");
        print_text("log_level: ", levels);
        printf("show_arguments: %s\n", c->show_arguments ? "true" : "false");
        if (c->memory_bytes)
                printf("memory: %" PRIu64 "\n", c->memory_bytes);
        if (c->census_memory_bytes == UINT64_MAX)
                printf("census_memory: off\n");
        else
                printf("census_memory: %" PRIu64 "\n", c->census_memory_bytes);
}

static void print_labels(const char *labels)
{
        const char *label;
        size_t n;

        if (labels)
                printf("    labels:\n");
        while ((label = labels_next(&labels, &n))) {
                size_t name = (size_t)((const char *)memchr(label, '=', n) - label);

                print_bytes("      ", label, name);
                print_bytes(": ", label + name + 1, n - name - 1);
                printf("\n");
        }
}

void config_print(const struct config *c)
{
        print_daemon(c);
        struct tracker_config t = config_trend_tracker(&c->trend, 0);
        printf("trend:\n");
        print_ms("resolution", t.trend.resolution_ns);
        print_ms("leak_after", t.trend.leak_after_ns);
        if (c->trend.limit_bytes)
                printf("  limit: %" PRIu64 "\n", c->trend.limit_bytes);
        printf("keep_ended:\n  targets: %" PRIu32 "\n", c->keep_ended.most);
        print_ms("time", c->keep_ended.for_ns);
        if (c->record.directory[0]) {
                print_text("record:\n  directory: ", c->record.directory);
                printf("  total: %" PRIu64 "\n  per_target: %" PRIu64 "\n  free: %" PRIu64 "\n  bundles: %s\n",
                       c->record.total_bytes, c->record.target_bytes, c->record.free_bytes,
                       c->record.no_bundles ? "false" : "true");
                print_ms("time", c->record.for_ns);
        }
        if (c->checkpoint.directory[0]) {
                print_text("checkpoint:\n  directory: ", c->checkpoint.directory);
                print_ms("every", c->checkpoint.every_ns);
        }
        printf("sources:\n  allow:%s\n", c->allow.n ? "" : " []");
        for (size_t i = 0; i < c->allow.n; i++)
                print_text("    - ", c->allow.patterns[i]);
        printf("rules:%s\n", c->n_rules ? "" : " []");
        for (size_t i = 0; i < c->n_rules; i++)
                print_text("  - ", c->rules[i]);
        printf("targets:%s\n", c->n_targets ? "" : " []");
        for (size_t i = 0; i < c->n_targets; i++) {
                print_text("  - name: ", c->targets[i].name);
                print_text("    uri: ", c->targets[i].uri.text);
                if (c->targets[i].no_record)
                        printf("    record: false\n");
                print_labels(c->targets[i].labels);
        }
}
