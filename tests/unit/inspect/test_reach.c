/* SPDX-License-Identifier: BSD-3-Clause */
/* Who holds what in made-up programs: roots, paths, dead top-level values, what goes without a root. */
#include <stdio.h>

#include "tests/unit/test.h"

#include "inspect/ghc/reach.h"
#include "inspect/ghc/graph/fold.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"
#include "tests/unit/inspect/draft.h"

static bool always(void *ctx)
{
        return true;
}

static struct found {
        struct ghc ghc;
        struct heap_snapshot snapshot;
        struct heap_graph graph;
        struct type_paths paths;
        uint64_t *left; /* what is reached without some root */
} f;

static void find(struct draft *d)
{
        struct error error = { "" };

        draft_finish(d);
        if (!ghc_find(&f.ghc, &d->program, &error) ||
            !snapshot_prepare_packed(&f.snapshot, &f.ghc, UINT64_C(4) << 30, 10, &error) ||
            !snapshot_copy(&f.snapshot, true, NULL, NULL, &error))
                fail_msg("%s", error.text);
        assert_true(snapshot_index(&f.snapshot));
        heap_graph_init(&f.graph);
        assert_true(reach_all(&f.graph, &f.snapshot, NULL));
        assert_true(type_paths_find(&f.paths, &f.graph));
        f.left = node_set_new(&f.graph);
        assert_non_null(f.left);
}

static void done(struct draft *d)
{
        free(f.left);
        type_paths_done(&f.paths);
        heap_graph_done(&f.graph);
        snapshot_done(&f.snapshot);
        ghc_done(&f.ghc);
        draft_destroy(d);
}

/* Of the closure at an address; UINT32_MAX: it was not reached. */
static uint32_t node_at(uint64_t at)
{
        return reach_node(&f.snapshot, at);
}

/* "(:)+ <- Box <- CAF Main.cache" of what was reached at an address; "": it was not. */
static const char *path_to(uint64_t at)
{
        static char text[1024];
        const uint32_t node = node_at(at);
        struct text_out out;

        text_out_init(&out, text, sizeof(text));
        for (uint32_t p = node == UINT32_MAX ? 0 : f.paths.of_node[node]; p; p = f.paths.items[p].up) {
                text_put(&out, text[0] ? " <- " : "");
                text_put(&out, f.paths.items[p].name);
                text_put(&out, f.paths.items[p].plus ? "+" : "");
        }
        return text;
}

static bool is_left_without(uint64_t at, const char *root)
{
        assert_true(graph_reach_without(&f.graph, root, f.left, NULL, NULL));
        return node_set_has(f.left, node_at(at));
}

/* Closures of a type that no root holds. */
static uint64_t unreached(const char *name)
{
        uint64_t n = 0;

        for (uint32_t i = 0; i < f.graph.n_types; i++)
                n += strcmp(f.graph.types[i].name, name) ? 0 : f.graph.types[i].unreached_closures;
        return n;
}

struct types {
        uint64_t cons, box, caf, frame, srt;
};

static struct types types_of(struct draft *d)
{
        return (struct types){
                .cons = draft_table(d, CONSTR, 2, 0, "p:M.Cons"),
                .box = draft_table(d, CONSTR, 1, 0, "p:M.Box"),
                .caf = draft_table(d, IND_STATIC, 1, 0, NULL),
                .frame = draft_table(d, RET_SMALL, 1, 0, NULL),
                .srt = draft_table(d, CONSTR, 1, 0, NULL),
        };
}

/* A list of `n` cells; *ret_last: its last. */
static uint64_t list(struct draft *d, const struct types *t, unsigned n, uint64_t *ret_last)
{
        uint64_t next = d->end_of_queue;

        for (unsigned i = 0; i < n; i++) {
                next = draft_object(d, 1, (uint64_t[]){ t->cons, d->end_of_queue, next + 1 }, 3);
                if (i == 0)
                        *ret_last = next;
        }
        return next;
}

