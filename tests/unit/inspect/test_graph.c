/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs of who holds what: what is retained, against its definition; and as bytes, whole and damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "inspect/ghc/graph/fold.h"
#include "inspect/ghc/graph/graph.h"
#include "inspect/show/out_file.h"
#include "proto/base/hash.h"

#define NODES_MOST 40u
#define TYPES      5u

/* A graph to be made: `to` of each node, as bits. The first `roots` are roots, the last of these a doubtful one. */
struct plan {
        uint32_t n, roots;
        uint64_t to[NODES_MOST];
        uint64_t bytes[NODES_MOST];
        uint32_t type[NODES_MOST];
};

/* What is reached is numbered as a file has it: breadth first. `place`: of each node of the plan, UINT32_MAX: none. */
static void make(struct heap_graph *g, const struct plan *p, uint32_t *place)
{
        static const char *const names[TYPES] = { "A", "B", "C", "D", "E" };
        uint32_t order[NODES_MOST], n = p->roots;

        heap_graph_init(g);
        for (uint32_t i = 0; i < TYPES; i++)
                assert_int_equal(heap_graph_type(g, GRAPH_CLOSURE, names[i], "CONSTR"), i);
        const uint32_t root = heap_graph_type(g, GRAPH_ROOT, "CAF", "root");
        const uint32_t doubtful = heap_graph_type(g, GRAPH_DOUBTFUL_ROOT, "C memory", "root");
        for (uint32_t i = 0; i < p->n; i++)
                place[i] = i < p->roots ? i : UINT32_MAX;
        for (uint32_t i = 0; i < p->roots; i++) {
                order[i] = i;
                assert_int_equal(heap_graph_add(g, i + 1 < p->roots ? root : doubtful, 0), i);
        }
        for (uint32_t i = 0; i < n; i++) {
                heap_graph_open_next(g);
                for (uint32_t k = 0; k < p->n; k++) {
                        if (!(p->to[order[i]] >> k & 1))
                                continue;
                        if (place[k] == UINT32_MAX) {
                                place[k] = heap_graph_add(g, p->type[k], p->bytes[k]);
                                order[n++] = k;
                        }
                        heap_graph_add_edge(g, place[k]);
                }
        }
        heap_graph_finish(g);
        assert_false(g->out_of_memory);
}

/* Random, but the same each time. Closures lead to closures, roots too. */
static struct plan plan_of(uint64_t seed)
{
        struct plan p = { .n = 8 + (uint32_t)(hash_u64(seed, 1) % (NODES_MOST - 8)), .roots = 3 };
        const uint64_t sparse = 1 + hash_u64(seed, 2) % 4;

        for (uint32_t i = 0; i < p.n; i++) {
                p.bytes[i] = i < p.roots ? 0 : 8 * (1 + hash_u64(seed, 100 + i) % 9);
                p.type[i] = (uint32_t)(hash_u64(seed, 200 + i) % TYPES);
                for (uint32_t k = p.roots; k < p.n; k++)
                        if (hash_u64(seed, 1000 + 64 * i + k) % p.n < sparse)
                                p.to[i] |= UINT64_C(1) << k;
        }
        return p;
}

/* Reached from certain roots, or else from the doubtful one, when `gone` nodes are not there. */
static uint64_t reach(const struct plan *p, uint64_t gone, bool doubtful)
{
        uint64_t reached = (doubtful ? UINT64_C(1) << (p->roots - 1) : (UINT64_C(1) << (p->roots - 1)) - 1) & ~gone;

        for (uint64_t before = 0; before != reached;) {
                before = reached;
                for (uint32_t i = 0; i < p->n; i++)
                        if (reached >> i & 1)
                                reached |= p->to[i] & ~gone;
        }
        return reached;
}

/* What goes with a node: of what is certain, by certain paths; of what is doubtful, by doubtful ones alone. */
static uint64_t bytes_with(const struct plan *p, uint64_t gone)
{
        const uint64_t certain = reach(p, 0, false), doubtful = reach(p, certain, true);

        uint64_t nodes = (certain & ~reach(p, gone, false)) | (doubtful & ~reach(p, gone | certain, true));
        uint64_t bytes = 0;

        for (uint32_t i = 0; i < p->n; i++)
                bytes += nodes >> i & 1 ? p->bytes[i] : 0;
        return bytes;
}

