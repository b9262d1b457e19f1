/* SPDX-License-Identifier: BSD-3-Clause */
/* Types by two levels, of made-up programs: what a list, a map, an array, a thunk holds; and that nothing is lost. */
#include "tests/unit/test.h"

#include "inspect/ghc/census.h"
#include "inspect/ghc/reach.h"
#include "inspect/show/show.h"
#include "proto/base/array.h"
#include "tests/unit/inspect/draft.h"

#define MEMORY (UINT64_C(4) << 30)

struct taken {
        struct ghc ghc;
        struct heap_snapshot snapshot;
        struct heap_contents contents;
        struct heap_census census;
        struct heap_bands bands;
};

/* `as_watch`: by type, and of what matters alone. */
static void count_as(struct taken *t, struct draft *d, bool as_watch)
{
        struct error error = { "" };

        *t = (struct taken){ .contents = { .snapshot = &t->snapshot, .only_matter = as_watch },
                             .census = { .contents = &t->contents } };
        (void)draft_thread(d, 1, 8, NULL, 0);
        draft_finish(d);
        if (!ghc_find(&t->ghc, &d->program, &error) || !snapshot_prepare(&t->snapshot, &t->ghc, MEMORY, 5, &error) ||
            !snapshot_copy(&t->snapshot, false, NULL, NULL, &error))
                fail_msg("%s", error.text);
        assert_true(snapshot_index(&t->snapshot));
        heap_census_count(&t->census, &t->snapshot);
        assert_true(t->ghc.profiled || t->census.rest.unknown_bytes == 0); /* a profiled thread is longer than drawn */
        assert_true(heap_bands_of(&t->bands, &t->census, &t->ghc, as_watch));
        assert_true(heap_bands_add_contents(&t->bands, &t->census, &t->ghc, as_watch));
        /* The rows of each band add up to it. */
        for (size_t i = 0; i < t->bands.n; i++) {
                uint64_t bytes = 0, objects = 0;
                for (size_t k = 0; k < t->bands.items[i].n_contents; k++) {
                        bytes += t->bands.items[i].contents[k].bytes;
                        objects += t->bands.items[i].contents[k].objects;
                        assert_true(k == 0 ||
                                    t->bands.items[i].contents[k - 1].bytes >= t->bands.items[i].contents[k].bytes);
                }
                if (t->bands.items[i].n_contents) {
                        assert_int_equal(bytes, t->bands.items[i].bytes);
                        assert_int_equal(objects, t->bands.items[i].objects);
                }
        }
        heap_bands_sort_by_name(&t->bands);
}

static void count_contents(struct taken *t, struct draft *d)
{
        count_as(t, d, false);
}

static void done(struct taken *t, struct draft *d)
{
        heap_bands_done(&t->bands);
        heap_census_done(&t->census);
        heap_contents_done(&t->contents);
        snapshot_done(&t->snapshot);
        ghc_done(&t->ghc);
        draft_destroy(d);
}

/* How many closures of a band hold this. */
static uint64_t holding(const struct taken *t, const char *band, const char *what)
{
        const struct heap_band *b = heap_bands_find(&t->bands, band);

        assert_non_null(b);
        for (size_t i = 0; i < b->n_contents; i++)
                if (!strcmp(b->contents[i].name, what))
                        return b->contents[i].objects;
        return 0;
}

static const char *most(const struct taken *t, const char *band)
{
        static char text[CONTENTS_TEXT_BYTES];

        return contents_most(heap_bands_find(&t->bands, band), text);
}

struct types {
        uint64_t cons, nil, session, number, character;
};

