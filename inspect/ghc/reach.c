/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a search, depth first, goes from the roots through everything, also the closures that do not move and the
 * lists of these that code refers to (SRT): so it finds the CAFs that are alive, as the collector does. It leaves a
 * mark for each closure that it reaches.
 *
 * These are the nodes of the graph in the order of their addresses, so that the number of one is known by the marks in
 * front of it, and the copy of the heap goes megablock by megablock while types, sizes and pointers are written down.
 * In front of them are the nodes of roots, weak pointers and frames; behind them those of roots that only hold what no
 * other one does: registers, and C memory.
 */
#include "inspect/ghc/reach.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/census.h"
#include "inspect/ghc/closure.h"
#include "inspect/ghc/roots.h"
#include "inspect/ghc/threads.h"
#include "inspect/memory/sorted.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/idtable.h"

#define STATICS_MOST ((size_t)1 << 23)
#define BITMAP_MOST  (UINT64_C(1) << 20) /* words of a frame or of arguments */
#define WEAK_MOST    (UINT64_C(1) << 22)

struct weak {
        uint64_t key, at;
};

struct search {
        const struct heap_snapshot *s;
        struct ghc *g;
        struct heap_graph *graph;
        struct graph_types types;
        struct heap_roots roots;
        struct heap_census *census; /* of what becomes part of the graph; NULL: nobody wants that */
        bool is_marking;            /* else edges are added */
        bool names_frames;          /* those with a name become nodes */
        bool has_regions;           /* compact ones */
        uint64_t *places;           /* what has been marked and not gone through */
        size_t n_places, places_capacity;
        struct weak *weak; /* by key; then those whose key is alive */
        size_t n_weak, weak_capacity;
        uint64_t *frames; /* that have a name, where they are */
        size_t n_frames, frames_capacity;
        uint64_t *statics; /* closures that do not move and were reached, in that order */
        size_t n_statics, statics_capacity;
        size_t statics_done; /* of these, that were gone through */
        struct idtable static_ids;
        uint32_t *root_first; /* of each node of roots, the first of them; the last one has the registers */
        uint32_t *root_next;  /* of each root, the next one of its name, plus 1 */
        uint32_t n_root_nodes;
        bool has_registers;
        uint32_t first_weak, first_frame; /* nodes */
};

/* ------------------------------------------------------------------ what was reached */

#define MARKED_AT_ONCE 32u /* words: as many as struct marks has bits */
#define MARKS          (MEGABLOCK_BYTES / 8 / MARKED_AT_ONCE)

/* The marks of the word at an address, and its bit. NULL: none is marked there. */
static struct marks *marks_of(const struct megablock *m, uint64_t at, uint32_t *ret_bit)
{
        const uint64_t word = at % MEGABLOCK_BYTES / 8;

        *ret_bit = UINT32_C(1) << (word % MARKED_AT_ONCE);
        return m && m->marks && !(at & 7) ? &m->marks[word / MARKED_AT_ONCE] : NULL;
}

static bool is_marked(const struct heap_snapshot *s, uint64_t at)
{
        uint32_t bit;
        const struct marks *marks = marks_of(snapshot_megablock(s, at), at, &bit);

        return marks && (marks->bits & bit);
}

/* True: the closure at an address in a megablock was not reached before. */
static bool mark_closure(struct search *c, struct megablock *m, uint64_t at)
{
        uint32_t bit;
        struct marks *marks = marks_of(m, at, &bit);

        if (marks && (marks->bits & bit))
                return false;
        const struct closure_table *t = info_tables_find(&c->g->tables, snapshot_word_in(c->s, m, at));
        if (!t || closure_is_frame(t->type))
                return false;
        if (!marks && !(m->marks = calloc(MARKS, sizeof(*m->marks)))) {
                c->graph->out_of_memory = true;
                return false;
        }
        marks_of(m, at, &bit)->bits |= bit;
        return true;
}

