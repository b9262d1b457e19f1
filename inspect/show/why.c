/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/show.h"

#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "inspect/ghc/names.h"
#include "inspect/ghc/threads.h"
#include "inspect/ghc/graph/fold.h"
#include "inspect/show/request.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"

#define ROOTS_TRIED  3    /* of which it is found out what goes with them */
#define SHARE_TRIED  20   /* at least one part in so many of the band */
#define LEAST_SHARE  100u /* a part of the band that text shows, one in so many */
#define ROOTS_SHOWN  8
#define PATH_NAMES   40
#define MERGED_PATHS 64
#define PATHS_GIVEN  12 /* of each of several types */
#define BRIEF_NAMES  6  /* of a path in one sentence */
#define BRIEF_SHARE  10 /* one part in so many of the band is worth a word */
#define GONE_SHARE   10 /* of what a census had: less than one part in this is what is left over */

/* Of a path or a root. */
struct holding {
        uint32_t path;
        uint64_t bytes, closures;
        uint64_t only_bytes; /* of the band, that nothing else holds; */
        uint64_t with_bytes; /* of everything, that would go with it; */
        uint64_t dead_bytes; /* and what is dead in pinned blocks that would */
        const char *other;   /* the root that holds most of it, too; NULL: none does */
        uint64_t other_bytes;
        uint64_t then_bytes; /* in the older graph */
        bool tried;
};

struct question {
        const struct graph_subject *subject;
        const struct heap_graph *graph;
        struct graph_groups groups;
        struct type_paths types;
        uint32_t band;               /* its group, */
        struct graph_group contents; /* or what was typed is not a type but what closures hold: "[Session]" */
        bool is_of_contents;
        const char *name;                /* of the band */
        uint64_t all_bytes, all_reached; /* of everything */
        const char *most_name;           /* the type that most of its bytes are of; NULL: not known */
        uint64_t most_bytes;
        struct holding *paths, *roots; /* the largest first */
        size_t n_paths, n_roots;
        const struct question *then; /* the same of an older graph; NULL: there is none */
};

/* ------------------------------------------------------------------------ the band */

/* "Main.hs:31:19-54" of "Main.sessions (thunk, Main.hs:31:19-54)", up to the bracket; NULL: it has no place. */
static const char *source_in(const char *name, size_t *ret_n)
{
        const size_t n = strlen(name);
        size_t at = n;

        while (at > 0 && name[at - 1] != ' ')
                at--;
        at += name[at] == '(';
        const size_t colon = at + strcspn(name + at, ":");
        if (n == 0 || name[n - 1] != ')' || at == 0 || colon == n || !name[colon + 1] ||
            !strchr("(0123456789", name[colon + 1]))
                return NULL;
        *ret_n = n - 1 - at;
        return name + at;
}

/* As a word of "sessions Main Main.hs:31:19-54 [Session]", which a census by info table calls it. */
static bool has_source(const char *typed, const char *source, size_t n)
{
        for (const char *p = typed; p; p = strchr(p, ' ')) {
                p += *p == ' ';
                if (!strncmp(p, source, n) && (p[n] == ' ' || p[n] == '\0'))
                        return true;
        }
        return false;
}

/*
 * How well a name answers what was typed: 0: not at all. Bands have packages without their versions, as other runs know
 * them, so that a package may be another one.
 */
static unsigned match_name(const char *name, const char *wanted)
{
        const char *plain = name_without_package(name), *bracket = strstr(plain, " ("),
                   *typed = name_without_package(wanted);
        const size_t n = bracket ? (size_t)(bracket - plain) : strlen(plain);
        size_t last = n, n_source;
        const char *source = source_in(name, &n_source);

        while (last > 0 && plain[last - 1] != '.')
                last--;
        if (!strcmp(name, wanted) || !strcmp(plain, typed) || (strlen(typed) == n && !strncmp(plain, typed, n)) ||
            (source && has_source(wanted, source, n_source)))
                return 3;
        if (last > 0 && last < n && strlen(typed) == n - last && !strncmp(plain + last, typed, n - last))
                return 2;
        return strstr(plain, typed) != NULL;
}

/* Stacks grow with what is computed; they are not kept by anything. */
static bool is_of_thread(const char *name)
{
        return !strncmp(name, "STACK", 5) || !strncmp(name, "TSO", 3);
}

/* There are too many threads, or one computes too deeply. */
static bool are_stacks_most(const struct question *q)
{
        uint64_t of_threads = 0, all = 0;

        for (uint32_t i = 0; i < q->groups.n; i++) {
                const struct graph_group *g = &q->groups.items[i];
                if (g->class != GROUP_CLOSURES)
                        continue;
                all += graph_group_bytes(g);
                of_threads += is_of_thread(g->name) ? graph_group_bytes(g) : 0;
        }
        return of_threads > all / 2;
}