/* A compact region of two blocks that a thread holds by a pointer into the second: one closure, with what is dead. */
TEST(test_compact_regions)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        const uint64_t region = draft_table(d, COMPACT_NFDATA, 0, 9, NULL);
        const unsigned first = draft_group(d, DRAFT_GENERATIONS, BLOCK_COMPACT, 1);
        const unsigned second = draft_group(d, DRAFT_GENERATIONS, BLOCK_COMPACT, 1);
        const uint64_t owner = draft_block_start(first) + 24, words = 2 * BLOCK_BYTES / 8;

        (void)draft_append(d, first, (uint64_t[]){ draft_block_start(first), owner, draft_block_start(second) }, 3);
        (void)draft_append(d, first, (uint64_t[]){ region, words, 0, 0, 0, 0, 0, 0, 0, 0 }, 10);
        (void)draft_append(d, second, (uint64_t[]){ draft_block_start(second), owner, 0 }, 3);
        (void)draft_append(d, second, (uint64_t[]){ t.box, 8 }, 2); /* dead */
        const uint64_t held = draft_append(d, second, (uint64_t[]){ t.box, 8 }, 2);
        (void)draft_thread(d, 1, 8, (uint64_t[]){ t.frame, held + 1 }, 2);
        find(d);
        assert_int_not_equal(node_at(owner), UINT32_MAX);
        assert_int_equal(node_at(held), UINT32_MAX);
        assert_int_equal(heap_graph_bytes(&f.graph, node_at(owner)), 2 * BLOCK_BYTES);
        assert_int_equal(unreached("COMPACT_NFDATA"), 0);
        assert_int_equal(unreached("p:M.Box"), 0);
        done(d);
}

/* A top-level value that the code of a frame refers to holds a list; another one that nothing refers to is dead. */
TEST(test_cafs)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        const uint64_t dead_frame = draft_table(d, RET_SMALL, 1, 0, NULL);
        uint64_t last, lost;

        const uint64_t caf = draft_static(d, (uint64_t[]){ t.caf, list(d, &t, 500, &last), 0, 0 }, 4);
        const uint64_t dead = draft_static(d, (uint64_t[]){ t.caf, list(d, &t, 3, &lost), 0, 0 }, 4);
        const uint64_t srt = draft_static(d, (uint64_t[]){ t.srt, caf, 0 }, 3);
        draft_srt(d, t.frame, srt);
        draft_srt(d, dead_frame, dead); /* of code that no thread is in */
        draft_symbol(d, caf, 32, "Main_cache_closure");
        (void)draft_thread(d, 1, 8, (uint64_t[]){ t.frame, 0 }, 2);
        find(d);
        assert_int_equal(f.graph.live_cafs, 1);
        assert_int_equal(f.graph.dead_cafs, 1);
        assert_string_equal(path_to(last), "p:M.Cons+ <- CAF Main.cache");
        assert_string_equal(path_to(lost), "");
        assert_int_equal(unreached("p:M.Cons"), 3);
        assert_false(is_left_without(last, "CAF Main.cache"));
        done(d);
}

struct nearest {
        uint32_t of, root;
};

static void see_nearest(void *ctx, uint32_t node, uint32_t root)
{
        struct nearest *n = ctx;

        n->root = node == n->of ? root : n->root;
}

