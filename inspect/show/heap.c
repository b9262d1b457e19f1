/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/show.h"

#include <inttypes.h>
#include <string.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/rts_counters.h"
#include "inspect/ghc/names.h"
#include "inspect/show/request.h"
#include "proto/base/json_out.h"
#include "proto/base/text_out.h"

#define UNKNOWN_MOST   20                  /* one part in so many */
#define TYPES_SHOWN    4u                  /* of what is not understood */
#define CONTENTS_SHOWN 5                   /* of a band */
#define HELD_BYTES     (UINT64_C(1) << 16) /* a heap that nothing moves has so much less than is said, at most, */
#define HELD_PARTS     50                  /* and one part in so many */

/* Of a heap that does not change: at least what its generations say. */
static bool has_what_is_held(const struct heap_census *c, const struct generations *g)
{
        const uint64_t counted = c->total_bytes + c->young_bytes + c->rest.unused_bytes + c->rest.unknown_bytes;

        return counted + counted / HELD_PARTS + HELD_BYTES >= live_data_held_bytes(g);
}

bool is_understood(struct inspect_subject *s, const struct heap_census *c, struct error *error)
{
        char rest[REST_TEXT_BYTES];

        if (c->out_of_memory)
                return error_set(error, "out of memory");
        if (s && s->request->core && !has_what_is_held(c, &s->ghc->generations))
                s->damaged = true;
        if (c->rest.unknown_bytes == 0)
                return true;
        /* "37.5 KiB of its heap is not understood (1.2 %): 800 CONSTR, 3 of no type". */
        char *ret = s ? s->rest : rest;
        const double all = (double)(c->total_bytes + c->rest.unknown_bytes);
        uint64_t met[CLOSURE_TYPES];
        struct text_out out;

        text_out_init(&out, ret, REST_TEXT_BYTES);
        memcpy(met, c->rest.met, sizeof(met));
        text_put(&out, BYTES_TEXT(c->rest.unknown_bytes));
        text_put(&out, " of its heap is not understood (");
        text_put(&out, SHARE_TEXT((double)c->rest.unknown_bytes / all));
        for (unsigned i = 0, best = 0; i < TYPES_SHOWN; i++, best = 0) {
                for (unsigned t = 1; t < CLOSURE_TYPES; t++)
                        best = met[t] > met[best] ? t : best;
                if (!met[best])
                        break;
                text_put(&out, i ? ", " : "): ");
                text_put(&out, COUNT_TEXT(met[best]));
                text_put(&out, " ");
                text_put(&out, best ? closure_type_name(best) : "of no type");
                met[best] = 0;
        }
        return c->rest.unknown_bytes <= (c->total_bytes + c->rest.unknown_bytes) / UNKNOWN_MOST ||
               error_set(error,
                         "%s; above 5 %%, the rest would be wrong. It may be of another release than "
                         "GHC " GHC_RELEASES ", or was read while it changed",
                         s ? s->rest : rest);
}

static void print_bytes(FILE *to, const char *before, uint64_t bytes, const char *after)
{
        (void)fprintf(to, "%s%s%s\n", before, BYTES_TEXT(bytes), after);
}

#define WHAT_BYTES 160

static const char *what_text(char what[WHAT_BYTES], const struct heap_census *c, const struct heap_bands *b)
{
        (void)snprintf(what, WHAT_BYTES, "%s in %s closures of %s types", BYTES_TEXT(c->total_bytes),
                       COUNT_TEXT(c->total_objects), COUNT_TEXT(b->n));
        return what;
}

struct table {
        FILE *to;
        uint64_t bytes; /* of all of it */
        bool is_sample; /* it has intervals */
};

/*
 * `b`: it is of this band; NULL: of several. How far the value may be from the truth is only said where that is known,
 * and it is not exact.
 */
