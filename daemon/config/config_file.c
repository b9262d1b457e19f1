/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the file's shape is a libcyaml schema, so that libcyaml finds every
 * mistake in it; its log tells line and column, and is gathered here into one
 * message. The values are then checked like those of the command line.
 */
#include "daemon/config/config.h"

#include <cyaml/cyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct file_target {
        char *name;
        char *uri;
};

struct file_trend {
        char *resolution, *leak_after, *limit;
};

struct file_config {
        struct file_trend *trend;
        char *publish, *request, *log_level, *show_arguments;
        struct file_target *targets;
        unsigned targets_count;
        char **rules;
        unsigned rules_count;
};

static const cyaml_schema_field_t target_fields[] = {
        CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_target, name, 1,
                               TARGET_NAME_MAX),
        CYAML_FIELD_STRING_PTR("uri", CYAML_FLAG_POINTER, struct file_target, uri, 1, SOURCE_PATH_MAX), CYAML_FIELD_END
};

static const cyaml_schema_value_t target_value = {
        CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct file_target, target_fields),
};

static const cyaml_schema_field_t trend_fields[] = {
        CYAML_FIELD_STRING_PTR("resolution", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_trend, resolution, 1,
                               32),
        CYAML_FIELD_STRING_PTR("leak_after", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_trend, leak_after, 1,
                               32),
        CYAML_FIELD_STRING_PTR("limit", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_trend, limit, 1, 32),
        CYAML_FIELD_END
};

static const cyaml_schema_value_t rules_value = {
        CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, SOURCE_PATH_MAX),
};

static const cyaml_schema_field_t config_fields[] = {
        CYAML_FIELD_MAPPING_PTR("trend", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_config, trend,
                                trend_fields),
        CYAML_FIELD_STRING_PTR("publish", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_config, publish, 1,
                               CONFIG_ENDPOINT_MAX - 1),
        CYAML_FIELD_STRING_PTR("request", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_config, request, 1,
                               CONFIG_ENDPOINT_MAX - 1),
        CYAML_FIELD_STRING_PTR("log_level", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_config, log_level, 1,
                               16),
        /* A text, because libcyaml takes any word that is not false for true. */
        CYAML_FIELD_STRING_PTR("show_arguments", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_config,
                               show_arguments, 1, 64),
        CYAML_FIELD_SEQUENCE("rules", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_config, rules, &rules_value,
                             0, CONFIG_RULES_MAX),
        CYAML_FIELD_SEQUENCE("targets", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct file_config, targets,
                             &target_value, 0, CYAML_UNLIMITED),
        CYAML_FIELD_END
};

static const cyaml_schema_value_t config_value = {
        CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct file_config, config_fields),
};

/* libcyaml's messages about one file. */
struct diagnostic {
        char text[1024];
        size_t used;
};

__attribute__((format(printf, 3, 0))) static void gather(cyaml_log_t level, void *ctx, const char *format, va_list args)
{
        struct diagnostic *c = ctx;

        (void)level;
        int n = vsnprintf(c->text + c->used, sizeof(c->text) - c->used, format, args);
        if (n > 0) {
                c->used += (size_t)n;
                if (c->used >= sizeof(c->text))
                        c->used = sizeof(c->text) - 1;
        }
}

static bool report(const char *path, const char *what)
{
        fprintf(stderr, "heapwatchd: %s: %s\n", path, what);
        return false;
}

static void take_endpoint(char *endpoint, const char *value)
{
        if (value && !endpoint[0])
                snprintf(endpoint, CONFIG_ENDPOINT_MAX, "%s", value);
}

static bool take_show_arguments(struct config *c, const char *value, const char *path)
{
        char what[128];

        if (value && !strcmp(value, "true"))
                c->show_arguments = true;
        else if (value && strcmp(value, "false") != 0) {
                snprintf(what, sizeof(what), "show_arguments: '%s'; expected true or false", value);
                return report(path, what);
        }
        return true;
}

/* What the command line gave stays. */
static bool take_trend(struct config *c, const struct file_trend *f, const char *path)
{
        struct config_trend from_file = { 0 };
        char error[160], what[192];
        const char *wrong = NULL;

        if (!f)
                return true;
        if (f->resolution && !config_trend_resolution(&from_file, f->resolution, error, sizeof(error)))
                wrong = "resolution";
        else if (f->leak_after && !config_trend_leak_after(&from_file, f->leak_after, error, sizeof(error)))
                wrong = "leak_after";
        else if (f->limit && !config_trend_limit(&from_file, f->limit, error, sizeof(error)))
                wrong = "limit";
        if (wrong) {
                snprintf(what, sizeof(what), "trend: %s: %s", wrong, error);
                return report(path, what);
        }
        if (!c->trend.resolution_ns)
                c->trend.resolution_ns = from_file.resolution_ns;
        if (!c->trend.leak_after_ns)
                c->trend.leak_after_ns = from_file.leak_after_ns;
        if (!c->trend.limit_bytes)
                c->trend.limit_bytes = from_file.limit_bytes;
        return true;
}

static bool take_targets(struct config *c, const struct file_config *f, const char *path)
{
        char error[SOURCE_PATH_MAX + 256], what[SOURCE_PATH_MAX + 320];

        for (unsigned i = 0; i < f->targets_count; i++) {
                if (config_add_target(c, f->targets[i].name, f->targets[i].uri, error, sizeof(error)))
                        continue;
                snprintf(what, sizeof(what), "target %u: %s", i + 1, error);
                return report(path, what);
        }
        return true;
}

static bool take_rules(struct config *c, const struct file_config *f, const char *path)
{
        char error[128];

        for (unsigned i = 0; i < f->rules_count; i++)
                if (!config_add_rules(c, f->rules[i], error, sizeof(error)))
                        return report(path, error);
        return true;
}

static bool take(struct config *c, const struct file_config *f, const char *path)
{
        if (f->log_level && !log_parse_level(f->log_level, &c->log_level))
                return report(path, "log_level: expected error, warning, info or debug");
        take_endpoint(c->publish_endpoint, f->publish);
        take_endpoint(c->request_endpoint, f->request);
        return take_show_arguments(c, f->show_arguments, path) && take_trend(c, f->trend, path) &&
               take_rules(c, f, path) && take_targets(c, f, path);
}

bool config_read_file(struct config *c, const char *path)
{
        struct diagnostic diagnostic = { .text = "" };
        const cyaml_config_t how = {
                .log_fn = gather,
                .log_ctx = &diagnostic,
                .log_level = CYAML_LOG_WARNING,
                .mem_fn = cyaml_mem,
        };
        struct file_config *f = NULL;
        char what[sizeof(diagnostic.text) + 128];
        cyaml_err_t err = cyaml_load_file(path, &how, &config_value, (cyaml_data_t **)&f, NULL);

        if (err != CYAML_OK || !f) {
                snprintf(what, sizeof(what), "%s\n%s", f || err != CYAML_OK ? cyaml_strerror(err) : "the file is empty",
                         diagnostic.text);
                return report(path, what);
        }
        bool good = take(c, f, path);
        cyaml_free(&how, &config_value, f, 0);
        return good;
}
