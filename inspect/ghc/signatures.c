/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - small functions of a library are often alike, and alike to functions of the program itself. The bytes of a
 * unit only make it a candidate. What it refers to must be candidates for what the library's refers to, which needs no
 * order of decisions; and of its neighbours in the object file at least two must be beside it, for the program's own
 * code is beside other code. Measured: in a program that uses parsec 21 % of its own functions had a library's name
 * without this rule, 10 % with it; in four others none. With less than four, no more than ten of the 16 functions and
 * return points around may have no name: in programs that have most of their code from elsewhere this drops 203 of 811
 * wrong names, and 10 of 5,261 right ones.
 *
 * Where several are left, or too few neighbours are, the linker's order may still decide: an object file is linked as a
 * whole, and in its order. The nearest code that surely has a name is, on a side at least, of the same module as the
 * right candidate, in front of it or behind it as in their object file. What this decides is only probable. Measured:
 * nearly all such names are right in programs all of whose libraries are in the file. In those that have most of their
 * code from elsewhere 62 % are, for much of that is alike; where more than half of the code around surely has a name,
 * 98 % are.
 */
#include "inspect/ghc/signatures.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/ghc/info_tables.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/haskell_symbol.h"
#include "proto/base/text_out.h"

#define RANGES_MOST  8u
#define CLAIMS_MOST  (1u << 19)
#define INSIDE_BYTES 65536u /* in which the table is searched that an address is behind */
#define CONSTRUCTOR  "_con_info"

/* Entries whose code is at an address, so far as bytes say. */
struct signature_claims {
        uint64_t address;
        struct signature_range ranges[RANGES_MOST];
        struct signature_found found; /* of these, once it is decided */
        uint32_t probable;            /* number of the probable one, plus 1; 0: it was not searched */
        uint8_t n;
        bool is_decided;
};

bool signatures_decode(struct signatures *s, const char *path, const uint8_t *bytes, size_t size)
{
        struct error why = { "" };

        *s = (struct signatures){ .n_claims = 0 };
        (void)text_join(s->file, sizeof(s->file), strrchr(path, '/') ? strrchr(path, '/') + 1 : path, NULL);
        return signature_file_decode(&s->table, bytes, size, &why) ||
               error_set(&s->why, "%.500s: %.400s", path, why.text);
}

void signatures_done(struct signatures *s)
{
        signature_table_done(&s->table);
        free(s->claims);
        free(s->probable);
        idtable_done(&s->claim_ids);
        *s = (struct signatures){ .n_claims = 0 };
}

/* ----------------------------------------------------------------------- what is alike */

/* Of the code at `start`, with zeros where the unit's relocations are. False: it cannot be read. */
static bool hash_code(const struct signature_table *t, const struct program *p, uint64_t start,
                      const struct signature_unit *u, uint64_t *ret)
{
        uint32_t at = u->relocations, end = 0;
        struct signature_relocation r;
        uint8_t *bytes = program_is_code(p, start) ? malloc(u->size) : NULL;
        bool good = bytes && memory_read_kept(p->memory, start, bytes, u->size);

        for (uint32_t i = 0; good && i < u->n_relocations; i++) {
                good = signature_relocation_next(t->relocations, t->n_relocations, &at, end, &r);
                memset(bytes + r.at, 0, r.bytes);
                end = r.at + r.bytes;
        }
        *ret = good ? signature_hash(SIGNATURE_HASH_START, bytes, u->size) : 0;
        free(bytes);
        return good;
}

static bool is_alike(const struct signature_table *t, const struct signature_entry *a, const struct signature_entry *b)
{
        return a->key == b->key && a->offset == b->offset && t->units[a->unit].shape == t->units[b->unit].shape &&
               t->units[a->unit].size == t->units[b->unit].size;
}

static void claim_by_key(const struct signature_table *t, const struct program *p, uint32_t key,
                         struct signature_claims *c)
{
        const struct signature_entry *before = NULL;
        uint64_t hash = 0;
        bool readable = false;

