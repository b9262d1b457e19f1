/* SPDX-License-Identifier: BSD-3-Clause */
/* Signatures of made-up object files, found again in a made-up program without symbols, or not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "draft.h"
#include "inspect/ghc/names.h"
#include "inspect/ghc/signatures.h"
#include "inspect/memory/object_file.h"

#define FILE_BYTES (SIGNATURE_UNIT_MOST + 8192u)
#define PLACE      (DRAFT_TEXT + 0x1000)
#define TEXT       (DRAFT_DATA + 0x100)
#define INNER      56u /* a return point in the first function */
#define FIRST      80u /* bytes of the first function, table included */
#define SECOND     40u
#define LOCAL      48u

/*
 * An object file of a module, as GHC writes it with split sections: a function with a return point, which refers to a
 * text, to the local function behind and to its own return point; a local function; another function.
 */
struct object {
        uint8_t bytes[FILE_BYTES];
        size_t n;
        char names[512];
        size_t n_names;
        Elf64_Shdr sections[16];
        unsigned n_sections;
        Elf64_Sym symbols[16];
        unsigned n_symbols;
};

static uint32_t add_name(struct object *o, const char *name)
{
        const uint32_t at = (uint32_t)o->n_names;

        memcpy(o->names + at, name, strlen(name) + 1);
        o->n_names += strlen(name) + 1;
        return at;
}

static unsigned add_section(struct object *o, Elf64_Shdr s, const char *name, const void *bytes, size_t n)
{
        s.sh_name = add_name(o, name);
        s.sh_offset = o->n;
        s.sh_size = n;
        if (n)
                memcpy(o->bytes + o->n, bytes, n);
        o->n += (n + 7) & ~(size_t)7;
        o->sections[o->n_sections] = s;
        return o->n_sections++;
}

static unsigned add_symbol(struct object *o, const char *name, unsigned type, unsigned section, uint64_t value,
                           uint64_t size)
{
        o->symbols[o->n_symbols] = (Elf64_Sym){ .st_name = name ? add_name(o, name) : 0,
                                                .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                                                .st_shndx = (Elf64_Section)section,
                                                .st_value = value,
                                                .st_size = size };
        return o->n_symbols++;
}

static void put_u32(uint8_t *to, uint32_t value)
{
        memcpy(to, &value, sizeof(value));
}

/* A table of `type`, 16 bytes, whose layout is for this type. */
static void put_table(uint8_t *to, uint32_t type)
{
        put_u32(to, type == RET_SMALL ? 0 : 1);
        put_u32(to + 4, 0);
        put_u32(to + 8, type);
}

static void put_code(uint8_t *first, uint8_t *local, uint8_t *second)
{
        memset(first, 0x90, FIRST);
        put_table(first, FUN_STATIC);
        put_u32(first + 20, 0); /* the text */
        put_u32(first + 28, 0); /* the local function */
        put_u32(first + 33, 0); /* the return point */
        memset(first + INNER - 16, 0, 16);
        put_table(first + INNER - 16, RET_SMALL);
        memset(local, 0xcc, LOCAL);
        put_table(local, FUN_STATIC);
        memset(second, 0xc3, SECOND);
        put_table(second, FUN_STATIC);
        put_u32(first + 12, 0);
        put_u32(local + 12, 0);
        put_u32(second + 12, 0);
}

static Elf64_Rela relocation(uint64_t at, unsigned symbol, unsigned type, int64_t addend)
{
        return (Elf64_Rela){ .r_offset = at, .r_info = ELF64_R_INFO((uint64_t)symbol, type), .r_addend = addend };
}

