/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/request.h"

#include <inttypes.h>
#include <string.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/names.h"
#include "inspect/ghc/signatures.h"
#include "proto/base/clock.h"
#include "proto/base/document.h"
#include "proto/base/sibling.h"
#include "proto/base/text_out.h"

void head_origin(struct graph_origin *ret, const struct inspect_subject *s)
{
        const char *path = program_own_file(s->program), *name = path ? strrchr(path, '/') : NULL;

        *ret = (struct graph_origin){
                .pid = (uint32_t)s->pid,
                .taken_unix_s = clock_wall_ns() / 1000000000u,
                .stopped_ns = s->stopped_ns,
                .profiled = s->ghc->profiled,
                .symbols = s->program->has_symbols,
                .complete = !s->late && !s->torn && !s->missing && !s->damaged,
        };
        (void)text_join(ret->program, sizeof(ret->program), name ? name + 1 : path ? path : "?", NULL);
        (void)text_join(ret->layout, sizeof(ret->layout), s->ghc->thread.releases, NULL);
        (void)text_join(ret->from, sizeof(ret->from),
                        s->request->core ? "core"
                        : s->stopped_ns  ? "stopped"
                                         : "running",
                        NULL);
}

/* Without a line feed. */
static void print_origin(FILE *to, const struct graph_origin *o, const char *what)
{
        const bool core = !strcmp(o->from, "core");
        char name[256], layout[128];

        (void)hw_terminal_text(name, sizeof(name), o->program);
        (void)hw_terminal_text(layout, sizeof(layout), o->layout);
        (void)fprintf(to, "%s", name);
        if (core)
                (void)fprintf(to, " (core file%s", o->pid ? "" : ")");
        if (o->pid)
                (void)fprintf(to, "%sprocess %" PRIu32 ")", core ? " of " : " (", o->pid);
        (void)fprintf(to, ": %s; laid out as by GHC %s%s%s", what, layout, o->profiled ? ", profiled" : "",
                      o->symbols ? "" : ", stripped");
        if (o->stopped_ns)
                (void)fprintf(to, "; stopped for %s", DURATION_TEXT(o->stopped_ns));
}

static void origin_json(struct json_out *j, const struct graph_origin *o)
{
        json_member_text(j, "program", o->program);
        if (o->pid)
                json_member_u64(j, "pid", o->pid);
        json_member_text(j, "from", o->from);
        json_member_text(j, "layout", o->layout);
        json_member_bool(j, "profiled", o->profiled);
        json_member_bool(j, "symbols", o->symbols);
        if (o->stopped_ns)
                json_member_seconds(j, "stopped_s", o->stopped_ns);
        json_member_bool(j, "complete", o->complete);
}

const char *head_pause_command(char ret[PAUSE_COMMAND_BYTES], const struct inspect_subject *s, uint64_t copy_ns)
{
        const long pid = (long)s->pid;
        const uint64_t seconds = (copy_ns + copy_ns / 2) / 1000000000u + 1;

        if (seconds > INSPECT_PAUSE_MOST_NS / 1000000000u)
                (void)snprintf(ret, PAUSE_COMMAND_BYTES, "gcore %ld; heapwatch %s core.%ld", pid, s->verb, pid);
        else
                (void)snprintf(ret, PAUSE_COMMAND_BYTES, "heapwatch %s %ld --max-pause %" PRIu64 "s", s->verb, pid,
                               seconds);
        return ret;
}

static void print_sample(const struct inspect_subject *s)
{
        char command[PAUSE_COMMAND_BYTES];
        const struct heap_sample *x = s->sample;
        FILE *to = s->request->to;

        (void)fprintf(to,
                      "a sample: of %s pieces of 64 KiB %s (%s) were read, chosen at random (--seed %" PRIu64
                      "); the rest is estimated, with 95 %% intervals%s; what a type has in few pieces, less than %s, "
                      "may be missing",
                      COUNT_TEXT(x->n_pieces), COUNT_TEXT(x->n_chosen),
                      SHARE_TEXT((double)x->n_chosen / (double)x->n_pieces), x->seed,
                      x->has_large ? ", large objects are counted" : "", BYTES_TEXT(heap_sample_may_miss(x)));
        if (x->whole_bytes)
                (void)fprintf(to, "; with --memory %" PRIu64 "MiB all of it is read",
                              x->whole_bytes / (UINT64_C(1) << 20) + 1);
        if (s->whole_ns)
                (void)fprintf(to, "; all of it is read by: %s", head_pause_command(command, s, s->whole_ns));
        (void)fputc('\n', to);
}

