/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/config/yaml_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/nearest.h"
#include "heapwatch/text.h"

#define KEYS_MAX 32

/* ------------------------------------------------------------------ diagnostics */

static void say(struct yaml_file *f, const char *line)
{
        char safe[1024];

        if (f->diagnostics == YAML_COMPLAINTS_MAX)
                f->says.say(f->says.ctx, "further mistakes are not shown");
        if (f->diagnostics++ >= YAML_COMPLAINTS_MAX)
                return;
        hw_terminal_text(safe, sizeof(safe), line);
        f->says.say(f->says.ctx, safe);
}

/* Column in the file of a column in a text: the same line when it is written plainly or between quotes. */
static size_t column_of(const yaml_node_t *at, unsigned column)
{
        size_t base = at->start_mark.column + 1;

        if (column == 0 || at->type != YAML_SCALAR_NODE || at->start_mark.line != at->end_mark.line)
                return base;
        bool quoted = at->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
                      at->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
        return base + column - 1 + quoted;
}

bool yaml_error(struct yaml_file *f, const yaml_node_t *at, unsigned column, const char *format, ...)
{
        char what[700], line[1000];
        va_list args;

        va_start(args, format);
        vsnprintf(what, sizeof(what), format, args);
        va_end(args);
        if (at)
                snprintf(line, sizeof(line), "%s:%zu:%zu: %s", f->name, at->start_mark.line + 1, column_of(at, column),
                         what);
        else
                snprintf(line, sizeof(line), "%s: %s", f->name, what);
        say(f, line);
        return false;
}

/* --------------------------------------------------------------------- loading */

static bool load(struct yaml_file *f, yaml_parser_t *parser)
{
        char line[1000];

        if (yaml_parser_load(parser, &f->document)) {
                f->has_document = true;
                return true;
        }
        const char *problem = parser->problem ? parser->problem : "out of memory";
        snprintf(line, sizeof(line), "%s:%zu:%zu: not valid YAML: %s%s%s%s", f->name, parser->problem_mark.line + 1,
                 parser->problem_mark.column + 1, problem, parser->context ? ", " : "",
                 parser->context ? parser->context : "",
                 strstr(problem, "cannot start any token") ? " (is it a tab? YAML is indented by spaces)" : "");
        say(f, line);
        return false;
}

bool yaml_file_parse(struct yaml_file *f, const char *name, const char *text, const struct yaml_says *says)
{
        yaml_parser_t parser;
        bool good;

        *f = (struct yaml_file){ .name = name, .says = *says };
        if (!yaml_parser_initialize(&parser))
                return yaml_error(f, NULL, 0, "out of memory");
        yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
        good = load(f, &parser);
        yaml_parser_delete(&parser);
        return good;
}

/* One byte more than the most says that the file is too large. -errno. */
static ssize_t read_all(int fd, char *text)
{
        size_t size = 0;

        while (size <= YAML_FILE_MAX_BYTES) {
                ssize_t n = read(fd, text + size, YAML_FILE_MAX_BYTES + 1 - size);
                if (n == 0)
                        break;
                if (n < 0 && errno != EINTR)
                        return -errno;
                size += n > 0 ? (size_t)n : 0;
        }
        text[size] = '\0';
        return (ssize_t)size;
}

/* The whole file, NUL-terminated, to free(); NULL after reporting an error. */
static char *slurp(struct yaml_file *f, int fd)
{
        struct stat st;

        if (fstat(fd, &st) < 0) {
                yaml_error(f, NULL, 0, "cannot be read: %s", strerror(errno));
                return NULL;
        }
        if (!S_ISREG(st.st_mode)) {
                yaml_error(f, NULL, 0, "this is %s; expected a plain file",
                           S_ISDIR(st.st_mode)    ? "a directory"
                           : S_ISFIFO(st.st_mode) ? "a pipe"
                                                  : "a device or socket");
                return NULL;
        }
        char *text = malloc(YAML_FILE_MAX_BYTES + 2);
        ssize_t size = text ? read_all(fd, text) : -ENOMEM;

        if (size < 0)
                yaml_error(f, NULL, 0, "cannot be read: %s", strerror((int)-size));
        else if (size > YAML_FILE_MAX_BYTES)
                yaml_error(f, NULL, 0, "the file is larger than 1 MiB");
        else if (strlen(text) != (size_t)size)
                yaml_error(f, NULL, 0, "contains a NUL byte: not a text file");
        else
                return text;
        free(text);
        return NULL;
}

/* The daemon reads rules again while it drains its sources: what would make it wait (a pipe) is refused unread. */
bool yaml_file_read(struct yaml_file *f, const char *path, const struct yaml_says *says)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        char *text;
        bool good;

        *f = (struct yaml_file){ .name = path, .says = *says };
        if (fd < 0)
                return yaml_error(f, NULL, 0, "cannot be read: %s", strerror(errno));
        text = slurp(f, fd);
        close(fd);
        good = text && yaml_file_parse(f, path, text, says);
        free(text);
        return good;
}