/* The largest of those that answer best; threads that wait at one place are kept as all are. Returns how well. */
static unsigned choose_band(struct question *q, const char *typed)
{
        const bool with_stacks = !typed && are_stacks_most(q);
        unsigned best = 0;

        if (typed && !strncmp(typed, THREAD_BANDS_NAME, strlen(THREAD_BANDS_NAME)))
                typed = "STACK";

        for (uint32_t i = 0; i < q->groups.n; i++) {
                const struct graph_group *g = &q->groups.items[i];
                const unsigned m = g->class != GROUP_CLOSURES || !graph_group_bytes(g) ? 0
                                   : typed                                             ? match_name(g->name, typed)
                                           : with_stacks || !is_of_thread(g->name);
                if (m > best ||
                    (m && m == best && graph_group_bytes(g) > graph_group_bytes(&q->groups.items[q->band]))) {
                        best = m;
                        q->band = i;
                        q->name = g->name;
                }
        }
        return best;
}

static bool is_wanted(const struct question *q, uint32_t node)
{
        return q->is_of_contents ? heap_graph_is_wanted(q->graph, node)
                                 : q->groups.of_type[q->graph->type[node]] == q->band;
}

static const struct graph_group *band_of(const struct question *q)
{
        return q->is_of_contents ? &q->contents : &q->groups.items[q->band];
}

/* ---------------------------------------------------------------------------- sums */

static void sum_contents(struct question *q)
{
        q->contents = (struct graph_group){ .name = q->name,
                                            .unreached_bytes = q->graph->wanted_unreached_bytes,
                                            .unreached_closures = q->graph->wanted_unreached_closures };
        for (uint32_t i = 0; i < q->graph->n_wanted; i++)
                if (q->graph->wanted[i]) {
                        q->contents.bytes += heap_graph_bytes(q->graph, i);
                        q->contents.closures++;
                }
}

static void sum_all(struct question *q)
{
        for (uint32_t i = 0; i < q->groups.n; i++) {
                q->all_reached += q->groups.items[i].bytes;
                q->all_bytes += graph_group_bytes(&q->groups.items[i]);
        }
}

/* Types of several names may be one band. False: out of memory. */
static bool find_most(struct question *q)
{
        uint64_t *bytes = calloc((size_t)q->graph->n_types + 1, sizeof(*bytes));

        for (uint32_t i = 0; bytes && i < q->graph->n_nodes; i++)
                if (is_wanted(q, i) && (bytes[q->graph->type[i]] += heap_graph_bytes(q->graph, i)) > q->most_bytes) {
                        q->most_bytes = bytes[q->graph->type[i]];
                        q->most_name = heap_graph_type_of(q->graph, i)->name;
                }
        free(bytes);
        return bytes != NULL;
}

static void sum_paths(const struct question *q, struct holding *by_path)
{
        for (uint32_t i = 0; i < q->graph->n_nodes; i++)
                if (is_wanted(q, i)) {
                        by_path[q->types.of_node[i]].bytes += heap_graph_bytes(q->graph, i);
                        by_path[q->types.of_node[i]].closures++;
                }
}

static int by_bytes(const void *a, const void *b)
{
        const struct holding *x = a, *y = b;

        if (x->bytes != y->bytes)
                return x->bytes > y->bytes ? -1 : 1;
        return (x->path > y->path) - (x->path < y->path);
}

static size_t keep_some(struct holding *h, size_t n)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++)
                if (h[i].bytes)
                        h[kept++] = h[i];
        ARRAY_SORT(h, kept, by_bytes);
        return kept;
}

/* The same types but for how many there are of each: what is at the end of a list is kept as the rest of it is. */
static bool is_same_path(const struct type_path *paths, uint32_t a, uint32_t b)
{
        while (a && b && a != b && paths[a].name == paths[b].name) {
                a = paths[a].up;
                b = paths[b].up;
        }
        return a == b;
}

/* Of the largest; the small ones do not matter. */
static size_t merge_paths(const struct type_paths *t, struct holding *h, size_t n)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++) {
                size_t k = 0;
                while (k < kept && k < MERGED_PATHS && !is_same_path(t->items, h[k].path, h[i].path))
                        k++;
                if (k < kept && k < MERGED_PATHS) {
                        h[k].bytes += h[i].bytes;
                        h[k].closures += h[i].closures;
                } else {
                        h[kept++] = h[i];
                }
        }
        ARRAY_SORT(h, kept, by_bytes);
        return kept;
}

/* By path; then by the root of each. */
static bool fold_paths(struct question *q)
{
        const uint32_t n = q->types.n + 1;

        q->paths = calloc(n, sizeof(*q->paths));
        q->roots = calloc(n, sizeof(*q->roots));
        if (!q->paths || !q->roots)
                return false;
        for (uint32_t i = 0; i < n; i++)
                q->paths[i].path = q->roots[i].path = i;
        sum_paths(q, q->paths);
        q->paths[0] = (struct holding){ .path = 0 }; /* no path leads to these: a damaged file has such */
        for (uint32_t i = 1; i < q->types.n; i++) {
                struct holding *root = &q->roots[type_paths_root(&q->types, i)];
                root->bytes += q->paths[i].bytes;
                root->closures += q->paths[i].closures;
        }
        q->n_paths = merge_paths(&q->types, q->paths, keep_some(q->paths, n));
        q->n_roots = keep_some(q->roots, n);
        return true;
}