static struct types types_of(struct draft *d)
{
        return (struct types){
                .cons = draft_table(d, CONSTR, 2, 0, "ghc-prim:GHC.Types.:"),
                .nil = draft_static(d, (uint64_t[]){ draft_table(d, CONSTR_NOCAF, 0, 0, "ghc-prim:GHC.Types.[]"), 0 },
                                    2),
                .session = draft_table(d, CONSTR, 0, 1, "main:Main.Session"),
                .number = draft_table(d, CONSTR, 0, 1, "ghc-prim:GHC.Types.I#"),
                .character = draft_table(d, CONSTR, 0, 1, "ghc-prim:GHC.Types.C#"),
        };
}

static uint64_t one(struct draft *d, uint64_t table, uint64_t word)
{
        return draft_object(d, 1, (uint64_t[]){ table, word }, 2);
}

/* A list of `n` times the same. */
static uint64_t list(struct draft *d, const struct types *t, uint64_t head, unsigned n)
{
        uint64_t next = t->nil + 1;

        for (unsigned i = 0; i < n; i++)
                next = draft_object(d, 1, (uint64_t[]){ t->cons, head, next }, 3) + 2;
        return next;
}

/* Lists by what their cells hold: through indirections, also of what does not move; strings; lists of lists. */
TEST(test_lists)
{
        const struct draft_layout *const layouts[] = { &draft_9_0, &draft_9_10 };

        for (unsigned i = 0; i < ARRAY_SIZE(layouts); i++) {
                struct draft *d = draft_new(layouts[i]);
                const struct types t = types_of(d);
                const uint64_t thunk = draft_table(d, THUNK, 1, 1, NULL), ind = draft_table(d, IND, 1, 0, NULL);
                const uint64_t hole = draft_table(d, BLACKHOLE, 1, 0, NULL), fun = draft_table(d, FUN_1_0, 1, 0, NULL);
                const uint64_t session = one(d, t.session, 7), c = draft_static(d, (uint64_t[]){ t.character, 65 }, 2);
                struct taken taken;

                (void)list(d, &t, session + 1, 60);
                (void)list(d, &t, one(d, ind, session), 3);
                (void)list(d, &t, one(d, hole, one(d, hole, session + 1)), 4);
                (void)list(d, &t, draft_object(d, 1, (uint64_t[]){ thunk, 0, session, 1 }, 4), 11);
                (void)list(d, &t, one(d, hole, draft_thread(d, 0, 8, NULL, 0)), 5); /* a thread computes it */
                (void)list(d, &t, one(d, fun, session), 2);
                (void)list(d, &t, list(d, &t, c + 1, 9), 6);
                (void)list(d, &t, t.nil + 1, 1);
                (void)list(d, &t, one(d, t.number, 3), 8);
                (void)list(d, &t, 12345, 1);
                (void)list(d, &t, 0x4200000010, 1);
                count_contents(&taken, d);
                assert_int_equal(holding(&taken, "GHC.Types.:", "[Session]"), 67);
                assert_int_equal(holding(&taken, "GHC.Types.:", "[thunk]"), 16);
                assert_int_equal(holding(&taken, "GHC.Types.:", "[function]"), 2);
                assert_int_equal(holding(&taken, "GHC.Types.:", "[Char]"), 9);
                assert_int_equal(holding(&taken, "GHC.Types.:", "[[Char]]"), 6);
                assert_int_equal(holding(&taken, "GHC.Types.:", "[[..]]"), 1);
                assert_int_equal(holding(&taken, "GHC.Types.:", "[Int]"), 8);
                assert_int_equal(holding(&taken, "GHC.Types.:", "[?]"), 2);
                assert_string_equal(most(&taken, "GHC.Types.:"), "60.4 % [Session]");
                assert_int_equal(heap_bands_find(&taken.bands, "Main.Session")->n_contents, 0);
                done(&taken, d);
        }
}

