/* SPDX-License-Identifier: BSD-3-Clause */
/* why_text.c - what was found, in one sentence or as a page: texts with slots (proto/base/phrase.h), of holders. */
#include "inspect/show/why.h"

#include <string.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/names.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/phrase.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"

#define LEAST_SHARE 100u /* a part of the band that text shows, one in so many */
#define ROOTS_SHOWN 8
#define BRIEF_NAMES 6  /* of a path in one sentence */
#define BRIEF_SHARE 10 /* one part in so many of the band is worth a word */

#define SENTENCE_BYTES 4096

/* What a sentence is about. */
struct holder {
        const struct question *q;
        const struct holding *root; /* NULL: the band alone */
        uint64_t bytes;             /* that the holder holds, which may be another root */
        char text[2 * PROGRAM_NAME_BYTES];
        bool several;
};

/* Roots of one name are one: threads of one kind, stable pointers. */
static uint64_t count_roots(const struct question *q, const char *name)
{
        uint64_t n = 0;

        for (uint32_t i = 0; i < q->graph->n_types; i++)
                if (q->graph->types[i].name == name && graph_is_root(q->graph->types[i].kind))
                        n += q->graph->types[i].roots;
        return n;
}

/* As the subject of a sentence: "a thread in Main.main", "8,816 threads in Main", "CAF Main.sessions". */
static struct holder holder_of(const struct question *q, const struct holding *root, const char *name, uint64_t bytes)
{
        static const struct {
                const char *one, *several;
        } counted[] = {
                { "thread", "threads" },
                { "stable pointer", "stable pointers" },
                { "weak pointer whose key does", "weak pointers whose keys do" },
        };
        struct holder ret = { .q = q, .root = root, .bytes = bytes, .several = !strncmp(name, "registers", 9) };
        char text[2 * PROGRAM_NAME_BYTES];

        (void)hw_terminal_text(text, sizeof(text), name);
        for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
                const size_t length = strlen(counted[i].one);
                if (strncmp(name, counted[i].one, length) != 0)
                        continue;
                const uint64_t roots = count_roots(q, name);
                ret.several = roots > 1;
                (void)text_join(ret.text, sizeof(ret.text), ret.several ? COUNT_TEXT(roots) : "a", " ",
                                ret.several ? counted[i].several : counted[i].one, text + length, NULL);
                return ret;
        }
        (void)text_join(ret.text, sizeof(ret.text), text, NULL);
        return ret;
}

static struct holder holder_of_root(const struct question *q, size_t i)
{
        return holder_of(q, &q->roots[i], q->types.items[q->roots[i].path].name, q->roots[i].bytes);
}

static char *write_sentence(char out[SENTENCE_BYTES], const struct holder *of, const char *text);

/* Of which shares are said; a damaged file may have none. */
static double band_bytes(const struct question *q)
{
        return band_of(q)->bytes ? (double)band_of(q)->bytes : 1;
}

static bool append_share(struct phrase *s, const struct question *q, uint64_t bytes)
{
        return phrase_append_share(s, (double)bytes / band_bytes(q));
}

/* At least one part in `least` of all; false: less, or nothing. */
static bool append_part(struct phrase *s, uint64_t bytes, uint64_t all, uint64_t least)
{
        return bytes > 0 && bytes >= all / least && phrase_append_bytes(s, (double)bytes);
}

static bool append_name(struct phrase *s, const char *name)
{
        char text[2 * PROGRAM_NAME_BYTES];

        (void)hw_terminal_text(text, sizeof(text), name_without_package(name));
        return phrase_printf(s, "%s", text);
}

static bool append_about(struct phrase *s, const struct holder *h, const char *text)
{
        char out[SENTENCE_BYTES];

        return (double)h->bytes >= band_bytes(h->q) / BRIEF_SHARE &&
               phrase_printf(s, "%s", write_sentence(out, h, text));
}

/*
 * What most of the band is, beside its name: what its closures hold, else the code that most of them are of, for
 * functions and thunks by type are of any code.
 */
static bool append_most(struct phrase *s, const struct question *q)
{
        const struct heap_band *b = heap_bands_find(&q->graph->bands, q->name);
        char most[CONTENTS_TEXT_BYTES];

        if (b)
                return contents_most(b, most)[0] && phrase_printf(s, "%s", most);
        if (!q->most_name || !strcmp(q->most_name, q->name))
                return false;
        if (q->most_bytes != band_of(q)->bytes)
                (void)(phrase_append_share(s, (double)q->most_bytes / band_bytes(q)) && phrase_printf(s, " "));
        return append_name(s, q->most_name);
}

