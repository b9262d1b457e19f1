/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: libyaml builds the tree. Its work grows with the square of some
 * things a hostile file is free to repeat: open brackets (every token looks at
 * each), anchors and %TAG directives (each is compared with all before). So the
 * events are read once without a tree, within limits, before it is built;
 * lookahead of the scanner is bounded by libyaml itself (1024 characters).
 */
#include "proto/cli/yaml/yaml_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/nearest.h"
#include "heapwatch/text.h"

#define KEYS_MAX       32
#define DIRECTIVES_MAX 16 /* lines that begin with % */

/* ------------------------------------------------------------------ diagnostics */

static void report_line(struct yaml_file *f, const char *line)
{
        char safe[1024];

        if (f->diagnostics == YAML_ERRORS_MAX)
                f->says.say(f->says.ctx, "further mistakes are not shown");
        if (f->diagnostics++ >= YAML_ERRORS_MAX)
                return;
        hw_terminal_text(safe, sizeof(safe), line);
        f->says.say(f->says.ctx, safe);
}

/* Column in the file of a column in a text, which is exact for a plain or quoted text of one line. */
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
        report_line(f, line);
        return false;
}

bool yaml_enough_errors(const struct yaml_file *f)
{
        return f->diagnostics > YAML_ERRORS_MAX;
}

/* --------------------------------------------------------------------- loading */

static bool at_mark(struct yaml_file *f, yaml_mark_t mark, const char *what, const char *more)
{
        char line[1000];

        snprintf(line, sizeof(line), "%s:%zu:%zu: %s%s", f->name, mark.line + 1, mark.column + 1, what, more);
        report_line(f, line);
        return false;
}

static bool not_valid(struct yaml_file *f, const yaml_parser_t *parser)
{
        const char *problem = parser->problem ? parser->problem : "out of memory";
        char what[800];

        snprintf(what, sizeof(what), "not valid YAML: %s%s%s", problem, parser->context ? ", " : "",
                 parser->context ? parser->context : "");
        return at_mark(f, parser->problem_mark, what,
                       strstr(problem, "cannot start any token") ? " (is it a tab? YAML is indented by spaces)" : "");
}

/* What has been seen of the document so far. */
struct shape {
        unsigned depth, anchors, documents;
};

static bool has_anchor(const yaml_event_t *e)
{
        return (e->type == YAML_SCALAR_EVENT && e->data.scalar.anchor) ||
               (e->type == YAML_SEQUENCE_START_EVENT && e->data.sequence_start.anchor) ||
               (e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.anchor);
}

static bool within_limits(struct yaml_file *f, struct shape *s, const yaml_event_t *e)
{
        char what[80];

        if ((e->type == YAML_SEQUENCE_START_EVENT || e->type == YAML_MAPPING_START_EVENT) &&
            s->depth++ == YAML_DEPTH_MAX) {
                snprintf(what, sizeof(what), "nested more than %u levels deep", YAML_DEPTH_MAX);
                return at_mark(f, e->start_mark, what, "");
        }
        if (e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT)
                s->depth--;
        if (has_anchor(e) && s->anchors++ == YAML_ANCHORS_MAX) {
                snprintf(what, sizeof(what), "more than %u anchors (&name)", YAML_ANCHORS_MAX);
                return at_mark(f, e->start_mark, what, "");
        }
        if (e->type == YAML_DOCUMENT_START_EVENT && s->documents++ == 1)
                return at_mark(f, e->start_mark, "a second document begins; expected one in a file", "");
        return true;
}

static bool few_directives(struct yaml_file *f, const char *text)
{
        unsigned n = *text == '%';

        for (const char *at = text; n <= DIRECTIVES_MAX && (at = strstr(at, "\n%")); at++)
                n++;
        return n <= DIRECTIVES_MAX || yaml_error(f, NULL, 0, "more than %d lines begin with %%", DIRECTIVES_MAX);
}

static bool start_parser(struct yaml_file *f, yaml_parser_t *parser, const char *text)
{
        if (!yaml_parser_initialize(parser))
                return yaml_error(f, NULL, 0, "out of memory");
        yaml_parser_set_input_string(parser, (const unsigned char *)text, strlen(text));
        return true;
}

