/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the source of made-up programs, in each layout: the names that they make, and what is damaged. */

#include "tests/unit/test.h"

#include "draft.h"
#include "inspect/ghc/census.h"
#include "inspect/ghc/roots.h"
#include "inspect/ghc/names.h"
#include "proto/base/hash.h"
#include "tests/unit/thin.h"

#define TABLES 8u

struct made {
        struct draft *d;
        uint64_t at[TABLES]; /* of the tables */
        uint64_t node;
};

static const char long_type[] = "forall {a}. Int# -> [a] -> (# [a], Int, \xc3\xa4\xc3\xa4 #)";

static const struct draft_entry entries[TABLES] = {
        { 0, "sat_s5La_info", "[Session]", "main.held", "app/Shop.hs", "88:11-20" },
        { 0, "cache_r1BI_info", "IORef (Map Int\n Session)", "cache", "app/Shop.hs", "(27,1)-(28,42)" },
        { 0, "$wgo1_r5yH_info", long_type, "", "", "" },
        { 0, "sat_s5EH_info", "[Char]", "", "", "" },
        { 0, "block_c6rN_info", "", "main", "app/Shop.hs", "60:30" },
        { 0, "Session_Main_2_con_info", "Session", "main", "app/Shop.hs", "59:36" },
        { 0, "Session_con_info", "", "", "<no file>", "" },
        { 0, "total_info", "Int", "total", "app/\033Shop.hs", "9:1" },
};

static struct made make(enum draft_release release)
{
        struct made m = { .d = draft_new(&draft_9_6) };
        struct draft_entry e[TABLES];
        static const unsigned types[TABLES] = { THUNK_1_0, THUNK_STATIC, FUN_STATIC, THUNK_1_0,
                                                RET_SMALL, CONSTR,       CONSTR,     FUN_1_0 };

        for (unsigned i = 0; i < TABLES; i++) {
                e[i] = entries[i];
                e[i].at = m.at[i] = draft_table(m.d, types[i], types[i] != FUN_STATIC && types[i] != THUNK_STATIC, 0,
                                                i == 5 || i == 6 ? "main:Main.Session" : NULL);
        }
        (void)draft_static(m.d, (uint64_t[]){ 1, 2, 3 }, 3); /* the node begins anywhere */
        m.node = draft_provenance(m.d, release, "Main", e, TABLES);
        return m;
}

static const char *shown(const struct made *m, unsigned i)
{
        static char text[2 * PROGRAM_NAME_BYTES];
        struct info_tables t;

        info_tables_init(&t, &m->d->program, 1);
        const struct closure_table *table = info_tables_find(&t, m->at[i]);
        assert_non_null(table);
        closure_name(&m->d->program, table, false, text, sizeof(text));
        info_tables_done(&t);
        return text;
}

static void expect_code(const struct made *m, unsigned i, enum name_kind kind, const char *name)
{
        char text[PROGRAM_NAME_BYTES];

        assert_int_equal(name_of_code(&m->d->program, m->at[i], text, sizeof(text)), kind);
        assert_string_equal(text, name);
}

static const enum draft_release releases[] = { DRAFT_9_6, DRAFT_9_10, DRAFT_9_10_ZSTD };