        for (uint32_t i = signature_table_first(t, key); i < t->n_entries && t->entries[i].key == key; i++) {
                const struct signature_entry *e = &t->entries[i];
                const struct signature_unit *u = &t->units[e->unit];
                if (!before || !is_alike(t, before, e))
                        readable = e->offset <= c->address && hash_code(t, p, c->address - e->offset, u, &hash);
                before = e;
                if (!readable || u->hash != hash)
                        continue;
                if (c->n && c->ranges[c->n - 1].end == i)
                        c->ranges[c->n - 1].end++;
                else if (c->n < RANGES_MOST)
                        c->ranges[c->n++] = (struct signature_range){ i, i + 1 };
        }
}

/* By what may be in front of the address, and by how many of its bytes may be before a relocation. */
static void find_claims(const struct signature_table *t, const struct program *p, struct signature_claims *c)
{
        uint8_t around[SIGNATURE_TABLE_BYTES + SIGNATURE_HEAD_MOST] = { 0 };
        const uint8_t *head = around + SIGNATURE_TABLE_BYTES;
        const uint64_t from = c->address - SIGNATURE_TABLE_BYTES;

        if (!program_is_code(p, c->address) || (!memory_read_kept(p->memory, from, around, sizeof(around)) &&
                                                !memory_read_kept(p->memory, from, around, SIGNATURE_TABLE_BYTES + 8)))
                return;
        for (unsigned front = FRONT_NOTHING; front <= FRONT_TABLE; front++)
                for (uint8_t n = 0; n <= SIGNATURE_HEAD_MOST; n++)
                        claim_by_key(t, p, signature_key((enum signature_front)front, around, head, n), c);
}

/* Those that are kept; NULL: none. */
static struct signature_claims *find_kept_claims(const struct signatures *s, uint64_t address)
{
        const uint64_t hash = hash_u64(address, 0);
        uint32_t at = idtable_start(&s->claim_ids, hash), id;

        while ((id = idtable_next(&s->claim_ids, hash, &at)) && s->claims[id - 1].address != address)
                ;
        return id ? &s->claims[id - 1] : NULL;
}

static struct signature_claims claims_of(struct signatures *s, const struct program *p, uint64_t address)
{
        struct signature_claims ret = { .address = address };
        const struct signature_claims *kept = find_kept_claims(s, address);

        if (kept)
                return *kept;
        if (address < SIGNATURE_TABLE_BYTES)
                return ret;
        find_claims(&s->table, p, &ret);
        if (s->n_claims < CLAIMS_MOST && ARRAY_RESERVE_NEXT(s->claims, s->n_claims) &&
            idtable_add(&s->claim_ids, hash_u64(address, 0), s->n_claims + 1) == 0)
                s->claims[s->n_claims++] = ret;
        return ret;
}

/* ------------------------------------------------------------------------- references */

/* Each check is false when the reference leads somewhere else; what cannot be known does not contradict. */

/* "ghc-prim:GHC.Types.True", as in front of a constructor's code. */
static bool has_description(const struct program *p, uint64_t at, const char *symbol)
{
        char found[PROGRAM_NAME_BYTES], wanted[2 * SYMBOL_BYTES];
        struct haskell_symbol name;
        struct text_out out;
        int32_t offset;

        if (!memory_read_kept(p->memory, at - 24, &offset, sizeof(offset)) ||
            !memory_text_kept(p->memory, at + (uint64_t)(int64_t)offset, found, sizeof(found)) ||
            !haskell_symbol_decode(&name, symbol))
                return false;
        text_out_init(&out, wanted, sizeof(wanted));
        text_put(&out, name.module);
        text_put(&out, ".");
        text_put(&out, name.name);
        return !strcmp(found, wanted);
}

/* The runtime has several ways (threaded, for debugging), not all of which may be known. */
static bool is_of_runtime(const char *symbol)
{
        struct haskell_symbol name;

        return !strchr(symbol, '.') && (!haskell_symbol_decode(&name, symbol) || !name.module[0]);
}

bool signatures_may_be(struct signatures *s, const struct program *p, uint64_t address, uint32_t name)
{
        const struct signature_claims c = claims_of(s, p, address);
        bool found = false;

        for (unsigned i = 0; i < c.n && !found; i++)
                for (uint32_t k = c.ranges[i].from; k < c.ranges[i].end && !found; k++)
                        found = s->table.entries[k].name == name;
        return found;
}

