/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - code without a symbol belongs to a local function or a return point, whose symbols the assembler drops. GHC
 * writes these before the function that they are in: of Debian's libraries, the module of the symbol behind is right
 * in 99.6 % of such places, that of the symbol before in 94.7 %. Whether the function is right is not known: only the
 * module is given. Signatures follow the same rule, so that a stripped program shows the names that it would show
 * with symbols; several names of one module for the same code are shown as this module, and a name that is only
 * probable is marked, for it is wrong now and then. Before both comes what
 * -finfo-table-map has put into the program: the binding that code is a part of, as the eventlog has it, too.
 */
#include "inspect/ghc/names.h"

#include <string.h>

#include "inspect/ghc/signatures.h"
#include "proto/base/haskell_symbol.h"
#include "proto/base/text_out.h"

#define TABLE   "_info"
#define CLOSURE "_closure"

static void put_safe(struct text_out *out, const char *text)
{
        for (; *text; text++)
                if ((unsigned char)*text >= ' ' && (unsigned char)*text != 0x7f)
                        text_put_n(out, text, 1);
}

/* Decoded where it is encoded as GHC does it, else as it is. */
static void put_symbol(struct text_out *out, const char *symbol)
{
        struct haskell_symbol s;

        if (!haskell_symbol_decode(&s, symbol)) {
                put_safe(out, symbol);
                return;
        }
        if (s.module[0]) {
                put_safe(out, s.module);
                text_put(out, ".");
        }
        put_safe(out, s.name);
}

/* The module of a symbol. */
static bool put_module(struct text_out *out, const char *symbol)
{
        struct haskell_symbol s;

        if (!haskell_symbol_decode(&s, symbol) || !s.module[0])
                return false;
        put_safe(out, s.module);
        return true;
}

/* False: it is in none. */
static bool put_file(struct text_out *out, const struct program *p, const struct mapping *m)
{
        const char *path = m && m->file ? p->files[m->file - 1] : NULL, *name = path ? strrchr(path, '/') : NULL;

        if (path)
                put_safe(out, name ? name + 1 : path);
        return path != NULL;
}

static void put_place(struct text_out *out, const struct program *p, uint64_t address)
{
        const struct mapping *m = program_mapping(p, address);
        const bool in_file = put_file(out, p, m);

        text_put(out, in_file ? "+0x" : "0x");
        text_put_hex(out, in_file ? address - m->start + m->offset : address);
}

/* What is known of code: a symbol's name, and of what kind the name is. */
struct code_name {
        enum name_kind kind;
        bool has_next; /* NAME_LOCAL: the symbol is the one behind the code, not just one of its module */
        bool is_probable;
        bool is_plain; /* what is in `symbol` is none, but the name itself, or the module's */
        char symbol[SYMBOL_BYTES];
};

static void set_name(struct code_name *ret, enum name_kind kind, bool has_next, const char *symbol, size_t n)
{
        struct text_out out;

        *ret = (struct code_name){ .kind = kind, .has_next = has_next };
        text_out_init(&out, ret->symbol, sizeof(ret->symbol));
        text_put_n(&out, symbol, n);
        if (out.cut)
                ret->kind = NAME_NONE;
}

/* Of a program without symbols. */
static void find_by_signature(const struct program *p, uint64_t address, struct code_name *ret)
{
        const struct signature_found f = signatures_find(p->signatures, p, address);

        if (f.match != SIGNATURE_NONE)
                set_name(ret, f.match == SIGNATURE_SYMBOL ? NAME_EXACT : NAME_LOCAL, f.match == SIGNATURE_LOCAL,
                         f.symbol, strcspn(f.symbol, "."));
        ret->is_probable = f.is_probable;
}

/* The length of "$wgo" in "$wgo_s5Gz_info": without what the compiler has added to tell tables of one name apart. */
static size_t own_length(const char *table)
{
        size_t n = strlen(table) - (text_has_suffix(table, TABLE) ? strlen(TABLE) : 0), at = n;

        while (at > 0 &&
               ((table[at - 1] >= '0' && table[at - 1] <= '9') || (table[at - 1] >= 'a' && table[at - 1] <= 'z') ||
                (table[at - 1] >= 'A' && table[at - 1] <= 'Z')))
                at--;
        if (at > 1 && at < n && table[at - 1] == '_' && strchr("rsc", table[at]))
                n = at - 1;
        return n;
}