TEST(test_names)
{
        for (size_t r = 0; r < 3; r++) {
                struct made m = make(releases[r]);
                char source[NAME_SOURCE_BYTES], type[NAME_TYPE_BYTES], name[PROGRAM_NAME_BYTES];
                struct info_tables t;

                assert_string_equal(shown(&m, 0), "Main.main.held (thunk :: [Session], app/Shop.hs:88:11-20)");
                assert_string_equal(shown(&m, 1),
                                    "Main.cache (thunk :: IORef (Map Int  Session), app/Shop.hs:(27,1)-(28,42))");
                assert_string_equal(shown(&m, 2), "Main.$wgo1 (function)");
                assert_string_equal(shown(&m, 3), "Main (local thunk :: [Char])");
                assert_string_equal(shown(&m, 5), "main:Main.Session (app/Shop.hs:59:36)");
                assert_string_equal(shown(&m, 6), "main:Main.Session");
                assert_string_equal(shown(&m, 7), "Main.total (function, app/Shop.hs:9:1)");
                expect_code(&m, 0, NAME_SOURCE, "Main.main.held");
                expect_code(&m, 1, NAME_EXACT, "Main.cache");
                expect_code(&m, 3, NAME_LOCAL, "Main");
                expect_code(&m, 4, NAME_SOURCE, "Main.main");
                name_of_source(&m.d->program, m.at[4], source);
                assert_string_equal(source, "app/Shop.hs:60:30");
                name_of_source(&m.d->program, m.at[4] + 8, source);
                assert_string_equal(source, "");
                name_of_type(&m.d->program, m.at[2], type); /* cut between two letters */
                assert_string_equal(type, "forall {a}. Int# -> [a] -> (# [a], Int, ...");
                info_tables_init(&t, &m.d->program, 1);
                name_of_function(&t, m.at[4] + 11, name, sizeof(name));
                assert_string_equal(name, "Main.main");
                info_tables_done(&t);
                assert_int_equal(m.d->provenance.n, 1);
                assert_string_equal(m.d->provenance.why.text, "");
                draft_destroy(m.d);
        }
}

/* A symbol is the name, and has its place; frames and roots, too. */
TEST(test_symbols_and_places)
{
        struct made m = make(DRAFT_9_10);
        struct heap_graph g;
        struct graph_types types = { .program = &m.d->program, .graph = &g };
        struct info_tables t;

        draft_symbol(m.d, m.at[7], 16, "Main_zdwtotal_info");
        assert_string_equal(shown(&m, 7), "Main.$wtotal (function, app/Shop.hs:9:1)");
        heap_graph_init(&g);
        info_tables_init(&t, &m.d->program, 1);
        const uint32_t frame = graph_type_of_frame(&types, info_tables_find(&t, m.at[4]));
        assert_string_equal(g.types[frame].name, "frame of Main.main (app/Shop.hs:60:30)");
        info_tables_done(&t);
        graph_types_done(&types);
        heap_graph_done(&g);
        draft_destroy(m.d);
}

static bool is_found(const struct made *m)
{
        struct provenance_entry e;

        return provenance_find(&m->d->provenance, &m->d->program, m->at[0], &e);
}

/* Several modules, one of whose tables lie around those of another; and a table that is in none. */
TEST(test_several_modules)
{
        struct made m = make(DRAFT_9_6);
        const uint64_t a = draft_table(m.d, FUN, 1, 0, NULL), b = draft_table(m.d, FUN, 1, 0, NULL);
        const uint64_t none = draft_table(m.d, FUN, 1, 0, NULL), c = draft_table(m.d, FUN, 1, 0, NULL);
        struct provenance_entry e;

        (void)draft_provenance(m.d, DRAFT_9_10, "Outer",
                               (struct draft_entry[]){ { c, "f_info", "", "f", "O.hs", "2:1" },
                                                       { a, "g_info", "", "g", "O.hs", "1:1" } },
                               2);
        const uint64_t inner = draft_provenance(m.d, DRAFT_9_10_ZSTD, "Inner",
                                                &(struct draft_entry){ b, "h_info", "", "h", "I.hs", "3:1" }, 1);
        draft_u64(m.d, m.node, inner); /* the runtime's list */
        assert_true(provenance_find(&m.d->provenance, &m.d->program, b, &e));
        assert_string_equal(e.module, "Inner");
        assert_true(provenance_find(&m.d->provenance, &m.d->program, a, &e));
        assert_string_equal(e.module, "Outer");
        assert_string_equal(e.span, "1:1");
        assert_true(provenance_find(&m.d->provenance, &m.d->program, c, &e));
        assert_string_equal(e.span, "2:1");
        assert_false(provenance_find(&m.d->provenance, &m.d->program, none, &e));
        assert_true(is_found(&m));
        assert_int_equal(m.d->provenance.n, 3);
        assert_int_equal(m.d->provenance.entries, TABLES + 3);
        draft_destroy(m.d);
}

