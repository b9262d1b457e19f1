/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of `heapwatch query` that are made of a heap graph: heap and retainers.
 *
 * DESIGN: graphs are the inspection's business, and reading one takes its time and memory: `heapwatch heap` and
 * `heapwatch why` do it as children, with limits of their own, and say it as JSON.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/commands/query/tables.h"
#include "proto/base/child.h"
#include "proto/base/text_out.h"

#define GRAPH_SUFFIX ".heapgraph"
#define BANDS_MAX    "100000" /* as many as the command prints */
#define PATHS_MAX    "100"

const struct query_column query_heap_columns[QUERY_HEAP_COLUMNS] = {
        { "name", QUERY_TEXT, "", "of the type of closures" },
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

/* Its output as JSON; NULL: it failed, which it has said on standard error. */
static json_t *read_child(const char *const *argv, struct error *error)
{
        int out[2];
        pid_t pid;

        if (pipe2(out, O_CLOEXEC) < 0) {
                error_set(error, "%s", strerror(errno));
                return NULL;
        }
        const int r = child_spawn((char *const *)argv, (const int[]){ CHILD_NULL, out[1], STDERR_FILENO }, CHILD_BESIDE,
                                  &pid);
        (void)close(out[1]);
        FILE *from = r == 0 ? fdopen(out[0], "r") : NULL;
        json_t *said = from ? json_loadf(from, 0, NULL) : NULL;
        if (from)
                (void)fclose(from);
        else
                (void)close(out[0]);
        const int status = r == 0 ? child_wait(pid) : -1;
        if (!said || status != 0)
                error_set(error, "`heapwatch %s` cannot read it", argv[1]);
        if (said && status != 0) {
                json_decref(said);
                said = NULL;
        }
        return said;
}

static bool is_graph(const char *path, struct error *error)
{
        return text_has_suffix(path, GRAPH_SUFFIX) ||
               error_set(error, "it is no heap graph: `heapwatch heap NAME -o FILE" GRAPH_SUFFIX "` writes one");
}

static void add_number(struct query_rows *r, const json_t *of, const char *name)
{
        const json_t *value = json_object_get(of, name);

        query_rows_add_optional(r, json_is_integer(value), (uint64_t)json_integer_value(value));
}

bool query_add_heap(struct query_scan *s, const char *path, struct error *error)
{
        const char *const argv[] = { "heapwatch", "heap", "--format", "json", "--top", BANDS_MAX, "--", path, NULL };
        json_t *said = is_graph(path, error) ? read_child(argv, error) : NULL;
        const char *program = json_string_value(json_object_get(said, "program"));
        const json_t *band;
        size_t i;

        json_array_foreach(json_object_get(said, "bands"), i, band)
        {
                const char *name = json_string_value(json_object_get(band, "name"));

                if (!name || !query_is_key(s, name))
                        continue;
                query_begin_row(s, program ? program : "", 1);
                query_rows_add_text(&s->rows, name);
                add_number(&s->rows, band, "bytes");
                add_number(&s->rows, band, "closures");
                add_number(&s->rows, band, "retained_bytes");
                add_number(&s->rows, band, "unreached_bytes");
        }
        const bool is_read = said != NULL;
        json_decref(said);
        return is_read;
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

bool query_add_retainers(struct query_scan *s, const char *path, struct error *error)
{
        const char *const key = s->bounds.key;
        const char *const argv[] = {
                "heapwatch", "why", "--format", "json", "--top", PATHS_MAX, "--", path, key, NULL
        };
        const json_t *way;
        size_t i;

        if (!key)
                return error_set(error,
                                 "retainers are those of one type: add WHERE name = '...', as the table heap has it");
        json_t *said = is_graph(path, error) ? read_child(argv, error) : NULL;
        const char *program = json_string_value(json_object_get(said, "program"));
        json_array_foreach(json_object_get(said, "paths"), i, way)
        {
                query_begin_row(s, program ? program : "", 1);
                query_rows_add_text(&s->rows, json_string_value(json_object_get(said, "band")));
                add_holders(&s->rows, json_object_get(way, "path"));
                add_number(&s->rows, way, "bytes");
                add_number(&s->rows, way, "closures");
        }
        const bool is_read = said != NULL;
        json_decref(said);
        return is_read;
}