/* What a thread's frames hold, and what two hold is not gone without one of them. */
TEST(test_threads)
{
        struct draft *d = draft_new(&draft_9_6);
        const struct types t = types_of(d);
        const uint64_t other = draft_table(d, RET_SMALL, 1, 0, NULL);
        const uint64_t bits = draft_table(d, RET_SMALL, 2 | 1 << 6, 0, NULL); /* two words, the first no pointer */

        const uint64_t box = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        const uint64_t shared = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        const uint64_t number = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        draft_symbol(d, t.frame, 8, "Main_serve_info");
        draft_symbol(d, other, 8, "Main_watch_info");
        (void)draft_thread(d, 1, 8, (uint64_t[]){ t.frame, box, bits, number, shared }, 5);
        (void)draft_thread(d, 1, 8, (uint64_t[]){ other, shared }, 2);
        find(d);
        assert_string_equal(path_to(box), "p:M.Box <- frame of Main.serve <- thread in Main.serve");
        assert_int_equal(node_at(number), UINT32_MAX);
        assert_false(is_left_without(box, "thread in Main.serve"));
        assert_true(is_left_without(shared, "thread in Main.serve"));
        struct nearest nearest = { .of = node_at(shared) };
        assert_true(graph_reach_without(&f.graph, "thread in Main.serve", f.left, see_nearest, &nearest));
        assert_string_equal(heap_graph_type_of(&f.graph, nearest.root)->name, "thread in Main.watch");
        assert_true(is_left_without(box, "another"));
        done(d);
}

/* Types that alternate are folded, too; a weak pointer holds its value while its key is alive; C memory is last. */
TEST(test_folds_weak_and_c)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        const uint64_t weak = draft_table(d, WEAK, 1, 4, NULL);
        uint64_t next = d->end_of_queue, deepest = 0;

        for (unsigned i = 0; i < 50; i++) {
                next = draft_object(d, 1, (uint64_t[]){ t.cons, next, d->end_of_queue }, 3);
                deepest = deepest ? deepest : next;
                next = draft_object(d, 1, (uint64_t[]){ t.box, next }, 2);
        }
        const uint64_t value = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        const uint64_t unkeyed = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        const uint64_t key = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        const uint64_t last = draft_object(d, 1, (uint64_t[]){ weak, 0, key, unkeyed, 0, 0 }, 6);
        const uint64_t first = draft_object(d, 1, (uint64_t[]){ weak, 0, next, value, 0, last }, 6);
        const uint64_t in_c = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        draft_u64(d, draft_generation(d, 1) + 112, first);
        draft_u64(d, DRAFT_C + 0x9000, in_c);
        (void)draft_thread(d, 1, next, NULL, 0);
        find(d);
        assert_true(strlen(path_to(deepest)) < 60);
        assert_string_equal(path_to(value), "p:M.Box <- weak pointer <- p:M.Box <- thread in 0x400110");
        assert_int_equal(node_at(unkeyed), UINT32_MAX);
        assert_string_equal(path_to(in_c), "p:M.Box <- C memory, which may be a stable pointer");
        done(d);
}

/* A thread that has called C: its stack pointer is where C saved it. */
TEST(test_running_in_c)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);

        const uint64_t box = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        const uint64_t tso = draft_thread(d, 0, 0, (uint64_t[]){ t.frame, box }, 2);
        const uint64_t stack = *(uint64_t *)(void *)draft_at(d, tso + 24, 8), top = stack + 24 + 8 * 8;
        draft_u64(d, stack + 16, top + 16); /* as it was when the thread last stopped: without that frame */
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_THREAD, tso);
        draft_u64(d, DRAFT_C + 0x8040, top);
        assert_true(program_add_registers(&d->program, (struct registers){ .tid = 1, .sp = DRAFT_C + 0x8000 }));
        find(d);
        assert_int_not_equal(node_at(box), UINT32_MAX);
        assert_true(strstr(path_to(box), "thread") != NULL);
        done(d);
}

/* What a register has for a moment is held by what else holds it, however long that path is. */
TEST(test_registers_come_last)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);

        const uint64_t kept = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        const uint64_t outer = draft_object(d, 1, (uint64_t[]){ t.box, kept }, 2);
        const uint64_t new = draft_object(d, 1, (uint64_t[]){ t.box, d->end_of_queue }, 2);
        (void)draft_thread(d, 1, 0, (uint64_t[]){ t.frame, outer }, 2);
        assert_true(
                program_add_registers(&d->program, (struct registers){ .tid = 1, .n_all = 2, .all = { kept, new } }));
        find(d);
        assert_true(strstr(path_to(kept), "thread in ") != NULL && !strstr(path_to(kept), "registers"));
        assert_string_equal(path_to(new), "p:M.Box <- registers of a thread that runs");
        done(d);
}

