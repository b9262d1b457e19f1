/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of `heapwatch query` that are made of a heap graph: heap and retainers.
 *
 * DESIGN: graphs are the inspection's business, and reading one takes its time and memory: `heapwatch heap` and
 * `heapwatch why` do it as children, with limits of their own, and say it as JSON.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/cli/own_command.h"
#include "client/commands/query/tables.h"
#include "proto/base/clock.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"

#define BANDS_MAX  "100000" /* as many as the command prints */
#define PATHS_MAX  "100"
#define OUTPUT_MAX ((size_t)64 << 20) /* of either */

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

static void add_number(struct query_rows *r, const json_t *of, const char *name)
{
        const json_t *value = json_object_get(of, name);

        query_rows_add_optional(r, json_is_integer(value), (uint64_t)json_integer_value(value));
}

bool query_add_heap(struct query_scan *s, const char *path, struct error *error)
{
        const char *const words[] = { "heapwatch", "heap", "--format", "json", "--top", BANDS_MAX, "--", path, NULL };
        json_t *said = read_command(s, words, error);
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
        const char *const words[] = {
                "heapwatch", "why", "--format", "json", "--top", PATHS_MAX, "--", path, key, NULL
        };
        const json_t *way;
        size_t i;

        if (!key)
                return error_set(error,
                                 "retainers are those of one type: add WHERE name = '...', as the table heap has it");
        json_t *said = read_command(s, words, error);
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