static void print_row(const struct table *t, const struct heap_band *b, uint64_t bytes, uint64_t objects,
                      const char *before, const char *name)
{
        char a[HW_NUMBER_MAX], n[HW_NUMBER_MAX], share[HW_NUMBER_MAX], margin[HW_NUMBER_MAX + 4] = "";

        (void)fprintf(t->to, "%10s", hw_bytes_text(a, sizeof(a), (double)bytes));
        if (b && b->high_bytes > b->bytes)
                (void)text_join(margin, sizeof(margin), "±",
                                hw_bytes_text(a, sizeof(a), (double)(b->high_bytes - b->bytes)), NULL);
        if (t->is_sample)
                (void)fprintf(t->to, "  %*s", margin[0] ? 12 : 11, margin); /* the sign has two bytes */
        (void)fprintf(t->to, "  %7s  %14s  %s%s\n",
                      hw_share_text(share, sizeof(share), (double)bytes / (double)t->bytes),
                      hw_count_text(n, sizeof(n), objects), before, name);
}

/* What is not shown of a list, as one row. */
static void print_others(const struct table *t, const struct heap_band *items, size_t n, const char *before,
                         const char *what)
{
        uint64_t bytes = 0, objects = 0;
        char text[64];

        for (size_t i = 0; i < n; i++) {
                bytes += items[i].bytes;
                objects += items[i].objects;
        }
        (void)snprintf(text, sizeof(text), "(%zu %s)", n, what);
        if (n)
                print_row(t, NULL, bytes, objects, before, text);
}

/* "GHC.Types.:, 81.0 % [Session]", unless that is below it. */
static void print_band(const struct table *t, const struct heap_band *b, bool with_contents)
{
        const size_t shown = b->n_contents <= CONTENTS_SHOWN + 1 ? b->n_contents : CONTENTS_SHOWN;
        char name[2 * PROGRAM_NAME_BYTES], most[CONTENTS_TEXT_BYTES], all[sizeof(name) + sizeof(most)];

        (void)hw_terminal_text(name, sizeof(name), name_without_package(b->name));
        const bool has_most = !with_contents && contents_most(b, most)[0];
        print_row(t, b, b->bytes, b->objects, "",
                  text_join(all, sizeof(all), name, has_most ? ", " : "", has_most ? most : "", NULL));
        for (size_t i = 0; with_contents && i < shown; i++)
                print_row(t, &b->contents[i], b->contents[i].bytes, b->contents[i].objects, "  ",
                          contents_name(&b->contents[i], most));
        if (with_contents && b->n_contents > shown)
                print_others(t, b->contents + shown, b->n_contents - shown, "  ", "others");
}

static void print_text(const struct inspect_subject *s, const struct heap_census *c, const struct heap_bands *b)
{
        const struct table t = { s->request->to, c->total_bytes, s->sample != NULL };
        const size_t shown = b->n < s->request->top ? b->n : s->request->top;
        char what[WHAT_BYTES];

        head_text(s, what_text(what, c, b));
        (void)fprintf(t.to, "\n%10s", "BYTES");
        if (t.is_sample)
                (void)fprintf(t.to, "  %12s", "± (95 %)"); /* the sign has two bytes */
        (void)fprintf(t.to, "  %7s  %14s  TYPE\n", "SHARE", "CLOSURES");
        for (size_t i = 0; i < shown; i++)
                print_band(&t, &b->items[i], s->request->by == BY_CONTENTS);
        print_others(&t, b->items + shown, b->n - shown, "", "other types");
        FILE *to = t.to;
        char n[HW_NUMBER_MAX];

        (void)fputc('\n', to);
        if (c->pinned_blocks)
                (void)fprintf(to,
                              "pinned: %s block%s, %s, with %s of arrays; a block stays while one of them is alive\n",
                              hw_count_text(n, sizeof(n), c->pinned_blocks), c->pinned_blocks == 1 ? "" : "s",
                              BYTES_TEXT((double)c->pinned_blocks * BLOCK_BYTES), BYTES_TEXT(c->pinned_bytes));
        if (c->young_bytes)
                print_bytes(to, "young: ", c->young_bytes,
                            " were allocated since the last collection and are not counted");
        if (c->rest.unused_bytes)
                print_bytes(to, "gaps: ", c->rest.unused_bytes, " between closures hold nothing");
}

