/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * yaml_file.h - a YAML document as a tree whose every part knows its place, and
 * diagnostics that name it: "rules.yaml:7:13: ...".
 *
 * The configuration, rule files and tests of rules are read with it. The file
 * may be hostile: its size, nesting, anchors and directives are limited before
 * libyaml builds anything. One document in a file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#define YAML_FILE_MAX_BYTES (1u << 20)
#define YAML_DEPTH_MAX      64u /* levels of nesting */
#define YAML_ANCHORS_MAX    256u
#define YAML_ERRORS_MAX     50u /* reported per file; then one more line says so */

/* Where diagnostics go: one line each, without a newline. */
struct error_sink {
        void (*say)(void *ctx, const char *line);
        void *ctx;
};

struct yaml_file {
        const char *name; /* borrowed */
        yaml_document_t document;
        bool has_document;
        struct error_sink says;
        unsigned diagnostics;
};

/*
 * Reads a file, or a text under a name. False after reporting an error;
 * yaml_file_done in any case. What could block (a pipe, a device) is refused
 * unread: rules are read again while sources are drained.
 */
bool yaml_file_read(struct yaml_file *f, const char *path, const struct error_sink *says);
bool yaml_file_parse(struct yaml_file *f, const char *name, const char *text, const struct error_sink *says);

/* The same, also from a pipe (`--config <(envsubst <template)`), which may be silent for so long at a time. */
#define YAML_PIPE_MS 10000
bool yaml_file_read_pipe(struct yaml_file *f, const char *path, const struct error_sink *says);

void yaml_file_done(struct yaml_file *f);

/* The document; NULL when it is empty. */
const yaml_node_t *yaml_root(struct yaml_file *f);

/* Reports an error at a node (NULL: the file), `column` characters into its text (from 1; 0: its start). False. */
bool yaml_error(struct yaml_file *f, const yaml_node_t *at, unsigned column, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

/* Whether further errors would not be shown, so that the rest need not be checked. */
bool yaml_enough_errors(const struct yaml_file *f);

/* One entry of a mapping. */
struct yaml_entry {
        const char *key;
        const yaml_node_t *key_node, *value;
};

/* Reports unknown and duplicate keys of a mapping, with the nearest valid one. */
bool yaml_check_keys(struct yaml_file *f, const yaml_node_t *mapping, const char *const *keys, size_t n);

/* Entry i of a mapping, item i of a sequence; false after the last. Keys that are not texts read as "". */
bool yaml_entry_at(struct yaml_file *f, const yaml_node_t *mapping, size_t i, struct yaml_entry *ret);
const yaml_node_t *yaml_item_at(struct yaml_file *f, const yaml_node_t *sequence, size_t i);

/* The value of a key, or NULL. */
const yaml_node_t *yaml_get(struct yaml_file *f, const yaml_node_t *mapping, const char *key);

/* The text of a scalar; NULL after reporting that `what` was expected. NULL in, NULL out. */
const char *yaml_text(struct yaml_file *f, const yaml_node_t *node, const char *what);

/* Whether it is a mapping, a sequence; reports otherwise. */
bool yaml_is_mapping(struct yaml_file *f, const yaml_node_t *node, const char *what);
bool yaml_is_sequence(struct yaml_file *f, const yaml_node_t *node, const char *what);

/* "true" or "false"; reports otherwise. */
bool yaml_boolean(struct yaml_file *f, const yaml_node_t *node, bool *ret);