#define ALL_GROUPS (TYPES + 2)

static const uint32_t each_alone[ALL_GROUPS] = { 0, 1, 2, 3, 4, 5, 6 };
static const char *const group_names[ALL_GROUPS] = { "A", "B", "C", "D", "E", "R", "S" };

TEST(test_retained)
{
        for (uint64_t seed = 0; seed < 3000; seed++) {
                const struct plan p = plan_of(seed);
                uint32_t place[NODES_MOST];
                struct heap_graph g;
                struct retained r;

                make(&g, &p, place);
                assert_true(retained_find(&r, &g, each_alone, ALL_GROUPS));
                for (uint32_t i = 0; i < p.n; i++)
                        if (place[i] != UINT32_MAX)
                                assert_int_equal(r.of_node[place[i]], bytes_with(&p, UINT64_C(1) << i));
                for (uint32_t t = 0; t < TYPES; t++) {
                        /* each goes with one that has none of its type above it: those that no other one dominates */
                        uint64_t expected = 0;
                        for (uint32_t i = p.roots; i < p.n; i++) {
                                bool below = p.type[i] != t || place[i] == UINT32_MAX;
                                for (uint32_t k = p.roots; k < p.n && !below; k++)
                                        below = k != i && p.type[k] == t && place[k] != UINT32_MAX &&
                                                bytes_with(&p, UINT64_C(1) << k) ==
                                                        bytes_with(&p, UINT64_C(1) << k | UINT64_C(1) << i);
                                expected += below ? 0 : bytes_with(&p, UINT64_C(1) << i);
                        }
                        assert_int_equal(r.of_group[t], expected);
                }
                retained_done(&r);
                heap_graph_done(&g);
        }
}

/* ------------------------------------------------------------------------ by type */

/* Types from the top, a letter each. */
struct expected {
        char path[NODES_MOST + 1];
        uint64_t own, closures;
};

/* Where one, two or three types that are last come again, the path ends at the first of these. */
static void append_type(char *path, char type)
{
        const size_t n = strlen(path);

        for (size_t period = 1; period <= 3 && period <= n; period++) {
                bool again = path[n - period] == type;
                for (size_t k = 1; again && k < period; k++)
                        again = n >= period + k && path[n - k] == path[n - period - k];
                if (again) {
                        path[n - period + 1] = '\0';
                        return;
                }
        }
        path[n] = type;
        path[n + 1] = '\0';
}

/* Without which it is not reached, by certain roots or by the doubtful one; itself included. */
static uint64_t dominators_of(const struct plan *p, uint32_t node)
{
        const uint64_t certain = reach(p, 0, false);
        const bool is_certain = certain >> node & 1;
        uint64_t ret = 0;

        for (uint32_t i = 0; i < p->n; i++) {
                const uint64_t gone = UINT64_C(1) << i | (is_certain ? 0 : certain);
                if (!(reach(p, gone, !is_certain) >> node & 1))
                        ret |= UINT64_C(1) << i;
        }
        return ret;
}

static char letter_of(const struct plan *p, uint32_t node)
{
        return *group_names[node + 1 < p->roots ? TYPES : node < p->roots ? TYPES + 1 : p->type[node]];
}

/* The dominators of a node are one below the other: the one with the fewest of its own is the first. */
static void path_of(const struct plan *p, const uint64_t *dominators, uint32_t node, char *ret)
{
        ret[0] = '\0';
        for (int n = 1; n <= __builtin_popcountll(dominators[node]); n++)
                for (uint32_t i = 0; i < p->n; i++)
                        if (dominators[node] >> i & 1 && __builtin_popcountll(dominators[i]) == n)
                                append_type(ret, letter_of(p, i));
}

static size_t expect(const struct plan *p, const uint32_t *place, struct expected *ret)
{
        uint64_t dominators[NODES_MOST];
        char path[NODES_MOST + 1];
        size_t n = 0;

        for (uint32_t i = 0; i < p->n; i++)
                dominators[i] = dominators_of(p, i);
        for (uint32_t i = 0; i < p->n; i++) {
                size_t k = 0;
                if (place[i] == UINT32_MAX)
                        continue;
                path_of(p, dominators, i, path);
                while (k < n && strcmp(ret[k].path, path) != 0)
                        k++;
                if (k == n) {
                        ret[n] = (struct expected){ .own = 0 };
                        memcpy(ret[n++].path, path, sizeof(path));
                }
                ret[k].own += p->bytes[i];
                ret[k].closures += i >= p->roots;
        }
        return n;
}

