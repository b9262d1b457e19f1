/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - code without a symbol belongs to a local function or a return point, whose symbols the assembler drops. GHC
 * writes these before the function that they are in: of Debian's libraries, the module of the symbol behind is right
 * in 99.6 % of such places, that of the symbol before in 94.7 %. Whether the function is right is not known: only the
 * module is given.
 */
#include "inspect/ghc/names.h"

#include <stdbool.h>
#include <string.h>

#include "proto/base/haskell_symbol.h"
#include "proto/base/text_out.h"

#define LOCAL_BYTES 65536u /* a local function is not farther from its own */
#define TABLE       "_info"
#define CLOSURE     "_closure"

static void put_hex(struct text_out *out, uint64_t number)
{
        char digits[16];
        size_t n = 0;

        do
                digits[n++] = "0123456789abcdef"[number & 15];
        while (number >>= 4);
        while (n > 0)
                text_put_n(out, &digits[--n], 1);
}

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
        put_hex(out, in_file ? address - m->start + m->offset : address);
}

enum name_kind name_of_code(const struct program *p, uint64_t address, char *ret, size_t size)
{
        const struct elf_symbol *s = program_symbol(p, address);
        struct text_out out;

        text_out_init(&out, ret, size);
        if (s) {
                put_symbol(&out, s->name);
                return NAME_EXACT;
        }
        const size_t next = elf_symbols_after(&p->symbols, address);
        if (p->has_symbols && next < p->symbols.n && p->symbols.items[next].address - address < LOCAL_BYTES &&
            program_is_code(p, p->symbols.items[next].address) && put_module(&out, p->symbols.items[next].name))
                return NAME_LOCAL;
        put_place(&out, p, address);
        return NAME_NONE;
}

/* The nearest table at or before an address: where its code begins, as far as it can be known without symbols. */
static uint64_t find_table(struct info_tables *t, uint64_t address)
{
        const uint64_t from = address & ~UINT64_C(7);

        for (uint64_t at = from; at + LOCAL_BYTES > from && program_is_code(t->program, at); at -= 8)
                if (info_tables_is_function(t->program, at))
                        return at;
        return address;
}

void name_of_function(struct info_tables *t, uint64_t address, char *ret, size_t size)
{
        const struct program *p = t->program;
        struct haskell_symbol next;
        struct text_out out;

        text_out_init(&out, ret, size);
        switch (name_of_code(p, address, ret, size)) {
        case NAME_EXACT:
                return;
        case NAME_LOCAL:
                out.used = strlen(ret);
                text_put(&out, " (local, before ");
                if (haskell_symbol_decode(&next, p->symbols.items[elf_symbols_after(&p->symbols, address)].name))
                        put_safe(&out, next.name);
                text_put(&out, ")");
                return;
        case NAME_NONE:
                if (program_is_code(p, address))
                        put_place(&out, p, find_table(t, address));
                else if (!put_file(&out, p, program_mapping(p, address)))
                        text_put(&out, "(code in no file)");
        }
}

/* "Main_sessions_closure" is decoded as "Main_sessions_info" is. */
static bool as_table(const char *symbol, char *ret, size_t size)
{
        const size_t n = strlen(symbol), cut = strlen(CLOSURE);
        struct text_out out;

        if (n <= cut || strcmp(symbol + n - cut, CLOSURE) != 0)
                return false;
        text_out_init(&out, ret, size);
        text_put_n(&out, symbol, n - cut);
        text_put(&out, TABLE);
        return !out.cut;
}

enum name_kind name_of_static(const struct program *p, uint64_t address, char *ret, size_t size)
{
        const struct elf_symbol *s = program_symbol(p, address);
        char symbol[SYMBOL_BYTES];
        struct text_out out;

        text_out_init(&out, ret, size);
        if (s && s->address == address && as_table(s->name, symbol, sizeof(symbol))) {
                put_symbol(&out, symbol);
                return NAME_EXACT;
        }
        put_place(&out, p, address);
        return NAME_NONE;
}

const char *name_without_package(const char *name)
{
        const char *colon = strchr(name, ':');

        /* "ghc-prim:GHC.Types.:" has a package; what begins with an operator has none */
        return colon && colon > name && colon[1] >= 'A' && colon[1] <= 'Z' ? colon + 1 : name;
}
