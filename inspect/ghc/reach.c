/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - two searches. The first, depth first, goes from threads and stable pointers through everything, also the
 * closures that do not move and the lists of these that code refers to (SRT): so it finds the CAFs that are alive, as
 * the collector does. The second, breadth first, begins with these CAFs, so that what a top-level value holds is said
 * to be held by it, leaves other closures that do not move alone, and makes the graph: a closure becomes a node when it
 * is first reached, and its type, its size and its edges are added when its turn comes, in the order of nodes.
 *
 * The first leaves a mark for each closure that it reaches, the second has a number for each of these, in the order of
 * their addresses. A node whose turn has not come has the place of what it stands for in the graph.
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

/* What a node stands for; closures have their address, which is a multiple of 8. */
#define PLACE_FRAME 1u /* of a frame, its address with this */
#define PLACE_ROOT  2u /* of roots, the index of the first, times 8, with this */
#define PLACE_WEAK  4u /* of a weak pointer, as what its key holds, its address with this */

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
        uint64_t *places;           /* what the first search has reached and not gone through */
        size_t n_places, places_capacity;
        struct weak *weak; /* by key */
        size_t n_weak, weak_capacity;
        uint32_t *root_next;  /* of each root, the next one of its name, plus 1 */
        bool through_statics; /* the first search */
        bool has_regions;     /* compact ones */
        uint64_t *statics;    /* closures that do not move and were reached, in that order */
        size_t n_statics, statics_capacity;
        size_t statics_done; /* of these, that were gone through */
        struct idtable static_ids;
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

/* Of the first search. True: the closure at an address in a megablock was not reached before. */
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

/* For the second search. False: out of memory. */
static bool make_numbers(struct heap_snapshot *s)
{
        uint64_t n = 0;

        for (size_t i = 0; i < s->n_megablocks; i++)
                for (size_t k = 0; s->megablocks[i].marks && k < MARKS; k++) {
                        s->megablocks[i].marks[k].before = (uint32_t)n;
                        n += count_bits(s->megablocks[i].marks[k].bits);
                }
        return n < UINT32_MAX && (s->numbers = calloc(n + 1, sizeof(*s->numbers)));
}

/* Where the number of the node of a closure is, plus 1, which is 0 until it has one. NULL: no search has reached it. */
static uint32_t *number_of(const struct heap_snapshot *s, const struct megablock *m, uint64_t at)
{
        uint32_t bit;
        const struct marks *marks = marks_of(m, at, &bit);

        return marks && (marks->bits & bit) && s->numbers
                       ? &s->numbers[marks->before + count_bits(marks->bits & (bit - 1))]
                       : NULL;
}

uint32_t reach_node(const struct heap_snapshot *s, uint64_t at)
{
        const uint32_t *number = number_of(s, snapshot_megablock(s, at), at);

        return number ? *number - 1 : UINT32_MAX;
}

/* In the second search the number of a new node. */
static uint32_t add_place(struct search *c, uint64_t place)
{
        if (!c->through_statics)
                return heap_graph_add_note(c->graph, place);
        if (ARRAY_RESERVE(c->places, c->places_capacity, c->n_places + 1))
                c->places[c->n_places++] = place;
        else
                c->graph->out_of_memory = true;
        return UINT32_MAX;
}

/* What is no closure, and is held by the node whose edges are being added. */
static void add_held(struct search *c, uint64_t place)
{
        const uint32_t number = add_place(c, place);

        if (!c->graph->out_of_memory)
                heap_graph_add_edge(c->graph, number);
}