static uint64_t bytes_below(const struct expected *e, size_t n, const char *path)
{
        uint64_t bytes = 0;

        for (size_t i = 0; i < n; i++)
                bytes += strncmp(e[i].path, path, strlen(path)) == 0 ? e[i].own : 0;
        return bytes;
}

static void text_of(const struct folded *f, uint32_t at, char *ret)
{
        const size_t n = (ret[0] = '\0', at ? (text_of(f, f->items[at].up, ret), strlen(ret)) : 0);

        if (at) {
                ret[n] = *f->items[at].name;
                ret[n + 1] = '\0';
        }
}

/* All of them, and each as it is expected. */
static void check_folded(const struct folded *f, const struct expected *e, size_t n)
{
        size_t with_bytes = 0;

        for (size_t i = 0; i < n; i++)
                with_bytes += bytes_below(e, n, e[i].path) > 0;
        assert_int_equal(f->n, with_bytes + 1);
        assert_null(f->items[0].name);
        assert_int_equal(f->items[0].bytes, bytes_below(e, n, ""));
        for (uint32_t i = 1; i < f->n; i++) {
                char path[NODES_MOST + 1];
                size_t k = 0;

                text_of(f, i, path);
                while (k < n && strcmp(e[k].path, path) != 0)
                        k++;
                assert_true(k < n);
                assert_int_equal(f->items[i].own_bytes, e[k].own);
                assert_int_equal(f->items[i].closures, e[k].closures);
                assert_int_equal(f->items[i].bytes, bytes_below(e, n, path));
                assert_int_equal(f->items[i].is_root, *f->items[i].name >= 'R');
                assert_int_equal(f->items[i].rest, 0);
        }
}

TEST(test_folded)
{
        for (uint64_t seed = 0; seed < 3000; seed++) {
                const struct plan p = plan_of(seed);
                struct expected e[NODES_MOST];
                uint32_t place[NODES_MOST];
                struct heap_graph g;
                struct retained r;
                struct folded all, few;

                make(&g, &p, place);
                assert_true(retained_find(&r, &g, each_alone, ALL_GROUPS));
                assert_true(folded_find(&all, &g, &r, each_alone, group_names, UINT32_MAX));
                check_folded(&all, e, expect(&p, place, e));
                /* What all closures of a type retain is what those of the tree hold that have none of it above them. */
                uint64_t sums[TYPES] = { 0 };

                for (uint32_t i = 1; i < all.n; i++) {
                        bool is_below = false;
                        for (uint32_t up = all.items[i].up; up; up = all.items[up].up)
                                is_below |= all.items[up].name == all.items[i].name;
                        for (uint32_t t = 0; t < TYPES; t++)
                                sums[t] += all.items[i].name == group_names[t] && !is_below ? all.items[i].bytes : 0;
                }
                assert_memory_equal(sums, r.of_group, sizeof(sums));
                assert_true(folded_find(&few, &g, &r, each_alone, group_names, 4));
                /* The largest; what holds them; and what is left out is counted. */
                uint64_t least = UINT64_MAX, held[NODES_MOST + 2] = { 0 };
                uint32_t larger = 0;

                assert_int_equal(few.n, all.n < 4 ? all.n : 4);
                for (uint32_t i = few.n - 1; i > 0; i--) {
                        assert_true(few.items[i].up < i);
                        held[few.items[i].up] += few.items[i].bytes;
                        least = few.items[i].bytes < least ? few.items[i].bytes : least;
                }
                for (uint32_t i = 1; i < all.n; i++)
                        larger += all.items[i].bytes > least;
                assert_true(larger < 4);
                for (uint32_t i = 0; i < few.n; i++) {
                        const struct folded_type *t = &few.items[i];
                        assert_int_equal(t->bytes, t->own_bytes + held[i] + t->rest_bytes);
                        assert_int_equal(t->rest > 0, t->rest_bytes > 0);
                }
                folded_done(&few);
                folded_done(&all);
                retained_done(&r);
                heap_graph_done(&g);
        }
}