/* Of what this root holds of the band, and is reached without it: the other root that holds most of that. */
static bool find_other(const struct question *q, const bool *reached, const uint32_t *root, struct holding *ret)
{
        const struct heap_graph *g = q->graph;
        uint64_t *bytes = calloc((size_t)g->n_types + 1, sizeof(*bytes));

        for (uint32_t k = 0; bytes && k < g->n_nodes; k++)
                if (reached[k] && is_wanted(q, k) && type_paths_root(&q->types, q->types.of_node[k]) == ret->path)
                        bytes[g->type[root[k]]] += heap_graph_bytes(g, k);
        for (uint32_t i = 0; bytes && i < g->n_types; i++)
                if (bytes[i] > ret->other_bytes) {
                        ret->other = g->types[i].name;
                        ret->other_bytes = bytes[i];
                }
        free(bytes);
        return bytes != NULL;
}

/* For the largest roots, what is not reached without each, of what is reached for certain: only it holds that. */
static bool try_without(struct question *q)
{
        const uint32_t n = q->graph->n_nodes;
        bool *with = malloc(n + 1), *without = malloc(n + 1);
        uint32_t *root = malloc(((size_t)n + 1) * sizeof(*root));
        bool good = with && without && root && graph_reach_without(q->graph, NULL, with, NULL);

        for (size_t i = 0; good && i < q->n_roots && i < ROOTS_TRIED; i++) {
                struct holding *r = &q->roots[i];
                if (r->bytes < band_of(q)->bytes / SHARE_TRIED)
                        break;
                good = graph_reach_without(q->graph, q->types.items[r->path].name, without, root) &&
                       find_other(q, without, root, r);
                for (uint32_t k = 0; good && k < n; k++) {
                        const uint64_t bytes = with[k] && !without[k] ? heap_graph_bytes(q->graph, k) : 0;
                        r->with_bytes += bytes;
                        r->only_bytes += is_wanted(q, k) ? bytes : 0;
                }
                r->dead_bytes = good ? graph_dead_bytes_without(q->graph, with, without) : 0;
                r->tried = good;
        }
        free(with);
        free(without);
        free(root);
        return good;
}

/* ----------------------------------------------------------------------- since then */

/* The band of that name, if there was one; then its paths and roots. False: out of memory. */
static bool fold_then(struct question *q)
{
        for (int by_type = 0; by_type < 2; by_type++) {
                if (!graph_groups_find(&q->groups, q->graph, by_type))
                        return false;
                for (q->band = 0; q->band < q->groups.n; q->band++)
                        if (band_of(q)->class == GROUP_CLOSURES && !strcmp(band_of(q)->name, q->name))
                                return type_paths_find(&q->types, q->graph) && fold_paths(q);
                graph_groups_done(&q->groups);
        }
        return true;
}

static uint64_t bytes_then(const struct question *q)
{
        return q->then->groups.n ? graph_group_bytes(band_of(q->then)) : 0;
}

static bool is_named_alike(const struct type_path *a, uint32_t i, const struct type_path *b, uint32_t k)
{
        while (i && k && !strcmp(a[i].name, b[k].name)) {
                i = a[i].up;
                k = b[k].up;
        }
        return !i && !k;
}

/* Of the paths that are shown, and of all roots. Those of the older graph that lead elsewhere are not. */
static void compare_graphs(struct question *q)
{
        const struct question *t = q->then;

        for (size_t i = 0; i < q->n_paths && i < q->subject->request->top; i++)
                for (size_t k = 0; k < t->n_paths; k++)
                        if (is_named_alike(q->types.items, q->paths[i].path, t->types.items, t->paths[k].path))
                                q->paths[i].then_bytes += t->paths[k].bytes;
        for (size_t i = 0; i < q->n_roots; i++)
                for (size_t k = 0; k < t->n_roots; k++)
                        if (!strcmp(q->types.items[q->roots[i].path].name, t->types.items[t->roots[k].path].name))
                                q->roots[i].then_bytes += t->roots[k].bytes;
}

/* --------------------------------------------------------------------------- output */

/* Roots of one name are one: threads of one kind, stable pointers. */
static uint64_t count_roots(const struct question *q, const char *name)
{
        uint64_t n = 0;

        for (uint32_t i = 0; i < q->graph->n_types; i++)
                if (q->graph->types[i].name == name && graph_is_root(q->graph->types[i].kind))
                        n += q->graph->types[i].roots;
        return n;
}

