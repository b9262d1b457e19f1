/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/head.h"

#include <string.h>

#include "heapwatch/text.h"

static const char *program_name(const struct inspect_subject *s)
{
        const char *path = program_own_file(s->program), *name = path ? strrchr(path, '/') : NULL;

        return name ? name + 1 : path ? path : "?";
}

void head_text(const struct inspect_subject *s, const char *what)
{
        char name[256], time[HW_NUMBER_MAX];

        (void)hw_terminal_text(name, sizeof(name), program_name(s));
        (void)fprintf(s->request->to, "%s", name);
        if (s->request->core)
                (void)fprintf(s->request->to, " (core file%s", s->pid ? "" : ")");
        if (s->pid)
                (void)fprintf(s->request->to, "%sprocess %ld)", s->request->core ? " of " : " (", (long)s->pid);
        (void)fprintf(s->request->to, ": %s; laid out as by GHC %s%s%s", what, s->ghc->thread.releases,
                      s->ghc->profiled ? ", profiled" : "", s->program->has_symbols ? "" : ", stripped");
        if (s->stopped_ns)
                (void)fprintf(s->request->to, "; stopped for %s",
                              hw_duration_text(time, sizeof(time), (double)s->stopped_ns));
        (void)fputc('\n', s->request->to);
}

void head_json(struct json_out *j, const struct inspect_subject *s)
{
        json_member_text(j, "program", program_name(s));
        if (s->pid)
                json_member_u64(j, "pid", (uint64_t)s->pid);
        json_member_text(j, "from", s->request->core ? "core" : s->stopped_ns ? "stopped" : "running");
        json_member_text(j, "layout", s->ghc->thread.releases);
        json_member_bool(j, "profiled", s->ghc->profiled);
        json_member_bool(j, "symbols", s->program->has_symbols);
        if (s->stopped_ns)
                json_member_seconds(j, "stopped_s", s->stopped_ns);
        json_member_bool(j, "complete", !s->late && !s->torn && !s->missing);
}

void head_cautions(const struct inspect_subject *s)
{
        char bytes[HW_NUMBER_MAX], text[ERROR_TEXT_MAX];

        if (s->late)
                (void)fputs("incomplete: the time for the stop was over (--max-pause), and the program continued\n",
                            s->request->to);
        if (s->torn)
                (void)fputs(
                        "incomplete: collections moved closures while the program was read; without --no-stop it is "
                        "stopped meanwhile\n",
                        s->request->to);
        if (s->missing)
                (void)fprintf(s->request->to, "incomplete: the core file was cut off, %s are missing\n",
                              hw_bytes_text(bytes, sizeof(bytes), (double)s->missing));
        if (s->program->no_symbols.text[0]) {
                (void)hw_terminal_text(text, sizeof(text), s->program->no_symbols.text);
                (void)fprintf(s->request->to, "without the names of %s\n", text);
        }
}