/* Words of a node that cannot be so: then there is none. */
TEST(test_what_is_no_node)
{
        static const struct {
                enum draft_release release;
                unsigned word;
                uint64_t value;
        } wrong[] = {
                { DRAFT_9_6, 0, DRAFT_DATA + 1 },
                { DRAFT_9_6, 0, DRAFT_HEAP },
                { DRAFT_9_6, 1, 0 },
                { DRAFT_9_6, 2, 0 },
                { DRAFT_9_6, 2, UINT64_C(1) << 40 },
                { DRAFT_9_6, 2, 100000 }, /* the last one is not there */
                { DRAFT_9_6, 3, DRAFT_HEAP },
                { DRAFT_9_6, 7, UINT64_MAX }, /* where the first entry has a zero */
                { DRAFT_9_10, 0, UINT64_MAX },
                { DRAFT_9_10, 1, 2 },
                { DRAFT_9_10, 1, 1 },
                { DRAFT_9_10, 2, TABLES - 1 },
                { DRAFT_9_10, 3, DRAFT_C },
                { DRAFT_9_10, 3, UINT64_MAX - 7 },
                { DRAFT_9_10, 4, 0 },
                { DRAFT_9_10, 5, 0 },
                { DRAFT_9_10, 6, DRAFT_C },
                { DRAFT_9_10, 7, 0 },
                { DRAFT_9_10, 7, UINT64_MAX },
                { DRAFT_9_10, 8, UINT64_MAX },
                { DRAFT_9_10_ZSTD, 1, 0 },
                { DRAFT_9_10_ZSTD, 4, DRAFT_C },
                { DRAFT_9_10_ZSTD, 6, DRAFT_C },
        };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                struct made m = make(wrong[i].release);
                draft_u64(m.d, m.node + 8 * (uint64_t)wrong[i].word, wrong[i].value);
                if (is_found(&m) || m.d->provenance.n)
                        fail_msg("case %zu is taken for a node", i);
                draft_destroy(m.d);
        }
}

static void expect_reason(const struct made *m, const char *words)
{
        assert_false(is_found(m));
        assert_int_equal(m->d->provenance.n, 1);
        if (!strstr(m->d->provenance.why.text, words))
                fail_msg("\"%s\" is not in \"%s\"", words, m->d->provenance.why.text);
        assert_false(is_found(m)); /* and is not tried again */
}

/* What a node leads to is damaged: a reason, and no name. */
TEST(test_damaged)
{
        struct made m = make(DRAFT_9_10_ZSTD);
        uint64_t at;

        memcpy(&at, draft_at(m.d, m.node + 32, 8), 8);
        draft_u64(m.d, at + 8, UINT64_MAX);
        expect_reason(&m, "the entries of the module at 0x5");
        assert_string_equal(shown(&m, 6), "main:Main.Session");
        draft_destroy(m.d);

        m = make(DRAFT_9_10_ZSTD);
        memcpy(&at, draft_at(m.d, m.node + 56, 8), 8);
        draft_u64(m.d, m.node + 56, at + 1); /* more texts than there are */
        expect_reason(&m, "the texts of");
        draft_destroy(m.d);

        m = make(DRAFT_9_6);
        draft_u32(m.d, m.node + 24 + 40 + 20, 0x2000000); /* a text of the second entry */
        expect_reason(&m, "the texts of");
        draft_destroy(m.d);

        m = make(DRAFT_9_10);
        draft_u64(m.d, m.node + 56, 0x3000000);
        expect_reason(&m, "the texts of");
        draft_destroy(m.d);

        m = make(DRAFT_9_10); /* a text outside of the texts is none */
        memcpy(&at, draft_at(m.d, m.node + 32, 8), 8);
        draft_u32(m.d, at + 16, 0x40000);
        assert_string_equal(shown(&m, 0), "Main.main.held (thunk :: [Session])");
        draft_destroy(m.d);
}