/* As a census of a watched program has them: all thunks are one band, and of what its name says nothing is told. */
TEST(test_what_matters)
{
        for (unsigned as_watch = 0; as_watch < 2; as_watch++) {
                struct draft *d = draft_new(&draft_9_0);
                const struct types t = types_of(d);
                const uint64_t one_thunk = draft_table(d, THUNK, 1, 0, NULL), other = draft_table(d, THUNK, 1, 0, NULL);
                const uint64_t entry = draft_table(d, CONSTR, 1, 0, "main:Main.Entry"), s = one(d, t.session, 7) + 1;
                struct taken taken;

                draft_symbol(d, one_thunk, 16, "Main_one_info");
                draft_symbol(d, other, 16, "Main_other_info");
                (void)list(d, &t, s, 6);
                (void)list(d, &t, one(d, entry, s), 3);
                for (unsigned i = 0; i < 5; i++)
                        (void)draft_object(d, 1, (uint64_t[]){ i < 3 ? one_thunk : other, 0, s }, 3);
                count_as(&taken, d, as_watch);
                assert_string_equal(most(&taken, "GHC.Types.:"), "66.7 % [Session]");
                assert_int_equal(heap_bands_find(&taken.bands, "Main.Entry")->n_contents, !as_watch);
                if (as_watch) {
                        assert_int_equal(heap_bands_find(&taken.bands, "THUNK")->objects, 5);
                        assert_string_equal(most(&taken, "THUNK"), "thunk of Session");
                }
                done(&taken, d);
        }
}

/* As Haskell writes them; of a branch what is at its leaves; of what is not known its constructor and its fields. */
TEST(test_other_types)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        const uint64_t text = draft_table(d, CONSTR, 1, 2, "text-1.2:Data.Text.Internal.Text");
        const uint64_t bin = draft_table(d, CONSTR, 4, 1, "containers-0.6:Data.Map.Internal.Bin");
        const uint64_t set = draft_table(d, CONSTR, 3, 1, "containers-0.6:Data.Set.Internal.Bin");
        const uint64_t branch = draft_table(d, CONSTR, 2, 2, "containers-0.6:Data.IntMap.Internal.Bin");
        const uint64_t leaf = draft_table(d, CONSTR, 1, 1, "containers-0.6:Data.IntMap.Internal.Tip");
        const uint64_t just = draft_table(d, CONSTR, 1, 0, "base:GHC.Maybe.Just");
        const uint64_t pair = draft_table(d, CONSTR, 2, 0, "ghc-prim:GHC.Tuple.(,)");
        const uint64_t entry = draft_table(d, CONSTR, 6, 0, "main:Main.Entry");
        const uint64_t infix = draft_table(d, CONSTR, 2, 0, "base:GHC.Base.:|");
        const uint64_t ref = draft_table(d, CONSTR, 1, 0, "base:GHC.STRef.STRef");
        const uint64_t var = draft_table(d, MUT_VAR_CLEAN, 1, 0, NULL), mvar = draft_table(d, MVAR_DIRTY, 3, 0, NULL);
        const uint64_t thunk = draft_table(d, THUNK, 2, 0, NULL), bytes = draft_table(d, ARR_WORDS, 0, 0, NULL);
        const uint64_t s = one(d, t.session, 7) + 1, number = one(d, t.number, 1) + 1;
        const uint64_t array = draft_object(d, 1, (uint64_t[]){ bytes, 8, 0 }, 3);
        const uint64_t key = draft_object(d, 1, (uint64_t[]){ text, array, 0, 1 }, 4) + 1;
        struct taken taken;

        draft_symbol(d, thunk, 16, "Main_total_info");
        (void)draft_object(d, 1, (uint64_t[]){ bin, key, s, t.nil, t.nil, 1 }, 6);
        (void)draft_object(d, 1, (uint64_t[]){ set, key, t.nil, t.nil, 1 }, 5);
        const uint64_t tip = draft_object(d, 1, (uint64_t[]){ leaf, s, 4 }, 3) + 2;
        uint64_t tree = tip;
        for (unsigned i = 0; i < 5; i++)
                tree = draft_object(d, 1, (uint64_t[]){ branch, tree, tip, 1, 2 }, 5) + 1;
        (void)one(d, just, s);
        (void)one(d, draft_table(d, CONSTR, 1, 0, "ghc-internal:GHC.Internal.Maybe.Just"), s); /* of GHC 9.10 */
        (void)draft_object(d, 1, (uint64_t[]){ pair, s, number }, 3);
        (void)draft_object(d, 1, (uint64_t[]){ entry, key, s, tree, one(d, just, number), s, s }, 7);
        (void)draft_object(d, 1, (uint64_t[]){ infix, number, list(d, &t, number, 1) }, 3);
        (void)one(d, ref, one(d, var, s));
        (void)draft_object(d, 1, (uint64_t[]){ mvar, d->end_of_queue, d->end_of_queue, s }, 4);
        (void)draft_object(d, 1, (uint64_t[]){ thunk, 0, s, tree }, 4);
        count_contents(&taken, d);
        assert_int_equal(holding(&taken, "Data.Map.Internal.Bin", "Map Text Session"), 1);
        assert_int_equal(holding(&taken, "Data.Set.Internal.Bin", "Set Text"), 1);
        assert_int_equal(holding(&taken, "Data.IntMap.Internal.Bin", "IntMap Session"), 5);
        assert_int_equal(holding(&taken, "Data.IntMap.Internal.Tip", "IntMap Session"), 1);
        assert_int_equal(holding(&taken, "GHC.Maybe.Just", "Maybe Session"), 1);
        assert_int_equal(holding(&taken, "GHC.Maybe.Just", "Maybe Int"), 1);
        assert_int_equal(holding(&taken, "GHC.Internal.Maybe.Just", "Maybe Session"), 1);
        assert_int_equal(holding(&taken, "GHC.Tuple.(,)", "(Session, Int)"), 1);
        assert_int_equal(holding(&taken, "Main.Entry", "Entry Text Session IntMap Maybe .."), 1);
        assert_int_equal(holding(&taken, "GHC.Base.:|", "(:|) Int [..]"), 1);
        assert_int_equal(holding(&taken, "MUT_VAR (IORef, STRef)", "MutVar# Session"), 1);
        assert_int_equal(holding(&taken, "GHC.STRef.STRef", "STRef Session"), 1);
        assert_int_equal(holding(&taken, "MVAR", "MVar Session"), 1);
        assert_int_equal(holding(&taken, "Main.total (thunk)", "thunk of Session, IntMap"), 1);
        assert_int_equal(holding(&taken, "Data.Text.Internal.Text", "Text ByteArray#"), 1);
        assert_string_equal(most(&taken, "Data.Map.Internal.Bin"), "Map Text Session");
        assert_string_equal(most(&taken, "Main.Entry"), "");
        done(&taken, d);
}

