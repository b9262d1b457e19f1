/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/mcp/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/endpoints.h"
#include "client/cli/own_command.h"
#include "client/world/feed/locate.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

#define ARGUMENTS_MAX    3u
#define SOURCES_MAX      8u
#define TEXT_MAX         16384u
#define ROWS_DEFAULT     200
#define OUTPUT_BYTES_MAX ((size_t)256 << 10)
#define NOTHING          "nothing was found: the command printed no row"
#define ROWS_CUT         "cut here: there are more rows; bound the query, or ask for more by `rows`"
#define BYTES_CUT        "cut here, at 256 KiB: there is more; ask for less at a time"
#define CALL_NS          (45 * NS_PER_S) /* the SDKs give up after 60 s */

enum argument_type {
        ARGUMENT_PLACE,  /* of a target, a log ...: an operand; one that begins with '-' could be an option */
        ARGUMENT_PLACES, /* several */
        ARGUMENT_BAND,   /* an operand likewise, but it says nothing of where to look */
        ARGUMENT_SQL,    /* an operand, which may begin with "--", a comment */
        ARGUMENT_COUNT,  /* the value of `option` */
        ARGUMENT_ROWS,   /* lines of the output that are kept */
};

struct argument {
        const char *name, *text, *option;
        enum argument_type type;
        bool is_required;
        unsigned max; /* of a count; of places: how many */
};

struct tool {
        const char *name, *text;
        const char *command[8];                       /* ended by NULL */
        struct argument arguments[ARGUMENTS_MAX + 1]; /* ended by one without a name */
        bool is_offline; /* else --connect is for it, unless it is given files, PIDs or cores */
};

#define TARGET_OR_LOG "a target of the daemon (see `targets`), or the path of a finished eventlog, or recording:TARGET"
#define PROCESS                                                                                                        \
        "a target of the daemon, the PID or name of a GHC-compiled program that runs here, or the path of a core "     \
        "file; a program that runs is stopped for at most 0.25 s"

static const struct tool tools[] = {
        { .name = "targets",
          .text = "What the daemon says of itself and of each program that it watches: state, end, losses.",
          .command = { "status", "--format", "json" } },
        { .name = "standing",
          .text = "Whether memory of a Haskell program leaks, where it grows, since when, and when it reaches the "
                  "limit: "
                  "a verdict for each series and band with slope, interval and evidence. Times are nanoseconds of the "
                  "run, sizes bytes. Without source: all targets of the daemon, an object a line.",
          .command = { "trend", "--format", "json", "--all" },
          .arguments = { { "source", TARGET_OR_LOG, NULL, ARGUMENT_PLACE, false, 0 },
                         { "bands", "bands of the heap profile", "--bands", ARGUMENT_COUNT, false, 1000 } } },
        { .name = "post_mortem",
          .text = "How a program ended: exit status, signal, killed for memory; its memory then, since when it grew "
                  "and where, last notes and pauses, what the stream lost. What is unknown is left out.",
          .command = { "post-mortem", "--format", "json" },
          .arguments = { { "source", TARGET_OR_LOG, NULL, ARGUMENT_PLACE, true, 0 } } },
        { .name = "alerts",
          .text = "Alerts that fire or are pending, an object a line: rule, target, value, since when, why.",
          .command = { "alerts", "--format", "json" },
          .arguments = { { "source", TARGET_OR_LOG, NULL, ARGUMENT_PLACE, false, 0 } } },
        { .name = "why",
          .text = "Why closures of a type are kept: the shortest paths of types from them to the roots (top-level "
                  "values, threads, stable pointers), with shares. Reads the whole heap: seconds for a large one.",
          .command = { "why", "--format", "json", "--max-pause", "250ms", "--time", "30s" },
          .arguments = { { "target", "the path of a heap graph, or " PROCESS, NULL, ARGUMENT_PLACE, true, 0 },
                         { "band", "a type, or part of its name; default: what grows most", NULL, ARGUMENT_BAND, false,
                           0 },
                         { "top", "paths shown", "--top", ARGUMENT_COUNT, false, 1000 } } },
        { .name = "threads",
          .text = "Groups of Haskell threads: what each does or waits for, and the functions on its stack.",
          .command = { "threads", "--format", "json", "--max-pause", "250ms", "--time", "30s" },
          .arguments = { { "target", PROCESS, NULL, ARGUMENT_PLACE, true, 0 },
                         { "frames", "frames shown of a stack", "--frames", ARGUMENT_COUNT, false, 1000 } } },
        { .name = "diff",
          .text = "By how much a run differs from a baseline, with 95 % intervals, and the bands that changed most.",
          .command = { "diff", "--format", "json" },
          .is_offline = true,
          .arguments = { { "baseline", "a finished eventlog, or TARGET@WHEN of the archive", NULL, ARGUMENT_PLACE, true,
                           0 },
                         { "new", "the other one: a finished eventlog, or TARGET@WHEN", NULL, ARGUMENT_PLACE, true, 0 },
                         { "rows", "bands shown", "--rows", ARGUMENT_COUNT, false, 1000 } } },
        { .name = "query",
          .text = "One SELECT of SQLite over virtual tables of logs and live targets, an object a row. "
                  "See `query_tables` first. Read only; at most 40 s.",
          .command = { "query", "--format", "ndjson", "--timeout", "40s" },
          .arguments = { { "sql", "the query; NAME.TABLE is of one source", NULL, ARGUMENT_SQL, true, 0 },
                         { "sources", "each [NAME=]SOURCE: " TARGET_OR_LOG ", or TARGET@WHEN of the archive", NULL,
                           ARGUMENT_PLACES, true, SOURCES_MAX },
                         { "rows", "rows that are kept; default: 200", NULL, ARGUMENT_ROWS, false, 2000 } } },
        { .name = "query_tables",
          .text = "The tables, views and functions for `query`: each column with its unit and meaning.",
          .command = { "query", "--schema" },
          .is_offline = true },
};