/* "7,173 ByteStrings use 84.1 KiB of 112 MiB in 7,173 arrays"; false: less than BRIEF_SHARE of the band would go. */
static bool append_slices(struct phrase *s, const struct question *q, unsigned kind, const char *one, const char *many)
{
        const struct graph_slices *g = &q->graph->slices[kind];

        return !strncmp(q->name, "ARR_WORDS", 9) && g->arrays > 0 &&
               g->array_bytes - g->used_bytes >= band_of(q)->bytes / BRIEF_SHARE &&
               phrase_append_counted(s, g->slices, one, many) &&
               phrase_printf(s, g->slices == 1 ? " uses " : " use ") && phrase_append_bytes(s, (double)g->used_bytes) &&
               phrase_printf(s, " of ") && phrase_append_bytes(s, (double)g->array_bytes) && phrase_printf(s, " in ") &&
               phrase_append_counted(s, g->arrays, "array", "arrays");
}

/* The largest path of a root, without the root: "Session <- Bin+ <- MUT_VAR"; false: it holds the band directly. */
static bool append_path(struct phrase *s, const struct holder *h)
{
        const struct question *q = h->q;
        const struct type_path *names[PATH_NAMES];
        size_t i = 0, n;

        while (i < q->n_paths && type_paths_root(&q->types, q->paths[i].path) != h->root->path)
                i++;
        n = i < q->n_paths ? why_names(&q->types, q->paths[i].path, names) : 0;
        for (i = 0; i + 1 < n && i < BRIEF_NAMES; i++)
                (void)(phrase_printf(s, "%s", i ? " <- " : "") && append_name(s, names[i]->name) &&
                       phrase_printf(s, "%s", names[i]->plus ? "+" : ""));
        return n > 1 && (i + 1 == n || phrase_printf(s, " <- ..."));
}

/* Why little would go without a root: who else holds it. */
static bool append_other(struct phrase *s, const struct holder *h)
{
        if (!h->root->other)
                return false;
        const struct holder other = holder_of(h->q, h->root, h->root->other, h->root->other_bytes);
        return append_about(s, &other, "{holder} {holds|hold} {share}, too");
}

static bool append_second(struct phrase *s, const struct holder *h)
{
        if (h->q->n_roots < 2)
                return false;
        const struct holder second = holder_of_root(h->q, 1);
        return append_about(s, &second, "{holder} {keeps|keep} {share}");
}

static bool append_gain(struct phrase *s, const struct question *q)
{
        char gain[GAIN_TEXT_BYTES];

        return q->then &&
               phrase_printf(s, "%s since %s", head_gain_text(gain, graph_group_bytes(band_of(q)), bytes_then(q)),
                             TIME_TEXT(q->then->graph->origin.taken_unix_s * NS_PER_S));
}

static bool put_slot(struct phrase *s, const char *slot, size_t slot_n, const void *of)
{
        const struct holder *h = of;
        const struct question *q = h->q;
        const struct graph_group *band = band_of(q);
        const struct holding *root = h->root;
        const uint64_t all = graph_group_bytes(band), garbage = sub_sat(band->unreached_bytes, band->pinned_bytes);

#define SLOT PHRASE_SLOT
        SLOT(band, append_name(s, q->name))
        SLOT(closures, phrase_append_counted(s, graph_group_closures(band), "closure", "closures"))
        SLOT(bytes, phrase_append_bytes(s, (double)all))
        SLOT(reached, phrase_append_bytes(s, band_bytes(q)))
        SLOT(most, append_most(s, q))
        SLOT(pinned, append_part(s, band->pinned_bytes, 0, 1))
        SLOT(garbage, append_part(s, garbage, 0, 1))
        SLOT(byte_slices, append_slices(s, q, SLICES_OF_BYTES, "ByteString", "ByteStrings"))
        SLOT(text_slices, append_slices(s, q, SLICES_OF_TEXT, "Text", "Texts"))
        SLOT(if_of_contents, q->is_of_contents)
        SLOT(if_of_type, !q->is_of_contents)
        SLOT(gain_since, append_gain(s, q))
        SLOT(holder, phrase_printf(s, "%s", h->text))
        SLOT(share, append_share(s, q, h->bytes))
        SLOT(path, append_path(s, h))
        SLOT(only, root->tried && append_share(s, q, root->only_bytes))
        SLOT(if_some_go, root->tried && root->with_bytes > 0)
        SLOT(going, phrase_append_bytes(s, (double)root->with_bytes))
        SLOT(dead, append_part(s, root->dead_bytes, 0, 1))
        SLOT(many_dead, append_part(s, root->dead_bytes, root->with_bytes, BRIEF_SHARE))
        SLOT(other, append_other(s, h))
        SLOT(second, append_second(s, h))
        SLOT(much_pinned, append_part(s, sub_sat(band->pinned_bytes, root->dead_bytes), all, BRIEF_SHARE))
        SLOT(much_garbage, append_part(s, garbage, all, BRIEF_SHARE))
        return false;
}

static char *write_sentence(char out[SENTENCE_BYTES], const struct holder *of, const char *text)
{
        struct phrase s = phrase_begin(out, SENTENCE_BYTES, of->several, put_slot, of);

        (void)phrase_append_text(&s, text);
        return out;
}