/* After the last section. */
static void finish_object(struct object *o)
{
        const unsigned names = o->n_sections + 1;
        add_section(o, (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_link = names }, ".symtab", o->symbols,
                    o->n_symbols * sizeof(Elf64_Sym));
        const uint32_t last = add_name(o, ".strtab");
        add_section(o, (Elf64_Shdr){ .sh_type = SHT_STRTAB }, "", o->names, o->n_names + 1);
        o->sections[names].sh_name = last;
        const Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
                               .e_type = ET_REL,
                               .e_machine = EM_X86_64,
                               .e_shoff = o->n,
                               .e_shentsize = sizeof(Elf64_Shdr),
                               .e_shnum = (Elf64_Half)o->n_sections,
                               .e_shstrndx = (Elf64_Half)names };
        memcpy(o->bytes, &h, sizeof(h));
        memcpy(o->bytes + o->n, o->sections, o->n_sections * sizeof(Elf64_Shdr));
        o->n += o->n_sections * sizeof(Elf64_Shdr);
        assert_true(o->n <= FILE_BYTES);
}

static const Elf64_Shdr code_section = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR };
static const Elf64_Shdr data_section = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_WRITE };
static const Elf64_Shdr text_section = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_MERGE | SHF_STRINGS };

static bool is_split = true; /* the sections of objects: each function has its own */
static size_t last_bytes = SECOND;

static struct object *make_object(const char *module, const char *text)
{
        struct object *o = calloc(1, sizeof(*o));
        const size_t n_code = FIRST + LOCAL + last_bytes;
        uint8_t *const code = calloc(1, n_code), *const first = code, *const local = code + FIRST;
        const uint64_t local_at = is_split ? 0 : FIRST, second_at = is_split ? 0 : FIRST + LOCAL;
        char name[96];

        assert_true(o && code);
        put_code(first, local, local + LOCAL);
        o->n = sizeof(Elf64_Ehdr);
        add_section(o, (Elf64_Shdr){ .sh_type = SHT_NULL }, "", NULL, 0);
        (void)snprintf(name, sizeof(name), ".text.%s_alpha_info", module);
        const unsigned a = is_split ? add_section(o, code_section, name, first, FIRST)
                                    : add_section(o, code_section, ".text", code, n_code);
        const unsigned l = is_split ? add_section(o, code_section, ".text..Lr1_info", local, LOCAL) : a;
        (void)snprintf(name, sizeof(name), ".text.%s_beta_info", module);
        const unsigned b = is_split ? add_section(o, code_section, name, local + LOCAL, SECOND) : a;
        free(code);
        const unsigned t = add_section(o, text_section, ".rodata.str", text, strlen(text) + 1);
        add_symbol(o, NULL, STT_NOTYPE, 0, 0, 0);
        const unsigned to_a = add_symbol(o, NULL, STT_SECTION, a, 0, 0);
        const unsigned to_l = add_symbol(o, NULL, STT_SECTION, l, 0, 0);
        const unsigned to_t = add_symbol(o, NULL, STT_SECTION, t, 0, 0);
        (void)snprintf(name, sizeof(name), "%s_alpha_info", module);
        add_symbol(o, name, STT_FUNC, a, 16, FIRST - 16);
        (void)snprintf(name, sizeof(name), "%s_beta_info", module);
        add_symbol(o, name, STT_FUNC, b, second_at + 16, SECOND - 16);
        const Elf64_Rela relocations[] = { relocation(20, to_t, R_X86_64_32, 0),
                                           relocation(28, to_l, R_X86_64_PC32, (int64_t)local_at + 16 - 4),
                                           relocation(33, to_a, R_X86_64_32S, INNER) };
        add_section(o, (Elf64_Shdr){ .sh_type = SHT_RELA, .sh_info = a }, ".rela", relocations, sizeof(relocations));
        finish_object(o);
        return o;
}

struct library {
        uint8_t *bytes;
        size_t n;
};

/* An archive of an object for each module. */
static size_t make_archive(uint8_t *to, const char *const modules[], const char *const texts[], size_t n)
{
        size_t at = 8;

        memcpy(to, "!<arch>\n", 8);
        for (size_t i = 0; i < n; i++) {
                struct object *o = make_object(modules[i], texts[i]);
                char head[61];
                (void)snprintf(head, sizeof(head), "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", "m.o/", 0, 0, 0, 644, o->n);
                memcpy(to + at, head, 60);
                memcpy(to + at + 60, o->bytes, o->n);
                at += 60 + ((o->n + 1) & ~(size_t)1);
                free(o);
        }
        return at;
}