/* An array is of its most frequent type, with its share; one that claims to be longer than it is, is not. */
TEST(test_arrays)
{
        struct draft *d = draft_new(&draft_profiled);
        const uint64_t small = draft_table(d, SMALL_MUT_ARR_PTRS_CLEAN, 0, 0, NULL);
        const uint64_t array = draft_table(d, MUT_ARR_PTRS_FROZEN_CLEAN, 0, 0, NULL);
        const uint64_t session = draft_table(d, CONSTR, 0, 1, "main:Main.Session");
        const uint64_t order = draft_table(d, CONSTR, 0, 1, "main:Main.Order");
        const uint64_t s = draft_object(d, 1, (uint64_t[]){ session, 0, 0, 7 }, 4);
        const uint64_t o = draft_object(d, 1, (uint64_t[]){ order, 0, 0, 7 }, 4);
        char text[CONTENTS_TEXT_BYTES];
        struct taken t;

        (void)draft_object(d, 1, (uint64_t[]){ small, 0, 0, 3, s, s, s }, 7);
        (void)draft_object(d, 1, (uint64_t[]){ small, 0, 0, 5, o, s, o, s, s }, 9);
        (void)draft_object(d, 1, (uint64_t[]){ small, 0, 0, 0 }, 4);
        (void)draft_object(d, 1, (uint64_t[]){ array, 0, 0, 2, 3, o, o, 0 }, 8);
        count_contents(&t, d);
        const struct heap_band *b = heap_bands_find(&t.bands, "SMALL_MUT_ARR_PTRS (SmallArray#)");
        assert_int_equal(b->n_contents, 2);
        assert_string_equal(contents_name(&b->contents[0], text), "SmallArray# Session (75.0 % of its elements)");
        assert_string_equal(contents_name(&b->contents[1], text), "SmallArray#");
        assert_int_equal(holding(&t, "MUT_ARR_PTRS (Array#)", "Array# Order"), 1);
        done(&t, d);
}