/* It begins with the holder: a narrow place shows its beginning alone. */
void why_print_brief(const struct question *q)
{
        static const char kept[] =
                "{holder} {keeps|keep} {share} of {band} ({reached}[, {most}])[, by way of {path}]"
                "[{if_some_go}; without {it|them} {going} would go][, and {many_dead} of dead data in pinned blocks]"
                "[; {other}][; {byte_slices}: copy what is kept][; {text_slices}: copy what is kept][; {second}]"
                "[; {much_pinned} more is dead, in pinned blocks with live data]"
                "[; {much_garbage} more is most likely garbage until the next major collection][; {gain_since}]";
        static const char unheld[] =
                "nothing that was found keeps {band} ({bytes}): most likely garbage until the next major collection";
        const struct holder of = q->n_roots ? holder_of_root(q, 0) : (struct holder){ .q = q };
        char text[SENTENCE_BYTES];

        (void)fprintf(q->subject->request->to, "%s\n", write_sentence(text, &of, q->n_roots ? kept : unheld));
}

/* What a line begins with: the share of the band, and what it has gained. */
static void print_share(const struct question *q, const struct holding *h)
{
        char gain[GAIN_TEXT_BYTES];
        FILE *to = q->subject->request->to;

        (void)fprintf(to, "  %7s", SHARE_TEXT((double)h->bytes / band_bytes(q)));
        if (q->then)
                (void)fprintf(to, "  %11s", head_gain_text(gain, h->bytes, h->then_bytes));
}

static void print_path(const struct question *q, size_t i_path)
{
        const struct holding *h = &q->paths[i_path];
        const struct type_path *names[PATH_NAMES];
        const size_t n = why_names(&q->types, h->path, names);
        char text[2 * PROGRAM_NAME_BYTES];

        print_share(q, h);
        for (size_t i = 0; i < n; i++) {
                (void)hw_terminal_text(text, sizeof(text), why_shown_name(names, i, n));
                (void)fprintf(q->subject->request->to, " <- %s%s", text, names[i]->plus ? "+" : "");
        }
        (void)fputc('\n', q->subject->request->to);
}

static void print_root(const struct question *q, size_t i)
{
        const struct holder h = holder_of_root(q, i);
        char text[SENTENCE_BYTES];

        print_share(q, h.root);
        (void)fprintf(q->subject->request->to, "  %s\n",
                      write_sentence(text, &h,
                                     "{holder}[; nothing else holds {only}; without {it|them} {going} of everything "
                                     "would go][, and {dead} of dead data in pinned blocks][; {other}]"));
}

/* What has less than a hundredth of the band tells nothing, unless it is all there is, or its gain is asked for. */
static size_t shown_of(const struct question *q, const struct holding *h, size_t n, size_t most)
{
        size_t shown = n < most ? n : most;

        while (!q->then && shown > 1 && (double)h[shown - 1].bytes < band_bytes(q) / LEAST_SHARE)
                shown--;
        return shown;
}

static void print_list(const struct question *q, const char *what, const struct holding *h, size_t n, size_t most,
                       void (*print)(const struct question *, size_t))
{
        const size_t shown = shown_of(q, h, n, most);
        FILE *to = q->subject->request->to;

        (void)fprintf(to, "\n%s\n", what);
        for (size_t i = 0; i < shown; i++)
                print(q, i);
        if (shown < n)
                (void)fprintf(to, "  ... %zu more%s\n", n - shown,
                              (double)h[shown].bytes < band_bytes(q) / LEAST_SHARE ? ", each below 1 %" : "");
}

void why_print_text(const struct question *q)
{
        static const char *const remarks[] = {
                "[{if_of_contents}type: {most}][{if_of_type}contents: {most}]",
                "[{pinned} of it is dead but stays, in pinned blocks with live data]",
                "[{garbage} of it is held by no root that was found: most likely garbage until the next major "
                "collection]",
                "[{byte_slices}, which nothing else holds: if copied (Data.ByteString.copy), they would not keep the "
                "rest]",
                "[{text_slices}, which nothing else holds: if copied (Data.Text.copy), they would not keep the rest]",
        };
        const struct holder of = { .q = q };
        char text[SENTENCE_BYTES];

        head_of_graph(q->subject, write_sentence(text, &of, "why {band} is kept: {closures}, {bytes}"));
        if (q->then)
                head_since(q->subject, &q->then->graph->origin, graph_group_bytes(band_of(q)), bytes_then(q));
        for (size_t i = 0; i < ARRAY_SIZE(remarks); i++)
                if (write_sentence(text, &of, remarks[i])[0])
                        (void)fprintf(q->subject->request->to, "%s\n", text);
        print_list(q, "shortest paths", q->paths, q->n_paths, q->subject->request->top, print_path);
        print_list(q, "roots", q->roots, q->n_roots, ROOTS_SHOWN, print_root);
        (void)fprintf(q->subject->request->to, "\nreached from the roots: %s of the heap\n",
                      SHARE_TEXT(q->all_bytes ? (double)q->all_reached / (double)q->all_bytes : 0));
}