/* The file of signatures of such an archive. */
static void learn(struct library *l, const char *const modules[], const char *const texts[], size_t n)
{
        struct signature_maker m = { .n_objects = 0 };
        struct signature_table t;
        struct error error = { "" };
        uint8_t *archive = malloc(n * (FILE_BYTES + 64) + 8);

        assert_non_null(archive);
        assert_true(signature_maker_add(&m, archive, make_archive(archive, modules, texts, n), &error));
        assert_int_equal(m.n_objects, n);
        assert_true(signature_maker_finish(&m, &t));
        *l = (struct library){ .n = 0 };
        l->bytes = signature_file_encode(&t, &l->n);
        assert_non_null(l->bytes);
        signature_table_done(&t);
        signature_maker_done(&m);
        free(archive);
}

/* The three functions in a program, linked: relocations are applied. */
static void link_object(struct draft *d, uint64_t place, uint64_t text, bool with_second)
{
        uint8_t first[FIRST], local[LOCAL], second[SECOND];

        put_code(first, local, second);
        put_u32(first + 20, (uint32_t)text);
        put_u32(first + 28, FIRST + 16 - 32);
        put_u32(first + 33, (uint32_t)place + INNER);
        draft_put(d, place, first, FIRST);
        draft_put(d, place + FIRST, local, LOCAL);
        if (with_second)
                draft_put(d, place + FIRST + LOCAL, second, SECOND);
}

static struct draft *make_program(const char *text, bool with_second)
{
        struct draft *d = draft_new(&draft_9_0);

        link_object(d, PLACE, TEXT, with_second);
        draft_put(d, TEXT, text, strlen(text) + 1);
        return d;
}

static enum name_kind find(struct library *l, struct draft *d, uint64_t address, char name[PROGRAM_NAME_BYTES])
{
        struct signatures s;

        assert_true(signatures_decode(&s, "test", l->bytes, l->n));
        d->program.signatures = &s;
        const enum name_kind ret = name_of_code(&d->program, address, name, PROGRAM_NAME_BYTES);
        d->program.signatures = NULL;
        signatures_done(&s);
        return ret;
}

static void expect(struct library *l, struct draft *d, uint64_t address, enum name_kind kind, const char *wanted)
{
        char name[PROGRAM_NAME_BYTES];

        assert_int_equal(find(l, d, address, name), kind);
        if (wanted)
                assert_string_equal(name, wanted);
        assert_int_equal(name_is_probable(name), wanted && strstr(wanted, "(probably)"));
}

TEST(test_functions_are_found)
{
        struct draft *d = make_program("a text", true);
        struct library l;

        learn(&l, (const char *const[]){ "base_DataziM" }, (const char *const[]){ "a text" }, 1);
        expect(&l, d, PLACE + 16, NAME_EXACT, "base:Data.M.alpha");
        expect(&l, d, PLACE + INNER, NAME_EXACT, "base:Data.M.alpha"); /* its return point */
        expect(&l, d, PLACE + INNER + 5, NAME_EXACT, NULL);            /* and an instruction */
        expect(&l, d, PLACE + FIRST + LOCAL + 16, NAME_EXACT, "base:Data.M.beta");
        expect(&l, d, PLACE + 0x800, NAME_NONE, NULL);
        draft_symbol(d, PLACE + 16, FIRST, "Main_mine_info");
        expect(&l, d, PLACE + 16, NAME_EXACT, "Main.mine");
        expect(&l, d, PLACE + FIRST + LOCAL + 16, NAME_NONE, NULL); /* it is not stripped */
        free(l.bytes);
        draft_destroy(d);
}