/* A list of a million cells, and as many that one array holds: no recursion, no quadratic time. */
TEST(test_large)
{
        enum { CELLS = 1000000 };
        static const uint32_t groups[] = { 0, 1, 2 };
        static const char *const names[] = { "CAF", "Array", "(:)" };
        struct heap_graph g;
        struct retained r;
        struct folded f;

        heap_graph_init(&g);
        const uint32_t root = heap_graph_type(&g, GRAPH_ROOT, "CAF", "root");
        const uint32_t array = heap_graph_type(&g, GRAPH_CLOSURE, "Array", "MUT_ARR_PTRS");
        const uint32_t cell = heap_graph_type(&g, GRAPH_CLOSURE, "(:)", "CONSTR");
        (void)heap_graph_add(&g, root, 0);
        (void)heap_graph_add(&g, array, 8);
        for (uint32_t i = 0; i < 2 * CELLS; i++)
                (void)heap_graph_add(&g, cell, 24);
        heap_graph_open_next(&g);
        heap_graph_add_edge(&g, 1);
        heap_graph_open_next(&g);
        for (uint32_t i = 0; i < CELLS; i++)
                heap_graph_add_edge(&g, 2 + i);
        heap_graph_add_edge(&g, 2 + CELLS);
        for (uint32_t i = 0; i < 2 * CELLS; i++) {
                heap_graph_open_next(&g);
                if (i >= CELLS && i + 1 < 2 * CELLS)
                        heap_graph_add_edge(&g, 2 + i + 1);
        }
        heap_graph_finish(&g);
        assert_false(g.out_of_memory);
        assert_true(retained_find(&r, &g, groups, 3));
        assert_int_equal(r.of_node[0], UINT64_C(48) * CELLS + 8);
        assert_int_equal(r.of_node[2], 24);
        assert_int_equal(r.of_node[2 + CELLS], UINT64_C(24) * CELLS);
        assert_int_equal(r.of_group[cell], UINT64_C(48) * CELLS);
        assert_true(folded_find(&f, &g, &r, groups, names, 100));
        assert_int_equal(f.n, 4); /* the whole, the root, the array, the cells */
        assert_int_equal(f.items[3].bytes, UINT64_C(48) * CELLS);
        assert_int_equal(f.items[3].closures, 2 * CELLS);
        folded_done(&f);
        retained_done(&r);
        heap_graph_done(&g);
}

/* ---------------------------------------------------------------------------- files */

static void assert_same_band(const struct heap_band *a, const struct heap_band *b)
{
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->bytes, b->bytes);
        assert_int_equal(a->objects, b->objects);
        assert_int_equal(a->is_container, b->is_container);
        assert_int_equal(a->elements, b->elements);
        assert_int_equal(a->same, b->same);
}

static void assert_same(const struct heap_graph *a, const struct heap_graph *b)
{
        assert_int_equal(a->n_nodes, b->n_nodes);
        assert_int_equal(a->n_edges, b->n_edges);
        assert_int_equal(a->n_types, b->n_types);
        for (uint32_t i = 0; i < a->n_nodes; i++) {
                assert_int_equal(heap_graph_type_number(a, i), heap_graph_type_number(b, i));
                assert_int_equal(heap_graph_bytes(a, i), heap_graph_bytes(b, i));
        }
        assert_memory_equal(a->first_edge, b->first_edge, (a->n_nodes + 1) * sizeof(*a->first_edge));
        assert_memory_equal(a->edges, b->edges, a->n_edges * sizeof(*a->edges));
        for (uint32_t i = 0; i < a->n_types; i++) {
                assert_string_equal(a->types[i].name, b->types[i].name);
                assert_string_equal(a->types[i].by_type, b->types[i].by_type);
                assert_int_equal(a->types[i].kind, b->types[i].kind);
                assert_int_equal(a->types[i].roots, b->types[i].roots);
                assert_int_equal(a->types[i].unreached_bytes, b->types[i].unreached_bytes);
                assert_int_equal(a->types[i].unreached_closures, b->types[i].unreached_closures);
                assert_int_equal(a->types[i].pinned_bytes, b->types[i].pinned_bytes);
        }
        assert_memory_equal(&a->origin, &b->origin, sizeof(a->origin));
        assert_int_equal(a->bands.n, b->bands.n);
        for (size_t i = 0; i < a->bands.n; i++) {
                const struct heap_band *x = &a->bands.items[i], *y = &b->bands.items[i];
                assert_same_band(x, y);
                assert_int_equal(x->n_contents, y->n_contents);
                for (size_t k = 0; k < x->n_contents; k++)
                        assert_same_band(&x->contents[k], &y->contents[k]);
        }
        assert_int_equal(a->arrays_known, b->arrays_known);
        assert_int_equal(a->n_pins, b->n_pins);
        for (uint32_t i = 0; i < a->n_pins; i++) {
                assert_int_equal(a->pins[i].node, b->pins[i].node);
                assert_int_equal(a->pins[i].dead_words, b->pins[i].dead_words);
        }
        assert_memory_equal(a->slices, b->slices, sizeof(a->slices));
}

