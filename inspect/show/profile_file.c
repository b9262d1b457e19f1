/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/out_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "inspect/ghc/names.h"
#include "proto/base/document.h"
#include "proto/base/json_out.h"
#include "proto/base/whole_file.h"

size_t profile_stack(const struct time_tree *t, uint32_t id, uint32_t names[PROFILE_DEEP])
{
        size_t n = 0;

        for (; id && n < PROFILE_DEEP; id = time_tree_nth(t, id)->parent)
                names[n++] = time_tree_nth(t, id)->name;
        return n;
}

/* ------------------------------------------------------------------------- collapsed */

/* A name must not look like the end of a frame or of a line. */
static void put_name(FILE *to, const char *name)
{
        for (; *name; name++) {
                const unsigned char c = (unsigned char)*name;
                (void)putc(c == ';' ? ',' : c < ' ' || c == 0x7f ? '_' : c, to);
        }
}

static void put_lines(FILE *to, const struct stack_profile *p, const struct time_tree *t, const char *before)
{
        uint32_t names[PROFILE_DEEP];

        for (uint32_t id = 1; id <= time_tree_count(t); id++) {
                const uint64_t self = time_tree_nth(t, id)->self_weight,
                               n = p->by_allocation ? self : (self + 500) / 1000;
                if (n == 0)
                        continue;
                (void)fputs(before, to);
                for (size_t i = profile_stack(t, id, names); i-- > 0;) {
                        put_name(to, name_without_package(stack_profile_name(p, names[i])));
                        (void)putc(i ? ';' : ' ', to);
                }
                (void)fprintf(to, "%" PRIu64 "\n", n);
        }
}

/* A line for each stack, the outermost function first, with microseconds or bytes; of two trees it says of which. */
bool profile_write_collapsed(FILE *to, const struct stack_profile *p, const char *program)
{
        put_lines(to, p, &p->running, p->with_waiting ? "running;" : "");
        put_lines(to, p, &p->waiting, "waiting;");
        return true;
}

/* ------------------------------------------------------------------------ speedscope */

static void put_frames(struct json_out *j, const struct stack_profile *p)
{
        json_member_open(j, "shared", '{');
        json_member_open(j, "frames", '[');
        for (uint32_t id = 1; id <= p->names.count; id++) {
                json_line(j);
                json_open(j, '{');
                json_member_text(j, "name", name_without_package(stack_profile_name(p, id)));
                json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
}

static void put_tree(struct json_out *j, const struct time_tree *t, const char *name, const char *unit)
{
        uint32_t names[PROFILE_DEEP];

        json_open(j, '{');
        json_member_text(j, "type", "sampled");
        json_member_text(j, "name", name);
        json_member_text(j, "unit", unit);
        json_member_u64(j, "startValue", 0);
        json_member_u64(j, "endValue", time_tree_weight(t) - t->unkept_weight);
        json_member_open(j, "samples", '[');
        for (uint32_t id = 1; id <= time_tree_count(t); id++) {
                if (time_tree_nth(t, id)->self_weight == 0)
                        continue;
                json_line(j);
                json_open(j, '[');
                for (size_t i = profile_stack(t, id, names); i-- > 0;)
                        json_u64(j, names[i] - 1);
                json_close(j, ']');
        }
        json_close(j, ']');
        json_member_open(j, "weights", '[');
        for (uint32_t id = 1; id <= time_tree_count(t); id++)
                if (time_tree_nth(t, id)->self_weight)
                        json_u64(j, time_tree_nth(t, id)->self_weight);
        json_close(j, ']');
        json_close(j, '}');
}

bool profile_write_speedscope(FILE *to, const struct stack_profile *p, const char *program)
{
        struct json_out j = { .to = to };

        json_open(&j, '{');
        json_member_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
        json_member_text(&j, "exporter", "heapwatch " HEAPWATCH_VERSION);
        json_member_text(&j, "name", program ? program : "heapwatch profile");
        put_frames(&j, p);
        json_member_open(&j, "profiles", '[');
        put_tree(&j, &p->running, p->by_allocation ? "allocation" : "CPU time",
                 p->by_allocation ? "bytes" : "nanoseconds");
        if (p->with_waiting)
                put_tree(&j, &p->waiting, "waiting, by Haskell thread", "nanoseconds");
        json_close(&j, ']');
        json_close(&j, '}');
        json_newline(&j);
        return true;
}

/* --------------------------------------------------------------------------- formats */

static const char *const suffixes[] = { ".collapsed", ".speedscope.json", ".svg", ".pb.gz", NULL };

static bool (*const writers[])(FILE *to, const struct stack_profile *p, const char *program) = {
        profile_write_collapsed,
        profile_write_speedscope,
        profile_write_svg,
        profile_write_pprof,
};

bool profile_file_check(const char *path, struct error *error)
{
        return out_file_check(path, suffixes, error);
}

bool profile_file_write(const char *path, const struct stack_profile *p, const char *program, struct error *error)
{
        const char *name = program ? strrchr(program, '/') : NULL;
        struct document d;

        document_open(&d);
        const bool written = d.to && writers[out_file_suffix(path, suffixes)](d.to, p, name ? name + 1 : program);
        int r = !document_close(&d) || !written ? -ENOMEM : whole_file_write(path, d.text, d.size);
        document_done(&d);
        return r == 0 || error_set(error, "%.500s: cannot be written: %s", path, strerror(-r));
}
