/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a line of magic bytes, then one zstd frame: numbers as LEB128, and texts with their length before them.
 * Nodes are columns (types, words, numbers of edges), which compresses better than rows. An edge is 0 when it leads to
 * the next node that no edge has led to so far, else how far back from that one: half of all edges of a heap are 0.
 * So nodes are numbered as a search breadth first comes to them.
 */
#include "inspect/ghc/graph/fold.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proto/base/array.h"

static const char magic[GRAPH_FILE_MAGIC_BYTES] = "heapwatch graph\n";

#define VERSION       1u
#define LEVEL         3
#define NUMBER_BYTES  10u
#define TEXT_MOST     65535u
#define BYTES_A_NODE  16u    /* in memory; of an edge a quarter of it */
#define CONTENTS_MOST 65536u /* types of which it is known what they hold, and what one holds */

bool graph_file_is_one(const uint8_t *bytes)
{
        return !memcmp(bytes, magic, sizeof(magic));
}

/* ------------------------------------------------------------------------- encoding */

struct bytes_out {
        uint8_t *bytes;
        size_t n, capacity;
        bool failed;
};

static bool make_room(struct bytes_out *o, size_t n)
{
        o->failed = o->failed || !ARRAY_RESERVE(o->bytes, o->capacity, o->n + n);
        return !o->failed;
}

static void put_number(struct bytes_out *o, uint64_t v)
{
        if (!make_room(o, NUMBER_BYTES))
                return;
        for (; v >= 0x80; v >>= 7)
                o->bytes[o->n++] = (uint8_t)(v | 0x80);
        o->bytes[o->n++] = (uint8_t)v;
}

static void put_text(struct bytes_out *o, const char *text)
{
        const size_t all = strlen(text), n = all < TEXT_MOST ? all : TEXT_MOST;

        put_number(o, n);
        if (!make_room(o, n))
                return;
        memcpy(o->bytes + o->n, text, n);
        o->n += n;
}

/* The next node, from `node` on, that an edge leads to first. */
static uint32_t next_fresh(const struct heap_graph *g, uint32_t node)
{
        while (node < g->n_nodes && graph_is_root(heap_graph_type_of(g, node)->kind))
                node++;
        return node;
}

/* In which order nodes are written: those that a root holds. */
struct order {
        uint32_t *nodes, *places; /* and of each node its place, plus 1 */
        uint32_t n, n_edges;
        const struct heap_graph *graph;
};

static bool add_place(void *ctx, uint32_t node, uint32_t from, uint32_t root)
{
        struct order *o = ctx;

        (void)from;
        (void)root;
        if (o->places[node])
                return false;
        o->nodes[o->n++] = node;
        o->places[node] = o->n;
        o->n_edges += o->graph->first_edge[node + 1] - o->graph->first_edge[node];
        return true;
}

/* From `place` on, the next one that an edge leads to first. */
static uint32_t next_new(const struct order *o, uint32_t place)
{
        while (place < o->n && graph_is_root(heap_graph_type_of(o->graph, o->nodes[place])->kind))
                place++;
        return place;
}

static void put_nodes(struct bytes_out *o, const struct heap_graph *g, const struct order *in)
{
        uint32_t fresh = next_new(in, 0);

        put_number(o, in->n);
        put_number(o, in->n_edges);
        for (uint32_t i = 0; i < in->n; i++)
                put_number(o, heap_graph_type_number(g, in->nodes[i]));
        for (uint32_t i = 0; i < in->n; i++)
                put_number(o, heap_graph_bytes(g, in->nodes[i]) / 8);
        for (uint32_t i = 0; i < in->n; i++)
                put_number(o, g->first_edge[in->nodes[i] + 1] - g->first_edge[in->nodes[i]]);
        for (uint32_t i = 0; i < in->n; i++)
                for (uint32_t e = g->first_edge[in->nodes[i]]; e < g->first_edge[in->nodes[i] + 1]; e++) {
                        const uint32_t to = in->places[g->edges[e]] - 1;
                        put_number(o, fresh - to);
                        if (to == fresh)
                                fresh = next_new(in, fresh + 1);
                }
}

static void put_band(struct bytes_out *o, const struct heap_band *b)
{
        put_text(o, b->name);
        put_number(o, b->bytes);
        put_number(o, b->objects);
}

/* Those of which it is known what they hold. */
static void put_bands(struct bytes_out *o, const struct heap_bands *bands)
{
        size_t n = 0;

        for (size_t i = 0; i < bands->n; i++)
                n += bands->items[i].n_contents > 0;
        put_number(o, n);
        for (size_t i = 0; i < bands->n; i++) {
                const struct heap_band *b = &bands->items[i];
                if (b->n_contents == 0)
                        continue;
                put_band(o, b);
                put_number(o, b->is_container);
                put_number(o, b->n_contents);
                for (size_t k = 0; k < b->n_contents; k++) {
                        put_band(o, &b->contents[k]);
                        put_number(o, b->contents[k].elements);
                        put_number(o, b->contents[k].same);
                }
        }
}

