/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the tree of yaml_file, walked once. Each value is checked like the
 * option of the same name, and each mistake is reported at its own line and
 * column; all of them at once, so that a file can be corrected in one go.
 */
#include "daemon/config/config.h"
#include "proto/base/array.h"

#include <stdio.h>
#include <string.h>

#include "proto/yaml/yaml_file.h"
#include "proto/base/labels.h"
#include "proto/base/limits.h"
#include "proto/base/error.h"

#define TEXT_MAX 32 /* of a word or a quantity */

static void to_stderr(void *ctx, const char *line)
{
        (void)ctx;
        fprintf(stderr, "heapwatchd: %s\n", line);
}

#define CHECK_KEYS(f, node, what, keys)                                                                                \
        (yaml_is_mapping(f, node, what) && yaml_check_keys(f, node, keys, ARRAY_SIZE(keys)))

/* A text of 1 to `most` bytes. NULL after reporting an error. */
static const char *short_text(struct yaml_file *f, const yaml_node_t *node, const char *what, size_t most)
{
        const char *text = yaml_text(f, node, what);

        if (text && !*text)
                yaml_error(f, node, 0, "expected %s, found an empty text", what);
        else if (text && strlen(text) > most)
                yaml_error(f, node, 0, "expected %s of at most %zu bytes, found %zu", what, most, strlen(text));
        else
                return text;
        return NULL;
}

static bool read_endpoint(struct yaml_file *f, const yaml_node_t *node, char *endpoint)
{
        const char *text = short_text(f, node, "an endpoint", CONFIG_ENDPOINT_MAX - 1);

        if (text && !endpoint[0])
                snprintf(endpoint, CONFIG_ENDPOINT_MAX, "%s", text);
        return text != NULL;
}

static bool read_path(struct yaml_file *f, const yaml_node_t *node, char *path)
{
        const char *text = short_text(f, node, "a directory", CONFIG_PATH_MAX - 1);

        if (text && !path[0])
                snprintf(path, CONFIG_PATH_MAX, "%s", text);
        return text != NULL;
}

static bool read_log_level(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        const char *text = short_text(f, node, "error, warning, info or debug", LOG_LEVELS_TEXT);
        struct log_levels levels;

        if (!text)
                return false;
        if (!log_parse_level(text, &levels))
                return yaml_error(f, node, 0,
                                  "log_level: '%s'; expected error, warning, info or debug, or by room,"
                                  " e.g. info,source=debug; rooms: %s",
                                  text, log_room_names());
        if (!c->has_log_level)
                c->log_level = levels;
        return true;
}

static bool read_notify(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        const char *text = short_text(f, node, "on or off", TEXT_MAX);

        return text && (config_notify(c, text) || yaml_error(f, node, 0, "notify: '%s'; expected on or off", text));
}

static bool read_show_arguments(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        bool yes = false, good = yaml_boolean(f, node, &yes);

        c->show_arguments |= yes;
        return good;
}

typedef bool trend_setter(struct config_trend *c, const char *value, struct error *error);

static bool read_trend_value(struct yaml_file *f, const yaml_node_t *node, struct config_trend *trend,
                             trend_setter *set, const char *what)
{
        const char *text = node ? short_text(f, node, what, TEXT_MAX) : NULL;
        struct error error;

        if (!text)
                return !node;
        return set(trend, text, &error) || yaml_error(f, node, 0, "%s", error.text);
}

/* What the command line gave stays. */
static bool read_trend(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        static const char *const keys[] = { "resolution", "leak_after", "limit" };
        struct config_trend t = { 0 };

        if (!CHECK_KEYS(f, node, "resolution, leak_after and limit", keys))
                return false;
        bool good = read_trend_value(f, yaml_get(f, node, "resolution"), &t, config_trend_resolution, "a duration");
        good &= read_trend_value(f, yaml_get(f, node, "leak_after"), &t, config_trend_leak_after, "a duration");
        good &= read_trend_value(f, yaml_get(f, node, "limit"), &t, config_trend_limit, "a size");
        if (!c->trend.resolution_ns)
                c->trend.resolution_ns = t.resolution_ns;
        if (!c->trend.leak_after_ns)
                c->trend.leak_after_ns = t.leak_after_ns;
        if (!c->trend.limit_bytes)
                c->trend.limit_bytes = t.limit_bytes;
        return good;
}

typedef bool keep_setter(struct config_keep *c, const char *value, struct error *error);

static bool read_keep_value(struct yaml_file *f, const yaml_node_t *node, struct config_keep *keep, keep_setter *set,
                            const char *what)
{
        const char *text = node ? short_text(f, node, what, TEXT_MAX) : NULL;
        struct error error;

        if (!text)
                return !node;
        return set(keep, text, &error) || yaml_error(f, node, 0, "%s", error.text);
}