/* Two constructors of one name are told apart; what leads round in a circle, or is too deep, ends. */
TEST(test_names_and_circles)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        const uint64_t a = draft_table(d, CONSTR, 0, 1, "p-1:A.B.Key"), b = draft_table(d, CONSTR, 0, 1, "p-1:A.C.Key");
        const uint64_t newer = draft_table(d, CONSTR, 0, 1, "main-2:Main.Session");
        const uint64_t branch = draft_table(d, CONSTR, 2, 2, "containers-0.6:Data.IntMap.Internal.Bin");
        const uint64_t ind = draft_table(d, IND, 1, 0, NULL);
        struct taken taken;

        (void)list(d, &t, one(d, a, 1), 2);
        (void)list(d, &t, one(d, b, 1), 1);
        (void)list(d, &t, one(d, newer, 1), 4);
        (void)list(d, &t, one(d, t.session, 1), 3);
        const uint64_t round = one(d, ind, 0);
        draft_u64(d, round + 8, round);
        (void)list(d, &t, round, 5);
        const uint64_t tree = draft_object(d, 1, (uint64_t[]){ branch, 0, 0, 1, 2 }, 5);
        draft_u64(d, tree + 8, tree + 1);
        count_contents(&taken, d);
        assert_int_equal(holding(&taken, "GHC.Types.:", "[A.B.Key]"), 2);
        assert_int_equal(holding(&taken, "GHC.Types.:", "[A.C.Key]"), 1);
        assert_int_equal(holding(&taken, "GHC.Types.:", "[Session]"), 7);
        assert_int_equal(heap_bands_find(&taken.bands, "Data.IntMap.Internal.Bin")->n_contents, 0);
        done(&taken, d);
}

/* Of a graph, the nodes of one row, and what no root reaches of it. */
TEST(test_wanted)
{
        struct draft *d = draft_new(&draft_9_0);
        const struct types t = types_of(d);
        const uint64_t frame = draft_table(d, RET_SMALL, 2, 0, NULL), order = draft_table(d, CONSTR, 0, 1, "p:M.Order");
        const uint64_t sessions = list(d, &t, one(d, t.session, 1), 9), orders = list(d, &t, one(d, order, 1), 4);
        struct taken taken;
        struct heap_graph g;

        (void)list(d, &t, one(d, t.session, 2), 3); /* nobody holds it */
        (void)draft_thread(d, 1, 8, (uint64_t[]){ frame, sessions, orders }, 3);
        count_contents(&taken, d);
        struct heap_contents contents = { .snapshot = &taken.snapshot, .wanted = "[Session]" };
        struct heap_census all = { .contents = &contents };
        heap_graph_init(&g);
        assert_true(reach_all(&g, &taken.snapshot, &all));
        uint32_t n = 0;
        for (uint32_t i = 0; i < g.n_nodes; i++)
                n += heap_graph_is_wanted(&g, i);
        assert_int_equal(n, 9);
        assert_int_equal(g.wanted_unreached_closures, 3);
        assert_int_equal(g.wanted_unreached_bytes, 3 * 24);
        heap_graph_done(&g);
        heap_contents_done(&contents);
        heap_census_done(&all);
        done(&taken, d);
}