static json_t *make_schema(const struct argument *a)
{
        const char *pattern = a->type == ARGUMENT_SQL ? "^" : "^[^-]";

        if (a->type == ARGUMENT_COUNT || a->type == ARGUMENT_ROWS)
                return json_pack("{s:s,s:s,s:i,s:i}", "type", "integer", "description", a->text, "minimum", 1,
                                 "maximum", a->max);
        if (a->type == ARGUMENT_PLACES)
                return json_pack("{s:s,s:s,s:i,s:i,s:{s:s,s:i,s:i,s:s}}", "type", "array", "description", a->text,
                                 "minItems", 1, "maxItems", a->max, "items", "type", "string", "minLength", 1,
                                 "maxLength", TEXT_MAX, "pattern", pattern);
        return json_pack("{s:s,s:s,s:i,s:i,s:s}", "type", "string", "description", a->text, "minLength", 1, "maxLength",
                         TEXT_MAX, "pattern", pattern);
}

json_t *tools_list(void)
{
        json_t *list = json_array();

        for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
                const struct tool *t = &tools[i];
                json_t *properties = json_object(), *required = json_array();
                for (const struct argument *a = t->arguments; a->name; a++) {
                        (void)json_object_set_new(properties, a->name, make_schema(a));
                        if (a->is_required)
                                (void)json_array_append_new(required, json_string(a->name));
                }
                (void)json_array_append_new(list, json_pack("{s:s,s:s,s:{s:s,s:o,s:o,s:b},s:{s:b,s:b}}", "name",
                                                            t->name, "description", t->text, "inputSchema", "type",
                                                            "object", "properties", properties, "required", required,
                                                            "additionalProperties", 0, "annotations", "readOnlyHint", 1,
                                                            "openWorldHint", 0));
        }
        return list;
}

/* ---------------------------------------------------------------------- arguments */

struct making {
        const char *words[32 + ENDPOINTS_WORDS + SOURCES_MAX], *operands[SOURCES_MAX + ARGUMENTS_MAX];
        size_t n, n_operands, n_places, n_here; /* places: operands that say where to look; here: without a daemon */
        size_t rows_max;
        char number[24];
        struct error *error;
};

static bool is_here(const char *name)
{
        const char *equals = strchr(name, '=');

        return locate_is_log(name) || (equals && locate_is_log(equals + 1)) ||
               strspn(name, "0123456789") == strlen(name) || !strncmp(name, "coredump:", strlen("coredump:"));
}

static bool add_text(struct making *m, const struct argument *a, const json_t *value)
{
        const char *text = json_string_value(value);

        if (!text || !*text || json_string_length(value) > TEXT_MAX)
                return error_set(m->error, "%s: expected a text of 1 to %u bytes: %s", a->name, TEXT_MAX, a->text);
        if (a->type != ARGUMENT_SQL && *text == '-')
                return error_set(m->error, "%s: '%.80s' begins with '-'; of a file, give its path as ./%.80s", a->name,
                                 text, text);
        if (a->type == ARGUMENT_PLACE || a->type == ARGUMENT_PLACES) {
                m->n_places++;
                m->n_here += is_here(text);
        }
        m->operands[m->n_operands++] = text;
        return true;
}