static bool read_census_memory(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        const char *text = short_text(f, node, "bytes, or off", TEXT_MAX);
        struct error error;

        return text && (config_census_memory(c, text, &error) || yaml_error(f, node, 0, "%s", error.text));
}

static bool read_memory(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        const char *text = short_text(f, node, "bytes", TEXT_MAX);
        struct error error;

        return text && (config_memory(c, text, &error) || yaml_error(f, node, 0, "%s", error.text));
}

/* What the command line gave stays. */
static bool read_keep(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        static const char *const keys[] = { "targets", "time" };
        struct config_keep k = { .has_most = false };

        if (!CHECK_KEYS(f, node, "targets and time", keys))
                return false;
        bool good = read_keep_value(f, yaml_get(f, node, "targets"), &k, config_keep_most, "a number");
        good &= read_keep_value(f, yaml_get(f, node, "time"), &k, config_keep_for, "a duration");
        if (k.has_most && !c->keep_ended.has_most) {
                c->keep_ended.has_most = true;
                c->keep_ended.most = k.most;
        }
        if (k.has_for && !c->keep_ended.has_for) {
                c->keep_ended.has_for = true;
                c->keep_ended.for_ns = k.for_ns;
        }
        return good;
}

/* What the command line gave stays. */
static bool read_record(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        static const char *const keys[] = { "directory", "total", "per_target", "time", "free", "bundles" };
        struct config_record given = { .directory = "" };
        struct yaml_entry e;
        struct error error;
        bool good = true;

        if (!CHECK_KEYS(f, node, "directory, total, per_target, time, free and bundles", keys))
                return false;
        for (size_t i = 0; yaml_entry_at(f, node, i, &e); i++) {
                const char *text = short_text(f, e.value, "a value", CONFIG_RECORD_PATH);
                if (!text)
                        good = false;
                else if (!config_record_set(&given, e.key, text, &error))
                        good = yaml_error(f, e.value, 0, "%s", error.text);
        }
        config_record_add(&c->record, &given);
        return good;
}

static bool read_checkpoint(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        static const char *const keys[] = { "directory", "every" };
        struct config_checkpoint given = { .directory = "" };
        struct yaml_entry e;
        struct error error;
        bool good = true;

        if (!CHECK_KEYS(f, node, "directory and every", keys))
                return false;
        for (size_t i = 0; yaml_entry_at(f, node, i, &e); i++) {
                const char *text = short_text(f, e.value, "a value", CONFIG_CHECKPOINT_PATH);
                if (!text)
                        good = false;
                else if (!config_checkpoint_set(&given, e.key, text, &error))
                        good = yaml_error(f, e.value, 0, "%s", error.text);
        }
        if (!c->checkpoint.directory[0])
                memcpy(c->checkpoint.directory, given.directory, sizeof(given.directory));
        if (c->checkpoint.every_ns == 0)
                c->checkpoint.every_ns = given.every_ns;
        return good;
}

static bool read_rules(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        const yaml_node_t *item;
        bool good = true;
        struct error error;

        if (!yaml_is_sequence(f, node, "a list of rule files"))
                return false;
        for (size_t i = 0; (item = yaml_item_at(f, node, i)); i++) {
                const char *path = short_text(f, item, "a rule file", SOURCE_PATH_MAX);
                if (!path)
                        good = false;
                else if (!config_add_rules(c, path, &error))
                        return yaml_error(f, item, 0, "%s", error.text);
        }
        return good;
}

static bool read_allow(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        const yaml_node_t *item;
        bool good = true;
        struct error error;

        if (!yaml_is_sequence(f, node, "a list of patterns"))
                return false;
        for (size_t i = 0; (item = yaml_item_at(f, node, i)); i++) {
                const char *pattern = short_text(f, item, "a pattern of sources", SOURCE_PATH_MAX);
                if (!pattern)
                        good = false;
                else if (!source_allow_add(&c->allow, pattern, &error))
                        return yaml_error(f, item, 0, "%s", error.text);
        }
        return good;
}

static bool read_sources(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        static const char *const keys[] = { "allow" };

        if (!CHECK_KEYS(f, node, "allow", keys))
                return false;
        const yaml_node_t *allow = yaml_get(f, node, "allow");
        return !allow || read_allow(f, allow, c);
}

/* A mapping of names to values into the text of labels, "" at first. */
static bool read_labels(struct yaml_file *f, const yaml_node_t *node, char ret_text[LABELS_SIZE])
{
        char texts[LABELS_MOST + 1][LABEL_NAME_MOST + LABEL_VALUE_MOST + 3]; /* longer ones are cut, and refused */
        const char *labels[LABELS_MOST + 1];
        struct yaml_entry e;
        struct error error;

        if (!yaml_is_mapping(f, node, "labels, e.g. 'version: 1.4.2'"))
                return false;
        for (size_t i = 0; yaml_entry_at(f, node, i, &e); i++) {
                const char *value = yaml_text(f, e.value, "the value of a label");
                if (!value)
                        return false;
                (void)snprintf(texts[i], sizeof(texts[i]), "%s=%s", e.key, value);
                labels[i] = texts[i];
                if (!labels_join(labels, i + 1, ret_text, &error))
                        return yaml_error(f, e.key_node, 0, "%s", error.text);
        }
        return true;
}

