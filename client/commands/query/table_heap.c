/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of `heapwatch query` that are made of a heap graph: heap and retainers.
 *
 * DESIGN: graphs are the inspection's business, and reading one takes its time and memory: `heapwatch heap` and
 * `heapwatch why` do it as children, with limits of their own, and say it as JSON.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/own_command.h"
#include "client/commands/query/tables.h"
#include "client/world/state/band_name.h"
#include "proto/base/clock.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"

#define BANDS_MAX  "100000" /* as many as the command prints */
#define PATHS_MAX  "100"
#define OUTPUT_MAX ((size_t)64 << 20) /* of either */

const struct query_column query_heap_columns[QUERY_HEAP_COLUMNS] = {
        { "name", QUERY_TEXT, "", "of the type of closures, as bands have it" },
        { "label", QUERY_TEXT, "", "as `heapwatch heap` has it, with the package's version" },
        { "bytes", QUERY_INTEGER, "B", "that they have" },
        { "closures", QUERY_INTEGER, "", "how many" },
        { "retained", QUERY_INTEGER, "B", "that would go with them" },
        { "unreached", QUERY_INTEGER, "B", "of theirs that no root holds" },
};

const struct query_column query_retainer_columns[QUERY_RETAINER_COLUMNS] = {
        { "name", QUERY_TEXT, "", "of the type that is held; must be given: WHERE name = 'main:Main.Session'" },
        { "root", QUERY_TEXT, "", "that holds it: a thread, a CAF ..." },
        { "path", QUERY_TEXT, "", "from the type to the root, the nearest holder first, with ; between" },
        { "bytes", QUERY_INTEGER, "B", "of the type that are held so" },
        { "closures", QUERY_INTEGER, "", "of the type that are held so" },
};

/* What the command prints, as JSON, within the time of the query; NULL with a sentence. */
static json_t *read_command(const struct query_scan *s, const char *const *words, struct error *error)
{
        const uint64_t now_ms = clock_mono_ms(), left_ms = s->until_ms > now_ms ? s->until_ms - now_ms : 0;
        const struct own_command command = { words, left_ms * NS_PER_MS, OUTPUT_MAX, 0, 0, NULL };
        struct own_output o = { .n = 0 };
        json_t *said = NULL;

        if (own_command_run(&command, &o, error) && !(said = json_loadb(o.text, o.n, 0, NULL)))
                (void)error_set(error, "what `heapwatch %s` prints %s", words[1],
                                o.is_cut ? "is more than 64 MiB" : "cannot be read");
        free(o.text);
        return said;
}

bool query_graph_is(const char *path)
{
        return text_has_suffix(path, ".heapgraph");
}

bool query_graph_check(const char *path, struct error *error)
{
        return access(path, R_OK) == 0 || error_set(error, "%s: %s", path, strerror(errno));
}

/*
 * A type as bands call it (band_name.h): without the version of its package, and without what `heap` explains of a type
 * of the runtime's own, as in "ARR_WORDS (ByteArray#)".
 */
static const char *name_type(char out[BAND_NAME_MAX], const char *label)
{
        const struct package_label of = package_label(label);
        const size_t n = strspn(label, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

        if (of.package)
                (void)snprintf(out, BAND_NAME_MAX, "%.*s:%s", (int)of.package, label, of.rest);
        else
                (void)snprintf(out, BAND_NAME_MAX, "%.*s", (int)(strncmp(label + n, " (", 2) ? strlen(label) : n),
                               label);
        return out;
}

static void add_number(struct query_rows *r, const json_t *of, const char *name)
{
        const json_t *value = json_object_get(of, name);

        query_rows_add_optional(r, json_is_integer(value), (uint64_t)json_integer_value(value));
}

/* All types of the graph, which are read once. False with a sentence. */
static bool read_types(struct query_scan *s, const char *path, struct error *error)
{
        const char *const words[] = { "heapwatch", "heap", "--format", "json", "--top", BANDS_MAX, "--", path, NULL };

        if (s->graph && s->graph_source == s->source)
                return true;
        json_decref(s->graph);
        s->graph = query_graph_check(path, error) ? read_command(s, words, error) : NULL;
        s->graph_source = s->source;
        return s->graph != NULL;
}

static const char *program_of(const json_t *said)
{
        const char *program = json_string_value(json_object_get(said, "program"));

        return program ? program : "";
}

bool query_add_heap(struct query_scan *s, const char *path, struct error *error)
{
        char name[BAND_NAME_MAX];
        const json_t *type;
        size_t i;

        if (!read_types(s, path, error))
                return false;
        json_array_foreach(json_object_get(s->graph, "bands"), i, type)
        {
                const char *label = json_string_value(json_object_get(type, "name"));

                if (!label || !query_is_key(s, name_type(name, label)))
                        continue;
                query_begin_row(s, program_of(s->graph), 1);
                query_rows_add_text(&s->rows, name);
                query_rows_add_text(&s->rows, label);
                add_number(&s->rows, type, "bytes");
                add_number(&s->rows, type, "closures");
                add_number(&s->rows, type, "retained_bytes");
                add_number(&s->rows, type, "unreached_bytes");
        }
        return true;
}

/* The types from the held one's holder to the root, which is the last. */
static void add_holders(struct query_rows *r, const json_t *holders)
{
        const json_t *last = json_array_get(holders, json_array_size(holders) - 1), *holder;
        char path[4096];
        size_t i, n = 0;

        query_rows_add_text(r, json_string_value(json_object_get(last, "type")));
        path[0] = '\0';
        json_array_foreach(holders, i, holder)
        {
                const char *type = json_string_value(json_object_get(holder, "type"));
                if (n < sizeof(path))
                        n += (size_t)snprintf(path + n, sizeof(path) - n, "%s%s", i ? ";" : "", type ? type : "?");
        }
        query_rows_add_text(r, path);
}

/* Of one type, whose answer is kept with it: a join asks for it again. */
static bool add_retainers(struct query_scan *s, const char *path, json_t *type, struct error *error)
{
        const char *const words[] = { "heapwatch", "why",   "--format",
                                      "json",      "--top", PATHS_MAX,
                                      "--",        path,    json_string_value(json_object_get(type, "name")),
                                      NULL };
        json_t *said = json_incref(json_object_get(type, "why"));
        const json_t *way;
        size_t i;

        if (!said && (said = read_command(s, words, error)))
                (void)json_object_set(type, "why", said);
        json_array_foreach(json_object_get(said, "paths"), i, way)
        {
                query_begin_row(s, program_of(said), 1);
                query_rows_add_text(&s->rows, s->bounds.key);
                add_holders(&s->rows, json_object_get(way, "path"));
                add_number(&s->rows, way, "bytes");
                add_number(&s->rows, way, "closures");
        }
        const bool is_read = said != NULL;
        json_decref(said);
        return is_read;
}

bool query_add_retainers(struct query_scan *s, const char *path, struct error *error)
{
        bool good = s->bounds.key || error_set(error,
                                               "retainers are of a type at a time: add WHERE name = '...' or IN, "
                                               "or join by name, as heap and bands have it");
        char name[BAND_NAME_MAX];
        json_t *type;
        size_t i;

        good = good && read_types(s, path, error);
        json_array_foreach(json_object_get(s->graph, "bands"), i, type)
        {
                const char *label = json_string_value(json_object_get(type, "name"));

                if (good && label && query_is_key(s, name_type(name, label)))
                        good = add_retainers(s, path, type, error);
        }
        return good;
}