/* In pairs, in fours, in bytes: most compilers call a function for it. */
static uint32_t count_bits(uint32_t bits)
{
        bits -= bits >> 1 & 0x55555555;
        bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
        return ((bits + (bits >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

/* Numbers what is marked, from `first` on. Returns how many there are. */
static uint64_t number_marks(struct heap_snapshot *s, uint32_t first)
{
        uint64_t n = first;

        for (size_t i = 0; i < s->n_megablocks; i++)
                for (size_t k = 0; s->megablocks[i].marks && k < MARKS; k++) {
                        s->megablocks[i].marks[k].before = (uint32_t)n;
                        n += count_bits(s->megablocks[i].marks[k].bits);
                }
        return n - first;
}

/* The node of a closure; UINT32_MAX: it is not marked. */
static uint32_t node_in(const struct megablock *m, uint64_t at)
{
        uint32_t bit;
        const struct marks *marks = marks_of(m, at, &bit);

        return marks && (marks->bits & bit) ? marks->before + count_bits(marks->bits & (bit - 1)) : UINT32_MAX;
}

uint32_t reach_node(const struct heap_snapshot *s, uint64_t at)
{
        return node_in(snapshot_megablock(s, at), at);
}

static void add_edge(struct search *c, uint32_t node)
{
        if (!c->graph->out_of_memory)
                heap_graph_add_edge(c->graph, node);
}

static bool has_static(const void *ctx, uint64_t at)
{
        const struct search *c = ctx;
        const uint64_t hash = hash_u64(at, 0);
        uint32_t place = idtable_start(&c->static_ids, hash), id;

        while ((id = idtable_next(&c->static_ids, hash, &place)) && c->statics[id - 1] != at)
                ;
        return id != 0;
}

/* ------------------------------------------------------------------------- following */

/* A pointer: what it points to is reached. Anything else is passed over. */
static void follow_pointer(struct search *c, uint64_t pointer)
{
        uint64_t at = pointer & ~UINT64_C(7);
        struct megablock *m = snapshot_megablock(c->s, at);

        if (!m) {
                if (c->is_marking && at && program_is_data(c->g->program, at) && !has_static(c, at)) {
                        if (c->n_statics < STATICS_MOST &&
                            ARRAY_RESERVE(c->statics, c->statics_capacity, c->n_statics + 1) &&
                            idtable_add(&c->static_ids, hash_u64(at, 0), (uint32_t)c->n_statics + 1) == 0)
                                c->statics[c->n_statics++] = at;
                        else
                                c->graph->out_of_memory = true;
                }
                return;
        }
        if (c->has_regions) {
                at = closure_of_region(c->s, at);
                m = snapshot_megablock(c->s, at);
        }
        if (!c->is_marking) {
                const uint32_t node = node_in(m, at);
                if (node != UINT32_MAX)
                        add_edge(c, node);
        } else if (m && mark_closure(c, m, at)) {
                if (ARRAY_RESERVE(c->places, c->places_capacity, c->n_places + 1))
                        c->places[c->n_places++] = at;
                else
                        c->graph->out_of_memory = true;
        }
}

static void follow_words(struct search *c, uint64_t at, uint64_t n)
{
        const struct megablock *m = NULL;

        for (const uint64_t end = at + 8 * n; at < end; at += 8) {
                m = !m || at % MEGABLOCK_BYTES == 0 ? snapshot_megablock(c->s, at) : m;
                follow_pointer(c, snapshot_word_in(c->s, m, at));
        }
}

/* Closures that the code refers to. */
static void follow_code(struct search *c, const struct closure_table *t)
{
        if (c->is_marking && t->srt)
                follow_pointer(c, t->at + (uint64_t)(int64_t)t->srt);
}

static void follow_frame(struct search *c, const struct closure_table *t, uint64_t at, size_t size)
{
        const uint64_t large = t->at + (uint64_t)(int64_t)(int32_t)(uint32_t)t->layout + 8;
        uint64_t bits = t->layout >> 6; /* one that is set: no pointer */

        if (t->type == RET_FUN || t->type == RET_BCO) {
                const size_t head = t->type == RET_FUN ? 2 : 1;
                follow_words(c, at + 8 * head, size - head);
                return;
        }
        for (size_t i = 0; i + 1 < size; i++) {
                if (t->type == RET_BIG && i % 64 == 0 &&
                    !memory_read_kept(c->g->program->memory, large + i / 8, &bits, sizeof(bits)))
                        break;
                if (!(bits >> (i % 64) & 1))
                        follow_pointer(c, snapshot_word(c->s, at + 8 + 8 * i));
        }
        if (t->type == RET_SMALL || t->type == RET_BIG)
                follow_code(c, t);
}

/* The words of the frame at `at`, of which at most `most` are there; 0: it is none that is understood. */
static size_t frame_at(const struct search *c, uint64_t at, uint64_t most, const struct closure_table **ret)
{
        const uint64_t words[2] = { snapshot_word(c->s, at), snapshot_word(c->s, at + 8) };

        return frame_words(c->g, words, (size_t)most, ret);
}

/* What the frames from `at` to `end` hold. Those with a name become nodes. */
static void follow_frames(struct search *c, uint64_t at, uint64_t end)
{
        while (at < end && !c->graph->out_of_memory) {
                const struct closure_table *t;
                const size_t size = frame_at(c, at, (end - at) / 8, &t);
                const bool is_node = size && c->names_frames && graph_type_of_frame(&c->types, t) != GRAPH_TYPE_NONE;

                if (is_node && !c->is_marking) {
                        const size_t n = sorted_count(c->frames, c->n_frames, sizeof(*c->frames), at);
                        if (n > 0 && c->frames[n - 1] == at)
                                add_edge(c, c->first_frame + (uint32_t)n - 1);
                } else if (is_node && !ARRAY_RESERVE(c->frames, c->frames_capacity, c->n_frames + 1)) {
                        c->graph->out_of_memory = true;
                } else {
                        if (is_node)
                                c->frames[c->n_frames++] = at;
                        if (size == 0) /* an argument on top of a stack that runs, or what is not understood */
                                follow_pointer(c, snapshot_word(c->s, at));
                        else
                                follow_frame(c, t, at, size);
                }
                at += size ? 8 * size : 8;
        }
}

static void follow_stack(struct search *c, uint64_t at)
{
        const uint64_t base = at + c->g->shift, begin = base + STACK_WORDS;
        const uint64_t end = begin + 8 * (uint64_t)(uint32_t)snapshot_word(c->s, base + STACK_SIZE);
        uint64_t pointer = snapshot_word(c->s, base + STACK_POINTER);

        for (size_t i = 0; i < c->roots.n_running; i++)
                if (c->roots.running[i].stack == at && c->roots.running[i].pointer)
                        pointer = c->roots.running[i].pointer;
        if (pointer >= begin && pointer <= end && !(pointer & 7) && end - begin <= (UINT64_C(1) << 30))
                follow_frames(c, pointer, end);
}

/* Not the next thread of the list, nor the capability. */
static void follow_thread(struct search *c, uint64_t at)
{
        const struct thread_layout *l = &c->g->thread;
        const uint16_t fields[] = { THREAD_STACK,      l->block_info,     l->blocked_exceptions,
                                    l->blocking_queue, l->capability + 8, l->label ? l->label : l->blocking_queue };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                follow_pointer(c, snapshot_word(c->s, at + c->g->shift + fields[i]));
}

static uint64_t bounded_words(uint64_t n)
{
        return n < BITMAP_MOST ? n : BITMAP_MOST;
}

/* What a closure of the heap holds. A weak pointer holds nothing: its key does. */
static void go_through(struct search *c, uint64_t at, const struct closure_table *t)
{
        const uint64_t h = 8 * (uint64_t)c->g->header_words, payload = at + h, thunk = payload + 8;

        switch (t->type) {
        case ARR_WORDS:
        case WEAK:
        case COMPACT_NFDATA:
                return;
        case TSO:
                follow_thread(c, at);
                return;
        case STACK:
                follow_stack(c, at);
                return;
        case IND:
        case BLACKHOLE:
        case BLOCKING_QUEUE:
                follow_words(c, payload, t->type == BLOCKING_QUEUE ? 4 : 1);
                return;
        case THUNK_SELECTOR:
                follow_pointer(c, snapshot_word(c->s, thunk));
                return;
        case AP:
                follow_words(c, thunk + 8, 1 + bounded_words(snapshot_word(c->s, thunk) >> 32));
                return;
        case PAP:
                follow_words(c, payload + 8, 1 + bounded_words(snapshot_word(c->s, payload) >> 32));
                return;
        case AP_STACK:
                follow_pointer(c, snapshot_word(c->s, thunk + 8));
                follow_frames(c, thunk + 16, thunk + 16 + 8 * bounded_words(snapshot_word(c->s, thunk)));
                return;
        case CONTINUATION:
                follow_frames(c, payload + 24, payload + 24 + 8 * bounded_words(snapshot_word(c->s, payload + 16)));
                return;
        case BCO:
                follow_words(c, payload, 3);
                return;
        case TREC_CHUNK:
                follow_pointer(c, snapshot_word(c->s, payload));
                /* those that are used; others have what was there before */
                for (uint64_t i = 0; i < TREC_ENTRIES && i < snapshot_word(c->s, payload + 8); i++)
                        follow_words(c, payload + 16 + 8 * i * c->g->trec_entry_words, 3);
                return;
        default:
                break;
        }
        if (closure_is_array(t->type))
                follow_words(c, payload + 16,
                             snapshot_word(c->s, payload) < (UINT64_C(1) << 40) ? snapshot_word(c->s, payload) : 0);
        else if (closure_is_small_array(t->type))
                follow_words(c, payload + 8, bounded_words(snapshot_word(c->s, payload)));
        else
                follow_words(c, closure_is_thunk(t->type) ? thunk : payload, t->pointers);
        if (closure_is_function(t->type) || closure_is_thunk(t->type))
                follow_code(c, t);
}

static uint64_t static_word(const struct search *c, uint64_t at)
{
        uint64_t value;

        return snapshot_read(c->s, at, &value) ? value : 0;
}

/* A closure that does not move: it may hold others, and its code may refer to others. */
static void go_through_static(struct search *c, uint64_t at)
{
        const struct closure_table *t = info_tables_find(&c->g->tables, static_word(c, at));
        const uint64_t payload = at + 8 * (uint64_t)c->g->header_words;

        if (!t || t->type == CONSTR_NOCAF)
                return;
        if (t->type == IND_STATIC)
                follow_pointer(c, static_word(c, payload));
        else if (t->type == THUNK_STATIC)
                follow_code(c, t);
        else if (t->type == FUN_STATIC || closure_is_constructor(t->type)) {
                for (uint32_t i = 0; i < t->pointers; i++)
                        follow_pointer(c, static_word(c, payload + 8 * (uint64_t)i));
                if (t->type == FUN_STATIC)
                        follow_code(c, t);
        }
}

/* --------------------------------------------------------------------- weak pointers */

/*
 * A weak pointer whose key is alive holds its value and its finalizers, whoever knows of the weak pointer: so they are
 * held by the key. The keys that do not move are always alive.
 */
static int by_key(const void *a, const void *b)
{
        const struct weak *x = a, *y = b;

        return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

static void find_weak_pointers(struct search *c)
{
        const uint64_t h = 8 * (uint64_t)c->g->header_words;

        for (unsigned i = 0; i < c->s->generations.n; i++) {
                uint64_t at = c->s->generations.items[i].weak_pointers;
                for (uint64_t n = 0; at && n < WEAK_MOST && !c->graph->out_of_memory; n++) {
                        const struct closure_table *t = snapshot_table(c->s, at);
                        if (!t || t->type != WEAK)
                                break;
                        const uint64_t key = closure_of_region(c->s, snapshot_word(c->s, at + h + 8) & ~UINT64_C(7));
                        if (!snapshot_megablock(c->s, key))
                                heap_roots_add_weak(&c->roots, at);
                        else if (ARRAY_RESERVE(c->weak, c->weak_capacity, c->n_weak + 1))
                                c->weak[c->n_weak++] = (struct weak){ key, at };
                        else
                                c->graph->out_of_memory = true;
                        at = snapshot_word(c->s, at + h + 32);
                }
        }
        ARRAY_SORT(c->weak, c->n_weak, by_key);
}

/* With the weak pointer itself, and C's finalizers. */
static void follow_weak_pointer(struct search *c, uint64_t at)
{
        const uint64_t payload = at + 8 * (uint64_t)c->g->header_words;

        follow_pointer(c, at);
        follow_pointer(c, snapshot_word(c->s, payload));
        follow_words(c, payload + 16, 2);
}

/* Of what its closure is the key of. */
static void follow_weak_pointers(struct search *c, uint64_t key)
{
        for (size_t i = sorted_count(c->weak, c->n_weak, sizeof(*c->weak), key - 1);
             i < c->n_weak && c->weak[i].key == key; i++)
                if (c->is_marking)
                        follow_weak_pointer(c, c->weak[i].at);
                else
                        add_edge(c, c->first_weak + (uint32_t)i);
}

/* --------------------------------------------------------------------------- marking */

static void continue_marking(struct search *c)
{
        while ((c->n_places > 0 || c->statics_done < c->n_statics) && !c->graph->out_of_memory) {
                if (c->statics_done < c->n_statics) {
                        go_through_static(c, c->statics[c->statics_done++]);
                        continue;
                }
                const uint64_t at = c->places[--c->n_places];
                go_through(c, at, snapshot_table(c->s, at));
                follow_weak_pointers(c, at);
        }
}

static void follow_root(struct search *c, const struct root *r)
{
        if (r->is_weak)
                follow_weak_pointer(c, r->closure);
        else
                follow_pointer(c, r->closure);
}

static bool mark_from_roots(struct search *c)
{
        for (size_t i = 0; i < c->roots.n; i++)
                follow_root(c, &c->roots.items[i]);
        continue_marking(c);
        return !c->graph->out_of_memory;
}

static bool is_static_closure(const struct search *c, uint64_t pointer)
{
        const uint64_t at = pointer & ~UINT64_C(7);

        return at && program_is_data(c->g->program, at) && info_tables_find(&c->g->tables, static_word(c, at));
}

/*
 * The closures that C has: what looks like a pointer to one. Statics of Haskell are not among these words. What C may
 * call (foreign export) is a static closure in the table of stable pointers: where that is not known, by a pointer.
 */
static void follow_c_memory(struct search *c)
{
        const bool statics = c->is_marking && !c->roots.has_stable_pointers;

        for (size_t i = 0; i < c->s->n_written; i++) {
                const struct written *w = &c->s->written[i];
                for (uint64_t at = w->start; at + 8 <= w->end; at += 8) {
                        uint64_t value;
                        memcpy(&value, w->bytes + (at - w->start), sizeof(value));
                        if ((snapshot_megablock(c->s, value) || (statics && is_static_closure(c, value))) &&
                            !program_is_data(c->g->program, at))
                                follow_pointer(c, value);
                }
        }
}

/* --------------------------------------------------------------------------- the graph */

/* What is added from now on are its edges. */
static void open_node(struct search *c, uint32_t type, uint64_t bytes)
{
        (void)heap_graph_add(c->graph, type, bytes);
        heap_graph_open_next(c->graph);
}

static void add_closure(struct search *c, uint64_t at)
{
        const struct closure_table *t = snapshot_table(c->s, at);
        const struct heap_group *g = snapshot_group(c->s, at);

        open_node(c, graph_type_of_closure(&c->types, t), g ? closure_bytes(c->s, t, at, g) : 0);
        go_through(c, at, t);
        follow_weak_pointers(c, at);
}

/* By address. */
static void each_marked(struct search *c, const struct megablock *m, void (*each)(struct search *c, uint64_t at))
{
        for (size_t k = 0; m->marks && k < MARKS; k++)
                for (uint32_t bits = m->marks[k].bits; bits; bits &= bits - 1)
                        each(c, m->at + 8 * (k * MARKED_AT_ONCE + (uint64_t)__builtin_ctz(bits)));
}

/* One for each name: CAFs, from `first_caf` on, come first, and registers last, whose node is not made yet. */
static bool list_roots(struct search *c, size_t first_caf)
{
        const size_t n = c->roots.n;
        uint32_t *last = calloc((size_t)c->graph->n_types + 1, sizeof(*last)); /* of each type, plus 1 */
        uint32_t registers = 0;

        c->root_first = calloc(n + 1, sizeof(*c->root_first));
        c->root_next = calloc(n + 1, sizeof(*c->root_next));
        c->graph->out_of_memory |= !last || !c->root_first || !c->root_next;
        for (size_t i = 0; i < n && !c->graph->out_of_memory; i++) {
                const size_t k = (first_caf + i) % n;
                const struct root *r = &c->roots.items[k];
                if (last[r->type])
                        c->root_next[last[r->type] - 1] = (uint32_t)k + 1;
                else if (r->is_brief)
                        registers = (uint32_t)k + 1;
                else
                        c->root_first[c->n_root_nodes++] = (uint32_t)k;
                last[r->type] = (uint32_t)k + 1;
        }
        c->has_registers = registers > 0;
        if (registers)
                c->root_first[c->n_root_nodes] = registers - 1;
        free(last);
        return !c->graph->out_of_memory;
}

static void add_root(struct search *c, uint32_t i)
{
        open_node(c, c->roots.items[c->root_first[i]].type, 0);
        for (uint32_t k = c->root_first[i] + 1; k; k = c->root_next[k - 1])
                follow_root(c, &c->roots.items[k - 1]);
}

/* Which closure is which node: before there are any. */
static bool number_nodes(struct search *c, struct heap_snapshot *s, size_t first_caf)
{
        size_t alive = 0;

        if (!list_roots(c, first_caf))
                return false;
        for (size_t i = 0; i < c->n_weak; i++)
                if (is_marked(s, c->weak[i].key))
                        c->weak[alive++] = c->weak[i];
        c->n_weak = alive;
        ARRAY_SORT(c->frames, c->n_frames, sorted_compare);
        c->first_weak = c->n_root_nodes;
        c->first_frame = c->first_weak + (uint32_t)c->n_weak;
        const uint64_t first = (uint64_t)c->first_frame + c->n_frames;
        return first < UINT32_MAX && heap_graph_reserve(c->graph, first + number_marks(s, (uint32_t)first) + 2);
}

static void add_nodes(struct search *c)
{
        struct heap_graph *g = c->graph;

        for (uint32_t i = 0; i < c->n_root_nodes; i++)
                add_root(c, i);
        for (size_t i = 0; i < c->n_weak; i++) {
                open_node(c, heap_graph_type(g, GRAPH_FRAME, "weak pointer", "weak pointer"), 0);
                follow_weak_pointer(c, c->weak[i].at);
        }
        for (size_t i = 0; i < c->n_frames; i++) {
                const struct closure_table *t;
                const size_t size = frame_at(c, c->frames[i], BITMAP_MOST, &t);
                open_node(c, graph_type_of_frame(&c->types, snapshot_table(c->s, c->frames[i])), 0);
                if (size)
                        follow_frame(c, t, c->frames[i], size);
        }
        for (size_t i = 0; i < c->s->n_megablocks && !g->out_of_memory; i++) {
                each_marked(c, &c->s->megablocks[i], add_closure);
                if (!c->has_regions) /* a pointer into a region leads to the first block of that */
                        snapshot_release(c->s, &c->s->megablocks[i]);
        }
        if (c->has_registers)
                add_root(c, c->n_root_nodes);
        open_node(c, heap_graph_type(g, GRAPH_DOUBTFUL_ROOT, "C memory, which may be a stable pointer", "root"), 0);
        follow_c_memory(c);
        heap_graph_finish(g);
}

/* -------------------------------------------------------------------- all that is there */

struct counting {
        struct search *search;
        uint64_t bytes, reached; /* of a group: of what is not reached, and what is */
};

/* In a group there may be more of them than group_each() finds: behind the current block of a nursery, in a gap. */
static void count_reached(struct search *c, uint64_t at)
{
        const struct closure_table *t = snapshot_table(c->s, at);
        const struct heap_group *g = snapshot_group(c->s, at);

        (void)graph_type_of_closure(&c->types, t); /* slices_read() knows them by their types */
        if (c->census && heap_census_add(c->census, t, at, g ? closure_bytes(c->s, t, at, g) : 0))
                heap_graph_want(c->graph, reach_node(c->s, at));
}

static void count_unreached(void *ctx, const struct closure_table *table, uint64_t at, uint64_t bytes)
{
        struct counting *n = ctx;
        struct search *c = n->search;

        if (reach_node(c->s, at) != UINT32_MAX) {
                n->reached += bytes;
                return;
        }
        const uint32_t type = graph_type_of_closure(&c->types, table);
        const bool is_wanted = c->census && heap_census_add(c->census, table, at, bytes);
        if (c->graph->out_of_memory)
                return;
        c->graph->wanted_unreached_bytes += is_wanted ? bytes : 0;
        c->graph->wanted_unreached_closures += is_wanted;
        c->graph->types[type].unreached_bytes += bytes;
        c->graph->types[type].unreached_closures++;
        n->bytes += bytes;
}

static void count_pinned(void *ctx, const struct closure_table *table, uint64_t at, uint64_t bytes)
{
        const struct counting *n = ctx;
        const uint32_t node = reach_node(n->search->s, at);

        if (node != UINT32_MAX)
                heap_graph_add_pin(n->search->graph, node);
        else if (!n->search->graph->out_of_memory)
                n->search->graph->types[graph_type_of_closure(&n->search->types, table)].pinned_bytes += bytes;
}

static void count_all(struct search *c)
{
        struct heap_graph *g = c->graph;
        struct group_rest unused = { 0 };

        for (size_t i = 0; i < c->s->n_megablocks && !g->out_of_memory; i++)
                each_marked(c, &c->s->megablocks[i], count_reached);
        for (size_t i = 0; i < c->s->n_groups && !g->out_of_memory; i++) {
                const struct heap_group *of = &c->s->groups[i];
                struct counting n = { .search = c };
                if (of->kind == GROUP_OTHER)
                        continue;
                group_each(c->s, of, count_unreached, &n, &unused);
                if (!(of->flags & BLOCK_PINNED) || !n.reached || !n.bytes)
                        continue;
                /* a block with dead closures, and with some that are not */
                group_each(c->s, of, count_pinned, &n, &unused);
                if (!g->out_of_memory)
                        g->pins[g->n_pins - 1].dead_words =
                                n.bytes / 8 < UINT32_MAX ? (uint32_t)(n.bytes / 8) : UINT32_MAX;
        }
}

/* --------------------------------------------------------------------------- the whole */

static void begin_search(struct search *c, struct heap_graph *g, struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_megablocks; i++) {
                free(s->megablocks[i].marks);
                s->megablocks[i].marks = NULL;
        }
        *c = (struct search){ .s = s, .g = s->ghc, .graph = g, .is_marking = true };
        for (size_t i = 0; i < s->n_groups && !c->has_regions; i++)
                c->has_regions = s->groups[i].kind == GROUP_COMPACT;
        c->types = (struct graph_types){ .program = s->ghc->program, .graph = g };
        c->roots = (struct heap_roots){ .snapshot = s, .types = &c->types };
        heap_roots_add(&c->roots);
        find_weak_pointers(c);
}

static void end_search(struct search *c)
{
        free(c->places);
        free(c->root_first);
        free(c->root_next);
        free(c->frames);
        free(c->statics);
        idtable_done(&c->static_ids);
        free(c->weak);
        free(c->roots.items);
        graph_types_done(&c->types);
}

bool reach_all(struct heap_graph *g, struct heap_snapshot *s, struct heap_census *all)
{
        struct slices *slices = NULL;
        struct search c;

        begin_search(&c, g, s);
        c.census = all;
        c.names_frames = true;
        bool good = !g->out_of_memory && mark_from_roots(&c);
        if (good) {
                const size_t first_caf = c.roots.n;
                follow_c_memory(&c);
                continue_marking(&c);
                heap_roots_add_cafs(&c.roots, has_static, &c);
                c.is_marking = false;
                good = !g->out_of_memory && number_nodes(&c, s, first_caf < c.roots.n ? first_caf : 0);
        }
        if (good) {
                count_all(&c);
                good = (slices = slices_read(&c.types, s)) != NULL;
        }
        if (good) {
                add_nodes(&c);
                good = slices_sum(slices, g);
        }
        slices_done(slices);
        end_search(&c);
        return good && !g->out_of_memory;
}

/* A collection removes indirections, but for a value that is being computed. */
static bool is_left(void *ctx, const struct closure_table *t, uint64_t at)
{
        struct search *c = ctx;

        if (!is_marked(c->s, at) || t->type == IND)
                return false;
        if (t->type != BLACKHOLE)
                return true;
        const uint64_t value = snapshot_word(c->s, at + 8 * (uint64_t)c->g->header_words);
        const struct closure_table *of = value & 7 ? NULL : snapshot_table(c->s, value);
        return of && (of->type == TSO || of->type == BLOCKING_QUEUE);
}

/* What may be a pointer, or the code of a frame. */
static void follow_doubtful(struct search *c, uint64_t word)
{
        const struct closure_table *t = info_tables_find(&c->g->tables, word);

        if (t && closure_is_frame(t->type))
                follow_code(c, t);
        else
                follow_pointer(c, word);
}

static uint64_t left_bytes(struct heap_census *c, struct search *of)
{
        heap_census_count_left(c, of->s, is_left, of);
        of->graph->out_of_memory |= c->out_of_memory;
        return c->total_bytes + c->rest.unused_bytes;
}

bool reach_census(struct heap_census *ret, struct heap_snapshot *s, uint64_t *ret_most)
{
        struct heap_census most = { .n = 0 };
        struct heap_graph g;
        struct search c;

        heap_graph_init(&g);
        begin_search(&c, &g, s);
        if (!g.out_of_memory && mark_from_roots(&c)) {
                (void)left_bytes(ret, &c);
                /* All stacks together are no larger than the heap, whatever they say. */
                uint64_t left = c.s->bytes / 8;

                for (size_t i = 0; i < c.roots.n_running; i++) {
                        const uint64_t base = c.roots.running[i].stack + c.g->shift;
                        const uint64_t n = (uint32_t)snapshot_word(c.s, base + STACK_SIZE);
                        for (uint64_t k = 0; k < n && left > 0; k++, left--)
                                follow_doubtful(&c, snapshot_word(c.s, base + STACK_WORDS + 8 * k));
                }
                for (size_t i = 0; i < c.s->n_changed; i++)
                        follow_doubtful(&c, c.s->changed[i]);
                if (!c.roots.has_stable_pointers)
                        follow_c_memory(&c);
                continue_marking(&c);
                *ret_most = left_bytes(&most, &c);
        }
        const bool good = !g.out_of_memory;
        end_search(&c);
        heap_census_done(&most);
        heap_graph_done(&g);
        return good;
}