/* A section of a module is cut into its functions. */
TEST(test_functions_are_found_without_split_sections)
{
        struct draft *d = make_program("a text", true);
        struct library l;
        struct signatures s;

        is_split = false;
        learn(&l, (const char *const[]){ "base_DataziM" }, (const char *const[]){ "a text" }, 1);
        is_split = true;
        expect(&l, d, PLACE + INNER, NAME_EXACT, "base:Data.M.alpha");
        expect(&l, d, PLACE + FIRST + 16, NAME_LOCAL, "base:Data.M");
        expect(&l, d, PLACE + FIRST + LOCAL + 16, NAME_EXACT, "base:Data.M.beta");
        assert_true(signatures_decode(&s, "test", l.bytes, l.n));
        assert_int_equal(s.table.n_units, 3);
        assert_int_equal(s.table.units[0].size, FIRST);
        assert_int_equal(s.table.units[2].size, SECOND);
        signatures_done(&s);
        draft_destroy(d);
        d = make_program("a text", true);
        draft_u32(d, PLACE + 28, 8); /* it calls another function */
        expect(&l, d, PLACE + 16, NAME_NONE, NULL);
        free(l.bytes);
        draft_destroy(d);
}

/* Only the function that is too large is left out, not the section that it is in. */
TEST(test_large_sections)
{
        struct library l;
        struct signatures s;

        is_split = false;
        last_bytes = SIGNATURE_UNIT_MOST + 8;
        learn(&l, (const char *const[]){ "base_DataziM" }, (const char *const[]){ "a text" }, 1);
        is_split = true;
        last_bytes = SECOND;
        assert_true(signatures_decode(&s, "test", l.bytes, l.n));
        assert_int_equal(s.table.n_units, 2);
        assert_int_equal(s.table.units[1].size, LOCAL);
        signatures_done(&s);
        free(l.bytes);
}

/* What a file knows of a program: its functions, or none where they refer to something else. */
TEST(test_known_code_is_counted)
{
        struct draft *d = make_program("a text", true), *other = make_program("another text", true);
        struct library l;
        struct signatures s;

        learn(&l, (const char *const[]){ "base_DataziM" }, (const char *const[]){ "a text" }, 1);
        assert_true(signatures_decode(&s, "test", l.bytes, l.n));
        assert_int_equal(signatures_count(&s, &d->program, true),
                         2); /* the third is too near to be a place of its own */
        assert_int_equal(signatures_count(&s, &d->program, false), 2);
        signatures_done(&s);
        assert_true(signatures_decode(&s, "test", l.bytes, l.n));
        assert_int_equal(signatures_count(&s, &other->program, true), 0);
        assert_true(signatures_count(&s, &other->program, false) > 0);
        signatures_done(&s);
        free(l.bytes);
        draft_destroy(d);
        draft_destroy(other);
}

TEST(test_local_functions_have_their_module)
{
        struct draft *d = make_program("a text", true);
        struct info_tables tables;
        struct library l;
        struct signatures s;
        char name[PROGRAM_NAME_BYTES];

        learn(&l, (const char *const[]){ "base_DataziM" }, (const char *const[]){ "a text" }, 1);
        expect(&l, d, PLACE + FIRST + 16, NAME_LOCAL, "base:Data.M");
        assert_true(signatures_decode(&s, "test", l.bytes, l.n));
        d->program.signatures = &s;
        info_tables_init(&tables, &d->program, 1);
        name_of_function(&tables, PLACE + FIRST + 20, name, sizeof(name));
        assert_string_equal(name, "base:Data.M (local, before beta)");
        info_tables_done(&tables);
        signatures_done(&s);
        free(l.bytes);
        draft_destroy(d);
}

