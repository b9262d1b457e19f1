/* SPDX-License-Identifier: BSD-3-Clause */
/* Symbols of info tables decoded; those that a census brings looked up in this program's own file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "proto/base/bytes.h"
#include "proto/base/haskell_symbol.h"
#include "agent/preamble.h"
#include "agent/queue.h"
#include "agent/symbols.h"

/* ------------------------------------------------------------------ decoding */

TEST(test_symbols_are_decoded)
{
        static const struct {
                const char *symbol, *module, *name;
        } cases[] = {
                { "base_GHCziConcziSync_newTVarIO1_info", "base:GHC.Conc.Sync", "newTVarIO1" },
                { "containerszm0zi6zi7_DataziMapziInternal_Bin_con_info", "containers-0.6.7:Data.Map.Internal", "Bin" },
                { "containerszm0zi7zminplace_DataziMapziInternal_zdwgo_info",
                  "containers-0.7-inplace:Data.Map.Internal", "$wgo" },
                { "Cabalzm3zi10_DistributionziPretty_pretty_info", "Cabal-3.10:Distribution.Pretty", "pretty" },
                { "ghczmprim_GHCziTypes_ZC_con_info", "ghc-prim:GHC.Types", ":" },
                { "ghczmprim_GHCziTuple_Z2T_con_info", "ghc-prim:GHC.Tuple", "(,)" },
                { "ghczmprim_GHCziTuple_Z0T_con_info", "ghc-prim:GHC.Tuple", "()" },
                { "base_GHCziBase_zgzgze_info", "base:GHC.Base", ">>=" },
                { "base_GHCziBase_zdfMonadIO_info", "base:GHC.Base", "$fMonadIO" },
                { "Main_main_info", "Main", "main" },
                { "Main_Job_con_info", "Main", "Job" },
                { "Main_zdwloop_s4nN_info", "Main", "$wloop" },
                { "base_GHCziBase_sat_s4nN_info", "base:GHC.Base", "sat" },
                { "Main_z3bbx_info", NULL, NULL }, /* no U at its end */
                { "Main_z3bbU_info", "Main", "\xce\xbb" },
                { "Main_z1f600U_info", "Main", "\xf0\x9f\x98\x80" },
                { "Main_zd800U_info", "Main", "$800U" },
                { "Main_z0d800U_info", NULL, NULL },     /* a surrogate */
                { "Main_z0110000U_info", NULL, NULL },   /* beyond Unicode */
                { "Main_Z999999999T_info", NULL, NULL }, /* no tuple has so many */
                { "stg_ARR_WORDS_info", "", "ARR_WORDS" },
                { "stg_sel_0_upd_info", "", "stg_sel_0_upd" },
                { "sat_s37w_info", NULL, NULL },
                { "Main_Just_Main_3_con_info", NULL, NULL },
                { "dl_phdr_info", NULL, NULL },
                { "base_GHCziBase_x_y_z_info", NULL, NULL },
                { "base_GHCziBase__info", NULL, NULL },
                { "Main_z_info", NULL, NULL },
                { "_info", NULL, NULL },
                { "base_GHCziBase_foldr_closure", NULL, NULL },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                struct haskell_symbol s;
                bool good = haskell_symbol_decode(&s, cases[i].symbol);
                if (good != (cases[i].name != NULL))
                        fail_msg("%s: %s", cases[i].symbol, good ? s.name : "not decoded");
                if (good) {
                        assert_string_equal(s.module, cases[i].module);
                        assert_string_equal(s.name, cases[i].name);
                }
        }
}

/* Any text: within bounds (sanitizers see to that), and what is decoded is not empty. */
TEST(test_any_text_is_survived)
{
        static const char letters[] = "zZ_0129aUTHMainGBcon_info_";
        unsigned seed = 1;

        for (unsigned round = 0; round < 200000; round++) {
                char text[SYMBOL_BYTES + 16];
                size_t n = (size_t)rand_r(&seed) % (round % 100 ? 40 : sizeof(text) - 6);
                struct haskell_symbol s;
                for (size_t i = 0; i < n; i++)
                        text[i] = letters[(size_t)rand_r(&seed) % (sizeof(letters) - 1)];
                memcpy(text + n, "_info", 6);
                if (haskell_symbol_decode(&s, text))
                        assert_true(s.name[0] != '\0');
        }
}