static bool add_argument(struct making *m, const struct argument *a, const json_t *value)
{
        const json_int_t count = json_is_array(value) ? (json_int_t)json_array_size(value) : json_integer_value(value);

        if (a->type < ARGUMENT_COUNT && a->type != ARGUMENT_PLACES)
                return add_text(m, a, value);
        if (count < 1 || count > a->max || json_is_array(value) != (a->type == ARGUMENT_PLACES))
                return error_set(m->error, "%s: expected %s 1 to %u%s: %s", a->name,
                                 a->type == ARGUMENT_PLACES ? "a list of" : "a whole number from", a->max,
                                 a->type == ARGUMENT_PLACES ? " texts" : "", a->text);
        for (size_t i = 0; i < json_array_size(value); i++)
                if (!add_text(m, a, json_array_get(value, i)))
                        return false;
        if (a->type == ARGUMENT_ROWS) {
                m->rows_max = (size_t)count;
        } else if (a->type == ARGUMENT_COUNT) {
                (void)snprintf(m->number, sizeof(m->number), "%lld", (long long)count);
                m->words[m->n++] = a->option;
                m->words[m->n++] = m->number;
        }
        return true;
}

/* The words of the command; they point into the arguments. */
static bool make_words(struct making *m, const struct tool *t, const json_t *arguments)
{
        const char *name;
        json_t *given;

        json_object_foreach((json_t *)arguments, name, given)
        {
                const struct argument *a = t->arguments;

                while (a->name && strcmp(a->name, name) != 0)
                        a++;
                if (!a->name)
                        return error_set(m->error, "%s has no argument '%.40s'; tools/list has all", t->name, name);
        }
        m->words[m->n++] = "heapwatch";
        for (size_t i = 0; i < ARRAY_SIZE(t->command) && t->command[i]; i++)
                m->words[m->n++] = t->command[i];
        for (const struct argument *a = t->arguments; a->name; a++) {
                const json_t *value = json_object_get(arguments, a->name);
                if (!value && a->is_required)
                        return error_set(m->error, "%s needs %s: %s", t->name, a->name, a->text);
                if (a->type == ARGUMENT_ROWS)
                        m->rows_max = ROWS_DEFAULT;
                if (value && !add_argument(m, a, value))
                        return false;
        }
        if (!t->is_offline && (m->n_here == 0 || m->n_here < m->n_places))
                m->n += endpoints_words(m->words + m->n);
        m->words[m->n++] = "--";
        memcpy(m->words + m->n, m->operands, m->n_operands * sizeof(*m->operands));
        m->words[m->n + m->n_operands] = NULL;
        return true;
}

/* --------------------------------------------------------------------------- call */

/* Appends; what is no UTF-8 is not shown. */
static void add_content(json_t *content, const char *text, size_t n)
{
        json_t *value = json_stringn(text, n);

        (void)json_array_append_new(content, json_pack("{s:s,s:o}", "type", "text", "text",
                                                       value ? value : json_string("the output is damaged: no UTF-8")));
}

json_t *tools_call(const char *name, const json_t *arguments, const atomic_bool *stop, struct error *error)
{
        const struct tool *t = NULL;
        struct making m = { .error = error };
        struct own_output o = { .n = 0 };
        char said[ERROR_TEXT_MAX];

        for (size_t i = 0; i < ARRAY_SIZE(tools) && !t; i++)
                if (!strcmp(name, tools[i].name))
                        t = &tools[i];
        if (!t) {
                (void)error_set(error, "unknown tool '%.80s'; tools/list has all", name);
                return NULL;
        }
        bool good = make_words(&m, t, arguments);
        const struct own_command command = { m.words, CALL_NS, OUTPUT_BYTES_MAX, m.rows_max, 1, stop };
        good = good && own_command_run(&command, &o, error);
        json_t *content = json_array();
        if (!good)
                add_content(content, said, hw_utf8_clean(said, sizeof(said), error->text, strlen(error->text)));
        else if (o.n > 0)
                add_content(content, o.text, o.is_cut && o.text[o.n - 1] != '\n' ? utf8_cut(o.text, o.n - 1) : o.n);
        else
                add_content(content, NOTHING, strlen(NOTHING));
        if (good && o.said[0])
                add_content(content, o.said, strlen(o.said));
        if (good && o.is_cut) {
                const char *cut = m.rows_max && o.lines == m.rows_max ? ROWS_CUT : BYTES_CUT;
                add_content(content, cut, strlen(cut));
        }
        free(o.text);
        return json_pack("{s:o,s:b}", "content", content, "isError", !good);
}