/* ------------------------------------------------------------- of a program that runs */

struct counted {
        struct ghc ghc;
        struct heap_snapshot snapshot;
        struct heap_census census;
        uint64_t least, most; /* bytes */
};

/* Between both readings the program does something. */
static void count(struct counted *n, struct draft *d, void (*run)(struct draft *d, void *ctx), void *ctx)
{
        struct error error = { "" };

        *n = (struct counted){ .census = { .n = 0 } };
        draft_finish(d);
        if (!ghc_find(&n->ghc, &d->program, &error) ||
            !snapshot_prepare(&n->snapshot, &n->ghc, UINT64_C(4) << 30, 8, &error) ||
            !snapshot_copy(&n->snapshot, true, NULL, NULL, &error))
                fail_msg("%s", error.text);
        if (run)
                run(d, ctx);
        assert_true(snapshot_reread(&n->snapshot, NULL, NULL));
        assert_true(snapshot_index(&n->snapshot));
        assert_true(reach_census(&n->census, &n->snapshot, &n->most));
        n->least = n->census.total_bytes + n->census.rest.unused_bytes;
}

static void counted_done(struct counted *n, struct draft *d)
{
        heap_census_done(&n->census);
        snapshot_done(&n->snapshot);
        ghc_done(&n->ghc);
        draft_destroy(d);
}

/* Closures of the type with this info table. */
static uint64_t closures(struct counted *n, uint64_t table)
{
        const struct closure_table *t = info_tables_find(&n->ghc.tables, table);

        return t && t->id < n->census.n ? n->census.objects[t->id] : 0;
}

/* Garbage and indirections do not count, a pinned block does as a whole when an array in it is reached. */
TEST(test_what_a_collection_would_leave)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        const uint64_t ind = draft_table(d, IND, 1, 0, NULL), bytes = draft_table(d, ARR_WORDS, 0, 0, NULL);
        const uint64_t owned = draft_table(d, BLACKHOLE, 1, 0, NULL), pair = draft_table(d, CONSTR, 2, 0, "p:M.Pair");
        const unsigned kept = draft_group(d, 1, BLOCK_PINNED | BLOCK_LARGE, 1);
        const unsigned lost = draft_group(d, 1, BLOCK_PINNED | BLOCK_LARGE, 1);
        uint64_t last;
        struct counted n;

        const uint64_t array = draft_append(d, kept, (uint64_t[]){ bytes, 8, 0 }, 3);
        (void)draft_append(d, kept, (uint64_t[]){ bytes, 8, 0 }, 3);
        (void)draft_append(d, lost, (uint64_t[]){ bytes, 8, 0 }, 3);
        const uint64_t box = draft_object(d, 1, (uint64_t[]){ t.box, array }, 2);
        const uint64_t to = draft_object(d, 1, (uint64_t[]){ ind, box }, 2);
        const uint64_t done_one = draft_object(d, 1, (uint64_t[]){ owned, box + 1 }, 2);
        (void)list(d, &t, 100, &last); /* which nobody holds */
        const uint64_t both = draft_object(d, 1, (uint64_t[]){ pair, to, done_one }, 3);
        const uint64_t thread = draft_thread(d, 1, 8, (uint64_t[]){ t.frame, both }, 2);
        const uint64_t computing = draft_object(d, 1, (uint64_t[]){ owned, thread }, 2);
        (void)draft_thread(d, 1, 8, (uint64_t[]){ t.frame, computing }, 2);
        count(&n, d, NULL, NULL);
        assert_int_equal(closures(&n, pair), 1);
        assert_int_equal(closures(&n, t.box), 1);
        assert_int_equal(closures(&n, bytes), 2);
        assert_int_equal(closures(&n, t.cons), 0);
        assert_int_equal(closures(&n, ind), 0);
        assert_int_equal(closures(&n, owned), 1); /* which a thread computes */
        assert_int_equal(n.least, n.most);
        counted_done(&n, d);
}