static bool check_code(struct signatures *s, const struct program *p, uint64_t address, uint32_t name)
{
        const char *symbol = s->table.texts + name;
        bool found = signatures_may_be(s, p, address, name);

        if (found && text_has_suffix(symbol, CONSTRUCTOR))
                found = has_description(p, address, symbol);
        return found || is_of_runtime(symbol);
}

/* A closure that was evaluated has another table. */
static bool check_closure(struct signatures *s, const struct program *p, uint64_t closure, uint32_t name)
{
        uint64_t table;
        uint32_t type;

        if (!memory_read(p->memory, closure, &table, sizeof(table)) ||
            !memory_read_kept(p->memory, table - 8, &type, sizeof(type)) || type == IND_STATIC)
                return true;
        return check_code(s, p, table, name);
}

/* Several candidates refer to texts at the same address. */
static bool check_text(struct signatures *s, const struct program *p, uint64_t at, uint32_t wanted)
{
        uint64_t hash = SIGNATURE_HASH_START;
        char c = '\0';

        if (s->text_at != at) {
                for (unsigned n = 0; n < SIGNATURE_TEXT_MOST; n++) {
                        if (!memory_read_kept(p->memory, at + n, &c, 1))
                                return false;
                        if (!c)
                                break;
                        hash = signature_hash(hash, &c, 1);
                }
                s->text_at = at;
                s->text_hash = signature_fold(hash);
        }
        return s->text_hash == wanted;
}

/* What the linker wrote; 0: nothing. False: it cannot be read. */
static bool read_place(const struct program *p, uint64_t at, const struct signature_relocation *r, uint64_t *ret)
{
        int32_t word;

        if (r->place == PLACE_ABSOLUTE_64)
                return memory_read_kept(p->memory, at, ret, sizeof(*ret));
        if (!memory_read_kept(p->memory, at, &word, sizeof(word)))
                return false;
        *ret = (uint64_t)(int64_t)word + (word && r->place == PLACE_RELATIVE_32 ? at : 0);
        return true;
}

bool signatures_target(const struct program *p, uint64_t start, const struct signature_relocation *r, uint64_t *ret)
{
        if (r->place == PLACE_OPAQUE || !read_place(p, start + r->at, r, ret) || *ret == 0)
                return false;
        *ret -= (uint64_t)r->addend;
        return true;
}

static bool check_relocation(struct signatures *s, const struct program *p, uint64_t start,
                             const struct signature_relocation *r)
{
        uint64_t value;

        if (r->place == PLACE_OPAQUE || !read_place(p, start + r->at, r, &value))
                return true;
        if (value == 0) /* a table without an SRT is not one with another */
                return false;
        value -= (uint64_t)r->addend;
        switch (r->target) {
        case TARGET_SELF:
                return value == start;
        case TARGET_CODE:
                return check_code(s, p, value, r->name);
        case TARGET_CLOSURE:
                return check_closure(s, p, value, r->name);
        case TARGET_TEXT:
                return check_text(s, p, value, r->name);
        default:
                return true;
        }
}

/* Of its references, those that are quickly checked, or the others. False: one leads somewhere else than the unit's. */
static bool check_some(struct signatures *s, const struct program *p, uint64_t start, const struct signature_unit *u,
                       bool quick)
{
        struct signature_relocation r;
        uint32_t at = u->relocations, end = 0;

        for (uint32_t i = 0; i < u->n_relocations; i++) {
                if (!signature_relocation_next(s->table.relocations, s->table.n_relocations, &at, end, &r))
                        return false;
                end = r.at + r.bytes;
                if (quick == (r.target == TARGET_SELF || r.target == TARGET_TEXT) && !check_relocation(s, p, start, &r))
                        return false;
        }
        return true;
}

static bool check_unit(struct signatures *s, const struct program *p, uint64_t start, const struct signature_unit *u)
{
        return check_some(s, p, start, u, true) && check_some(s, p, start, u, false);
}