struct holder {
        char text[2 * PROGRAM_NAME_BYTES];
        bool several;
};

/* As the subject of a sentence: "a thread in Main.main", "8,816 threads in Main", "CAF Main.sessions". */
static struct holder holder_of(const struct question *q, const char *name)
{
        static const struct {
                const char *one, *several;
        } counted[] = {
                { "thread", "threads" },
                { "stable pointer", "stable pointers" },
                { "weak pointer whose key does", "weak pointers whose keys do" },
        };
        struct holder ret = { .several = !strncmp(name, "registers", 9) };
        char n[HW_NUMBER_MAX], text[2 * PROGRAM_NAME_BYTES];

        (void)hw_terminal_text(text, sizeof(text), name);
        for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
                const size_t length = strlen(counted[i].one);
                if (strncmp(name, counted[i].one, length) != 0)
                        continue;
                const uint64_t roots = count_roots(q, name);
                ret.several = roots > 1;
                (void)text_join(ret.text, sizeof(ret.text), ret.several ? hw_count_text(n, sizeof(n), roots) : "a", " ",
                                ret.several ? counted[i].several : counted[i].one, text + length, NULL);
                return ret;
        }
        (void)text_join(ret.text, sizeof(ret.text), text, NULL);
        return ret;
}

/* The types from the closure's holder to the root. Returns how many. */
static size_t names_of(const struct type_paths *t, uint32_t path, const struct type_path *ret[PATH_NAMES])
{
        size_t n = 0;
        /* the first is the closure itself, unless it is held by others of its type */
        for (uint32_t p = t->items[path].plus || !t->items[path].up ? path : t->items[path].up; p && n < PATH_NAMES;
             p = t->items[p].up)
                ret[n++] = &t->items[p];
        return n;
}

/* The last one is the root, and may have anything in its name. */
static const char *shown_name(const struct type_path *const *names, size_t i, size_t n)
{
        return i + 1 < n ? name_without_package(names[i]->name) : names[i]->name;
}

static void print_path(const struct question *q, const struct holding *h, uint64_t band)
{
        const struct type_path *names[PATH_NAMES];
        const size_t n = names_of(&q->types, h->path, names);
        char share[HW_NUMBER_MAX], text[2 * PROGRAM_NAME_BYTES], gain[GAIN_TEXT_BYTES];
        FILE *to = q->subject->request->to;

        (void)fprintf(to, "  %7s", hw_share_text(share, sizeof(share), (double)h->bytes / (double)band));
        if (q->then)
                (void)fprintf(to, "  %11s", head_gain_text(gain, h->bytes, h->then_bytes));
        for (size_t i = 0; i < n; i++) {
                (void)hw_terminal_text(text, sizeof(text), shown_name(names, i, n));
                (void)fprintf(to, " <- %s%s", text, names[i]->plus ? "+" : "");
        }
        (void)fputc('\n', to);
}

static void print_dead(const struct question *q, const struct holding *h)
{
        char bytes[HW_NUMBER_MAX];

        if (h->dead_bytes)
                (void)fprintf(q->subject->request->to, ", and %s that are dead in pinned blocks",
                              hw_bytes_text(bytes, sizeof(bytes), (double)h->dead_bytes));
}

/* Why little would go without a root: who else holds it. */
static void print_other(const struct question *q, const struct holding *h, uint64_t band)
{
        char share[HW_NUMBER_MAX];

        if (!h->other || h->other_bytes < band / BRIEF_SHARE)
                return;
        const struct holder holder = holder_of(q, h->other);
        (void)fprintf(q->subject->request->to, "; %s %s %s, too", holder.text, holder.several ? "hold" : "holds",
                      hw_share_text(share, sizeof(share), (double)h->other_bytes / (double)band));
}

static void print_root(const struct question *q, const struct holding *h, uint64_t band)
{
        char share[HW_NUMBER_MAX], only[HW_NUMBER_MAX], with[HW_NUMBER_MAX], gain[GAIN_TEXT_BYTES];
        const struct holder holder = holder_of(q, q->types.items[h->path].name);
        FILE *to = q->subject->request->to;

        (void)fprintf(to, "  %7s", hw_share_text(share, sizeof(share), (double)h->bytes / (double)band));
        if (q->then)
                (void)fprintf(to, "  %11s", head_gain_text(gain, h->bytes, h->then_bytes));
        (void)fprintf(to, "  %s", holder.text);
        if (h->tried)
                (void)fprintf(to, "; nothing else holds %s; without %s %s of everything would go",
                              hw_share_text(only, sizeof(only), (double)h->only_bytes / (double)band),
                              holder.several ? "them" : "it", hw_bytes_text(with, sizeof(with), (double)h->with_bytes));
        print_dead(q, h);
        print_other(q, h, band);
        (void)fputc('\n', to);
}

/*
 * What most of the band is, beside its name: what its closures hold, else the code that most of them are of, for
 * functions and thunks by type are of any code.
 */