/* A file may claim any size of its data: what is there is found, and the search ends. */
TEST(test_data_without_end)
{
        struct made m = make(DRAFT_9_10);

        m.d->program.data->start = DRAFT_DATA - 0x2000;
        m.d->program.data->end = UINT64_MAX - 0x1000;
        assert_true(is_found(&m));
        assert_string_equal(m.d->provenance.why.text, "the program's data are larger than what is searched, 1 GiB");
        draft_destroy(m.d);
}

/* Not found in a program whose runtime has some: their layout is not known. */
TEST(test_another_layout)
{
        struct made m = make(DRAFT_9_10);

        draft_u64(m.d, m.node + 40, 7);
        draft_u64(m.d, DRAFT_C, m.node);
        draft_symbol(m.d, DRAFT_C, 8, "ipeBufferList");
        assert_false(is_found(&m));
        assert_string_equal(m.d->provenance.why.text, "they are laid out in another way than by GHC 9.6 and 9.10");
        draft_destroy(m.d);
}

/* Each byte of the data, one after the other: no text reaches beyond its table, nothing is read twice. */
TEST(test_every_byte)
{
        const size_t step = thin(1, "damages");

        for (size_t r = 0; r < 3; r++) {
                struct made m = make(releases[r]);
                unsigned found = 0, lost = 0;

                m.d->program.data->end = DRAFT_DATA + m.d->data.used;
                for (size_t i = 0; i < 2 * m.d->data.used; i += step) {
                        uint8_t *byte = m.d->data.bytes + i / 2;
                        const uint8_t was = *byte;
                        struct provenance_entry e;

                        *byte = i % 2 ? 0xff : (uint8_t)(was + 1);
                        if (provenance_find(&m.d->provenance, &m.d->program, m.at[2], &e)) {
                                found++;
                                assert_true(strlen(e.table) + strlen(e.type) + strlen(e.label) + strlen(e.module) +
                                                    strlen(e.file) + strlen(e.span) <
                                            6 * m.d->data.used);
                        } else {
                                lost++;
                        }
                        provenance_done(&m.d->provenance);
                        memory_forget(&m.d->memory);
                        *byte = was;
                }
                assert_true(found > 0 && lost > 0);
                draft_destroy(m.d);
        }
}

/* Words that are those of others, or anything: in the node, what it leads to, and the code's own tables. */
TEST(test_words)
{
        const size_t step = thin(1, "damages");

        for (uint64_t seed = 0; seed < 3000; seed += step) {
                struct made m = make(releases[seed % 3]);
                struct provenance_entry e;

                m.d->program.data->end = DRAFT_DATA + m.d->data.used;
                for (uint64_t i = 0; i < 1 + seed % 3; i++) {
                        const uint64_t r = hash_u64(seed, i), n = m.d->data.used / 8;
                        const uint64_t values[] = { hash_u64(r, 1),
                                                    0,
                                                    hash_u64(r, 2) % 64,
                                                    UINT64_MAX - r % 64,
                                                    DRAFT_DATA + 8 * (hash_u64(r, 3) % n),
                                                    m.at[r % TABLES] };
                        draft_u64(m.d, DRAFT_DATA + 8 * (hash_u64(r, 4) % n), values[r % 6]);
                }
                for (unsigned i = 0; i < TABLES; i++)
                        if (provenance_find(&m.d->provenance, &m.d->program, m.at[i], &e))
                                assert_true(strlen(e.table) + strlen(e.span) < 1 << 20);
                assert_true(m.d->provenance.entries <= UINT64_C(1) << 24);
                draft_destroy(m.d);
        }
}