/* ------------------------------------------------------------------------------ names */

static bool same_module(const char *a, const char *b)
{
        struct haskell_symbol x, y;
        char first[2 * SYMBOL_BYTES], second[2 * SYMBOL_BYTES];
        struct text_out out;

        text_out_init(&out, first, sizeof(first));
        text_put_n(&out, a, strcspn(a, "."));
        text_out_init(&out, second, sizeof(second));
        text_put_n(&out, b, strcspn(b, "."));
        return haskell_symbol_decode(&x, first) && haskell_symbol_decode(&y, second) && x.module[0] &&
               !strcmp(x.module, y.module);
}

#define NEIGHBOURS_LEAST 2u /* of both sides together: one is there by chance now and then */
#define NEIGHBOURS       4u /* of a unit, on each side */
#define MISSING          8u /* that the linker may have left out between them */
#define ALIGNMENT        8u

bool signatures_unit_at(struct signatures *s, const struct program *p, uint64_t start, uint32_t unit)
{
        const struct signature_unit *u = &s->table.units[unit];
        uint64_t hash;

        return hash_code(&s->table, p, start, u, &hash) && hash == u->hash && check_unit(s, p, start, u);
}

static uint64_t align_size(uint64_t size)
{
        return (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

/* How many of the units in front of one in its object file, or behind it, are here: the linker keeps their order. */
static unsigned count_beside(struct signatures *s, const struct program *p, uint64_t start, uint32_t unit, bool behind)
{
        const struct signature_unit *units = s->table.units;
        uint64_t at = behind ? start + align_size(units[unit].size) : start;
        unsigned n = 0;

        for (uint32_t missing = 0; n < NEIGHBOURS && missing < MISSING;) {
                if (behind ? ++unit >= s->table.n_units : unit-- == 0)
                        break;
                const uint64_t size = align_size(units[unit].size), begin = behind ? at : at - size;
                if (!signatures_unit_at(s, p, begin, unit)) {
                        missing++;
                        continue;
                }
                at = behind ? at + size : begin;
                missing = 0;
                n++;
        }
        return n;
}

static enum signature_match kind_of(const char *symbol)
{
        return strchr(symbol, '.') ? SIGNATURE_LOCAL : SIGNATURE_SYMBOL;
}

/* Another candidate that is as good. */
static void add_equal(struct signature_found *ret, const struct signature_found *one)
{
        if (!strcmp(one->symbol, ret->symbol))
                return;
        ret->candidates++;
        if (ret->match != SIGNATURE_NONE)
                ret->match = same_module(ret->symbol, one->symbol) ? SIGNATURE_MODULE : SIGNATURE_NONE;
}

/* Adds one entry to what was found. The one with more neighbours, then the larger one, is what it is. */
static void add_candidate(struct signatures *s, const struct program *p, uint64_t address, uint32_t entry,
                          struct signature_found *ret)
{
        const struct signature_table *t = &s->table;
        const struct signature_entry *e = &t->entries[entry];
        struct signature_found one = { .candidates = 1, .unit = e->unit, .size = t->units[e->unit].size };
        const uint64_t start = one.start = address - e->offset;

        if (!check_unit(s, p, start, &t->units[e->unit]))
                return;
        one.neighbours = count_beside(s, p, start, e->unit, false) + count_beside(s, p, start, e->unit, true);
        if (one.neighbours < NEIGHBOURS_LEAST)
                return;
        one.symbol = t->texts + e->name;
        one.match = kind_of(one.symbol);
        if (one.neighbours > ret->neighbours || (one.neighbours == ret->neighbours && one.size > ret->size))
                *ret = one;
        else if (one.neighbours == ret->neighbours && one.size == ret->size)
                add_equal(ret, &one);
}

static struct signature_found find_entry(struct signatures *s, const struct program *p, uint64_t address)
{
        struct signature_claims c = claims_of(s, p, address);

        if (c.is_decided)
                return c.found;
        for (unsigned i = 0; i < c.n; i++)
                for (uint32_t k = c.ranges[i].from; k < c.ranges[i].end; k++)
                        add_candidate(s, p, address, k, &c.found);
        struct signature_claims *kept = find_kept_claims(s, address);
        if (kept) {
                kept->found = c.found;
                kept->is_decided = true;
        }
        return c.found;
}

/* --------------------------------------------------------------------- probable names */

#define BESIDE           8u  /* tables on each side of a unit that count */
#define NEIGHBOURS_ALONE 4u  /* of code that is as its library has it in any surroundings */
#define UNNAMED_MOST     10u /* of these tables, else */

static bool is_name(const struct signature_found *f)
{
        return f->match == SIGNATURE_SYMBOL || f->match == SIGNATURE_LOCAL;
}

/* What surely has a name on one side of a unit. */
struct side {
        struct signature_found nearest;
        unsigned named, unnamed;
};

/* In steps of 8 or -8 bytes. */
static struct side find_side(struct signatures *s, const struct program *p, uint64_t at, int64_t step)
{
        struct side ret = { .named = 0 };

        for (uint64_t passed = 0; passed < INSIDE_BYTES && ret.named + ret.unnamed < BESIDE; passed += 8) {
                const uint64_t here = at;
                at += (uint64_t)step;
                if (!info_tables_is_function(p, here))
                        continue;
                const struct signature_found one = find_entry(s, p, here);
                if (!is_name(&one))
                        ret.unnamed++;
                else if (ret.named++ == 0)
                        ret.nearest = one;
        }
        return ret;
}

static struct side find_before(struct signatures *s, const struct program *p, uint64_t start)
{
        return find_side(s, p, start & ~UINT64_C(7), -8);
}

static struct side find_behind(struct signatures *s, const struct program *p, uint64_t start, uint32_t size)
{
        return find_side(s, p, align_size(start + size), 8);
}

/* With few neighbours, in the midst of code that has no name: nine of ten of these are wrong. */
static bool is_alone(struct signatures *s, const struct program *p, const struct signature_found *f)
{
        return f->match != SIGNATURE_NONE && f->neighbours < NEIGHBOURS_ALONE &&
               find_before(s, p, f->start).unnamed + find_behind(s, p, f->start, f->size).unnamed > UNNAMED_MOST;
}

/* What is in front of a unit and behind it here, and the best candidates by these. */
struct weighing {
        uint64_t start;
        uint32_t size;
        struct side before, behind;
        unsigned sides;
        struct signature_found found;
};

/* How many sides have code of its module where its object file has it; 0: half of what is around it has no name. */
static unsigned count_sides(const struct weighing *w, const struct signature_found *one)
{
        const struct signature_found *before = &w->before.nearest, *behind = &w->behind.nearest;

        if (w->before.named + w->behind.named <= BESIDE)
                return 0;
        return (w->before.named && before->unit < one->unit && same_module(before->symbol, one->symbol)) +
               (w->behind.named && behind->unit > one->unit && same_module(behind->symbol, one->symbol));
}

static void weigh_candidate(struct signatures *s, const struct program *p, uint64_t address, uint32_t entry,
                            struct weighing *w)
{
        const struct signature_entry *e = &s->table.entries[entry];
        const struct signature_unit *u = &s->table.units[e->unit];
        struct signature_found one = { .candidates = 1, .unit = e->unit, .size = u->size, .is_probable = true };

        one.start = address - e->offset;
        one.symbol = s->table.texts + e->name;
        one.match = kind_of(one.symbol);
        if (!check_unit(s, p, one.start, u))
                return;
        if (w->start != one.start || w->size != one.size) {
                w->start = one.start;
                w->size = one.size;
                w->before = find_before(s, p, w->start);
                w->behind = find_behind(s, p, w->start, w->size);
        }
        const unsigned sides = count_sides(w, &one);
        if (sides > w->sides) {
                w->sides = sides;
                w->found = one;
        } else if (sides > 0 && sides == w->sides) {
                add_equal(&w->found, &one);
        }
}

/* Of code that has no sure name. Several of one module need both sides: of those with one, 87 % are right. */
static struct signature_found find_probable(struct signatures *s, const struct program *p, uint64_t address)
{
        const struct signature_claims c = claims_of(s, p, address);
        struct weighing w = { .sides = 0 };

        if (c.probable)
                return s->probable[c.probable - 1];
        for (unsigned i = 0; i < c.n; i++)
                for (uint32_t k = c.ranges[i].from; k < c.ranges[i].end; k++)
                        weigh_candidate(s, p, address, k, &w);
        if (w.found.match == SIGNATURE_MODULE && w.sides < 2)
                w.found.match = SIGNATURE_NONE;
        struct signature_claims *kept = find_kept_claims(s, address);
        if (kept && ARRAY_RESERVE_NEXT(s->probable, s->n_probable)) {
                s->probable[s->n_probable++] = w.found;
                kept->probable = s->n_probable;
        }
        return w.found;
}

/* ---------------------------------------------------------------------- any address */

/* The last entry of a unit at or before an offset. */
static const struct signature_entry *entry_before(const struct signature_table *t, uint32_t unit, uint32_t offset)
{
        const struct signature_entry *ret = NULL;

        for (uint32_t i = 0; i < t->n_entries; i++)
                if (t->entries[i].unit == unit && t->entries[i].offset <= offset &&
                    (!ret || t->entries[i].offset > ret->offset))
                        ret = &t->entries[i];
        return ret;
}

typedef struct signature_found (*finder)(struct signatures *s, const struct program *p, uint64_t address);

/* Code within what begins at the nearest table in front of it. */
static struct signature_found find_inside(struct signatures *s, const struct program *p, uint64_t address, finder find)
{
        struct signature_found ret = { .match = SIGNATURE_NONE };
        uint64_t at = address & ~UINT64_C(7);

        while (at + INSIDE_BYTES > address && !info_tables_is_function(p, at))
                at -= 8;
        if (at != address && at + INSIDE_BYTES > address)
                ret = find(s, p, at);
        if (ret.match == SIGNATURE_NONE || address - ret.start >= ret.size)
                return (struct signature_found){ .match = SIGNATURE_NONE };
        const struct signature_entry *e = entry_before(&s->table, ret.unit, (uint32_t)(address - ret.start));
        if (e && ret.match != SIGNATURE_MODULE) {
                ret.symbol = s->table.texts + e->name;
                ret.match = kind_of(ret.symbol);
        }
        return ret;
}

static struct signature_found find_anywhere(struct signatures *s, const struct program *p, uint64_t address,
                                            finder find)
{
        const struct signature_found ret = find(s, p, address);

        return ret.candidates ? ret : find_inside(s, p, address, find);
}

struct signature_found signatures_find(struct signatures *s, const struct program *p, uint64_t address)
{
        const struct signature_found sure = find_anywhere(s, p, address, find_entry);

        if (is_alone(s, p, &sure))
                return (struct signature_found){ .match = SIGNATURE_NONE };
        if (is_name(&sure))
                return sure;
        const struct signature_found probable = find_anywhere(s, p, address, find_probable);
        return probable.match == SIGNATURE_SYMBOL || sure.match == SIGNATURE_NONE ? probable : sure;
}

/* ----------------------------------------------------------------------- the program */

/* The first table between two addresses; 0: none. */
static uint64_t first_table(const struct program *p, uint64_t from, uint64_t end)
{
        uint64_t at = (from + 7) & ~UINT64_C(7);

        while (at < end && !info_tables_is_function(p, at))
                at += 8;
        return at < end ? at : 0;
}

unsigned signatures_count(struct signatures *s, const struct program *p, bool named)
{
        uint64_t bytes = 0;
        unsigned n = 0;

        for (size_t i = 0; i < p->n_code; i++)
                bytes += p->code[i].end - p->code[i].start;
        const uint64_t step = bytes / SIGNATURES_PROBES + 8;
        for (size_t i = 0; i < p->n_code; i++)
                for (uint64_t from = p->code[i].start, end = p->code[i].end; from < end; from += step) {
                        const uint64_t at = first_table(p, from, end - from > step ? from + step : end);
                        if (at)
                                n += named ? find_entry(s, p, at).match != SIGNATURE_NONE : claims_of(s, p, at).n > 0;
                }
        return n;
}