static bool read_target(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        static const char *const keys[] = { "name", "uri", "record", "labels" };
        const char *name = NULL, *uri;
        char labels[LABELS_SIZE] = "";
        struct error error;

        if (!CHECK_KEYS(f, node, "a target: uri and, optionally, name, record and labels", keys))
                return false;
        const yaml_node_t *name_node = yaml_get(f, node, "name"), *uri_node = yaml_get(f, node, "uri");
        if (!uri_node)
                return yaml_error(f, node, 0, "this target has no uri");
        if (name_node && !(name = short_text(f, name_node, "a target name", TARGET_NAME_MAX)))
                return false;
        if (!(uri = short_text(f, uri_node, "a URI", SOURCE_PATH_MAX)))
                return false;
        const yaml_node_t *record_node = yaml_get(f, node, "record");
        bool record = true;
        if (record_node && !yaml_boolean(f, record_node, &record))
                return false;
        const yaml_node_t *labels_node = yaml_get(f, node, "labels");
        if (labels_node && !read_labels(f, labels_node, labels))
                return false;
        if (!config_add_target(c, name, uri, &error))
                return yaml_error(f, name && !target_name_valid(name) ? name_node : uri_node, 0, "%s", error.text);
        struct config_target *t = &c->targets[c->n_targets - 1];
        t->no_record = !record;
        t->labels = labels[0] ? strdup(labels) : NULL;
        return !labels[0] || t->labels || yaml_error(f, labels_node, 0, "out of memory");
}

static bool read_targets(struct yaml_file *f, const yaml_node_t *node, struct config *c)
{
        const yaml_node_t *item;
        bool good = true;

        if (!yaml_is_sequence(f, node, "a list of targets"))
                return false;
        for (size_t i = 0; (item = yaml_item_at(f, node, i)) && c->n_targets < LIMIT_TARGETS; i++)
                good &= read_target(f, item, c);
        if (item)
                return yaml_error(f, item, 0, "more than %u targets", LIMIT_TARGETS);
        return good;
}

static bool read_value(struct yaml_file *f, const struct yaml_entry *e, struct config *c)
{
        if (!strcmp(e->key, "publish"))
                return read_endpoint(f, e->value, c->publish_endpoint);
        if (!strcmp(e->key, "request"))
                return read_endpoint(f, e->value, c->request_endpoint);
        if (!strcmp(e->key, "listen"))
                return read_endpoint(f, e->value, c->listen);
        if (!strcmp(e->key, "keys"))
                return read_path(f, e->value, c->keys);
        if (!strcmp(e->key, "log_level"))
                return read_log_level(f, e->value, c);
        if (!strcmp(e->key, "show_arguments"))
                return read_show_arguments(f, e->value, c);
        if (!strcmp(e->key, "notify"))
                return read_notify(f, e->value, c);
        if (!strcmp(e->key, "trend"))
                return read_trend(f, e->value, c);
        if (!strcmp(e->key, "record"))
                return read_record(f, e->value, c);
        if (!strcmp(e->key, "checkpoint"))
                return read_checkpoint(f, e->value, c);
        if (!strcmp(e->key, "memory"))
                return read_memory(f, e->value, c);
        if (!strcmp(e->key, "census_memory"))
                return read_census_memory(f, e->value, c);
        if (!strcmp(e->key, "keep_ended"))
                return read_keep(f, e->value, c);
        if (!strcmp(e->key, "sources"))
                return read_sources(f, e->value, c);
        return strcmp(e->key, "rules") ? read_targets(f, e->value, c) : read_rules(f, e->value, c);
}

static bool read_file(struct yaml_file *f, struct config *c)
{
        static const char *const keys[] = { "publish",        "request", "notify", "log_level",
                                            "show_arguments", "trend",   "rules",  "targets",
                                            "keep_ended",     "sources", "record", "memory",
                                            "checkpoint",     "listen",  "keys",   "census_memory" };
        const yaml_node_t *root = yaml_root(f);
        struct yaml_entry e;
        bool good = true;

        if (!root)
                return yaml_error(f, NULL, 0, "the file is empty");
        if (!CHECK_KEYS(f, root, "settings, e.g. 'log_level: info'", keys))
                return false;
        for (size_t i = 0; yaml_entry_at(f, root, i, &e); i++)
                good &= read_value(f, &e, c);
        return good;
}

bool config_read_file(struct config *c, const char *path)
{
        struct yaml_file f;
        bool good = yaml_file_read_blocking(&f, path, &(struct error_sink){ .say = to_stderr }) && read_file(&f, c);

        yaml_file_done(&f);
        return good;
}