/* ------------------------------------------------------------------ looking up */

/* As GHC has them: the code, before which the table is, whose last words are the type of the closure and the SRT. */
#define TABLE(type, ...)                                                                                               \
        __asm__(".pushsection .text\n.balign 16\n.long 0,0,0,0\n.quad 0\n.long " #type ",0\n" __VA_ARGS__              \
                ".byte 0x90\n.popsection\n")
#define SYMBOL(name) ".globl " #name "\n.type " #name ", @function\n" #name ":\n"

TABLE(1, SYMBOL(testzm1zi2_DataziThing_Thing_con_info));
TABLE(15, SYMBOL(stg_THUNK_TEST_info));
TABLE(8, SYMBOL(one_name_info) SYMBOL(another_name_info));
TABLE(8, SYMBOL(testzm1zi2_DataziThing_notATable));

extern const uint8_t testzm1zi2_DataziThing_Thing_con_info[], stg_THUNK_TEST_info[], one_name_info[],
        testzm1zi2_DataziThing_notATable[];

static struct {
        uint8_t bytes[65536];
        size_t size, chunks;
} sent;

static void keep(struct chunk *c)
{
        assert_true(sent.size + c->size <= sizeof(sent.bytes));
        memcpy(sent.bytes + sent.size, c->bytes, c->size);
        sent.size += c->size;
        sent.chunks++;
        chunk_release(c);
}

static void see(struct table_names *t, const uint8_t *code, uint64_t table_bytes)
{
        char label[32];
        int n = snprintf(label, sizeof(label), "0x%llx", (unsigned long long)((uintptr_t)code - table_bytes));

        table_names_see(t, label, (size_t)n + 1);
}

static bool look_up(struct table_names *t, const char *path, bool profiled, struct error *error)
{
        memset(&sent, 0, sizeof(sent));
        table_names_sort(t);
        return table_names_find(t, path, symbols_bias(), profiled, 77, keep, error);
}

/* Event 169 from its table's address to its last NUL. */
static bool was_sent(uint64_t key, const char *strings, size_t size)
{
        uint8_t wanted[256];

        put_be(wanted, key, 8);
        memcpy(wanted + 8, strings, size);
        return memmem(sent.bytes, sent.size, wanted, size + 8) != NULL;
}

static void finds_and_describes(bool profiled)
{
        static const char thing[] =
                "testzm1zi2_DataziThing_Thing_con_info\0"
                "1\0\0Thing\0test-1.2:Data.Thing\0" TABLE_NAMES_PLACE,
                          thunk[] =
                                  "stg_THUNK_TEST_info\0"
                                  "15\0\0THUNK_TEST\0\0" TABLE_NAMES_PLACE;
        uint64_t table = profiled ? 32 : 16;
        struct table_names t = { 0 };
        struct error error;

        see(&t, testzm1zi2_DataziThing_Thing_con_info, table);
        see(&t, stg_THUNK_TEST_info, table);
        see(&t, stg_THUNK_TEST_info, table);
        see(&t, one_name_info, table);                    /* two names: which one? */
        see(&t, testzm1zi2_DataziThing_notATable, table); /* the symbol of something else */
        see(&t, stg_THUNK_TEST_info + 1, table);
        table_names_see(&t, "0x", 3);
        table_names_see(&t, "(1234)main", 11);
        table_names_see(&t, "0x12345678901234567", 20);
        assert_int_equal(t.n_pending, 5);
        assert_true(look_up(&t, SYMBOLS_OWN_FILE, profiled, &error));
        assert_int_equal(t.n_pending, 0);
        assert_true(was_sent((uintptr_t)testzm1zi2_DataziThing_Thing_con_info - table, thing, sizeof(thing)));
        assert_true(was_sent((uintptr_t)stg_THUNK_TEST_info - table, thunk, sizeof(thunk)));
        assert_int_equal(sent.chunks, 1);
        assert_int_equal(sent.size, 24 + 2 * (12 + 8) + sizeof(thing) + sizeof(thunk));
        assert_int_equal(be32(sent.bytes + 10), sent.size);
        assert_int_equal(be64(sent.bytes + 2), 77);
        see(&t, stg_THUNK_TEST_info, table);
        assert_int_equal(t.n_pending, 0); /* only once */
        table_names_reset(&t);
}

TEST(test_finds_and_describes)
{
        finds_and_describes(false);
        finds_and_describes(true);
}