/* What the compiler calls code that has no name in the source. */
static bool is_nameless(const char *table, size_t n)
{
        return (n == 3 && !strncmp(table, "sat", n)) || (n == 5 && !strncmp(table, "block", n));
}

/* By the table of an address: its binding, else its own name; NAME_LOCAL: its module alone. */
static void find_in_source(const struct program *p, uint64_t table, struct code_name *ret)
{
        struct provenance_entry e;
        struct text_out out;

        if (!p->provenance || !provenance_find(p->provenance, p, table, &e) || !e.module[0])
                return;
        const size_t n = own_length(e.table);
        const bool own =
                !is_nameless(e.table, n) && (!e.label[0] || (strlen(e.label) == n && !strncmp(e.label, e.table, n)));
        *ret = (struct code_name){ .kind = own ? NAME_EXACT : e.label[0] ? NAME_SOURCE : NAME_LOCAL, .is_plain = true };
        text_out_init(&out, ret->symbol, sizeof(ret->symbol));
        text_put(&out, e.module);
        if (ret->kind != NAME_LOCAL)
                text_put(&out, ".");
        if (ret->kind == NAME_SOURCE)
                text_put(&out, e.label);
        else if (own)
                text_put_n(&out, e.table, n);
}

static bool is_function_name(enum name_kind kind)
{
        return kind == NAME_EXACT || kind == NAME_SOURCE;
}

static void find_name(const struct program *p, uint64_t address, struct code_name *ret)
{
        const struct elf_symbol *s = program_symbol(p, address);
        const size_t next = elf_symbols_after(&p->symbols, address);
        struct code_name in_source = { .kind = NAME_NONE };

        *ret = in_source;
        if (!s)
                find_in_source(p, address, &in_source);
        if (s)
                set_name(ret, NAME_EXACT, false, s->name, strlen(s->name));
        else if (is_function_name(in_source.kind))
                *ret = in_source;
        else if (p->signatures && !p->has_symbols && program_is_code(p, address))
                find_by_signature(p, address, ret);
        else if (p->has_symbols && next < p->symbols.n &&
                 p->symbols.items[next].address - address < FUNCTION_BYTES_MOST &&
                 program_is_code(p, p->symbols.items[next].address))
                set_name(ret, NAME_LOCAL, true, p->symbols.items[next].name, strlen(p->symbols.items[next].name));
        if (ret->kind == NAME_NONE)
                *ret = in_source;
}

/* A symbol may name no module; then the place is better than nothing. */
static enum name_kind put_code(struct text_out *out, const struct program *p, uint64_t address,
                               const struct code_name *name)
{
        if (name->is_plain)
                put_safe(out, name->symbol);
        else if (name->kind == NAME_EXACT)
                put_symbol(out, name->symbol);
        if (name->is_plain || name->kind == NAME_EXACT || (name->kind == NAME_LOCAL && put_module(out, name->symbol))) {
                text_put(out, name->is_probable ? NAME_PROBABLY : "");
                return name->kind;
        }
        put_place(out, p, address);
        return NAME_NONE;
}

enum name_kind name_of_code(const struct program *p, uint64_t address, char *ret, size_t size)
{
        struct code_name name;
        struct text_out out;

        text_out_init(&out, ret, size);
        find_name(p, address, &name);
        return put_code(&out, p, address, &name);
}

static bool has_sources(const struct program *p)
{
        if (p->provenance)
                provenance_search(p->provenance, p);
        return p->provenance && p->provenance->n > 0;
}