static const char *most_of_band(const struct question *q, char ret[CONTENTS_TEXT_BYTES])
{
        const struct heap_band *b = heap_bands_find(&q->graph->bands, q->name);
        char name[CONTENTS_TEXT_BYTES / 2], share[HW_NUMBER_MAX];

        ret[0] = '\0';
        if (b)
                return contents_most(b, ret);
        if (!q->most_name || !strcmp(q->most_name, q->name))
                return ret;
        const bool whole = q->most_bytes == band_of(q)->bytes;
        (void)hw_terminal_text(name, sizeof(name), name_without_package(q->most_name));
        (void)hw_share_text(share, sizeof(share), (double)q->most_bytes / (double)(whole ? 1 : band_of(q)->bytes));
        return text_join(ret, CONTENTS_TEXT_BYTES, whole ? "" : share, whole ? "" : " ", name, NULL);
}

static const struct {
        const char *name, *names, *copy;
} sliced[SLICES_KINDS] = {
        [SLICES_OF_BYTES] = { "ByteString", "ByteStrings", "Data.ByteString.copy" },
        [SLICES_OF_TEXT] = { "Text", "Texts", "Data.Text.copy" },
};

/* "7,173 ByteStrings use 84.1 KiB of 112 MiB in 7,173 arrays"; NULL: less than BRIEF_SHARE of the band would go. */
static const char *slices_text(const struct question *q, unsigned kind, char *ret, size_t size)
{
        const struct graph_slices *s = &q->graph->slices[kind];
        const bool one = s->slices == 1;
        char slices[HW_NUMBER_MAX], arrays[HW_NUMBER_MAX], used[HW_NUMBER_MAX], bytes[HW_NUMBER_MAX];

        if (strncmp(q->name, "ARR_WORDS", 9) != 0 || s->arrays == 0 ||
            s->array_bytes - s->used_bytes < band_of(q)->bytes / BRIEF_SHARE)
                return NULL;
        (void)snprintf(ret, size, "%s %s %s %s of %s in %s array%s", hw_count_text(slices, sizeof(slices), s->slices),
                       one ? sliced[kind].name : sliced[kind].names, one ? "uses" : "use",
                       hw_bytes_text(used, sizeof(used), (double)s->used_bytes),
                       hw_bytes_text(bytes, sizeof(bytes), (double)s->array_bytes),
                       hw_count_text(arrays, sizeof(arrays), s->arrays), s->arrays == 1 ? "" : "s");
        return ret;
}

static void print_slices(const struct question *q)
{
        char text[4 * HW_NUMBER_MAX + 64];

        for (unsigned kind = 0; kind < SLICES_KINDS; kind++)
                if (slices_text(q, kind, text, sizeof(text)))
                        (void)fprintf(q->subject->request->to,
                                      "%s, which nothing else holds: copied (%s), they would not keep the rest\n", text,
                                      sliced[kind].copy);
}

/* What has less than a hundredth of the band tells nothing, unless it is all there is, or its gain is asked for. */
static size_t shown_of(const struct question *q, const struct holding *h, size_t n, size_t most, uint64_t band)
{
        size_t shown = n < most ? n : most;

        while (!q->then && shown > 1 && h[shown - 1].bytes < band / LEAST_SHARE)
                shown--;
        return shown;
}

static void print_further(const struct question *q, const char *what, const struct holding *h, size_t shown, size_t n,
                          uint64_t band)
{
        if (shown < n)
                (void)fprintf(q->subject->request->to, "  ... %zu further %s%s\n", n - shown, what,
                              h[shown].bytes < band / LEAST_SHARE ? ", each below 1 %" : "");
}