void yaml_file_done(struct yaml_file *f)
{
        if (f->has_document)
                yaml_document_delete(&f->document);
        f->has_document = false;
}

/* ----------------------------------------------------------------------- nodes */

const yaml_node_t *yaml_root(struct yaml_file *f)
{
        return f->has_document ? yaml_document_get_root_node(&f->document) : NULL;
}

const yaml_node_t *yaml_item_at(struct yaml_file *f, const yaml_node_t *sequence, size_t i)
{
        const yaml_node_item_t *items = sequence->data.sequence.items.start;

        if (i >= (size_t)(sequence->data.sequence.items.top - items))
                return NULL;
        return yaml_document_get_node(&f->document, items[i]);
}

bool yaml_entry_at(struct yaml_file *f, const yaml_node_t *mapping, size_t i, struct yaml_entry *ret)
{
        const yaml_node_pair_t *pairs = mapping->data.mapping.pairs.start;

        if (i >= (size_t)(mapping->data.mapping.pairs.top - pairs))
                return false;
        ret->key_node = yaml_document_get_node(&f->document, pairs[i].key);
        ret->value = yaml_document_get_node(&f->document, pairs[i].value);
        ret->key = ret->key_node->type == YAML_SCALAR_NODE ? (const char *)ret->key_node->data.scalar.value : "";
        return true;
}

const yaml_node_t *yaml_get(struct yaml_file *f, const yaml_node_t *mapping, const char *key)
{
        struct yaml_entry e;

        for (size_t i = 0; yaml_entry_at(f, mapping, i, &e); i++)
                if (!strcmp(e.key, key))
                        return e.value;
        return NULL;
}

static bool unknown_key(struct yaml_file *f, const struct yaml_entry *e, const char *const *keys, size_t n)
{
        const char *meant = nearest(e->key, keys, n);
        char list[400];
        size_t used = 0;

        if (meant)
                return yaml_error(f, e->key_node, 0, "unknown key '%s'; did you mean '%s'?", e->key, meant);
        list[0] = '\0';
        for (size_t i = 0; i < n && used < sizeof(list) - 40; i++)
                used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", keys[i]);
        return yaml_error(f, e->key_node, 0, "unknown key '%s'; expected %s", e->key, list);
}

bool yaml_check_keys(struct yaml_file *f, const yaml_node_t *mapping, const char *const *keys, size_t n)
{
        bool good = true, seen[KEYS_MAX] = { false };
        struct yaml_entry e;

        for (size_t i = 0; yaml_entry_at(f, mapping, i, &e); i++) {
                size_t k = 0;
                while (k < n && strcmp(keys[k], e.key) != 0)
                        k++;
                if (k == n)
                        good = unknown_key(f, &e, keys, n);
                else if (seen[k])
                        good = yaml_error(f, e.key_node, 0, "duplicate key '%s'", e.key);
                else
                        seen[k] = true;
        }
        return good;
}

static const char *kind_name(const yaml_node_t *node)
{
        return node->type == YAML_MAPPING_NODE ? "a mapping" : node->type == YAML_SEQUENCE_NODE ? "a list" : "a text";
}

const char *yaml_text(struct yaml_file *f, const yaml_node_t *node, const char *what)
{
        if (!node)
                return NULL;
        if (node->type != YAML_SCALAR_NODE) {
                yaml_error(f, node, 0, "expected %s, found %s", what, kind_name(node));
                return NULL;
        }
        const char *text = (const char *)node->data.scalar.value;
        if (strlen(text) == node->data.scalar.length)
                return text;
        yaml_error(f, node, 0, "there is a zero byte in this text");
        return NULL;
}

bool yaml_is_mapping(struct yaml_file *f, const yaml_node_t *node, const char *what)
{
        if (node->type == YAML_MAPPING_NODE)
                return true;
        return yaml_error(f, node, 0, "expected %s, found %s", what, kind_name(node));
}

bool yaml_is_sequence(struct yaml_file *f, const yaml_node_t *node, const char *what)
{
        if (node->type == YAML_SEQUENCE_NODE)
                return true;
        return yaml_error(f, node, 0, "expected %s, found %s", what, kind_name(node));
}

bool yaml_boolean(struct yaml_file *f, const yaml_node_t *node, bool *ret)
{
        const char *text = yaml_text(f, node, "true or false");

        if (!text)
                return false;
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
                return yaml_error(f, node, 0, "'%s'; expected true or false", text);
        *ret = !strcmp(text, "true");
        return true;
}
