/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/why.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/names.h"
#include "inspect/ghc/threads.h"
#include "inspect/show/request.h"
#include "proto/base/array.h"

#define ROOTS_TRIED  3  /* of which it is found out what goes with them */
#define SHARE_TRIED  20 /* at least one part in so many of the band */
#define MERGED_PATHS 64
#define PATHS_GIVEN  12 /* of each of several types */
#define GONE_SHARE   10 /* of what a census had: less than one part in this is what is left over */

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
                                 : q->groups.of_type[heap_graph_type_number(q->graph, node)] == q->band;
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

/* Types of several names may be one band. False: out of memory. */
static bool find_most(struct question *q)
{
        uint64_t *bytes = calloc((size_t)q->graph->n_types + 1, sizeof(*bytes));

        for (uint32_t i = 0; bytes && i < q->graph->n_nodes; i++)
                if (is_wanted(q, i) &&
                    (bytes[heap_graph_type_number(q->graph, i)] += heap_graph_bytes(q->graph, i)) > q->most_bytes) {
                        q->most_bytes = bytes[heap_graph_type_number(q->graph, i)];
                        q->most_name = heap_graph_type_of(q->graph, i)->name;
                }
        free(bytes);
        return bytes != NULL;
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
        for (uint32_t i = 0; i < q->graph->n_nodes; i++)
                if (is_wanted(q, i)) {
                        q->paths[q->types.of_node[i]].bytes += heap_graph_bytes(q->graph, i);
                        q->paths[q->types.of_node[i]].closures++;
                }
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

/* Of what a root holds of the band, and is reached without it: bytes by the type of the other root. */
struct others {
        const struct question *question;
        uint32_t path; /* of the root */
        uint64_t *bytes;
};

static void add_other(void *ctx, uint32_t node, uint32_t root)
{
        const struct others *o = ctx;
        const struct question *q = o->question;

        if (is_wanted(q, node) && type_paths_root(&q->types, q->types.of_node[node]) == o->path)
                o->bytes[heap_graph_type_number(q->graph, root)] += heap_graph_bytes(q->graph, node);
}

/* Sets `without`, and finds the other root that holds most of what this one holds. */
static bool reach_without(const struct question *q, struct holding *root, uint64_t *without)
{
        const struct heap_graph *g = q->graph;
        struct others o = { q, root->path, calloc((size_t)g->n_types + 1, sizeof(*o.bytes)) };
        const bool good = o.bytes && graph_reach_without(g, q->types.items[root->path].name, without, add_other, &o);

        for (uint32_t i = 0; good && i < g->n_types; i++)
                if (o.bytes[i] > root->other_bytes) {
                        root->other = g->types[i].name;
                        root->other_bytes = o.bytes[i];
                }
        free(o.bytes);
        return good;
}

/* For the largest roots, what is not reached without each, of what is reached for certain: only it holds that. */
static bool try_without(struct question *q)
{
        const struct heap_graph *g = q->graph;
        uint64_t *with = node_set_new(g), *without = node_set_new(g);
        bool good = with && without && graph_reach_without(g, NULL, with, NULL, NULL);

        for (size_t i = 0; good && i < q->n_roots && i < ROOTS_TRIED; i++) {
                struct holding *r = &q->roots[i];
                if (r->bytes < band_of(q)->bytes / SHARE_TRIED)
                        break;
                good = reach_without(q, r, without);
                for (uint32_t k = 0; good && k < g->n_nodes; k++)
                        if (node_set_has(with, k) && !node_set_has(without, k)) {
                                r->with_bytes += heap_graph_bytes(g, k);
                                r->only_bytes += is_wanted(q, k) ? heap_graph_bytes(g, k) : 0;
                        }
                r->dead_bytes = good ? graph_dead_bytes_without(g, with, without) : 0;
                r->tried = good;
        }
        free(with);
        free(without);
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

static bool is_named_alike(const struct type_path *a, uint32_t i, const struct type_path *b, uint32_t k)
{
        while (i && k && !strcmp(a[i].name, b[k].name)) {
                i = a[i].up;
                k = b[k].up;
        }
        return !i && !k;
}

/* The types from the closure's holder to the root. Returns how many. */
size_t why_names(const struct type_paths *t, uint32_t path, const struct type_path *ret[PATH_NAMES])
{
        size_t n = 0;
        /* the first is the closure itself, unless it is held by others of its type */
        for (uint32_t p = t->items[path].plus || !t->items[path].up ? path : t->items[path].up; p && n < PATH_NAMES;
             p = t->items[p].up)
                ret[n++] = &t->items[p];
        return n;
}

/* The last one is the root, and may have anything in its name. */
const char *why_shown_name(const struct type_path *const *names, size_t i, size_t n)
{
        return i + 1 < n ? name_without_package(names[i]->name) : names[i]->name;
}

/* Who keeps the rest tells nothing of what grew: a program that ran out of memory frees it before it ends. */
static bool is_mostly_gone(const struct question *q, struct error *error)
{
        const struct inspect_request *r = q->subject->request;

        if (!r->brief || graph_group_bytes(band_of(q)) >= r->band_bytes / GONE_SHARE)
                return false;
        (void)error_set(error, "what grew is gone: %s of it is left, where the last census had %s",
                        BYTES_TEXT(graph_group_bytes(band_of(q))), BYTES_TEXT(r->band_bytes));
        return true;
}

static bool answer_question(struct question *q, struct error *error)
{
        for (uint32_t i = 0; i < q->groups.n; i++) {
                q->all_reached += q->groups.items[i].bytes;
                q->all_bytes += graph_group_bytes(&q->groups.items[i]);
        }
        if (is_mostly_gone(q, error))
                return false;
        if (!find_most(q) || !type_paths_find(&q->types, q->graph) || !fold_paths(q) || !try_without(q))
                return error_set(error, "out of memory; --memory gives it more");
        if (q->then) {
                /* Of the paths that are shown, and of all roots; not those of the older graph that lead elsewhere. */
                const struct question *t = q->then;

                for (size_t i = 0; i < q->n_paths && i < q->subject->request->top; i++)
                        for (size_t k = 0; k < t->n_paths; k++)
                                if (is_named_alike(q->types.items, q->paths[i].path, t->types.items, t->paths[k].path))
                                        q->paths[i].then_bytes += t->paths[k].bytes;
                for (size_t i = 0; i < q->n_roots; i++)
                        for (size_t k = 0; k < t->n_roots; k++)
                                if (!strcmp(q->types.items[q->roots[i].path].name,
                                            t->types.items[t->roots[k].path].name))
                                        q->roots[i].then_bytes += t->roots[k].bytes;
        }
        if (q->subject->request->json)
                why_print_json(q);
        else if (q->subject->request->brief)
                why_print_brief(q);
        else
                why_print_text(q);
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
                        why_json_paths(j, &q, PATHS_GIVEN);
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