/* Code that is the same, but refers to something else, or is not beside the same code, is not that. */
TEST(test_other_code_has_no_name)
{
        struct draft *d = make_program("another text", true);
        struct library l;

        learn(&l, (const char *const[]){ "base_DataziM" }, (const char *const[]){ "a text" }, 1);
        expect(&l, d, PLACE + 16, NAME_NONE, NULL);
        draft_destroy(d);
        d = make_program("a text", true);
        draft_u32(d, PLACE + 28, 8); /* it calls another function */
        expect(&l, d, PLACE + 16, NAME_NONE, NULL);
        draft_destroy(d);
        d = make_program("a text", true);
        draft_u32(d, PLACE + 33, (uint32_t)PLACE); /* or returns elsewhere */
        expect(&l, d, PLACE + 16, NAME_NONE, NULL);
        draft_destroy(d);
        d = make_program("a text", false);
        draft_u32(d, PLACE + FIRST + 24, 0);
        expect(&l, d, PLACE + 16, NAME_NONE, NULL);
        free(l.bytes);
        draft_destroy(d);
}

TEST(test_what_is_alike_has_no_name_or_its_module)
{
        static const char *const texts[] = { "a text", "a text", "b" };
        struct draft *d = make_program("a text", true);
        struct library l;

        learn(&l, (const char *const[]){ "base_DataziM", "base_DataziN" }, texts, 2);
        expect(&l, d, PLACE + 16, NAME_NONE, NULL);
        free(l.bytes);
        learn(&l, (const char *const[]){ "base_DataziM", "base_DataziM_x" }, texts, 2);
        expect(&l, d, PLACE + 16, NAME_LOCAL, "base:Data.M");
        free(l.bytes);
        learn(&l, (const char *const[]){ "base_DataziM", "base_DataziN" }, texts + 1, 2); /* the text decides */
        expect(&l, d, PLACE + 16, NAME_EXACT, "base:Data.M.alpha");
        free(l.bytes);
        draft_destroy(d);
}

/* In the midst of the program's own code that of a library would need more neighbours. */
TEST(test_few_neighbours_among_other_code_are_none)
{
        struct draft *d = make_program("a text", true);
        uint8_t own[32] = { 0 };
        struct library l;

        learn(&l, (const char *const[]){ "base_DataziM" }, (const char *const[]){ "a text" }, 1);
        put_table(own, FUN_STATIC);
        for (unsigned i = 1; i <= 8; i++)
                draft_put(d, PLACE - 0x40 * i, own, sizeof(own));
        expect(&l, d, PLACE + 16, NAME_EXACT, NULL);
        draft_destroy(d);
        d = make_program("a text", true);
        for (unsigned i = 1; i <= 8; i++) {
                draft_put(d, PLACE - 0x40 * i, own, sizeof(own));
                draft_put(d, PLACE + 0x100 + 0x40 * i, own, sizeof(own));
        }
        expect(&l, d, PLACE + 16, NAME_NONE, NULL);
        free(l.bytes);
        draft_destroy(d);
}

/* The code at PLACE is alike in two modules; in front of it and behind it is what surely is of one of them. */
static struct draft *make_ambiguous(uint64_t front, uint64_t behind, unsigned n)
{
        struct draft *d = make_program("a text", true);

        draft_put(d, TEXT + 16, "before", sizeof("before"));
        draft_put(d, TEXT + 32, "behind", sizeof("behind"));
        for (unsigned i = 1; i <= n; i++) {
                link_object(d, PLACE - i * 0x200, front, true);
                link_object(d, PLACE + i * 0x200, behind, true);
        }
        return d;
}