/* Of the node whose turn it is. */
static void set_node(struct search *c, uint32_t type, uint64_t bytes)
{
        if (!c->through_statics)
                heap_graph_set(c->graph, c->graph->n_closed - 1, type, bytes);
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
        uint32_t *number;

        if (!m) {
                if (c->through_statics && at && program_is_data(c->g->program, at) && !has_static(c, at)) {
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
        if (c->through_statics) {
                if (m && mark_closure(c, m, at))
                        (void)add_place(c, at);
        } else if ((number = number_of(c->s, m, at))) {
                *number = *number ? *number : add_place(c, at) + 1;
                if (!c->graph->out_of_memory)
                        heap_graph_add_edge(c->graph, *number - 1);
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
        if (c->through_statics && t->srt)
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
                const uint32_t type = size && !c->through_statics ? graph_type_of_frame(&c->types, t) : GRAPH_TYPE_NONE;

                if (size == 0) /* an argument on top of a stack that runs, or what is not understood */
                        follow_pointer(c, snapshot_word(c->s, at));
                else if (type == GRAPH_TYPE_NONE)
                        follow_frame(c, t, at, size);
                else
                        add_held(c, at | PLACE_FRAME);
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

/* ----------------------------------------------------------------------- one by one */

/* The next one of what was reached, and the weak pointers whose key it is. */
static void go_through_next(struct search *c)
{
        const uint64_t place =
                c->through_statics ? c->places[--c->n_places] : heap_graph_note(c->graph, c->graph->n_closed);
        const uint64_t at = place & ~UINT64_C(7);
        const struct closure_table *t = snapshot_table(c->s, at);

        if (!c->through_statics)
                heap_graph_open_next(c->graph);
        if (c->graph->out_of_memory)
                return;
        if (place & PLACE_ROOT) {
                set_node(c, c->roots.items[at / 8].type, 0);
                for (uint64_t i = at / 8 + 1; i; i = c->root_next[i - 1])
                        if (c->roots.items[i - 1].is_weak)
                                follow_weak_pointer(c, c->roots.items[i - 1].closure);
                        else
                                follow_pointer(c, c->roots.items[i - 1].closure);
        } else if (place & PLACE_WEAK) {
                set_node(c, heap_graph_type(c->graph, GRAPH_FRAME, "weak pointer", "weak pointer"), 0);
                follow_weak_pointer(c, at);
        } else if (place & PLACE_FRAME) {
                set_node(c, graph_type_of_frame(&c->types, t), 0);
                const size_t size = frame_at(c, at, BITMAP_MOST, &t);
                if (size)
                        follow_frame(c, t, at, size);
        } else {
                if (!c->through_statics) {
                        const struct heap_group *g = snapshot_group(c->s, at);
                        const uint64_t bytes = g ? closure_bytes(c->s, t, at, g) : 0;

                        set_node(c, graph_type_of_closure(&c->types, t), bytes);
                        if (c->census && heap_census_add(c->census, t, at, bytes))
                                heap_graph_want(c->graph, c->graph->n_closed - 1);
                }
                go_through(c, at, t);
                for (size_t i = sorted_count(c->weak, c->n_weak, sizeof(*c->weak), at - 1);
                     i < c->n_weak && c->weak[i].key == at && !c->graph->out_of_memory; i++)
                        if (c->through_statics)
                                follow_weak_pointer(c, c->weak[i].at);
                        else
                                add_held(c, c->weak[i].at | PLACE_WEAK);
        }
}

static void continue_search(struct search *c)
{
        while ((c->n_places > 0 || c->graph->n_closed < c->graph->n_nodes || c->statics_done < c->n_statics) &&
               !c->graph->out_of_memory) {
                if (c->statics_done < c->n_statics)
                        go_through_static(c, c->statics[c->statics_done++]);
                else
                        go_through_next(c);
        }
}

/* ---------------------------------------------------------------------- the searches */

/*
 * A node for each name; with the next root of each one's name. CAFs, from `first_caf` on, come first. *ret_brief has
 * the place of the registers, which come last, or 0.
 */
static bool add_roots(struct search *c, size_t first_caf, uint64_t *ret_brief)
{
        const size_t n = c->roots.n;
        uint32_t *last = calloc((size_t)c->graph->n_types + 1, sizeof(*last)); /* of each type, plus 1 */

        free(c->root_next);
        c->root_next = calloc(n + 1, sizeof(*c->root_next));
        for (size_t i = 0; last && c->root_next && i < n && !c->graph->out_of_memory; i++) {
                const size_t k = (first_caf + i) % n;
                const uint32_t type = c->roots.items[k].type;
                const uint64_t place = (uint64_t)k * 8 | PLACE_ROOT;
                if (last[type])
                        c->root_next[last[type] - 1] = (uint32_t)k + 1;
                else if (c->roots.items[k].is_brief)
                        *ret_brief = place;
                else
                        (void)add_place(c, place);
                last[type] = (uint32_t)k + 1;
        }
        c->graph->out_of_memory |= !last || !c->root_next;
        free(last);
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
        const bool statics = c->through_statics && !c->roots.has_stable_pointers;

        if (!c->through_statics) {
                (void)heap_graph_add(c->graph,
                                     heap_graph_type(c->graph, GRAPH_DOUBTFUL_ROOT,
                                                     "C memory, which may be a stable pointer", "root"),
                                     0);
                heap_graph_open_next(c->graph);
        }
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

/* What a thread that runs has in a register just now, and something else holds, too, is held by that. */
static bool search_from_roots(struct search *c, size_t first_caf)
{
        uint64_t brief = 0;

        if (!add_roots(c, first_caf, &brief))
                return false;
        continue_search(c);
        if (brief) {
                (void)add_place(c, brief);
                continue_search(c);
        }
        return !c->graph->out_of_memory;
}

static bool search_all_roots(struct search *c, size_t first_caf)
{
        if (!search_from_roots(c, first_caf))
                return false;
        follow_c_memory(c);
        continue_search(c);
        return !c->graph->out_of_memory;
}

/* ---------------------------------------------------------------- what was not reached */

struct unreached {
        struct search *search;
        uint64_t bytes, reached; /* of a group */
};

/* Before the list of types is read: a new one may move it. */
static struct graph_type *type_of_unreached(const struct unreached *u, const struct closure_table *table)
{
        const uint32_t type = graph_type_of_closure(&u->search->types, table);

        return &u->search->graph->types[type];
}

static void count_unreached(void *ctx, const struct closure_table *table, uint64_t at, uint64_t bytes)
{
        struct unreached *u = ctx;

        if (reach_node(u->search->s, at) != UINT32_MAX) {
                u->reached += bytes;
                return;
        }
        struct graph_type *t = type_of_unreached(u, table);
        if (u->search->census && heap_census_add(u->search->census, table, at, bytes)) {
                u->search->graph->wanted_unreached_bytes += bytes;
                u->search->graph->wanted_unreached_closures++;
        }
        t->unreached_bytes += bytes;
        t->unreached_closures++;
        u->bytes += bytes;
}

static void count_pinned(void *ctx, const struct closure_table *table, uint64_t at, uint64_t bytes)
{
        const struct unreached *u = ctx;
        const uint32_t node = reach_node(u->search->s, at);

        if (node != UINT32_MAX)
                heap_graph_add_pin(u->search->graph, node);
        else
                type_of_unreached(u, table)->pinned_bytes += bytes;
}

static void count_all_unreached(struct search *c)
{
        struct heap_graph *g = c->graph;
        struct group_rest unused = { 0 };

        for (size_t i = 0; i < c->s->n_groups && !g->out_of_memory; i++) {
                const struct heap_group *of = &c->s->groups[i];
                struct unreached u = { .search = c };
                if (of->kind == GROUP_OTHER)
                        continue;
                group_each(c->s, of, count_unreached, &u, &unused);
                if (!(of->flags & BLOCK_PINNED) || !u.reached || !u.bytes)
                        continue;
                /* a block with dead closures, and with some that are not */
                group_each(c->s, of, count_pinned, &u, &unused);
                if (!g->out_of_memory)
                        g->pins[g->n_pins - 1].dead_words =
                                u.bytes / 8 < UINT32_MAX ? (uint32_t)(u.bytes / 8) : UINT32_MAX;
        }
}

/* --------------------------------------------------------------------------- the whole */

static void begin_search(struct search *c, struct heap_graph *g, struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_megablocks; i++) {
                free(s->megablocks[i].marks);
                s->megablocks[i].marks = NULL;
        }
        free(s->numbers);
        s->numbers = NULL;
        *c = (struct search){ .s = s, .g = s->ghc, .graph = g, .through_statics = true };
        for (size_t i = 0; i < s->n_groups && !c->has_regions; i++)
                c->has_regions = s->groups[i].kind == GROUP_COMPACT;
        c->types = (struct graph_types){ .program = s->ghc->program, .graph = g };
        c->roots = (struct heap_roots){ .snapshot = s, .types = &c->types };
}

static void end_search(struct search *c)
{
        free(c->places);
        free(c->root_next);
        free(c->statics);
        idtable_done(&c->static_ids);
        free(c->weak);
        free(c->roots.items);
        graph_types_done(&c->types);
}

bool reach_all(struct heap_graph *g, struct heap_snapshot *s, struct heap_census *all)
{
        struct search c;
        bool good;

        begin_search(&c, g, s);
        c.census = all;
        heap_roots_add(&c.roots);
        find_weak_pointers(&c);
        good = !g->out_of_memory && search_all_roots(&c, 0);
        if (good) {
                const size_t first_caf = c.roots.n;
                heap_roots_add_cafs(&c.roots, has_static, &c);
                c.through_statics = false;
                g->out_of_memory |= !make_numbers(s);
                good = search_all_roots(&c, first_caf < c.roots.n ? first_caf : 0);
        }
        if (good)
                count_all_unreached(&c);
        heap_graph_finish(g);
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
        heap_roots_add(&c.roots);
        find_weak_pointers(&c);
        if (!g.out_of_memory && search_from_roots(&c, 0)) {
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
                continue_search(&c);
                *ret_most = left_bytes(&most, &c);
        }
        const bool good = !g.out_of_memory;
        end_search(&c);
        heap_census_done(&most);
        heap_graph_done(&g);
        return good;
}
