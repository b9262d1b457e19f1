/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/names.h"
#include "inspect/ghc/graph/fold.h"
#include "inspect/show/request.h"
#include "proto/base/array.h"
#include "proto/base/json_out.h"

#define ROOTS_SHOWN 8
#define NAME_BYTES  1024
#define TREE_MOST   2000u /* types in the tree of who holds what */
#define WHY_MOST    16u   /* types whose paths are given: so many of those that retain most, and of the largest */

/* A group, and the group of its name in the older graph. */
struct row {
        const struct graph_group *now, *then; /* one of them may be NULL */
};

struct view {
        const struct graph_subject *subject;
        struct graph_groups now, then;
        struct folded tree; /* of JSON */
        struct row *rows;
        size_t n;
        uint64_t bytes, closures, reached_bytes; /* of all closures */
        uint64_t then_bytes;
};

static int64_t gain_of(const struct row *r)
{
        return (int64_t)(graph_group_bytes(r->now) - graph_group_bytes(r->then));
}

/* --------------------------------------------------------------------------- rows */

static int by_bytes(const void *a, const void *b)
{
        const struct graph_group *x = ((const struct row *)a)->now, *y = ((const struct row *)b)->now;

        if (graph_group_bytes(x) != graph_group_bytes(y))
                return graph_group_bytes(x) > graph_group_bytes(y) ? -1 : 1;
        return strcmp(x->name, y->name);
}

static int by_retained(const void *a, const void *b)
{
        const struct graph_group *x = ((const struct row *)a)->now, *y = ((const struct row *)b)->now;

        if (x->retained_bytes != y->retained_bytes)
                return x->retained_bytes > y->retained_bytes ? -1 : 1;
        return by_bytes(a, b);
}

static int by_gain(const void *a, const void *b)
{
        const struct row *x = a, *y = b;

        if (gain_of(x) != gain_of(y))
                return gain_of(x) > gain_of(y) ? -1 : 1;
        return strcmp((x->now ? x->now : x->then)->name, (y->now ? y->now : y->then)->name);
}

/* Groups are in the order of their classes and names. */
static int compare_groups(const struct graph_group *a, const struct graph_group *b)
{
        return a->class != b->class ? a->class - b->class
                                    : strcmp(name_without_package(a->name), name_without_package(b->name));
}

static void add_row(struct view *v, const struct graph_group *now, const struct graph_group *then)
{
        const struct graph_group *g = now ? now : then;

        if (g->class == GROUP_CLOSURES && (graph_group_bytes(now) || graph_group_bytes(then)))
                v->rows[v->n++] = (struct row){ now, then };
}

static bool make_rows(struct view *v)
{
        uint32_t k = 0;

        if (!(v->rows = calloc((size_t)v->now.n + v->then.n + 1, sizeof(*v->rows))))
                return false;
        for (uint32_t i = 0; i < v->now.n; i++) {
                const struct graph_group *now = &v->now.items[i];
                for (; k < v->then.n && compare_groups(&v->then.items[k], now) < 0; k++)
                        add_row(v, NULL, &v->then.items[k]);
                const bool same = k < v->then.n && compare_groups(&v->then.items[k], now) == 0;
                add_row(v, now, same ? &v->then.items[k++] : NULL);
        }
        for (; k < v->then.n; k++)
                add_row(v, NULL, &v->then.items[k]);
        for (size_t i = 0; i < v->n; i++) {
                v->bytes += graph_group_bytes(v->rows[i].now);
                v->closures += graph_group_closures(v->rows[i].now);
                v->reached_bytes += v->rows[i].now ? v->rows[i].now->bytes : 0;
                v->then_bytes += graph_group_bytes(v->rows[i].then);
        }
        ARRAY_SORT(v->rows, v->n, v->subject->since ? by_gain : by_retained);
        return true;
}

static bool make_tree(struct view *v, const struct retained *retained)
{
        const char **names = calloc((size_t)v->now.n + 1, sizeof(*names));

        for (uint32_t i = 0; names && i < v->now.n; i++)
                names[i] = v->now.items[i].name;
        const bool good = names && folded_find(&v->tree, v->subject->graph, retained, v->now.of_type, names, TREE_MOST);
        free(names);
        return good;
}