struct move {
        uint64_t from, to; /* words */
};

static void move(struct draft *d, void *ctx)
{
        const struct move *m = ctx;

        draft_u64(d, m->to, *(uint64_t *)(void *)draft_at(d, m->from, 8));
        draft_u64(d, m->from, d->end_of_queue);
}

/* What is in neither place when that is read, is in one of them at the other reading; it is in doubt. */
TEST(test_what_is_moved_meanwhile)
{
        for (int back = 0; back < 2; back++) {
                struct draft *d = draft_new(&draft_9_0);
                const struct types t = types_of(d);
                const uint64_t variable = draft_table(d, MUT_VAR_CLEAN, 1, 0, NULL);
                uint64_t last;
                struct counted n;

                const uint64_t a = draft_object(d, 1, (uint64_t[]){ variable, list(d, &t, 100, &last) }, 2);
                const uint64_t b = draft_object(d, 1, (uint64_t[]){ variable, d->end_of_queue }, 2);
                (void)draft_thread(d, 1, 8, (uint64_t[]){ t.frame, a }, 2);
                (void)draft_thread(d, 1, 8, (uint64_t[]){ t.frame, b }, 2);
                struct move m = { a + 8, back ? DRAFT_DATA + DRAFT_BYTES - 8 : b + 8 };
                count(&n, d, move, &m);
                assert_int_equal(closures(&n, t.cons), back ? 0 : 100);
                assert_int_equal(n.most - n.least, back ? 100 * 24 : 0);
                counted_done(&n, d);
        }
}

/* A thread that runs may have popped and pushed since it was left: any word of its stack may be a pointer. */
TEST(test_stack_in_use)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        uint64_t last;
        struct counted n;

        const uint64_t tso = draft_thread(d, 0, 0, (uint64_t[]){ t.frame, list(d, &t, 100, &last) }, 2);
        const uint64_t stack = *(uint64_t *)(void *)draft_at(d, tso + 24, 8);
        draft_u64(d, stack + 16, stack + 24 + 8 * 8 + 16); /* as if that frame had been pushed since */
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_THREAD, tso);
        count(&n, d, NULL, NULL);
        assert_int_equal(closures(&n, t.cons), 0);
        assert_int_equal(n.most - n.least, 100 * 24);
        counted_done(&n, d);
}

/*
 * Most of a heap is copied while the program runs; the stop reads what can have changed since: what is written to, what
 * a collection has added, also to a block that was there. What is settled is not read again, as its change here shows;
 * a copy that had no time leaves it set aside.
 */
TEST(test_what_is_set_aside)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        const uint64_t variable = draft_table(d, MUT_VAR_CLEAN, 1, 0, NULL);
        struct counted n = { .census = { .n = 0 } };
        struct error error = { "" };
        uint64_t last;

        const uint64_t kept = list(d, &t, 1000, &last);
        const uint64_t held = draft_object(d, 1, (uint64_t[]){ t.box, kept + 1 }, 2);
        d->block[1] = draft_group(d, 1, 0, 1);
        const uint64_t v = draft_object(d, 1, (uint64_t[]){ variable, d->end_of_queue }, 2);
        (void)draft_thread(d, 1, 8, (uint64_t[]){ t.frame, held }, 2);
        (void)draft_thread(d, 1, 8, (uint64_t[]){ t.frame, v }, 2);
        draft_finish(d);
        if (!ghc_find(&n.ghc, &d->program, &error) ||
            !snapshot_prepare(&n.snapshot, &n.ghc, UINT64_C(4) << 30, 8, &error) ||
            !snapshot_copy(&n.snapshot, false, NULL, NULL, &error))
                fail_msg("%s", error.text);
        assert_true(snapshot_settle(&n.snapshot));
        assert_in_range(n.snapshot.left_bytes, 256 * 64, 256 * 64 + 3 * BLOCK_BYTES);
        draft_u64(d, v + 8, list(d, &t, 300, &last)); /* fills the block, and another one */
        draft_u64(d, kept + 16, d->end_of_queue);     /* as no program does: that block is not read any more */
        assert_false(snapshot_copy(&n.snapshot, true, always, NULL, &error));
        assert_true(n.snapshot.expired && n.snapshot.before);
        if (!snapshot_copy(&n.snapshot, true, NULL, NULL, &error))
                fail_msg("%s", error.text);
        assert_true(snapshot_index(&n.snapshot));
        assert_true(reach_census(&n.census, &n.snapshot, &n.most));
        assert_int_equal(closures(&n, t.cons), 1300);
        assert_int_equal(n.snapshot.lost_links, 0);
        counted_done(&n, d);
}