TEST(test_what_is_around_makes_a_name_probable)
{
        struct draft *d = make_ambiguous(TEXT + 16, TEXT + 32, 2);
        struct info_tables tables;
        struct library l;
        struct signatures s;
        char name[PROGRAM_NAME_BYTES];

        learn(&l, (const char *const[]){ "base_DataziM", "base_DataziM", "base_DataziM", "base_DataziN" },
              (const char *const[]){ "before", "a text", "behind", "a text" }, 4);
        expect(&l, d, PLACE - 0x200 + 16, NAME_EXACT, "base:Data.M.alpha");
        expect(&l, d, PLACE + 0x200 + 16, NAME_EXACT, "base:Data.M.alpha");
        expect(&l, d, PLACE + 16, NAME_EXACT, "base:Data.M.alpha (probably)");
        expect(&l, d, PLACE + INNER + 5, NAME_EXACT, "base:Data.M.alpha (probably)");
        expect(&l, d, PLACE + FIRST + 16, NAME_LOCAL, "base:Data.M (probably)");
        assert_true(signatures_decode(&s, "test", l.bytes, l.n));
        d->program.signatures = &s;
        info_tables_init(&tables, &d->program, 1);
        for (unsigned i = 0; i < 2; i++) { /* found, then kept */
                name_of_function(&tables, PLACE + FIRST + 16, name, sizeof(name));
                assert_string_equal(name, "base:Data.M (probably) (local, before beta)");
        }
        info_tables_done(&tables);
        signatures_done(&s);
        draft_destroy(d);
        d = make_ambiguous(TEXT + 32, TEXT + 16, 2); /* the object file has them the other way round */
        expect(&l, d, PLACE - 0x200 + 16, NAME_EXACT, "base:Data.M.alpha");
        expect(&l, d, PLACE + 16, NAME_NONE, NULL);
        draft_destroy(d);
        d = make_ambiguous(TEXT + 16, TEXT + 32, 1); /* most of what is around is the program's own */
        expect(&l, d, PLACE - 0x200 + 16, NAME_EXACT, "base:Data.M.alpha");
        expect(&l, d, PLACE + 16, NAME_NONE, NULL);
        free(l.bytes);
        draft_destroy(d);
}

/* Whatever is in a library or a file of signatures, it is refused or read; run under sanitizers, too. */
TEST(test_damaged_files)
{
        static const char *const modules[] = { "base_DataziM", "base_DataziN" }, *const texts[] = { "a", "b" };
        uint8_t *archive = malloc(2 * (FILE_BYTES + 64) + 8);
        struct signature_table t;
        struct error error = { "" };
        struct library l;
        unsigned refused = 0;

        assert_non_null(archive);
        const size_t n = make_archive(archive, modules, texts, 2);
        for (size_t i = 0; i < n; i += 3) {
                struct signature_maker m = { .n_objects = 0 };
                const uint8_t before = archive[i];
                archive[i] ^= 0xff;
                refused += !signature_maker_add(&m, archive, n, &error) || m.n_objects < 2;
                (void)signature_maker_add(&m, archive, i, &error);
                assert_true(signature_maker_finish(&m, &t));
                signature_table_done(&t);
                signature_maker_done(&m);
                archive[i] = before;
        }
        assert_true(refused > 10);
        learn(&l, modules, texts, 2);
        for (size_t i = 0; i < l.n; i++) {
                l.bytes[i] ^= 0x55;
                if (signature_file_decode(&t, l.bytes, l.n, &error))
                        signature_table_done(&t);
                l.bytes[i] ^= 0x55;
                assert_false(signature_file_decode(&t, l.bytes, i, &error));
                assert_int_not_equal(error.text[0], 0);
        }
        free(l.bytes);
        free(archive);
}

#define C_BYTES  48u /* of each C function */
#define VARIABLE (DRAFT_DATA + 0x200)

static void put_c_code(uint8_t *f, uint8_t *g)
{
        memset(f, 0x11, C_BYTES);
        memset(g, 0x22, C_BYTES);
        put_u32(f + 4, 0);
        put_u32(f + 12, 0);
        put_u32(g + 8, 0);
}