static bool make_view(struct view *v, struct error *error)
{
        const struct inspect_request *r = v->subject->request;
        const struct heap_graph *since = v->subject->since;
        struct retained retained = { .n = 0 };
        bool good = graph_groups_find(&v->now, v->subject->graph, r->by == BY_TYPE) &&
                    (!since || graph_groups_find(&v->then, since, r->by == BY_TYPE)) &&
                    retained_find(&retained, v->subject->graph, v->now.of_type, v->now.n) &&
                    (!r->json || since || make_tree(v, &retained));

        for (uint32_t i = 0; good && i < v->now.n; i++)
                v->now.items[i].retained_bytes = retained.of_group[i];
        retained_done(&retained);
        return (good && make_rows(v)) || error_set(error, "out of memory; --memory gives it more");
}

/* --------------------------------------------------------------------------- output */

static void print_name(FILE *to, const char *name)
{
        char text[NAME_BYTES];

        (void)hw_terminal_text(text, sizeof(text), name);
        (void)fprintf(to, "  %s\n", text);
}

static void print_row(const struct view *v, const struct row *r)
{
        FILE *to = v->subject->request->to;
        char gain[GAIN_TEXT_BYTES];
        const struct graph_group *g = r->now;
        const int64_t closures = (int64_t)(graph_group_closures(r->now) - graph_group_closures(r->then));

        if (v->subject->since)
                (void)fprintf(to, "%11s  %+12" PRId64,
                              head_gain_text(gain, graph_group_bytes(r->now), graph_group_bytes(r->then)), closures);
        (void)fprintf(to, "  %10s  %10s  %14s  %10s", BYTES_TEXT(g ? (double)g->retained_bytes : 0),
                      BYTES_TEXT(graph_group_bytes(g)), COUNT_TEXT(graph_group_closures(g)),
                      BYTES_TEXT(g ? (double)g->unreached_bytes : 0));
        print_name(to, name_without_package((g ? g : r->then)->name));
}

static int roots_by_retained(const void *a, const void *b)
{
        const struct graph_group *x = *(const struct graph_group *const *)a, *y = *(const struct graph_group *const *)b;

        if (x->retained_bytes != y->retained_bytes)
                return x->retained_bytes > y->retained_bytes ? -1 : 1;
        return strcmp(x->name, y->name);
}

#define WHAT_BYTES 160

static const char *what_text(char what[WHAT_BYTES], const struct view *v)
{
        (void)snprintf(what, WHAT_BYTES, "%s in %s closures", BYTES_TEXT(v->bytes), COUNT_TEXT(v->closures));
        return what;
}

static void print_text(const struct view *v, const struct graph_group *const *roots, uint32_t n_roots)
{
        const struct inspect_request *r = v->subject->request;
        char what[WHAT_BYTES], n[HW_NUMBER_MAX];
        size_t shown = 0;

        head_of_graph(v->subject, what_text(what, v));
        if (v->subject->since)
                head_since(v->subject, &v->subject->since->origin, v->bytes, v->then_bytes);
        (void)fputc('\n', r->to);
        if (v->subject->since)
                (void)fprintf(r->to, "%11s  %12s", "GAINED", "+CLOSURES");
        (void)fprintf(r->to, "  %10s  %10s  %14s  %10s  TYPE\n", "RETAINS", "BYTES", "CLOSURES", "UNREACHED");
        for (size_t i = 0; i < v->n && shown < r->top; i++)
                if (!v->subject->since || gain_of(&v->rows[i]) != 0) {
                        print_row(v, &v->rows[i]);
                        shown++;
                }
        if (!v->subject->since && v->n > shown)
                (void)fprintf(r->to, "  ... %zu further types\n", v->n - shown);
        (void)fputs("\nroots, by what would go with each\n", r->to);
        for (uint32_t i = 0; i < n_roots && i < ROOTS_SHOWN; i++) {
                (void)fprintf(r->to, "  %10s", BYTES_TEXT(roots[i]->retained_bytes));
                if (roots[i]->roots > 1)
                        (void)fprintf(r->to, "  %s of", hw_count_text(n, sizeof(n), roots[i]->roots));
                print_name(r->to, roots[i]->name);
        }
        (void)fprintf(r->to, "\nreached from the roots: %s of the heap\n",
                      hw_share_text(n, sizeof(n), v->bytes ? (double)v->reached_bytes / (double)v->bytes : 0));
}