/* A word of C memory may be a stable pointer, unless these are known. */
TEST(test_c_memory)
{
        for (int known = 0; known < 2; known++) {
                struct draft *d = draft_new(&draft_9_0);
                const struct types t = types_of(d);
                uint64_t last;
                struct counted n;

                draft_u64(d, DRAFT_C + 0x9000, list(d, &t, 100, &last));
                draft_u64(d, DRAFT_C + 0xa000, list(d, &t, 10, &last)); /* the table */
                draft_u64(d, DRAFT_C + 0xb000, DRAFT_C + 0xa000);
                draft_u32(d, DRAFT_C + 0xb008, 1);
                if (known) {
                        draft_symbol(d, DRAFT_C + 0xb000, 8, "stable_ptr_table");
                        draft_symbol(d, DRAFT_C + 0xb008, 4, "SPT_size");
                }
                (void)draft_thread(d, 1, 8, NULL, 0);
                count(&n, d, NULL, NULL);
                assert_int_equal(closures(&n, t.cons), known ? 10 : 0);
                assert_int_equal(n.most - n.least, known ? 0 : 110 * 24);
                counted_done(&n, d);
        }
}

/* A nursery of two blocks, of which the first is in use. */
struct nursery {
        unsigned blocks[2];
        uint64_t variable, box_table;
        bool has_run;
};

static void make_nursery(struct nursery *n, struct draft *d, const struct types *t)
{
        for (unsigned i = 0; i < 2; i++)
                n->blocks[i] = draft_group(d, DRAFT_GENERATIONS, 0, 1);
        n->box_table = t->box;
        draft_u64(d, draft_descriptor(n->blocks[0]) + 16, draft_descriptor(n->blocks[1]));
        draft_u64(d, DRAFT_C + 0x8000, draft_descriptor(n->blocks[0]));
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_NURSERY, DRAFT_C + 0x8000);
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_NURSERY, draft_descriptor(n->blocks[0]));
        n->variable = draft_object(d, 1, (uint64_t[]){ draft_table(d, MUT_VAR_CLEAN, 1, 0, NULL), d->end_of_queue }, 2);
        (void)draft_thread(d, 1, 8, (uint64_t[]){ t->frame, n->variable }, 2);
}

/*
 * Just before the variable is read again, it is given a closure that is allocated then, in a block that was read; and
 * what was in the next block is overwritten.
 */
static bool read_and_run(void *ctx, uint64_t at, void *to, size_t n)
{
        struct draft *d = ctx;
        struct nursery *of = d->ctx;

        if (!of->has_run && at <= of->variable && of->variable < at + n && n < MEGABLOCK_BYTES / 2) {
                const uint64_t young =
                        draft_append(d, of->blocks[0], (uint64_t[]){ of->box_table, d->end_of_queue }, 2);
                draft_u64(d, of->variable + 8, young);
                draft_u64(d, draft_block_start(of->blocks[1]) + 8, 0);
                of->has_run = true;
        }
        return draft_read(ctx, at, to, n);
}