void name_of_function(struct info_tables *t, uint64_t address, char *ret, size_t size)
{
        const struct program *p = t->program;
        struct haskell_symbol next;
        struct code_name name, in_source = { .kind = NAME_NONE };
        struct text_out out;

        text_out_init(&out, ret, size);
        find_name(p, address, &name);
        if (!is_function_name(name.kind) && has_sources(p) && program_is_code(p, address))
                find_in_source(p, info_tables_before(t->program, address), &in_source);
        if (is_function_name(in_source.kind))
                name = in_source;
        switch (put_code(&out, p, address, &name)) {
        case NAME_EXACT:
        case NAME_SOURCE:
                return;
        case NAME_LOCAL:
                if (!name.has_next)
                        return;
                text_put(&out, " (local, before ");
                if (haskell_symbol_decode(&next, name.symbol))
                        put_safe(&out, next.name);
                text_put(&out, ")");
                return;
        case NAME_NONE:
                text_out_init(&out, ret, size);
                if (program_is_code(p, address))
                        put_place(&out, p, info_tables_before(t->program, address));
                else if (!put_file(&out, p, program_mapping(p, address)))
                        text_put(&out, "(code in no file)");
        }
}

void name_of_c_function(const struct program *p, uint64_t address, char *ret, size_t size)
{
        const struct elf_symbol *s = program_symbol(p, address);
        struct code_name name = { .kind = NAME_NONE };
        struct text_out out;

        text_out_init(&out, ret, size);
        if (!s && p->signatures && !p->has_symbols)
                find_by_signature(p, address, &name);
        if (s)
                put_safe(&out, s->name);
        else if (name.kind == NAME_EXACT && !name.is_probable)
                put_safe(&out, name.symbol);
        else
                put_place(&out, p, address);
}

/* GHC writes "<entire-module>" or nothing where it knows no place. */
void name_of_source(const struct program *p, uint64_t table, char ret[NAME_SOURCE_BYTES])
{
        struct provenance_entry e;
        struct text_out out;

        text_out_init(&out, ret, NAME_SOURCE_BYTES);
        if (!p->provenance || !provenance_find(p->provenance, p, table, &e) || !e.file[0] || e.file[0] == '<')
                return;
        put_safe(&out, e.file);
        if (e.span[0]) {
                text_put(&out, ":");
                put_safe(&out, e.span);
        }
}

void name_of_type(const struct program *p, uint64_t table, char ret[NAME_TYPE_BYTES])
{
        struct provenance_entry e;
        struct text_out out;
        size_t n = NAME_TYPE_BYTES - 8;

        text_out_init(&out, ret, NAME_TYPE_BYTES);
        if (!p->provenance || !provenance_find(p->provenance, p, table, &e))
                return;
        const bool whole = strlen(e.type) <= n;
        while (!whole && n > 0 && (e.type[n] & 0xc0) == 0x80)
                n--;
        for (size_t i = 0; e.type[i] && (whole || i < n); i++)
                text_put_n(&out, (unsigned char)e.type[i] < ' ' || e.type[i] == 0x7f ? " " : &e.type[i], 1);
        if (!whole)
                text_put(&out, "...");
}

/* "Main_sessions_closure" is decoded as "Main_sessions_info" is. */
enum name_kind name_of_static(const struct program *p, uint64_t address, char *ret, size_t size)
{
        const struct elf_symbol *s = program_symbol(p, address);
        char symbol[SYMBOL_BYTES] = "";
        struct text_out out;

        if (s && s->address == address && text_has_suffix(s->name, CLOSURE)) {
                text_out_init(&out, symbol, sizeof(symbol));
                text_put_n(&out, s->name, strlen(s->name) - strlen(CLOSURE));
                text_put(&out, TABLE);
                if (out.cut)
                        symbol[0] = '\0';
        }
        text_out_init(&out, ret, size);
        if (symbol[0]) {
                put_symbol(&out, symbol);
                return NAME_EXACT;
        }
        put_place(&out, p, address);
        return NAME_NONE;
}

bool name_is_of_runtime(const char *name)
{
        return !strncmp(name, "stg_", 4);
}

bool name_is_probable(const char *name)
{
        return strstr(name, NAME_PROBABLY) != NULL;
}

const char *name_without_package(const char *name)
{
        const char *colon = name + strcspn(name, ": ");

        /* "ghc-prim:GHC.Types.:" has a package; what begins with an operator has none */
        return *colon == ':' && colon > name && colon[1] >= 'A' && colon[1] <= 'Z' ? colon + 1 : name;
}
