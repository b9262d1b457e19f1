/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - signatures.c goes from an address to a name; this goes the other way, for C code, in front of which there is
 * nothing that says what it is. Units that have a wanted name, or lead to one, are looked for at each place at which a
 * function may begin. One counts where it is found at one place alone, is not too small to be there by chance, and is
 * like no other of another name. What all that count say must agree; else the name is not found. A variable needs no
 * symbol for that, whether static or hidden: it is where the code leads.
 */
#include "inspect/ghc/signatures.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"

#define ALIGNMENT  16u /* of functions in C */
#define UNIT_LEAST 32u /* bytes */
#define PIECE      (UINT64_C(1) << 20)
#define KEY_BITS   18u

/*
 * defaultRtsConfig, to which nothing but main() may lead, is constant, and known by what is in it: words of 64 bits, of
 * which others than these are zero.
 */
enum {
        CONFIG_OPTIONS_ENABLED, /* RtsOptsSafeOnly */
        CONFIG_SUGGESTIONS,     /* true */
        CONFIG_WRITER = 5,      /* FileEventLogWriter: four functions */
        CONFIG_FIRST_HOOK,      /* FlagDefaultsHook, OnExitHook, StackOverflowHook, OutOfHeapHook, MallocFailHook */
        CONFIG_AFTER_HOOKS = 11,
        CONFIG_GC_SYNC, /* two hooks more */
        CONFIG_WORDS = 14,
        CONFIG_FIRST_CHECKED = 8
};

#define SAFE_ONLY 3u
static const char *const hooks_checked[] = { "StackOverflowHook", "OutOfHeapHook", "MallocFailHook" };

struct unit_match {
        uint32_t unit, name; /* name: of its first entry */
        uint64_t start;
};

struct finding {
        struct signatures *s;
        const struct program *p;
        struct runtime_symbol *symbols;
        uint32_t *names;                           /* of the symbols: in the texts, plus 1; 0: in none */
        uint32_t hooks[ARRAY_SIZE(hooks_checked)]; /* the same */
        size_t n;
        uint8_t *is_wanted;                 /* by unit */
        uint8_t keys[(1u << KEY_BITS) / 8]; /* bits: which may be that of an entry of such a unit */
        struct unit_match *matches;
        size_t n_matches;
        bool good;
};

/* ------------------------------------------------------------------ what to look for */

static struct runtime_symbol *symbol_of(const struct finding *f, uint32_t name)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->names[i] == name + 1)
                        return &f->symbols[i];
        return NULL;
}

static bool leads_to_wanted(const struct finding *f, const struct signature_unit *u)
{
        const struct signature_table *t = &f->s->table;
        struct signature_relocation r;
        uint32_t at = u->relocations, end = 0;

        for (uint32_t i = 0; i < u->n_relocations; i++) {
                if (!signature_relocation_next(t->relocations, t->n_relocations, &at, end, &r))
                        return false;
                end = r.at + r.bytes;
                if ((r.target == TARGET_CODE || r.target == TARGET_VARIABLE) && symbol_of(f, r.name))
                        return true;
        }
        return false;
}

static uint32_t key_bit(uint32_t key)
{
        return key & ((1u << KEY_BITS) - 1);
}

/* Which units have a wanted name, or lead to one, and by which keys their entries are found. */
static void find_units(struct finding *f)
{
        const struct signature_table *t = &f->s->table;

        for (uint32_t i = 0; i < t->n_units; i++)
                f->is_wanted[i] = t->units[i].size >= UNIT_LEAST && leads_to_wanted(f, &t->units[i]);
        for (uint32_t i = 0; i < t->n_entries; i++)
                if (t->units[t->entries[i].unit].size >= UNIT_LEAST && symbol_of(f, t->entries[i].name))
                        f->is_wanted[t->entries[i].unit] = 1;
        for (uint32_t i = 0; i < t->n_entries; i++)
                if (f->is_wanted[t->entries[i].unit])
                        f->keys[key_bit(t->entries[i].key) / 8] |= (uint8_t)(1u << t->entries[i].key % 8);
}

/* ------------------------------------------------------------------------- where it is */

static void match_unit(struct finding *f, const struct signature_entry *e, uint64_t address)
{
        const uint64_t start = address - e->offset;

        if (e->offset > address || !signatures_unit_at(f->s, f->p, start, e->unit))
                return;
        for (size_t i = 0; i < f->n_matches; i++)
                if (f->matches[i].unit == e->unit && f->matches[i].start == start)
                        return;
        if (!(f->good = ARRAY_RESERVE_NEXT(f->matches, f->n_matches)))
                return;
        f->matches[f->n_matches++] = (struct unit_match){ e->unit, e->name, start };
}