/* What may be wrong with the result, a line each; nothing when all is well. */
static void print_cautions(const struct inspect_subject *s)
{
        char text[ERROR_TEXT_MAX];

        if (s->late)
                (void)fputs("incomplete: the time for the stop (--max-pause) ran out, and the program continued\n",
                            s->request->to);
        if (s->torn)
                (void)fputs("incomplete: collections moved closures while the program was read without being stopped\n",
                            s->request->to);
        if (s->sample)
                print_sample(s);
        if (s->rest[0])
                (void)fprintf(s->request->to, "%s\n", s->rest);
        if (s->missing)
                (void)fprintf(s->request->to, "incomplete: the core file was cut off, %s is missing\n",
                              BYTES_TEXT(s->missing));
        else if (s->damaged)
                (void)fputs(
                        "incomplete: not all that the runtime says it holds was found: the core file is damaged, "
                        "or of the midst of a collection\n",
                        s->request->to);
        if (s->program->no_symbols.text[0]) {
                (void)hw_terminal_text(text, sizeof(text), s->program->no_symbols.text);
                (void)fprintf(s->request->to, "without the names of %s\n", text);
        }
        if (s->program->provenance && s->program->provenance->why.text[0])
                (void)fprintf(s->request->to, "without some of its places in the source: %s\n",
                              s->program->provenance->why.text);
        if (s->program->signatures && s->program->signatures->why.text[0]) {
                (void)hw_terminal_text(text, sizeof(text), s->program->signatures->why.text);
                (void)fprintf(s->request->to, "without names by signatures, %s\n", text);
        }
}

static void end_origin(const struct inspect_subject *s)
{
        const struct signatures *known = s->program->signatures;
        char file[sizeof(known->file)];

        if (known && known->table.n_entries) {
                (void)hw_terminal_text(file, sizeof(file), known->file);
                (void)fprintf(s->request->to, "; names of libraries by %s", file);
        }
        if (s->copied)
                (void)fprintf(s->request->to, "; %s copied", BYTES_TEXT(s->copied));
        (void)fputc('\n', s->request->to);
        print_cautions(s);
}

void head_text(const struct inspect_subject *s, const char *what)
{
        struct graph_origin o;

        head_origin(&o, s);
        print_origin(s->request->to, &o, what);
        end_origin(s);
}

void head_json(struct json_out *j, const struct inspect_subject *s)
{
        struct graph_origin o;

        head_origin(&o, s);
        origin_json(j, &o);
}

void head_of_graph(const struct graph_subject *s, const char *what)
{
        const struct graph_origin *o = &s->graph->origin;
        FILE *to = s->request->to;

        print_origin(to, o, what);
        if (s->inspected) {
                end_origin(s->inspected);
                return;
        }
        (void)fprintf(to, "; taken %s\n", TIME_TEXT(o->taken_unix_s * 1000000000u));
        if (!o->complete)
                (void)fputs("incomplete: part of the heap could not be read when this was taken\n", to);
}

void head_json_of_graph(struct json_out *j, const struct graph_subject *s)
{
        origin_json(j, &s->graph->origin);
        json_member_u64(j, "taken_unix_s", s->graph->origin.taken_unix_s);
}

/* --------------------------------------------------------------------- the same as JSON */

static void lines_json(struct json_out *j, struct document *d)
{
        json_member_open(j, "sentences", '[');
        if (document_close(d))
                for (char *line = d->text, *end; (end = strchr(line, '\n')); line = end + 1) {
                        *end = '\0';
                        json_text(j, line);
                }
        json_close(j, ']');
        document_done(d);
}

void head_sentences_json(struct json_out *j, const struct inspect_subject *s, const char *what)
{
        struct inspect_request request = *s->request;
        struct inspect_subject into = *s;
        struct document d;

        document_open(&d);
        request.to = d.to;
        into.request = &request;
        if (d.to)
                head_text(&into, what);
        lines_json(j, &d);
}

void head_sentences_json_of_graph(struct json_out *j, const struct graph_subject *s, const char *what)
{
        struct inspect_request request = *s->request;
        struct graph_subject into = *s;
        struct inspect_subject inspected;
        struct document d;

        document_open(&d);
        request.to = d.to;
        into.request = &request;
        if (s->inspected) {
                inspected = *s->inspected;
                inspected.request = &request;
                into.inspected = &inspected;
        }
        if (d.to)
                head_of_graph(&into, what);
        lines_json(j, &d);
}

const char *head_gain_text(char ret[GAIN_TEXT_BYTES], uint64_t now, uint64_t then)
{
        char text[HW_NUMBER_MAX];

        (void)hw_bytes_text(text, sizeof(text), (double)(now < then ? then - now : now - then));
        return text_join(ret, GAIN_TEXT_BYTES, now < then ? "-" : "+", text, NULL);
}

void head_since(const struct graph_subject *s, const struct graph_origin *then, uint64_t bytes, uint64_t bytes_then)
{
        const struct graph_origin *now = &s->graph->origin;
        char name[PROGRAM_NAME_BYTES], gain[GAIN_TEXT_BYTES];
        FILE *to = s->request->to;

        (void)hw_terminal_text(name, sizeof(name), then->program);
        (void)fprintf(to, "since %s: %s", TIME_TEXT(then->taken_unix_s * 1000000000u),
                      head_gain_text(gain, bytes, bytes_then));
        if (then->pid != now->pid || strcmp(then->program, now->program) != 0)
                (void)fprintf(to, ", of another run: %s, process %" PRIu32, name, then->pid);
        (void)fputc('\n', to);
}