static void watch_reads(struct draft *d, void *ctx)
{
        d->ctx = ctx;
        d->memory.read = read_and_run;
}

/* What is in a block before it is used is of nobody any more. */
TEST(test_stale_block)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        struct nursery n = { .has_run = false };
        struct counted c;
        uint64_t last;

        make_nursery(&n, d, &t);
        draft_u64(d, draft_block_start(n.blocks[1]), t.box);
        draft_u64(d, draft_block_start(n.blocks[1]) + 8, list(d, &t, 100, &last));
        count(&c, d, watch_reads, &n);
        assert_true(n.has_run);
        assert_int_equal(closures(&c, t.cons), 0);
        assert_int_equal(c.most, c.least);
        counted_done(&c, d);
}

TEST(test_youngest_come_last)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        struct nursery n = { .has_run = false };
        struct counted c;

        make_nursery(&n, d, &t);
        assert_true(draft_block_start(n.blocks[0]) < n.variable);
        count(&c, d, watch_reads, &n);
        assert_true(n.has_run);
        assert_int_equal(closures(&c, t.box), 1);
        counted_done(&c, d);
}

/* Of pinned blocks, what is dead goes with the last array that is reached in them. */
TEST(test_dead_bytes_of_pinned_blocks)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        const uint64_t bytes = draft_table(d, ARR_WORDS, 0, 0, NULL), pair = draft_table(d, CONSTR, 2, 0, "p:M.Pair");
        uint64_t arrays[4];

        for (unsigned i = 0; i < 4; i++) { /* of 24 bytes each, with one, two, three, four dead ones */
                const unsigned block = draft_group(d, 1, BLOCK_PINNED | BLOCK_LARGE, 1);
                arrays[i] = draft_append(d, block, (uint64_t[]){ bytes, 8, 0 }, 3);
                for (unsigned k = 0; k <= i; k++)
                        (void)draft_append(d, block, (uint64_t[]){ bytes, 8, 0 }, 3);
        }
        const uint64_t both = draft_object(d, 1, (uint64_t[]){ pair, arrays[0], arrays[1] }, 3);
        const uint64_t second = arrays[1] + 24; /* which is not dead then, but not of this thread */
        const uint64_t box = draft_object(d, 1, (uint64_t[]){ t.box, arrays[2] }, 2);
        const uint64_t other = draft_table(d, RET_SMALL, 2, 0, NULL);
        (void)draft_thread(d, 1, 8, (uint64_t[]){ t.frame, both }, 2);
        (void)draft_thread(d, 1, 8, (uint64_t[]){ other, second, box }, 3);
        find(d);
        uint64_t *with = node_set_new(&f.graph), *none = node_set_new(&f.graph);
        assert_true(with && none && graph_reach_without(&f.graph, NULL, with, NULL, NULL));
        assert_int_equal(graph_dead_bytes_without(&f.graph, with, none), 24 * (1 + 1 + 3)); /* not the last block */
        assert_int_equal(graph_dead_bytes_without(&f.graph, with, with), 0);
        memcpy(f.left, with, (f.graph.n_nodes / 64 + 1) * sizeof(*with));
        node_set_put(f.left, node_at(arrays[0]), false);
        node_set_put(f.left, node_at(arrays[1]), false);
        assert_int_equal(graph_dead_bytes_without(&f.graph, with, f.left), 24);
        node_set_put(f.left, node_at(second), false);
        assert_int_equal(graph_dead_bytes_without(&f.graph, with, f.left), 24 * 2);
        free(with);
        free(none);
        done(d);
}

/* A byte array of `n` bytes, and what ByteStrings have of one. */
static uint64_t bytes_of(struct draft *d, uint64_t n)
{
        uint64_t words[3 + 64] = { draft_table(d, ARR_WORDS, 0, 0, NULL), n };

        assert_true(n <= 8 * 64);
        return draft_object(d, 1, words, 2 + (size_t)n / 8);
}