static void put_arrays(struct bytes_out *o, const struct heap_graph *g, const struct order *in)
{
        put_number(o, g->n_pins);
        for (uint32_t i = 0; i < g->n_pins; i++)
                put_number(o, in->places[g->pins[i].node] > 0 ? in->places[g->pins[i].node] - 1 : 0);
        for (uint32_t i = 0; i < g->n_pins; i++)
                put_number(o, g->pins[i].dead_words);
        for (unsigned kind = 0; kind < SLICES_KINDS; kind++) {
                const struct graph_slices *s = &g->slices[kind];
                put_number(o, s->slices);
                put_number(o, s->arrays);
                put_number(o, s->array_bytes);
                put_number(o, s->used_bytes);
        }
}

uint8_t *graph_file_encode(const struct heap_graph *g, size_t *ret_size)
{
        struct order in = { .nodes = malloc(((size_t)g->n_nodes + 1) * sizeof(*in.nodes)),
                            .places = calloc((size_t)g->n_nodes + 1, sizeof(*in.places)),
                            .graph = g };
        struct bytes_out o = { .failed = !in.nodes || !in.places || !graph_search(g, add_place, &in) };
        uint8_t *ret = NULL;

        put_number(&o, VERSION);
        put_text(&o, g->origin.program);
        put_text(&o, g->origin.layout);
        put_text(&o, g->origin.from);
        put_number(&o, g->origin.pid);
        put_number(&o, g->origin.taken_unix_s);
        put_number(&o, g->origin.stopped_ns);
        put_number(&o,
                   (uint64_t)g->origin.profiled | (uint64_t)g->origin.symbols << 1 | (uint64_t)g->origin.complete << 2);
        put_number(&o, g->live_cafs);
        put_number(&o, g->dead_cafs);
        put_number(&o, g->n_types);
        for (uint32_t i = 0; i < g->n_types; i++) {
                const struct graph_type *t = &g->types[i];
                put_number(&o, t->kind);
                put_text(&o, t->name);
                put_text(&o, t->by_type);
                put_number(&o, t->roots);
                put_number(&o, t->unreached_bytes);
                put_number(&o, t->unreached_closures);
                put_number(&o, t->pinned_bytes);
        }
        if (!o.failed)
                put_nodes(&o, g, &in);
        put_bands(&o, &g->bands);
        if (g->arrays_known && !o.failed)
                put_arrays(&o, g, &in);
        free(in.nodes);
        free(in.places);
        const size_t room = ZSTD_compressBound(o.n);
        if (!o.failed && (ret = malloc(sizeof(magic) + room))) {
                const size_t n = ZSTD_compress(ret + sizeof(magic), room, o.bytes, o.n, LEVEL);
                memcpy(ret, magic, sizeof(magic));
                *ret_size = sizeof(magic) + n;
                if (ZSTD_isError(n)) {
                        free(ret);
                        ret = NULL;
                }
        }
        free(o.bytes);
        return ret;
}

/* ------------------------------------------------------------------------- decoding */

struct bytes_in {
        const uint8_t *at, *end;
        const char *wrong; /* what was read when it became clear; NULL: all is well */
};

/* At most `most`; else 0, and it is wrong. */
static uint64_t get_number(struct bytes_in *in, uint64_t most, const char *what)
{
        uint64_t v = 0;

        for (unsigned shift = 0; !in->wrong && shift < 64 && in->at < in->end; shift += 7) {
                const uint8_t byte = *in->at++;
                v |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80)) {
                        if (v <= most)
                                return v;
                        break;
                }
        }
        if (!in->wrong)
                in->wrong = what;
        return 0;
}

static void get_text(struct bytes_in *in, char *ret, size_t size, const char *what)
{
        const size_t n = (size_t)get_number(in, size - 1, what);

        if (!in->wrong && n > (size_t)(in->end - in->at))
                in->wrong = what;
        if (!in->wrong) {
                memcpy(ret, in->at, n);
                in->at += n;
        }
        ret[in->wrong ? 0 : n] = '\0';
}