TEST(test_many_at_once)
{
        struct table_names t = { 0 };
        struct error error;

        for (unsigned i = 0; i < 20000; i++)
                see(&t, (const uint8_t *)(uintptr_t)(0x1000 + 8 * i), 16);
        see(&t, stg_THUNK_TEST_info, 16);
        assert_int_equal(t.n_pending, 20001);
        assert_true(look_up(&t, SYMBOLS_OWN_FILE, false, &error));
        assert_int_equal(sent.chunks, 1);
        for (unsigned i = 0; i < 20000; i++)
                see(&t, (const uint8_t *)(uintptr_t)(0x1000 + 8 * i), 16);
        assert_int_equal(t.n_pending, 0);
        table_names_reset(&t);
}

TEST(test_a_file_without_symbols_has_a_reason)
{
        struct table_names t = { 0 };
        struct error error;

        see(&t, stg_THUNK_TEST_info, 16);
        assert_false(look_up(&t, "/nowhere", false, &error));
        assert_string_equal(error.text, "/nowhere cannot be read: No such file or directory");
        assert_false(look_up(&t, "/proc/self/status", false, &error));
        assert_string_equal(error.text, "the program has no symbol table: it is stripped");
        assert_int_equal(sent.chunks, 0);
        table_names_reset(&t);
}

/* --------------------------------------------------------------- as the log flows */

static const uint8_t header[] =
        "hdrbhetb"
        "etb\0\0\x12\0\x0e\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\xa4\xff\xff\0\0\0\0\0\0\0\0ete\0"
        "etb\0\0\xa9\xff\xff\0\0\0\0\0\0\0\0ete\0"
        "hetehdredatb";

static void take_block(struct preamble *p, uint16_t event, const uint8_t *payload, size_t size)
{
        uint8_t block[512];

        put_be(block, 18, 2);
        put_be(block + 2, 100, 8);
        put_be(block + 10, 24 + 12 + size, 4);
        put_be(block + 14, 200, 8);
        put_be(block + 22, 0, 2);
        put_be(block + 24, event, 2);
        put_be(block + 26, 150, 8);
        put_be(block + 34, size, 2);
        memcpy(block + 36, payload, size);
        preamble_add(p, block, 36 + size);
}

static void take_band(struct preamble *p, const uint8_t *code)
{
        uint8_t payload[64] = { 0 };
        int n = snprintf((char *)payload + 9, sizeof(payload) - 9, "0x%llx", (unsigned long long)(uintptr_t)code - 16);

        take_block(p, 164, payload, 9 + (size_t)n + 1);
}

/* What the program describes itself is not looked up. */
TEST(test_described_tables_are_left_alone)
{
        static const char strings[] =
                "own_info\0"
                "1\0\0own\0Main\0Main.hs:1:1";
        struct preamble *p = calloc(1, sizeof(*p));
        uint8_t payload[8 + sizeof(strings)];
        struct error error;

        preamble_reset(p);
        preamble_add(p, header, sizeof(header) - 1);
        put_be(payload, (uintptr_t)testzm1zi2_DataziThing_Thing_con_info - 16, 8);
        memcpy(payload + 8, strings, sizeof(strings));
        take_block(p, 169, payload, sizeof(payload));
        assert_false(preamble_has_unnamed(p));
        take_band(p, testzm1zi2_DataziThing_Thing_con_info);
        take_band(p, stg_THUNK_TEST_info);
        assert_true(preamble_has_unnamed(p));
        assert_true(look_up(&p->tables, SYMBOLS_OWN_FILE, false, &error));
        assert_null(memmem(sent.bytes, sent.size, "Thing", 5));
        assert_non_null(memmem(sent.bytes, sent.size, "THUNK_TEST", 10));

        /* and what was found is for late readers, too */
        preamble_add(p, sent.bytes, sent.size);
        struct chunk *c = preamble_chunk(p);
        assert_non_null(memmem(c->bytes, c->size, "stg_THUNK_TEST_info", 19));
        assert_int_equal(p->message_ns, 200); /* not 77 */
        chunk_release(c);
        preamble_reset(p);
        free(p);
}

static int begin_tests(void **state)
{
        char version[32];

        (void)symbols_find(version, sizeof(version));
        return 0;
}

TEST_GROUP(begin_tests, NULL)