static void match_key(struct finding *f, uint32_t key, uint64_t address)
{
        const struct signature_table *t = &f->s->table;

        for (uint32_t i = signature_table_first(t, key); i < t->n_entries && t->entries[i].key == key && f->good; i++)
                if (f->is_wanted[t->entries[i].unit])
                        match_unit(f, &t->entries[i], address);
}

static void search_piece(struct finding *f, uint64_t from, const uint8_t *bytes, size_t n)
{
        const uint8_t front = FRONT_NOTHING;
        const uint64_t start = signature_hash(SIGNATURE_HASH_START, &front, 1);

        for (size_t at = 0; at + SIGNATURE_HEAD_MOST <= n && f->good; at += ALIGNMENT) {
                uint64_t hash = start;
                for (uint8_t head = 1; head <= SIGNATURE_HEAD_MOST; head++) {
                        hash = signature_hash(hash, bytes + at + head - 1, 1);
                        const uint32_t key = signature_key_end(hash, head);
                        if (f->keys[key_bit(key) / 8] & 1u << key % 8)
                                match_key(f, key, from + at);
                }
        }
}

static void search_code(struct finding *f)
{
        uint8_t *bytes = malloc(PIECE + SIGNATURE_HEAD_MOST);

        f->good &= bytes != NULL;
        for (size_t i = 0; i < f->p->n_code && f->good; i++) {
                const uint64_t end = f->p->code[i].end;
                for (uint64_t at = (f->p->code[i].start + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
                     at < end && f->good; at += PIECE) {
                        const uint64_t left = end - at;
                        const size_t n =
                                (size_t)(left < PIECE + SIGNATURE_HEAD_MOST ? left : PIECE + SIGNATURE_HEAD_MOST);
                        if (!memory_read(f->p->memory, at, bytes, n))
                                break; /* the file is cut off */
                        search_piece(f, at, bytes, n);
                }
        }
        free(bytes);
}

/* ----------------------------------------------------------------------- what that says */

static bool is_unambiguous(const struct finding *f, const struct unit_match *m)
{
        for (size_t i = 0; i < f->n_matches; i++) {
                const struct unit_match *o = &f->matches[i];
                if ((o->unit == m->unit && o->start != m->start) || (o->start == m->start && o->name != m->name))
                        return false;
        }
        return true;
}

static void add_claim(struct runtime_symbol *s, uint64_t address, uint32_t bytes)
{
        s->is_contradicted |= s->references && (s->address != address || (bytes && s->bytes && s->bytes != bytes));
        s->address = address;
        s->bytes = bytes ? bytes : s->bytes;
        s->references++;
}

static void add_claims(struct finding *f, const struct unit_match *m)
{
        const struct signature_table *t = &f->s->table;
        const struct signature_unit *u = &t->units[m->unit];
        struct signature_relocation r;
        uint32_t at = u->relocations, end = 0;

        for (uint32_t i = 0; i < u->n_relocations; i++) {
                struct runtime_symbol *s;
                uint64_t value;
                if (!signature_relocation_next(t->relocations, t->n_relocations, &at, end, &r))
                        return;
                end = r.at + r.bytes;
                if ((r.target == TARGET_CODE || r.target == TARGET_VARIABLE) && (s = symbol_of(f, r.name)) &&
                    signatures_target(f->p, m->start, &r, &value))
                        add_claim(s, value, r.size);
        }
        for (uint32_t i = 0; i < t->n_entries; i++) {
                struct runtime_symbol *s = t->entries[i].unit == m->unit ? symbol_of(f, t->entries[i].name) : NULL;
                if (s)
                        add_claim(s, m->start + t->entries[i].offset, 0);
        }
}

/* ------------------------------------------------------------------- defaultRtsConfig */

static bool is_config(struct finding *f, const uint64_t word[CONFIG_WORDS])
{
        if (word[CONFIG_OPTIONS_ENABLED] != SAFE_ONLY || word[CONFIG_SUGGESTIONS] != 1)
                return false;
        for (size_t i = CONFIG_SUGGESTIONS + 1; i < CONFIG_WORDS; i++) {
                const bool is_hook = (i >= CONFIG_FIRST_HOOK && i < CONFIG_AFTER_HOOKS) || i >= CONFIG_GC_SYNC;
                if (i != CONFIG_WRITER && (is_hook ? !program_is_code(f->p, word[i]) : word[i] != 0))
                        return false;
        }
        for (size_t i = 0; i < ARRAY_SIZE(hooks_checked); i++)
                if (!f->hooks[i] || !signatures_may_be(f->s, f->p, word[CONFIG_FIRST_CHECKED + i], f->hooks[i] - 1))
                        return false;
        uint64_t at = word[CONFIG_WRITER];
        uint64_t functions[4];

        if (!memory_read(f->p->memory, at, functions, sizeof(functions)))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
                if (!program_is_code(f->p, functions[i]))
                        return false;
        return true;
}

static void claim_named(struct finding *f, const char *name, uint64_t address, uint32_t bytes)
{
        for (size_t i = 0; i < f->n; i++)
                if (!strcmp(f->symbols[i].name, name))
                        add_claim(&f->symbols[i], address, bytes);
}

/* The address of the next word from *at on that may be the first, which is moved behind it. False: none is left. */
static bool next_config(const struct finding *f, uint64_t *at, uint64_t end, uint64_t words[CONFIG_WORDS])
{
        uint64_t piece[8192];

        for (; *at < end; *at += sizeof(piece)) {
                const size_t n = end - *at < sizeof(piece) ? (size_t)(end - *at) : sizeof(piece);
                if (!memory_read(f->p->memory, *at, piece, n))
                        return false;
                for (size_t i = 0; i < n / sizeof(*piece); i++)
                        if (piece[i] == SAFE_ONLY &&
                            memory_read(f->p->memory, *at + i * sizeof(*piece), words, CONFIG_WORDS * sizeof(*words))) {
                                *at += (i + 1) * sizeof(*piece);
                                return true;
                        }
        }
        return false;
}

static void find_config(struct finding *f)
{
        uint64_t word[CONFIG_WORDS];

        for (size_t i = 0; i < f->p->n_mappings; i++) {
                const struct mapping *m = &f->p->mappings[i];
                uint64_t at = (m->start + 7) & ~UINT64_C(7);
                while (next_config(f, &at, m->end, word)) {
                        if (!is_config(f, word))
                                continue;
                        claim_named(f, "defaultRtsConfig", at - sizeof(*word), sizeof(word));
                        claim_named(f, "FileEventLogWriter", word[CONFIG_WRITER], 0);
                        claim_named(f, "FlagDefaultsHook", word[CONFIG_FIRST_HOOK], 0);
                        claim_named(f, "OnExitHook", word[CONFIG_FIRST_HOOK + 1], 0);
                        claim_named(f, "MallocFailHook", word[CONFIG_AFTER_HOOKS - 1], 0);
                }
        }
}

bool runtime_symbols_find(struct signatures *s, const struct program *p, struct runtime_symbol *symbols, size_t n)
{
        struct finding f = { .s = s, .p = p, .symbols = symbols, .n = n };

        for (size_t i = 0; i < n; i++)
                symbols[i] = (struct runtime_symbol){ .name = symbols[i].name };
        f.names = calloc(n + 1, sizeof(*f.names));
        f.is_wanted = calloc((size_t)s->table.n_units + 1, 1);
        f.good = f.names && f.is_wanted;
        if (f.good) {
                /* Each text occurs once. */
                const struct signature_table *t = &f.s->table;

                for (uint32_t at = 0; at < t->n_texts; at += (uint32_t)strlen(t->texts + at) + 1) {
                        for (size_t i = 0; i < f.n; i++)
                                if (!strcmp(t->texts + at, f.symbols[i].name))
                                        f.names[i] = at + 1;
                        for (size_t i = 0; i < ARRAY_SIZE(hooks_checked); i++)
                                if (!strcmp(t->texts + at, hooks_checked[i]))
                                        f.hooks[i] = at + 1;
                }
                find_units(&f);
                search_code(&f);
        }
        for (size_t i = 0; i < f.n_matches && f.good; i++)
                if (is_unambiguous(&f, &f.matches[i]))
                        add_claims(&f, &f.matches[i]);
        if (f.good)
                find_config(&f);
        for (size_t i = 0; i < n; i++)
                if (symbols[i].is_contradicted)
                        symbols[i].address = 0;
        free(f.names);
        free(f.is_wanted);
        free(f.matches);
        return f.good;
}