static void json_row(struct json_out *j, const struct view *v, const struct row *r)
{
        const struct graph_group *g = r->now;
        const struct heap_band *held = heap_bands_find(&v->subject->graph->bands, (g ? g : r->then)->name);

        json_line(j);
        json_open(j, '{');
        json_member_text(j, "name", (g ? g : r->then)->name);
        json_member_u64(j, "retained_bytes", g ? g->retained_bytes : 0);
        json_member_u64(j, "bytes", graph_group_bytes(g));
        json_member_u64(j, "closures", graph_group_closures(g));
        json_member_u64(j, "unreached_bytes", g ? g->unreached_bytes : 0);
        if (held)
                contents_json(j, held);
        if (v->subject->since) {
                json_member_u64(j, "bytes_then", graph_group_bytes(r->then));
                json_member_u64(j, "closures_then", graph_group_closures(r->then));
        }
        json_close(j, '}');
}

static void json_tree(struct json_out *j, const struct folded *tree)
{
        json_member_open(j, "tree", '[');
        for (uint32_t i = 0; i < tree->n; i++) {
                const struct folded_type *t = &tree->items[i];
                json_line(j);
                json_open(j, '{');
                json_known_text(j, "name", t->name);
                json_known_u64(j, "up", i > 0, t->up);
                if (t->is_root)
                        json_member_bool(j, "root", true);
                json_member_u64(j, "retained_bytes", t->bytes);
                json_member_u64(j, "bytes", t->own_bytes);
                json_member_u64(j, "closures", t->closures);
                json_known_u64(j, "other_types", t->rest > 0, t->rest);
                json_known_u64(j, "other_bytes", t->rest > 0, t->rest_bytes);
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* Why these are kept: the types that retain most, and the largest. */
static bool json_why(struct json_out *j, struct view *v)
{
        const size_t n = v->n < WHY_MOST ? v->n : WHY_MOST;
        const struct graph_group *of[2 * WHY_MOST];
        size_t n_of = 0;

        for (unsigned largest = 0; largest < 2; largest++) {
                ARRAY_SORT(v->rows, v->n, largest ? by_bytes : by_retained);
                for (size_t i = 0; i < n; i++) {
                        const struct graph_group *g = v->rows[i].now;
                        size_t k = 0;
                        while (k < n_of && of[k] != g)
                                k++;
                        if (k == n_of)
                                of[n_of++] = g;
                }
        }
        return why_json(j, v->subject->graph, &v->now, of, n_of);
}

static bool print_json(struct view *v, const struct graph_group *const *roots, uint32_t n_roots)
{
        struct json_out j = { .to = v->subject->request->to };
        char what[WHAT_BYTES];

        json_open(&j, '{');
        head_json_of_graph(&j, v->subject);
        head_sentences_json_of_graph(&j, v->subject, what_text(what, v));
        json_member_u64(&j, "bytes", v->bytes);
        json_member_u64(&j, "closures", v->closures);
        json_member_u64(&j, "reached_bytes", v->reached_bytes);
        if (v->subject->since)
                json_member_u64(&j, "bytes_then", v->then_bytes);
        json_member_open(&j, "bands", '[');
        for (size_t i = 0; i < v->n; i++)
                json_row(&j, v, &v->rows[i]);
        json_close(&j, ']');
        json_member_open(&j, "roots", '[');
        for (uint32_t i = 0; i < n_roots; i++) {
                json_line(&j);
                json_open(&j, '{');
                json_member_text(&j, "name", roots[i]->name);
                json_member_u64(&j, "roots", roots[i]->roots);
                json_member_u64(&j, "retained_bytes", roots[i]->retained_bytes);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        if (!v->subject->since)
                json_tree(&j, &v->tree);
        const bool good = v->subject->since || json_why(&j, v);
        json_close(&j, '}');
        json_newline(&j);
        return good;
}

bool show_graph(const struct graph_subject *s, struct error *error)
{
        struct view v = { .subject = s };
        const struct graph_group **roots = NULL;
        bool good = make_view(&v, error);

        if (good && !(roots = calloc((size_t)v.now.n + 1, sizeof(*roots))))
                good = error_set(error, "out of memory; --memory gives it more");
        if (good) {
                uint32_t n = 0;
                for (uint32_t i = 0; i < v.now.n; i++)
                        if (v.now.items[i].class == GROUP_ROOTS && v.now.items[i].retained_bytes)
                                roots[n++] = &v.now.items[i];
                ARRAY_SORT(roots, n, roots_by_retained);
                if (!s->request->json)
                        print_text(&v, roots, n);
                else if (!print_json(&v, roots, n))
                        good = error_set(error, "out of memory; --memory gives it more");
        }
        free(roots);
        free(v.rows);
        folded_done(&v.tree);
        graph_groups_done(&v.now);
        graph_groups_done(&v.then);
        return good;
}