/* Types stay in their order: two that are equal would be one, and are refused. */
static void get_types(struct bytes_in *in, struct heap_graph *g, char *name, char *by_type)
{
        const uint64_t n = get_number(in, UINT32_MAX, "the number of types");

        for (uint64_t i = 0; i < n && !in->wrong && !g->out_of_memory; i++) {
                const uint64_t kind = get_number(in, GRAPH_KINDS - 1, "a kind of type");
                get_text(in, name, TEXT_MOST + 1, "a name of a type");
                get_text(in, by_type, TEXT_MOST + 1, "a type of closure");
                const uint32_t id = heap_graph_type(g, (enum graph_kind)kind, name, by_type);
                if (!g->out_of_memory && id != i)
                        in->wrong = "a type that is there twice";
                if (g->out_of_memory || in->wrong)
                        return;
                g->types[id].roots = (uint32_t)get_number(in, UINT32_MAX, "a number of roots");
                g->types[id].unreached_bytes = get_number(in, INT64_MAX, "unreached bytes");
                g->types[id].unreached_closures = get_number(in, INT64_MAX, "unreached closures");
                g->types[id].pinned_bytes = get_number(in, INT64_MAX, "pinned bytes");
        }
}

static void get_nodes(struct bytes_in *in, struct heap_graph *g, uint64_t most_bytes)
{
        const uint64_t n = get_number(in, UINT32_MAX - 2, "the number of nodes");
        const uint64_t edges = get_number(in, UINT32_MAX - 1, "the number of edges");

        if (!in->wrong && (n + edges > (uint64_t)(in->end - in->at) || (n && !g->n_types)))
                in->wrong = "more nodes than there are bytes, or types";
        if (in->wrong)
                return;
        if (n * BYTES_A_NODE + edges * BYTES_A_NODE / 4 > most_bytes) {
                g->out_of_memory = true;
                return;
        }
        for (uint64_t i = 0; i < n && !in->wrong && !g->out_of_memory; i++)
                (void)heap_graph_add(g, (uint32_t)get_number(in, g->n_types - 1, "a type of a node"), 0);
        for (uint32_t i = 0; i < n && !in->wrong && !g->out_of_memory; i++)
                heap_graph_set(g, i, heap_graph_type_number(g, i), 8 * get_number(in, UINT32_MAX, "a size of a node"));
        for (uint64_t i = 0, first = 0; i < n && !in->wrong && !g->out_of_memory; i++) {
                heap_graph_open_next(g);
                if (!g->out_of_memory)
                        g->first_edge[i] = (uint32_t)first;
                first += get_number(in, edges - first, "a number of edges of a node");
        }
        uint32_t fresh = next_fresh(g, 0);
        for (uint64_t e = 0; e < edges && !in->wrong && !g->out_of_memory; e++) {
                const uint64_t back = get_number(in, fresh, "an edge");
                if (!in->wrong && (back == 0 ? fresh == g->n_nodes : fresh - back >= g->n_nodes))
                        in->wrong = "an edge to a node that is not there";
                if (in->wrong)
                        return;
                heap_graph_add_edge(g, fresh - (uint32_t)back);
                if (back == 0)
                        fresh = next_fresh(g, fresh + 1);
        }
}

static void get_band(struct bytes_in *in, struct heap_graph *g, struct heap_band *b, char *name)
{
        get_text(in, name, TEXT_MOST + 1, "a name of contents");
        b->bytes = get_number(in, INT64_MAX, "bytes of contents");
        b->objects = get_number(in, INT64_MAX, "closures of contents");
        g->out_of_memory |= !(b->name = strdup(name));
}

/* The contents of one band are all of it. */
static void get_contents(struct bytes_in *in, struct heap_graph *g, struct heap_band *b, char *name)
{
        const uint64_t n = get_number(in, CONTENTS_MOST, "the number of contents");
        uint64_t bytes = b->bytes, objects = b->objects;

        if (in->wrong || g->out_of_memory || !(b->contents = calloc((size_t)n + 1, sizeof(*b->contents)))) {
                g->out_of_memory |= !in->wrong;
                return;
        }
        for (uint64_t i = 0; i < n && !in->wrong && !g->out_of_memory; i++) {
                struct heap_band *c = &b->contents[b->n_contents++];
                get_band(in, g, c, name);
                c->elements = get_number(in, INT64_MAX, "elements of contents");
                c->same = get_number(in, c->elements, "equal elements of contents");
                if (!in->wrong && (c->bytes > bytes || c->objects > objects))
                        in->wrong = "contents that are more than their type";
                bytes -= c->bytes;
                objects -= c->objects;
        }
        if (!in->wrong && (bytes || objects))
                in->wrong = "contents that are less than their type";
}

/* Older files have none. */
static void get_bands(struct bytes_in *in, struct heap_graph *g, char *name)
{
        const uint64_t n = in->at < in->end ? get_number(in, CONTENTS_MOST, "the number of types with contents") : 0;

        if (in->wrong || g->out_of_memory || !(g->bands.items = calloc((size_t)n + 1, sizeof(*g->bands.items)))) {
                g->out_of_memory |= !in->wrong;
                return;
        }
        for (uint64_t i = 0; i < n && !in->wrong && !g->out_of_memory; i++) {
                struct heap_band *b = &g->bands.items[g->bands.n++];
                get_band(in, g, b, name);
                b->is_container = get_number(in, 1, "whether a type is a container");
                get_contents(in, g, b, name);
        }
}