static void print_text(const struct question *q, uint64_t band)
{
        char most[CONTENTS_TEXT_BYTES], what[PROGRAM_NAME_BYTES + 128], n[HW_NUMBER_MAX], bytes[HW_NUMBER_MAX],
                name[2 * PROGRAM_NAME_BYTES];
        FILE *to = q->subject->request->to;
        const size_t top = q->subject->request->top;

        (void)hw_terminal_text(name, sizeof(name), name_without_package(q->name));
        (void)snprintf(what, sizeof(what), "why %.400s is kept: %s closure%s, %s", name,
                       hw_count_text(n, sizeof(n), graph_group_closures(band_of(q))),
                       graph_group_closures(band_of(q)) == 1 ? "" : "s",
                       hw_bytes_text(bytes, sizeof(bytes), (double)graph_group_bytes(band_of(q))));
        head_of_graph(q->subject, what);
        if (q->then)
                head_since(q->subject, &q->then->graph->origin, graph_group_bytes(band_of(q)), bytes_then(q));
        if (most_of_band(q, most)[0])
                (void)fprintf(to, "%s: %s\n", q->is_of_contents ? "type" : "contents", most);
        if (band_of(q)->pinned_bytes)
                (void)fprintf(to, "%s of it are dead and stay: in pinned blocks that what is alive in them keeps\n",
                              hw_bytes_text(bytes, sizeof(bytes), (double)band_of(q)->pinned_bytes));
        if (band_of(q)->unreached_bytes > band_of(q)->pinned_bytes)
                (void)fprintf(to,
                              "%s of it are held by no root that was found: garbage until the next major collection, "
                              "most likely\n",
                              hw_bytes_text(bytes, sizeof(bytes),
                                            (double)(band_of(q)->unreached_bytes - band_of(q)->pinned_bytes)));
        print_slices(q);
        (void)fputs("\nshortest paths\n", to);
        const size_t paths = shown_of(q, q->paths, q->n_paths, top, band);
        for (size_t i = 0; i < paths; i++)
                print_path(q, &q->paths[i], band);
        print_further(q, "paths", q->paths, paths, q->n_paths, band);
        (void)fputs("\nroots\n", to);
        const size_t roots = shown_of(q, q->roots, q->n_roots, ROOTS_SHOWN, band);
        for (size_t i = 0; i < roots; i++)
                print_root(q, &q->roots[i], band);
        print_further(q, "roots", q->roots, roots, q->n_roots, band);
        (void)fprintf(to, "\nreached from the roots: %s of the heap\n",
                      hw_share_text(n, sizeof(n), q->all_bytes ? (double)q->all_reached / (double)q->all_bytes : 0));
}

/* The largest path of a root, without the root: "Session <- Bin+ <- MUT_VAR"; "" when it holds the band directly. */
static void append_brief_path(const struct question *q, uint32_t root, struct text_out *out)
{
        const struct type_path *names[PATH_NAMES];
        char text[2 * PROGRAM_NAME_BYTES];
        size_t i = 0, n;

        while (i < q->n_paths && type_paths_root(&q->types, q->paths[i].path) != root)
                i++;
        n = i < q->n_paths ? names_of(&q->types, q->paths[i].path, names) : 0;
        for (i = 0; i + 1 < n; i++) {
                if (i == BRIEF_NAMES) {
                        text_put(out, " <- ...");
                        break;
                }
                (void)hw_terminal_text(text, sizeof(text), name_without_package(names[i]->name));
                text_put(out, i ? " <- " : ", by way of ");
                text_put(out, text);
                text_put(out, names[i]->plus ? "+" : "");
        }
}

/* One sentence that begins with the holder: a narrow place shows its beginning alone. */
static void print_brief(const struct question *q, uint64_t band)
{
        char most[CONTENTS_TEXT_BYTES], band_name[2 * PROGRAM_NAME_BYTES], share[HW_NUMBER_MAX], bytes[HW_NUMBER_MAX],
                path[1024], slices[4 * HW_NUMBER_MAX + 64], gain[GAIN_TEXT_BYTES];
        struct holder holder;
        const uint64_t garbage = band_of(q)->unreached_bytes - band_of(q)->pinned_bytes;
        const struct holding *first = q->roots, *second = q->n_roots > 1 ? &q->roots[1] : NULL;
        const uint64_t pinned =
                first->dead_bytes < band_of(q)->pinned_bytes ? band_of(q)->pinned_bytes - first->dead_bytes : 0;
        FILE *to = q->subject->request->to;
        struct text_out out;

        (void)hw_terminal_text(band_name, sizeof(band_name), name_without_package(q->name));
        (void)hw_bytes_text(bytes, sizeof(bytes), (double)(q->n_roots ? band : graph_group_bytes(band_of(q))));
        if (q->n_roots == 0) {
                (void)fprintf(to,
                              "nothing that was found keeps %s (%s): garbage until the next major collection, most "
                              "likely\n",
                              band_name, bytes);
                return;
        }
        text_out_init(&out, path, sizeof(path));
        append_brief_path(q, first->path, &out);
        holder = holder_of(q, q->types.items[first->path].name);
        (void)fprintf(to, "%s %s %s of %s (%s%s%s)%s", holder.text, holder.several ? "keep" : "keeps",
                      hw_share_text(share, sizeof(share), (double)first->bytes / (double)band), band_name, bytes,
                      most_of_band(q, most)[0] ? ", " : "", most, path);
        if (first->tried && first->with_bytes)
                (void)fprintf(to, "; without %s %s would go", holder.several ? "them" : "it",
                              hw_bytes_text(bytes, sizeof(bytes), (double)first->with_bytes));
        if (first->dead_bytes >= first->with_bytes / BRIEF_SHARE)
                print_dead(q, first);
        print_other(q, first, band);
        for (unsigned kind = 0; kind < SLICES_KINDS; kind++)
                if (slices_text(q, kind, slices, sizeof(slices)))
                        (void)fprintf(to, "; %s: copy what is kept", slices);
        if (second && second->bytes >= band / BRIEF_SHARE) {
                holder = holder_of(q, q->types.items[second->path].name);
                (void)fprintf(to, "; %s %s %s", holder.text, holder.several ? "keep" : "keeps",
                              hw_share_text(share, sizeof(share), (double)second->bytes / (double)band));
        }
        if (pinned && pinned >= graph_group_bytes(band_of(q)) / BRIEF_SHARE)
                (void)fprintf(to, "; %s more are dead, in pinned blocks that what is alive in them keeps",
                              hw_bytes_text(bytes, sizeof(bytes), (double)pinned));
        if (garbage && garbage >= graph_group_bytes(band_of(q)) / BRIEF_SHARE)
                (void)fprintf(to, "; %s more are garbage until the next major collection, most likely",
                              hw_bytes_text(bytes, sizeof(bytes), (double)garbage));
        if (q->then)
                (void)fprintf(to, "; %s since %s", head_gain_text(gain, graph_group_bytes(band_of(q)), bytes_then(q)),
                              hw_time_text(bytes, sizeof(bytes), q->then->graph->origin.taken_unix_s * 1000000000u));
        (void)fputc('\n', to);
}