static uint8_t *bytes_of(struct heap_graph *g, uint64_t seed, size_t *ret_size)
{
        const struct plan p = plan_of(seed);
        uint32_t place[NODES_MOST];

        make(g, &p, place);
        (void)snprintf(g->origin.program, sizeof(g->origin.program), "shop");
        (void)snprintf(g->origin.from, sizeof(g->origin.from), "core");
        g->origin.pid = 4711;
        g->origin.taken_unix_s = 1790000000;
        g->origin.symbols = g->origin.complete = true;
        g->types[1].unreached_bytes = 1u << 20;
        g->types[1].unreached_closures = 70;
        g->types[1].pinned_bytes = 4096;
        g->types[TYPES].roots = 2;
        if (seed % 4) {
                /* A type in two parts. */
                struct heap_band *b = calloc(1, sizeof(*b)), *contents = calloc(2, sizeof(*contents));

                assert_true(b && contents);
                contents[0] = (struct heap_band){ .name = strdup("[Session]"), .bytes = 100 + seed, .objects = 7 };
                contents[1] =
                        (struct heap_band){ .name = strdup("Array# Order"), .bytes = 20, .elements = 9, .same = 8 };
                *b = (struct heap_band){
                        .name = strdup("p:M.Cons"), .bytes = 120 + seed, .objects = 7, .contents = contents
                };
                b->n_contents = 2;
                b->is_container = seed & 1;
                g->bands = (struct heap_bands){ b, 1 };
        }
        if (seed % 3) {
                /* Two blocks, of two closures and of one. */
                for (uint32_t i = 0; i < 3; i++)
                        heap_graph_add_pin(g, g->n_nodes - 1 - i % g->n_nodes);
                g->pins[1].dead_words = 500;
                g->pins[2].dead_words = UINT32_MAX;
                g->slices[SLICES_OF_TEXT] = (struct graph_slices){ 3, 2, 800, 360 };
                g->slices[SLICES_OF_BYTES] = (struct graph_slices){ 1, 1, seed, seed / 3 };
                g->arrays_known = true;
        }
        uint8_t *bytes = graph_file_encode(g, ret_size);
        assert_non_null(bytes);
        return bytes;
}

TEST(test_file)
{
        for (uint64_t seed = 0; seed < 200; seed++) {
                struct heap_graph g, read;
                struct error error = { "" };
                size_t size;
                uint8_t *bytes = bytes_of(&g, seed, &size);

                assert_true(graph_file_is_one(bytes));
                if (!graph_file_decode(&read, bytes, size, UINT64_C(1) << 30, &error))
                        fail_msg("%s", error.text);
                assert_same(&g, &read);
                heap_graph_done(&read);
                heap_graph_done(&g);
                free(bytes);
        }
}

/* Each byte changed, and each length: refused with a sentence, or read as a graph that can be used. */
TEST(test_damaged)
{
        struct heap_graph g, read;
        size_t size;
        uint8_t *bytes = bytes_of(&g, 3, &size);
        unsigned refused = 0;

        for (size_t i = 0; i < 2 * size; i++) {
                const size_t n = i < size ? size : i - size;
                uint8_t *exact = malloc(n + 1);
                struct error error = { "" };
                struct type_paths paths;

                assert_non_null(exact);
                memcpy(exact, bytes, n);
                if (i < size)
                        exact[i] ^= 0x15;
                if (graph_file_decode(&read, exact, n, UINT64_C(1) << 30, &error)) {
                        assert_true(type_paths_find(&paths, &read));
                        type_paths_done(&paths);
                } else {
                        assert_true(error.text[0] != '\0');
                        refused++;
                }
                heap_graph_done(&read);
                free(exact);
        }
        assert_true(refused > size);
        struct error error = { "" };
        assert_false(graph_file_decode(&read, bytes, size, 64, &error));
        assert_non_null(strstr(error.text, "--memory"));
        heap_graph_done(&read);
        heap_graph_done(&g);
        free(bytes);
}

