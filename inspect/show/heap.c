/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/heap.h"

#include <inttypes.h>

#include "heapwatch/text.h"
#include "inspect/ghc/names.h"
#include "inspect/show/head.h"
#include "proto/base/json_out.h"

#define UNKNOWN_MOST 100 /* one part in so many */

bool is_understood(const struct heap_census *c, struct error *error)
{
        char text[HW_NUMBER_MAX];

        if (c->out_of_memory)
                return error_set(error, "out of memory");
        if (c->unknown_bytes <= (c->total_bytes + c->unknown_bytes) / UNKNOWN_MOST)
                return true;
        return error_set(
                error,
                "%s of its heap are not understood, more than one part in %d; what is left would be wrong. It may "
                "be of another release than GHC 9.0 to 9.10, or was read while it changed",
                hw_bytes_text(text, sizeof(text), (double)c->unknown_bytes), UNKNOWN_MOST);
}

static void print_bytes(FILE *to, const char *before, uint64_t bytes, const char *after)
{
        char text[HW_NUMBER_MAX];

        (void)fprintf(to, "%s%s%s\n", before, hw_bytes_text(text, sizeof(text), (double)bytes), after);
}

static void print_rest(FILE *to, const struct heap_census *c)
{
        char n[HW_NUMBER_MAX], bytes[HW_NUMBER_MAX], used[HW_NUMBER_MAX];

        (void)fputc('\n', to);
        if (c->pinned_blocks)
                (void)fprintf(to,
                              "pinned: %s blocks, %s, with %s of arrays; a block stays while one of them is alive\n",
                              hw_count_text(n, sizeof(n), c->pinned_blocks),
                              hw_bytes_text(bytes, sizeof(bytes), (double)c->pinned_blocks * BLOCK_BYTES),
                              hw_bytes_text(used, sizeof(used), (double)c->pinned_bytes));
        if (c->young_bytes)
                print_bytes(to, "young: ", c->young_bytes,
                            " were allocated since the last collection and are not counted");
        if (c->unused_bytes)
                print_bytes(to, "gaps: ", c->unused_bytes, " between closures hold nothing");
        if (c->unknown_bytes)
                print_bytes(to, "not understood: ", c->unknown_bytes, "");
}

#define WHAT_BYTES 160

static const char *what_text(char what[WHAT_BYTES], const struct heap_census *c, const struct heap_bands *b)
{
        char bytes[HW_NUMBER_MAX], n[HW_NUMBER_MAX], types[HW_NUMBER_MAX];

        (void)snprintf(what, WHAT_BYTES, "%s in %s closures of %s types",
                       hw_bytes_text(bytes, sizeof(bytes), (double)c->total_bytes),
                       hw_count_text(n, sizeof(n), c->total_objects), hw_count_text(types, sizeof(types), b->n));
        return what;
}

static void print_text(const struct inspect_subject *s, const struct heap_census *c, const struct heap_bands *b)
{
        FILE *to = s->request->to;
        char what[WHAT_BYTES], a[HW_NUMBER_MAX], n[HW_NUMBER_MAX], m[HW_NUMBER_MAX], name[2 * PROGRAM_NAME_BYTES];
        uint64_t rest_bytes = 0, rest_objects = 0;

        head_text(s, what_text(what, c, b));
        head_cautions(s);
        (void)fprintf(to, "\n%10s  %7s  %14s  TYPE\n", "BYTES", "SHARE", "CLOSURES");
        for (size_t i = 0; i < b->n; i++) {
                if (i >= s->request->top) {
                        rest_bytes += b->items[i].bytes;
                        rest_objects += b->items[i].objects;
                        continue;
                }
                (void)hw_terminal_text(name, sizeof(name), name_without_package(b->items[i].name));
                (void)fprintf(to, "%10s  %7s  %14s  %s\n", hw_bytes_text(a, sizeof(a), (double)b->items[i].bytes),
                              hw_share_text(m, sizeof(m), (double)b->items[i].bytes / (double)c->total_bytes),
                              hw_count_text(n, sizeof(n), b->items[i].objects), name);
        }
        if (rest_objects)
                (void)fprintf(to, "%10s  %7s  %14s  (%zu other types)\n",
                              hw_bytes_text(a, sizeof(a), (double)rest_bytes),
                              hw_share_text(m, sizeof(m), (double)rest_bytes / (double)c->total_bytes),
                              hw_count_text(n, sizeof(n), rest_objects), b->n - s->request->top);
        print_rest(to, c);
}

static void print_json(const struct inspect_subject *s, const struct heap_census *c, const struct heap_bands *b)
{
        struct json_out j = { .to = s->request->to };
        char what[WHAT_BYTES];

        json_open(&j, '{');
        head_json(&j, s);
        head_sentences_json(&j, s, what_text(what, c, b));
        json_member_u64(&j, "bytes", c->total_bytes);
        json_member_u64(&j, "closures", c->total_objects);
        json_member_u64(&j, "young_bytes", c->young_bytes);
        json_member_u64(&j, "pinned_blocks", c->pinned_blocks);
        json_member_u64(&j, "pinned_bytes", c->pinned_bytes);
        json_member_u64(&j, "large_closures", c->large_objects);
        json_member_u64(&j, "compact_bytes", c->compact_bytes);
        json_member_u64(&j, "gap_bytes", c->unused_bytes);
        json_member_u64(&j, "unknown_bytes", c->unknown_bytes);
        json_member_open(&j, "bands", '[');
        for (size_t i = 0; i < b->n; i++) {
                json_line(&j);
                json_open(&j, '{');
                json_member_text(&j, "name", b->items[i].name);
                json_member_u64(&j, "bytes", b->items[i].bytes);
                json_member_u64(&j, "closures", b->items[i].objects);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
        json_newline(&j);
}

bool show_heap(const struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error)
{
        struct heap_census c = { .n = 0 };
        struct heap_bands b = { NULL, 0 };
        bool good;

        heap_census_count(&c, snapshot);
        good = is_understood(&c, error) &&
               (heap_bands_of(&b, &c, snapshot->ghc, s->request->by_type) || error_set(error, "out of memory"));
        if (good && s->request->json)
                print_json(s, &c, &b);
        else if (good)
                print_text(s, &c, &b);
        heap_bands_done(&b);
        heap_census_done(&c);
        return good;
}