static uint64_t string_of(struct draft *d, uint64_t array, uint64_t from, uint64_t length)
{
        const uint64_t contents = draft_table(d, CONSTR, 1, 0, "base:GHC.ForeignPtr.PlainPtr");
        const uint64_t string = draft_table(d, CONSTR, 1, 3, "bytestring-0.10.12.0:Data.ByteString.Internal.PS");
        const uint64_t plain = draft_object(d, 1, (uint64_t[]){ contents, array }, 2);

        return draft_object(d, 1, (uint64_t[]){ string, plain + 1, array + 16, from, length }, 5);
}

/* Slices that use less than half of an array count, with it; but not where something else has it, or they lie. */
TEST(test_slices)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t frame = draft_table(d, RET_SMALL, 10, 0, NULL);
        const uint64_t text = draft_table(d, CONSTR, 1, 2, "text-1.2.4.1:Data.Text.Internal.Text");
        const uint64_t text_2 = draft_table(d, CONSTR, 1, 2, "text-2.0.2:Data.Text.Internal.Text");
        const uint64_t box = draft_table(d, CONSTR, 1, 0, "p:M.Box");
        const uint64_t two = bytes_of(d, 400), half = bytes_of(d, 400), boxed = bytes_of(d, 400),
                       far = bytes_of(d, 400);
        const uint64_t utf16 = bytes_of(d, 400), utf8 = bytes_of(d, 400);

        const uint64_t slices[] = {
                frame,
                string_of(d, two, 100, 50), /* 80 bytes together */
                string_of(d, two, 120, 60),
                string_of(d, half, 0, 200),
                string_of(d, boxed, 0, 10),
                draft_object(d, 1, (uint64_t[]){ box, boxed }, 2),
                string_of(d, far, 0, 10),
                string_of(d, far, 390, 11), /* beyond its end */
                draft_object(d, 1, (uint64_t[]){ text, utf16, 1, 90 }, 4),
                draft_object(d, 1, (uint64_t[]){ text_2, utf8, 1, 90 }, 4),
                draft_object(d, 1, (uint64_t[]){ text_2, utf8, 300, 90 }, 4),
        };
        (void)draft_object(d, 1, (uint64_t[]){ text_2, half, 0, 1 }, 4); /* which no root holds */
        (void)draft_thread(d, 1, 8, slices, ARRAY_SIZE(slices));
        find(d);
        const struct graph_slices *of = f.graph.slices;
        assert_int_equal(of[SLICES_OF_BYTES].slices, 2);
        assert_int_equal(of[SLICES_OF_BYTES].arrays, 1);
        assert_int_equal(of[SLICES_OF_BYTES].array_bytes, 400);
        assert_int_equal(of[SLICES_OF_BYTES].used_bytes, 80);
        assert_int_equal(of[SLICES_OF_TEXT].slices, 3);
        assert_int_equal(of[SLICES_OF_TEXT].arrays, 2);
        assert_int_equal(of[SLICES_OF_TEXT].array_bytes, 800);
        assert_int_equal(of[SLICES_OF_TEXT].used_bytes, 180 + 180);
        done(d);
}

/* Types that are seen first while what is dead is counted: the list of types moves as it grows. */
TEST(test_many_types_of_dead_closures)
{
        struct draft *d = draft_new(&draft_9_0);
        char name[16];

        for (unsigned i = 0; i < 300; i++) {
                (void)snprintf(name, sizeof(name), "p:M.T%u", i);
                const uint64_t table = draft_table(d, CONSTR, 1, 0, name);
                (void)draft_object(d, 1, (uint64_t[]){ table, d->end_of_queue }, 2);
        }
        (void)draft_thread(d, 1, 8, NULL, 0);
        find(d);
        for (unsigned i = 0; i < 300; i++) {
                (void)snprintf(name, sizeof(name), "p:M.T%u", i);
                assert_int_equal(unreached(name), 1);
        }
        done(d);
}