static void sample_json(struct json_out *j, const struct inspect_subject *s)
{
        const struct heap_sample *x = s->sample;
        char command[PAUSE_COMMAND_BYTES];

        json_member_open(j, "sample", '{');
        json_member_u64(j, "seed", x->seed);
        json_member_u64(j, "pieces", x->n_chosen);
        json_member_u64(j, "of_pieces", x->n_pieces);
        json_member_u64(j, "piece_bytes", PIECE_BYTES);
        json_member_u64(j, "may_miss_bytes", heap_sample_may_miss(x));
        if (s->whole_ns)
                json_member_text(j, "whole_command", head_pause_command(command, s, s->whole_ns));
        json_close(j, '}');
}

static void print_json(const struct inspect_subject *s, const struct heap_census *c, const struct heap_bands *b)
{
        struct json_out j = { .to = s->request->to };
        char what[WHAT_BYTES];

        json_open(&j, '{');
        head_json(&j, s);
        head_sentences_json(&j, s, what_text(what, c, b));
        if (s->sample)
                sample_json(&j, s);
        json_member_u64(&j, "bytes", c->total_bytes);
        json_member_u64(&j, "closures", c->total_objects);
        if (!s->sample) {
                json_member_u64(&j, "young_bytes", c->young_bytes);
                json_member_u64(&j, "pinned_blocks", c->pinned_blocks);
                json_member_u64(&j, "pinned_bytes", c->pinned_bytes);
                json_member_u64(&j, "large_closures", c->large_objects);
                json_member_u64(&j, "compact_bytes", c->compact_bytes);
        }
        json_member_u64(&j, "gap_bytes", c->rest.unused_bytes);
        json_member_u64(&j, "unknown_bytes", c->rest.unknown_bytes);
        json_member_open(&j, "bands", '[');
        for (size_t i = 0; i < b->n; i++) {
                json_line(&j);
                json_open(&j, '{');
                json_member_text(&j, "name", b->items[i].name);
                json_member_bool(&j, "probably", name_is_probable(b->items[i].name));
                json_member_u64(&j, "bytes", b->items[i].bytes);
                json_member_u64(&j, "closures", b->items[i].objects);
                contents_json(&j, &b->items[i]);
                if (s->sample) {
                        json_member_u64(&j, "bytes_low", b->items[i].low_bytes);
                        json_member_u64(&j, "bytes_high", b->items[i].high_bytes);
                        json_member_u64(&j, "closures_low", b->items[i].low_objects);
                        json_member_u64(&j, "closures_high", b->items[i].high_objects);
                }
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
        json_newline(&j);
}

static void print_heap(const struct inspect_subject *s, const struct heap_census *c, const struct heap_bands *b)
{
        if (s->request->json)
                print_json(s, c, b);
        else
                print_text(s, c, b);
}

bool show_heap(struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error)
{
        struct heap_contents contents = { .snapshot = snapshot };
        struct heap_census c = { .contents = s->request->by == BY_TYPE ? NULL : &contents };
        struct heap_bands b = { NULL, 0 };
        bool good;

        heap_census_count(&c, snapshot);
        good = is_understood(s, &c, error) &&
               ((heap_bands_of(&b, &c, snapshot->ghc, s->request->by == BY_TYPE) && /* as a heap profile has them */
                 (!c.contents || heap_bands_add_contents(&b, &c, snapshot->ghc, false))) ||
                error_set(error, "out of memory"));
        if (good)
                print_heap(s, &c, &b);
        heap_bands_done(&b);
        heap_census_done(&c);
        heap_contents_done(&contents);
        return good;
}

bool show_heap_sample(struct inspect_subject *s, const struct heap_snapshot *snapshot, struct heap_sample *x,
                      struct error *error)
{
        struct heap_census c = { .n = 0 };
        struct heap_bands b = { NULL, 0 };
        bool good =
                heap_sample_count(x, snapshot, s->request->by == BY_TYPE, &c, &b) || error_set(error, "out of memory");

        good = good && is_understood(s, &c, error);
        if (good)
                print_heap(s, &c, &b);
        heap_bands_done(&b);
        heap_census_done(&c);
        return good;
}