static bool survey_nodes(struct yaml_file *f, const char *text)
{
        struct shape shape = { 0 };
        yaml_parser_t parser;
        yaml_event_t event;
        bool good = few_directives(f, text), ended = false;

        if (!good || !start_parser(f, &parser, text))
                return false;
        while (good && !ended) {
                if (!yaml_parser_parse(&parser, &event)) {
                        good = not_valid(f, &parser);
                        break;
                }
                ended = event.type == YAML_STREAM_END_EVENT;
                good = within_limits(f, &shape, &event);
                yaml_event_delete(&event);
        }
        yaml_parser_delete(&parser);
        return good;
}

bool yaml_file_parse(struct yaml_file *f, const char *name, const char *text, const struct error_sink *says)
{
        yaml_parser_t parser;

        *f = (struct yaml_file){ .name = name, .says = *says };
        if (!survey_nodes(f, text) || !start_parser(f, &parser, text))
                return false;
        f->has_document = yaml_parser_load(&parser, &f->document) != 0;
        if (!f->has_document)
                not_valid(f, &parser);
        yaml_parser_delete(&parser);
        return f->has_document;
}

/* Reads one byte more than the limit, which shows that the file is too large. -errno; -ETIMEDOUT: a pipe is silent. */
static ssize_t read_all(int fd, bool is_pipe, char *text)
{
        size_t size = 0;

        while (size <= YAML_FILE_MAX_BYTES) {
                if (is_pipe && poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, YAML_PIPE_MS) == 0)
                        return -ETIMEDOUT;
                ssize_t n = read(fd, text + size, YAML_FILE_MAX_BYTES + 1 - size);
                if (n == 0)
                        break;
                if (n < 0 && errno != EINTR && errno != EAGAIN)
                        return -errno;
                size += n > 0 ? (size_t)n : 0;
        }
        text[size] = '\0';
        return (ssize_t)size;
}

/* Anything but a plain file could block the reader; a pipe does so for a time, where one is expected. */
static bool is_readable(struct yaml_file *f, int fd, bool may_be_pipe, bool *ret_pipe)
{
        struct stat st;

        if (fstat(fd, &st) < 0)
                return yaml_error(f, NULL, 0, "cannot be read: %s", strerror(errno));
        *ret_pipe = S_ISFIFO(st.st_mode);
        return S_ISREG(st.st_mode) || (*ret_pipe && may_be_pipe) ||
               yaml_error(f, NULL, 0, "this is %s; expected a plain file",
                          S_ISDIR(st.st_mode)    ? "a directory"
                          : S_ISFIFO(st.st_mode) ? "a pipe"
                                                 : "a device or socket");
}

/* The whole file, NUL-terminated, to free(); NULL after reporting an error. */
static char *read_whole(struct yaml_file *f, int fd, bool is_pipe)
{
        char *text = malloc(YAML_FILE_MAX_BYTES + 2);
        ssize_t size = text ? read_all(fd, is_pipe, text) : -ENOMEM;

        if (size == -ETIMEDOUT)
                yaml_error(f, NULL, 0, "nothing was written to this pipe for %d s", YAML_PIPE_MS / 1000);
        else if (size < 0)
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

static bool read_path(struct yaml_file *f, const char *path, bool may_be_pipe, const struct error_sink *says)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        bool good, is_pipe = false;
        char *text;

        *f = (struct yaml_file){ .name = path, .says = *says };
        if (fd < 0)
                return yaml_error(f, NULL, 0, "cannot be read: %s", strerror(errno));
        text = is_readable(f, fd, may_be_pipe, &is_pipe) ? read_whole(f, fd, is_pipe) : NULL;
        close(fd);
        good = text && yaml_file_parse(f, path, text, says);
        free(text);
        return good;
}

bool yaml_file_read(struct yaml_file *f, const char *path, const struct error_sink *says)
{
        return read_path(f, path, false, says);
}

bool yaml_file_read_pipe(struct yaml_file *f, const char *path, const struct error_sink *says)
{
        return read_path(f, path, true, says);
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
        if (node->type != YAML_SCALAR_NODE)
                return node->type == YAML_MAPPING_NODE ? "a mapping" : "a list";
        return node->data.scalar.length || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE ? "a text" : "nothing";
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
        yaml_error(f, node, 0, "this text contains a NUL byte");
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