/* Older files have none. */
static void get_arrays(struct bytes_in *in, struct heap_graph *g)
{
        g->arrays_known = in->at < in->end;
        if (in->wrong || g->out_of_memory || !g->arrays_known)
                return;
        const uint64_t n = get_number(in, (uint64_t)(in->end - in->at) / 2, "the number of pinned closures");
        for (uint64_t i = 0; i < n && !in->wrong && !g->out_of_memory; i++) {
                const uint64_t node = get_number(in, UINT32_MAX, "a pinned closure");
                if (node < g->n_nodes)
                        heap_graph_add_pin(g, (uint32_t)node);
                else if (!in->wrong)
                        in->wrong = "a pinned closure that is not there";
        }
        for (uint64_t i = 0; i < n && !in->wrong && !g->out_of_memory; i++)
                g->pins[i].dead_words = (uint32_t)get_number(in, UINT32_MAX, "dead words of a pinned block");
        for (unsigned kind = 0; kind < SLICES_KINDS; kind++) {
                struct graph_slices *s = &g->slices[kind];
                s->slices = get_number(in, INT64_MAX, "a number of slices");
                s->arrays = get_number(in, s->slices, "a number of arrays with slices");
                s->array_bytes = get_number(in, INT64_MAX, "bytes of arrays with slices");
                s->used_bytes = get_number(in, s->array_bytes, "bytes of slices");
        }
}

static bool decode_graph(struct heap_graph *g, const uint8_t *bytes, size_t size, uint64_t most_bytes,
                         struct error *error)
{
        struct bytes_in in = { bytes, bytes + size, NULL };
        char *texts = malloc(2 * (TEXT_MOST + 1));

        g->out_of_memory |= !texts;
        if (get_number(&in, UINT64_MAX, "its version") != VERSION && !in.wrong)
                in.wrong = "its version: a newer heapwatch wrote it";
        get_text(&in, g->origin.program, sizeof(g->origin.program), "the program's name");
        get_text(&in, g->origin.layout, sizeof(g->origin.layout), "the layout's name");
        get_text(&in, g->origin.from, sizeof(g->origin.from), "how it was read");
        g->origin.pid = (uint32_t)get_number(&in, INT32_MAX, "the process");
        g->origin.taken_unix_s = get_number(&in, INT64_MAX, "the time");
        g->origin.stopped_ns = get_number(&in, INT64_MAX, "the stop");
        const uint64_t flags = get_number(&in, 7, "the flags");
        g->origin.profiled = flags & 1;
        g->origin.symbols = flags & 2;
        g->origin.complete = flags & 4;
        g->live_cafs = get_number(&in, INT64_MAX, "the number of top-level values");
        g->dead_cafs = get_number(&in, INT64_MAX, "the number of dead top-level values");
        if (texts && !in.wrong) {
                get_types(&in, g, texts, texts + TEXT_MOST + 1);
                get_nodes(&in, g, most_bytes);
                get_bands(&in, g, texts);
                get_arrays(&in, g);
        }
        free(texts);
        heap_graph_finish(g);
        if (g->out_of_memory)
                return error_set(error, "it needs more memory than the inspection may have (--memory)");
        return !in.wrong ||
               error_set(error, "it is damaged: %s, at byte %zu of %zu", in.wrong, (size_t)(in.at - bytes), size);
}

bool graph_file_decode(struct heap_graph *g, const uint8_t *bytes, size_t size, uint64_t most_bytes,
                       struct error *error)
{
        const size_t offset = sizeof(magic);

        heap_graph_init(g);
        if (size < offset || !graph_file_is_one(bytes))
                return error_set(error,
                                 "it is no heap graph: `heapwatch heap -o FILE" GRAPH_FILE_SUFFIX "` writes one");
        const unsigned long long n = ZSTD_getFrameContentSize(bytes + offset, size - offset);
        if (n == ZSTD_CONTENTSIZE_UNKNOWN || n == ZSTD_CONTENTSIZE_ERROR)
                return error_set(error, "it is damaged: there is no zstd frame of a known size in it");
        if (n > most_bytes)
                return error_set(error, "it needs more memory than the inspection may have (--memory)");
        uint8_t *plain = malloc((size_t)n + 1);
        const size_t got = plain ? ZSTD_decompress(plain, (size_t)n, bytes + offset, size - offset) : 0;
        bool good = plain != NULL || error_set(error, "out of memory; --memory gives it more");
        if (good && (ZSTD_isError(got) || got != n))
                good = error_set(error, "it is damaged, or cut off: zstd: %s",
                                 ZSTD_isError(got) ? ZSTD_getErrorName(got) : "it ends early");
        good = good && decode_graph(g, plain, got, most_bytes, error);
        free(plain);
        return good;
}
