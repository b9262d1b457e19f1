/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the tree of yaml_file, walked once. Each value is checked like the
 * option of the same name, and each mistake is reported at its own line and
 * column; all of them at once, so that a file can be corrected in one go.
 */
#include "daemon/watch/config/config.h"
#include "proto/base/array.h"

#include <stdio.h>
#include <string.h>

#include "proto/cli/yaml/yaml_file.h"
#include "proto/base/labels.h"
#include "proto/base/limits.h"
#include "proto/base/error.h"

static void to_stderr(void *ctx, const char *line)
{
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

/* What the command line gave stays. */
static bool read_setting(struct yaml_file *f, const struct yaml_entry *e, const struct setting *s, struct config *c)
{
        const char *text = short_text(f, e->value, setting_expected(s), setting_longest(s));
        struct error error;

        return text && (setting_add(c, s, text, &error) || yaml_error(f, e->value, 0, "%s: %s", e->key, error.text));
}

static bool read_section(struct yaml_file *f, const struct yaml_entry *section, struct config *c)
{
        const char *keys[SETTINGS_OF_SECTION];
        const size_t n = settings_of_section(section->key, keys);
        char what[128] = "";
        size_t used = 0;
        struct yaml_entry e;
        bool good = true;

        for (size_t i = 0; i < n; i++)
                used += (size_t)snprintf(what + used, sizeof(what) - used, "%s%s",
                                         i == 0      ? ""
                                         : i + 1 < n ? ", "
                                                     : " and ",
                                         keys[i]);
        if (!yaml_is_mapping(f, section->value, what) || !yaml_check_keys(f, section->value, keys, n))
                return false;
        for (size_t i = 0; yaml_entry_at(f, section->value, i, &e); i++)
                good &= read_setting(f, &e, setting_of_key(section->key, e.key), c);
        return good;
}

/* A list of `what`, each of which `add` adds. */
static bool read_list(struct yaml_file *f, const yaml_node_t *node, const char *list, const char *what,
                      bool (*add)(struct config *c, const char *text, struct error *error), struct config *c)
{
        const yaml_node_t *item;
        bool good = true;
        struct error error;

        if (!yaml_is_sequence(f, node, list))
                return false;
        for (size_t i = 0; (item = yaml_item_at(f, node, i)); i++) {
                const char *text = short_text(f, item, what, SOURCE_PATH_MAX);
                if (!text)
                        good = false;
                else if (!add(c, text, &error))
                        return yaml_error(f, item, 0, "%s", error.text);
        }
        return good;
}

static bool add_allowed(struct config *c, const char *pattern, struct error *error)
{
        return source_allow_add(&c->allow, pattern, error);
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

static bool read_value(struct yaml_file *f, const struct yaml_entry *e, struct config *c)
{
        const struct setting *setting = setting_of_key(NULL, e->key);

        if (setting)
                return read_setting(f, e, setting, c);
        if (!strcmp(e->key, "show_arguments")) {
                bool yes = false, good = yaml_boolean(f, e->value, &yes);

                c->show_arguments |= yes;
                return good;
        }
        if (!strcmp(e->key, "sources")) {
                static const char *const keys[] = { "allow" };
                if (!CHECK_KEYS(f, e->value, "allow", keys))
                        return false;
                const yaml_node_t *allow = yaml_get(f, e->value, "allow");
                return !allow || read_list(f, allow, "a list of patterns", "a pattern of sources", add_allowed, c);
        }
        if (!strcmp(e->key, "rules"))
                return read_list(f, e->value, "a list of rule files", "a rule file", config_add_rules, c);
        if (!strcmp(e->key, "targets")) {
                const yaml_node_t *item;
                bool good = true;
                if (!yaml_is_sequence(f, e->value, "a list of targets"))
                        return false;
                for (size_t i = 0; (item = yaml_item_at(f, e->value, i)) && c->n_targets < LIMIT_TARGETS; i++)
                        good &= read_target(f, item, c);
                if (item)
                        return yaml_error(f, item, 0, "more than %u targets", LIMIT_TARGETS);
                return good;
        }
        return read_section(f, e, c);
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
        bool good = yaml_file_read_pipe(&f, path, &(struct error_sink){ .say = to_stderr }) && read_file(&f, c);

        yaml_file_done(&f);
        return good;
}