/* What a type holds must be all of it. */
TEST(test_contents_that_do_not_add_up)
{
        for (int more = -1; more <= 1; more += 2) {
                struct heap_graph g, read;
                struct error error = { "" };
                size_t size;
                free(bytes_of(&g, 3, &size));
                g.bands.items[0].contents[0].bytes += (uint64_t)(int64_t)more;
                uint8_t *bytes = graph_file_encode(&g, &size);
                assert_non_null(bytes);
                assert_false(graph_file_decode(&read, bytes, size, UINT64_C(1) << 30, &error));
                assert_non_null(strstr(error.text, more > 0 ? "more than their type" : "less than their type"));
                heap_graph_done(&read);
                heap_graph_done(&g);
                free(bytes);
        }
}

/* What is pinned is there, and slices are parts of their arrays. */
TEST(test_arrays_that_cannot_be)
{
        static const char *const wrong[] = { "a pinned closure that is not there", "bytes of slices",
                                             "a number of arrays with slices" };

        for (unsigned i = 0; i < 3; i++) {
                struct heap_graph g, read;
                struct error error = { "" };
                size_t size;
                free(bytes_of(&g, 4, &size));
                for (uint32_t k = 0; i == 0 && k < g.n_types; k++)
                        g.types[k].kind = GRAPH_CLOSURE; /* nodes that no root holds are not written */
                g.slices[SLICES_OF_BYTES].used_bytes += i == 1 ? 4 : 0;
                g.slices[SLICES_OF_TEXT].arrays += i == 2 ? 2 : 0;
                uint8_t *bytes = graph_file_encode(&g, &size);
                assert_non_null(bytes);
                assert_false(graph_file_decode(&read, bytes, size, UINT64_C(1) << 30, &error));
                assert_non_null(strstr(error.text, wrong[i]));
                heap_graph_done(&read);
                heap_graph_done(&g);
                free(bytes);
        }
}

/* Viewers read sizes modulo 4 GiB: an array of 9 GiB, which holds another closure, is three nodes. */
TEST(test_heapsnapshot_of_large_arrays)
{
        struct heap_graph g;
        char *text = NULL;
        size_t size = 0;
        FILE *to = open_memstream(&text, &size);

        heap_graph_init(&g);
        const uint32_t root = heap_graph_type(&g, GRAPH_ROOT, "CAF", "root");
        const uint32_t array = heap_graph_type(&g, GRAPH_CLOSURE, "Array", "MUT_ARR_PTRS");
        (void)heap_graph_add(&g, root, 0);
        heap_graph_open_next(&g);
        heap_graph_add_edge(&g, heap_graph_add(&g, array, UINT64_C(9) << 30));
        heap_graph_open_next(&g);
        heap_graph_add_edge(&g, heap_graph_add(&g, array, 24));
        heap_graph_open_next(&g);
        heap_graph_finish(&g);
        graph_write_heapsnapshot(to, &g);
        assert_int_equal(fclose(to), 0);
        assert_non_null(strstr(text, "\"node_count\":6,\"edge_count\":5,"));
        assert_non_null(strstr(text,
                               "\"nodes\":[9,0,1,0,1,0,0,3,1,3,0,1,0,0,3,2,5,4294967288,3,0,0,3,2,7,24,0,0,0,"
                               "3,2,9,4294967288,0,0,0,3,2,11,1073741840,0,0,0]"));
        assert_non_null(strstr(text, "\"edges\":[1,0,7,1,0,14,1,0,21,1,1,28,1,2,35]"));
        assert_int_equal(UINT64_C(4294967288) * 2 + 1073741840, UINT64_C(9) << 30);
        free(text);
        heap_graph_done(&g);
}