static void json_path(struct json_out *j, const struct question *q, const struct holding *h)
{
        const struct type_path *names[PATH_NAMES];
        const size_t n = names_of(&q->types, h->path, names);

        json_line(j);
        json_open(j, '{');
        json_member_u64(j, "bytes", h->bytes);
        json_member_u64(j, "closures", h->closures);
        if (q->then)
                json_member_u64(j, "bytes_then", h->then_bytes);
        json_member_open(j, "path", '[');
        for (size_t i = 0; i < n; i++) {
                json_open(j, '{');
                json_member_text(j, "type", shown_name(names, i, n));
                json_member_bool(j, "probably", name_is_probable(names[i]->name));
                json_member_bool(j, "several", names[i]->plus != 0);
                json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
}

static void json_paths(struct json_out *j, const struct question *q, size_t most)
{
        json_member_open(j, "paths", '[');
        for (size_t i = 0; i < q->n_paths && i < most; i++)
                json_path(j, q, &q->paths[i]);
        json_close(j, ']');
}

static void json_root(struct json_out *j, const struct question *q, const struct holding *h)
{
        json_line(j);
        json_open(j, '{');
        json_member_text(j, "name", q->types.items[h->path].name);
        json_member_bool(j, "probably", name_is_probable(q->types.items[h->path].name));
        json_member_u64(j, "bytes", h->bytes);
        json_member_u64(j, "closures", h->closures);
        if (q->then)
                json_member_u64(j, "bytes_then", h->then_bytes);
        json_known_u64(j, "only_bytes", h->tried, h->only_bytes);
        json_known_u64(j, "with_bytes", h->tried, h->with_bytes);
        json_known_text(j, "other_root", h->other);
        json_known_u64(j, "other_root_bytes", h->other != NULL, h->other_bytes);
        json_known_u64(j, "with_dead_bytes", h->tried && q->graph->arrays_known, h->dead_bytes);
        json_close(j, '}');
}

static void json_slices(struct json_out *j, const struct heap_graph *g)
{
        json_member_open(j, "slices", '[');
        for (unsigned kind = 0; kind < SLICES_KINDS; kind++)
                if (g->slices[kind].arrays) {
                        json_line(j);
                        json_open(j, '{');
                        json_member_text(j, "of", sliced[kind].name);
                        json_member_u64(j, "slices", g->slices[kind].slices);
                        json_member_u64(j, "arrays", g->slices[kind].arrays);
                        json_member_u64(j, "array_bytes", g->slices[kind].array_bytes);
                        json_member_u64(j, "used_bytes", g->slices[kind].used_bytes);
                        json_close(j, '}');
                }
        json_close(j, ']');
}

static void print_json(const struct question *q)
{
        struct json_out j = { .to = q->subject->request->to };
        const struct heap_band *b = heap_bands_find(&q->graph->bands, q->name);

        json_open(&j, '{');
        head_json_of_graph(&j, q->subject);
        json_member_text(&j, "band", q->name);
        json_member_bool(&j, "probably", name_is_probable(q->name));
        json_member_u64(&j, "bytes", graph_group_bytes(band_of(q)));
        json_member_u64(&j, "closures", graph_group_closures(band_of(q)));
        if (q->then)
                json_member_u64(&j, "bytes_then", bytes_then(q));
        if (b)
                contents_json(&j, b);
        json_member_u64(&j, "unreached_bytes", band_of(q)->unreached_bytes);
        json_member_u64(&j, "unreached_pinned_bytes", band_of(q)->pinned_bytes);
        json_member_u64(&j, "heap_bytes", q->all_bytes);
        json_member_u64(&j, "heap_reached_bytes", q->all_reached);
        json_member_u64(&j, "live_cafs", q->graph->live_cafs);
        json_member_u64(&j, "dead_cafs", q->graph->dead_cafs);
        if (q->graph->arrays_known)
                json_slices(&j, q->graph);
        json_paths(&j, q, q->subject->request->top);
        json_member_open(&j, "roots", '[');
        for (size_t i = 0; i < q->n_roots; i++)
                json_root(&j, q, &q->roots[i]);
        json_close(&j, ']');
        json_close(&j, '}');
        json_newline(&j);
}

/* Who keeps the rest tells nothing of what grew: a program that ran out of memory frees it before it ends. */
static bool is_mostly_gone(const struct question *q, struct error *error)
{
        const struct inspect_request *r = q->subject->request;
        char left[HW_NUMBER_MAX], before[HW_NUMBER_MAX];

        if (!r->brief || graph_group_bytes(band_of(q)) >= r->band_bytes / GONE_SHARE)
                return false;
        (void)error_set(error, "what grew is gone: %s of it are left, where the last census had %s",
                        hw_bytes_text(left, sizeof(left), (double)graph_group_bytes(band_of(q))),
                        hw_bytes_text(before, sizeof(before), (double)r->band_bytes));
        return true;
}

static bool answer_question(struct question *q, struct error *error)
{
        sum_all(q);
        if (is_mostly_gone(q, error))
                return false;
        if (!find_most(q) || !type_paths_find(&q->types, q->graph) || !fold_paths(q) || !try_without(q))
                return error_set(error, "out of memory; --memory gives it more");
        const uint64_t band = band_of(q)->bytes ? band_of(q)->bytes : 1;
        if (q->then)
                compare_graphs(q);
        if (q->subject->request->json)
                print_json(q);
        else if (q->subject->request->brief)
                print_brief(q, band);
        else
                print_text(q, band);
        return true;
}

/*
 * Functions and thunks have names of their own, and constructors one for each place where they are applied if the
 * program tells these apart: its type is what is typed then, and is the larger one.
 */
static bool find_band(struct question *ret, const struct graph_subject *s, struct error *error)
{
        unsigned best = 0;

        if (s->graph->n_wanted || s->graph->wanted_unreached_closures) {
                ret->is_of_contents = true;
                ret->name = s->request->band;
                sum_contents(ret);
                return graph_groups_find(&ret->groups, s->graph, false) || error_set(error, "out of memory");
        }

        for (int by_type = 0; by_type < 2 && (by_type == 0 || s->request->band || !best); by_type++) {
                struct question q = { .subject = s, .graph = s->graph };
                if (!graph_groups_find(&q.groups, s->graph, by_type)) {
                        graph_groups_done(&q.groups);
                        return error_set(error, "out of memory");
                }
                const unsigned m = choose_band(&q, s->request->band);
                if (m > best || (m && m == best && graph_group_bytes(band_of(&q)) > graph_group_bytes(band_of(ret)))) {
                        graph_groups_done(&ret->groups);
                        *ret = q;
                        best = m;
                } else {
                        graph_groups_done(&q.groups);
                }
        }
        return best || error_set(error, "no type of its heap has %.200s in its name; `heapwatch heap` lists them",
                                 s->request->band ? s->request->band : "anything");
}

static void release_question(struct question *q)
{
        type_paths_done(&q->types);
        graph_groups_done(&q->groups);
        free(q->paths);
        free(q->roots);
}

bool show_why(const struct graph_subject *s, struct error *error)
{
        struct question q = { .subject = s, .graph = s->graph }, then = { .graph = s->since };
        bool good = find_band(&q, s, error);

        if (good && s->since && q.is_of_contents)
                good = error_set(error, "--since compares types, and %.200s is what they hold", q.name);
        if (good && s->since) {
                then.name = q.name;
                good = fold_then(&then) || error_set(error, "out of memory; --memory gives it more");
                q.then = &then;
        }
        good = good && answer_question(&q, error);
        release_question(&q);
        release_question(&then);
        return good;
}

bool why_json(struct json_out *j, const struct heap_graph *g, const struct graph_groups *groups,
              const struct graph_group *const *of, size_t n)
{
        struct question q = { .graph = g, .groups = *groups };
        bool good = type_paths_find(&q.types, g);

        json_member_open(j, "why", '[');
        for (size_t i = 0; good && i < n; i++) {
                q.band = (uint32_t)(of[i] - groups->items);
                good = fold_paths(&q);
                json_line(j);
                json_open(j, '{');
                json_member_text(j, "name", of[i]->name);
                json_member_bool(j, "probably", name_is_probable(of[i]->name));
                json_member_u64(j, "reached_bytes", of[i]->bytes);
                if (good)
                        json_paths(j, &q, PATHS_GIVEN);
                json_member_u64(j, "further_paths", q.n_paths > PATHS_GIVEN ? q.n_paths - PATHS_GIVEN : 0);
                json_close(j, '}');
                free(q.paths);
                free(q.roots);
                q.paths = q.roots = NULL;
        }
        json_close(j, ']');
        type_paths_done(&q.types);
        return good;
}