/* f() reads a static variable and calls g(), which writes a constant to it. */
static void learn_c_code(struct signatures *ret)
{
        struct object *o = calloc(1, sizeof(*o));
        struct signature_maker m = { .n_objects = 0 };
        struct signature_table t;
        struct error error = { "" };
        uint8_t f[C_BYTES], g[C_BYTES], *bytes;
        size_t n = 0;

        assert_non_null(o);
        put_c_code(f, g);
        o->n = sizeof(Elf64_Ehdr);
        add_section(o, (Elf64_Shdr){ .sh_type = SHT_NULL }, "", NULL, 0);
        const unsigned in_f = add_section(o, code_section, ".text.f", f, C_BYTES);
        const unsigned in_g = add_section(o, code_section, ".text.g", g, C_BYTES);
        const unsigned data = add_section(o, data_section, ".data.v", "8 bytes", 8);
        add_symbol(o, NULL, STT_NOTYPE, 0, 0, 0);
        const unsigned to_data = add_symbol(o, NULL, STT_SECTION, data, 0, 0);
        add_symbol(o, "f", STT_FUNC, in_f, 0, C_BYTES);
        const unsigned to_g = add_symbol(o, "g", STT_FUNC, in_g, 0, C_BYTES);
        add_symbol(o, "v", STT_OBJECT, data, 0, 8);
        const Elf64_Rela of_f[] = { relocation(4, to_data, R_X86_64_PC32, -4),
                                    relocation(12, to_g, R_X86_64_PLT32, -4) };
        const Elf64_Rela of_g[] = { relocation(8, to_data, R_X86_64_PC32, -8) };
        add_section(o, (Elf64_Shdr){ .sh_type = SHT_RELA, .sh_info = in_f }, ".rela", of_f, sizeof(of_f));
        add_section(o, (Elf64_Shdr){ .sh_type = SHT_RELA, .sh_info = in_g }, ".rela", of_g, sizeof(of_g));
        finish_object(o);
        assert_true(signature_maker_add(&m, o->bytes, o->n, &error));
        assert_true(signature_maker_finish(&m, &t));
        bytes = signature_file_encode(&t, &n);
        assert_true(bytes && signatures_decode(ret, "test", bytes, n));
        signature_table_done(&t);
        signature_maker_done(&m);
        free(bytes);
        free(o);
}

static void put_c_program(struct draft *d, uint64_t at, uint64_t variable)
{
        uint8_t f[C_BYTES], g[C_BYTES];

        put_c_code(f, g);
        put_u32(f + 4, (uint32_t)(VARIABLE - 4 - (at + 4)));
        put_u32(f + 12, C_BYTES - 12 - 4);
        put_u32(g + 8, (uint32_t)(variable - 8 - (at + C_BYTES + 8)));
        draft_put(d, at, f, C_BYTES);
        draft_put(d, at + C_BYTES, g, C_BYTES);
}

/* C code is found by itself, its variables by what leads to them, and nothing where that is not one answer. */
TEST(test_symbols_of_c_code_are_found)
{
        struct draft *d = draft_new(&draft_9_0);
        struct runtime_symbol symbols[] = { { .name = "f" }, { .name = "g" }, { .name = "v" }, { .name = "w" } };
        struct signatures s;

        learn_c_code(&s);
        put_c_program(d, PLACE, VARIABLE);
        assert_true(runtime_symbols_find(&s, &d->program, symbols, 4));
        assert_int_equal(symbols[0].address, PLACE);
        assert_int_equal(symbols[1].address, PLACE + C_BYTES);
        assert_int_equal(symbols[1].references, 2); /* called, and itself */
        assert_int_equal(symbols[2].address, VARIABLE);
        assert_int_equal(symbols[2].bytes, 8);
        assert_int_equal(symbols[2].references, 2);
        assert_int_equal(symbols[3].address, 0);
        draft_destroy(d);
        d = draft_new(&draft_9_0);
        put_c_program(d, PLACE, VARIABLE + 8); /* g() has another variable than f() */
        assert_true(runtime_symbols_find(&s, &d->program, symbols, 4));
        assert_int_equal(symbols[0].address, PLACE);
        assert_int_equal(symbols[2].address, 0);
        assert_true(symbols[2].is_contradicted);
        draft_destroy(d);
        d = draft_new(&draft_9_0);
        put_c_program(d, PLACE, VARIABLE);
        put_c_program(d, PLACE + 0x400, VARIABLE); /* each of the two is at two places */
        assert_true(runtime_symbols_find(&s, &d->program, symbols, 4));
        for (size_t i = 0; i < 4; i++)
                assert_int_equal(symbols[i].address, 0);
        signatures_done(&s);
        draft_destroy(d);
}
