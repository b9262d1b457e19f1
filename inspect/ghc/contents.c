/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the second level is one step away: for each pointer field what it leads to, through indirections and never
 * evaluated. A type is not in the heap, a constructor is: of well-known ones the type is known, so "[Int]" is not
 * "[I#]"; of all others the constructor stands for its type, so a list of two constructors is in two rows. Of an array
 * the most frequent type counts, with its share of the elements.
 *
 * A branch of a tree that has its values at its leaves holds what its first leaf holds.
 */
#include "inspect/ghc/census.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/text_out.h"

#define HOPS_MOST     8u  /* indirections in turn */
#define DEPTH_MOST    64u /* of a tree, down to its first leaf */
#define ROWS_MOST     UINT32_C(65536)
#define ELEMENTS_MOST 4096u /* of an array that are seen, evenly spread */
#define ARRAY_KINDS   32u   /* told apart in one array */

/* What a field leads to; from KIND_OF_TABLE on, the id of its table. */
enum kind {
        KIND_NONE,    /* there is no such field */
        KIND_UNKNOWN, /* no closure, or one that has no name */
        KIND_THUNK,
        KIND_FUNCTION,
        KIND_LIST,
        KIND_CHARS, /* a list that begins with a character */
        KIND_OF_TABLE
};

/* ------------------------------------------------------------- constructors that are known */

enum shape {
        PLAIN,     /* nothing is known: all its pointers are what it holds */
        VALUE,     /* it holds nothing */
        CHARACTER, /* the same */
        FIELDS,    /* its first pointers are what it holds */
        BRANCH,    /* what it holds is at its leaves: its first pointer leads to one */
        BOX,       /* its first pointer leads to a variable or an array, which holds it */
        CELL       /* of a list */
};

static const struct known {
        const char *constructor, *type;
        uint8_t shape, fields; /* of FIELDS and CELL: how many */
} known[] = {
        { NULL, NULL, PLAIN, 0 },
        { "GHC.Types.:", "List", CELL, 1 },
        { "GHC.Types.[]", "List", CELL, 0 },
        { "GHC.Maybe.Just", "Maybe", FIELDS, 1 },
        { "GHC.Maybe.Nothing", "Maybe", VALUE, 0 },
        { "Data.Map.Internal.Bin", "Map", FIELDS, 2 },
        { "Data.Map.Internal.Tip", "Map", VALUE, 0 },
        { "Data.Set.Internal.Bin", "Set", FIELDS, 1 },
        { "Data.Set.Internal.Tip", "Set", VALUE, 0 },
        { "Data.IntMap.Internal.Bin", "IntMap", BRANCH, 0 },
        { "Data.IntMap.Internal.Tip", "IntMap", FIELDS, 1 },
        { "Data.IntMap.Internal.Nil", "IntMap", VALUE, 0 },
        { "Data.IntSet.Internal.Bin", "IntSet", VALUE, 0 },
        { "Data.IntSet.Internal.Tip", "IntSet", VALUE, 0 },
        { "Data.HashMap.Internal.BitmapIndexed", "HashMap", BRANCH, 0 },
        { "Data.HashMap.Internal.Full", "HashMap", BRANCH, 0 },
        { "Data.HashMap.Internal.Collision", "HashMap", BRANCH, 0 },
        { "Data.HashMap.Internal.Leaf", "HashMap", BRANCH, 0 },
        { "Data.HashMap.Internal.L", "Leaf", FIELDS, 2 },
        { "GHC.STRef.STRef", "STRef", BOX, 0 },
        { "GHC.MVar.MVar", "MVar", BOX, 0 },
        { "GHC.Conc.Sync.TVar", "TVar", BOX, 0 },
        { "Data.Vector.Vector", "Vector", BOX, 0 },
        { "GHC.Types.I#", "Int", VALUE, 0 },
        { "GHC.Types.W#", "Word", VALUE, 0 },
        { "GHC.Types.C#", "Char", CHARACTER, 0 },
        { "GHC.Types.D#", "Double", VALUE, 0 },
        { "GHC.Types.F#", "Float", VALUE, 0 },
        { "GHC.Types.True", "Bool", VALUE, 0 },
        { "GHC.Types.False", "Bool", VALUE, 0 },
        { "GHC.Num.Integer.IS", "Integer", VALUE, 0 },
        { "GHC.Num.Integer.IP", "Integer", VALUE, 0 },
        { "GHC.Num.Integer.IN", "Integer", VALUE, 0 },
        { "Data.ByteString.Internal.PS", "ByteString", VALUE, 0 },
        { "Data.ByteString.Internal.BS", "ByteString", VALUE, 0 },
        { "Data.ByteString.Internal.Type.BS", "ByteString", VALUE, 0 },
};

#define KNOWN     0x3fu
#define READ      0x40u /* its table was compared with these */
#define AMBIGUOUS 0x80u /* another one has the same name, without its module */

/* From GHC 9.10 on "GHC.Maybe" is "GHC.Internal.Maybe". */
static bool is_named(const char *name, const char *constructor)
{
        static const char internal[] = "GHC.Internal.", plain[] = "GHC.";
        const bool is_internal =
                !strncmp(name, internal, strlen(internal)) && !strncmp(constructor, plain, strlen(plain));

        return is_internal ? !strcmp(name + strlen(internal), constructor + strlen(plain)) : !strcmp(name, constructor);
}

static const struct known *known_of(const struct heap_contents *c, uint32_t id)
{
        return &known[id < c->known_capacity ? c->known[id] & KNOWN : 0];
}

/* The same, and from now on it is there. */
static const struct known *learn_table(struct heap_contents *c, const struct closure_table *t)
{
        if (!ARRAY_RESERVE_ZEROED(c->known, c->known_capacity, t->id + 1u)) {
                c->out_of_memory = true;
                return &known[0];
        }
        if (!(c->known[t->id] & READ)) {
                unsigned i = 1;
                while (t->name && i < ARRAY_SIZE(known) &&
                       !is_named(name_without_package(t->name), known[i].constructor))
                        i++;
                c->known[t->id] = (uint8_t)(READ | (t->name && i < ARRAY_SIZE(known) ? i : 0));
        }
        return known_of(c, t->id);
}

/* ------------------------------------------------------------------ what a pointer leads to */

/* Of what does not move, as it was read first: only its type matters. */
static uint64_t word_at(const struct heap_contents *c, uint64_t at)
{
        uint64_t value = 0;

        const struct megablock *m = snapshot_megablock(c->snapshot, at);

        if (m)
                return snapshot_word_in(c->snapshot, m, at);
        return !(at & 7) && memory_read_kept(c->snapshot->ghc->program->memory, at, &value, sizeof(value)) ? value : 0;
}

static uint64_t payload_of(const struct heap_contents *c, uint64_t at)
{
        return at + 8 * (uint64_t)c->snapshot->ghc->header_words;
}

struct object {
        const struct closure_table *table; /* NULL: none */
        uint64_t at;
        bool computing; /* a thread computes it now */
};

static struct object object_at(const struct heap_contents *c, uint64_t pointer)
{
        struct object o = { NULL, 0, false };
        bool behind = false;

        for (unsigned hops = 0; hops < HOPS_MOST; hops++) {
                o.at = pointer & ~UINT64_C(7);
                o.table = info_tables_find(&c->snapshot->ghc->tables, word_at(c, o.at));
                if (!o.table || (o.table->type != IND && o.table->type != IND_STATIC && o.table->type != BLACKHOLE))
                        break;
                behind |= o.table->type == BLACKHOLE;
                pointer = word_at(c, payload_of(c, o.at));
        }
        o.computing = behind && o.table && (o.table->type == TSO || o.table->type == BLOCKING_QUEUE);
        return o;
}

static bool is_thunk(unsigned type)
{
        return closure_is_thunk(type) || type == AP || type == AP_STACK;
}

static bool is_function(unsigned type)
{
        return closure_is_function(type) || type == PAP || type == BCO;
}

static bool is_character(struct heap_contents *c, uint64_t pointer)
{
        const struct object o = object_at(c, pointer);

        return o.table && closure_is_constructor(o.table->type) && learn_table(c, o.table)->shape == CHARACTER;
}

static uint32_t kind_of(struct heap_contents *c, uint64_t pointer)
{
        const struct object o = object_at(c, pointer);

        if (!o.table)
                return KIND_UNKNOWN;
        if (o.computing || is_thunk(o.table->type))
                return KIND_THUNK;
        if (is_function(o.table->type))
                return KIND_FUNCTION;
        if (!closure_is_constructor(o.table->type))
                return KIND_OF_TABLE + o.table->id;
        if (!o.table->name)
                return KIND_UNKNOWN;
        const struct known *k = learn_table(c, o.table);
        if (k->shape == CELL)
                return k->fields && is_character(c, word_at(c, payload_of(c, o.at))) ? KIND_CHARS : KIND_LIST;
        return KIND_OF_TABLE + o.table->id;
}

/* ------------------------------------------------------------------------ what a closure holds */

/* The pointers that say what a closure holds. */
struct fields {
        uint64_t at, n;
        bool is_array; /* all are of one type, or they are mixed */
};

/* Of a branch, those of its first leaf. */
static struct object leaf_of(struct heap_contents *c, struct object o)
{
        for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
                o = object_at(c, word_at(c, payload_of(c, o.at)));
                if (o.table && closure_is_small_array(o.table->type))
                        o = object_at(c, word_at(c, payload_of(c, o.at) + 8));
                if (!o.table || !closure_is_constructor(o.table->type))
                        break;
                if (learn_table(c, o.table)->shape != BRANCH)
                        return o;
        }
        return (struct object){ NULL, 0, false };
}

/* Of what is no constructor. */
static struct fields fields_of_primitive(const struct heap_contents *c, const struct closure_table *t, uint64_t at)
{
        const uint64_t payload = payload_of(c, at);

        switch (t->type) {
        case MUT_VAR_CLEAN:
        case MUT_VAR_DIRTY:
        case TVAR:
                return (struct fields){ payload, 1, false };
        case MVAR_CLEAN:
        case MVAR_DIRTY: /* behind its queue */
                return (struct fields){ payload + 16, 1, false };
        case THUNK_SELECTOR:
                return (struct fields){ payload + 8, 1, false };
        default:
                if (closure_is_array(t->type))
                        return (struct fields){ payload + 16, word_at(c, payload), true };
                if (closure_is_small_array(t->type))
                        return (struct fields){ payload + 8, word_at(c, payload), true };
                if (closure_is_thunk(t->type) || closure_is_function(t->type))
                        return (struct fields){ closure_is_thunk(t->type) ? payload + 8 : payload, t->pointers, false };
                return (struct fields){ 0, 0, false };
        }
}

static struct fields fields_of_constructor(struct heap_contents *c, struct object o)
{
        const struct known *k = learn_table(c, o.table);

        if (k->shape == BRANCH) {
                o = leaf_of(c, o);
                k = o.table ? learn_table(c, o.table) : k;
        }
        if (!o.table)
                return (struct fields){ 0, 0, false };
        const uint64_t payload = payload_of(c, o.at);
        switch (k->shape) {
        case PLAIN:
                return (struct fields){ payload, o.table->pointers, false };
        case FIELDS:
        case CELL:
                return (struct fields){ payload, k->fields, false };
        case BOX:
                o = object_at(c, word_at(c, payload));
                return o.table ? fields_of_primitive(c, o.table, o.at) : (struct fields){ 0, 0, false };
        default:
                return (struct fields){ 0, 0, false };
        }
}

/* The most frequent kind of an array's elements, and how many are of it. */
static void count_elements(struct heap_contents *c, const struct fields *f, struct contents_row *ret)
{
        const uint64_t step = f->n / ELEMENTS_MOST + 1;
        uint32_t kinds[ARRAY_KINDS];
        uint64_t counts[ARRAY_KINDS];
        unsigned n = 0, best = 0;

        for (uint64_t e = 0; e < f->n; e += step) {
                const uint32_t kind = kind_of(c, word_at(c, f->at + 8 * e));
                unsigned i = 0;
                while (i < n && kinds[i] != kind)
                        i++;
                if (i == n && n < ARRAY_KINDS) {
                        kinds[n] = kind;
                        counts[n++] = 0;
                }
                if (i < n && ++counts[i] > counts[best])
                        best = i;
                ret->elements++;
        }
        if (n) {
                ret->kinds[0] = kinds[best];
                ret->same = counts[best];
        }
}

/* ------------------------------------------------------------------------------------- rows */

static uint64_t hash_row(const struct contents_row *r)
{
        uint64_t hash = hash_u64(r->id, 0);

        for (unsigned i = 0; i < CONTENTS_FIELDS && r->kinds[i]; i++)
                hash = hash_u64(r->kinds[i], hash);
        return hash;
}

/* NULL: there is none. */
static struct contents_row *find_row(const struct heap_contents *c, const struct contents_row *r)
{
        const uint64_t hash = hash_row(r);
        uint32_t at = idtable_start(&c->row_ids, hash), id;

        while ((id = idtable_next(&c->row_ids, hash, &at))) {
                struct contents_row *of = &c->rows[id - 1];
                if (of->id == r->id && !memcmp(of->kinds, r->kinds, sizeof(r->kinds)))
                        return of;
        }
        return NULL;
}

/* When there are too many, what its closures hold is not told apart any more. NULL: out of memory. */
static struct contents_row *add_row(struct heap_contents *c, struct contents_row *r)
{
        struct contents_row *to = find_row(c, r);

        if (!to && c->n_rows >= ROWS_MOST && r->kinds[0]) {
                memset(r->kinds, 0, sizeof(r->kinds));
                r->elements = r->same = 0;
                to = find_row(c, r);
        }
        if (!to) {
                if (!ARRAY_RESERVE(c->rows, c->rows_capacity, c->n_rows + 1) ||
                    idtable_add(&c->row_ids, hash_row(r), c->n_rows + 1) != 0) {
                        c->out_of_memory = true;
                        return NULL;
                }
                to = &c->rows[c->n_rows++];
                *to = (struct contents_row){ .id = r->id };
                memcpy(to->kinds, r->kinds, sizeof(r->kinds));
        }
        to->bytes += r->bytes;
        to->objects++;
        to->elements += r->elements;
        to->same += r->same;
        return to;
}

/* ------------------------------------------------------------------------------------ names */

/* "Session" of "main:Main.Session", ":|" of "base:GHC.Base.:|". */
static const char *without_module(const char *name)
{
        const char *at = name_without_package(name);

        while (*at >= 'A' && *at <= 'Z') {
                const char *end = at;
                while (*end && *end != '.')
                        end++;
                if (*end != '.' || !end[1])
                        break;
                at = end + 1;
        }
        return at;
}

struct short_name {
        const char *name;
        uint32_t id;
};

static int by_short_name(const void *a, const void *b)
{
        const struct short_name *x = a, *y = b;
        const int order = strcmp(without_module(x->name), without_module(y->name));

        return order ? order : strcmp(name_without_package(x->name), name_without_package(y->name));
}

bool heap_contents_finish(struct heap_contents *c)
{
        const struct info_tables *t = &c->snapshot->ghc->tables;
        struct short_name *names = calloc((size_t)c->known_capacity + 1, sizeof(*names));
        size_t n = 0;

        c->out_of_memory |= !names;
        for (uint32_t id = 1; names && id < c->known_capacity; id++)
                if ((c->known[id] & READ) && info_tables_nth(t, id)->name)
                        names[n++] = (struct short_name){ info_tables_nth(t, id)->name, id };
        ARRAY_SORT(names, n, by_short_name);
        for (size_t i = 1; i < n; i++)
                if (!strcmp(without_module(names[i - 1].name), without_module(names[i].name)) &&
                    strcmp(name_without_package(names[i - 1].name), name_without_package(names[i].name)) != 0) {
                        c->known[names[i - 1].id] |= AMBIGUOUS;
                        c->known[names[i].id] |= AMBIGUOUS;
                }
        free(names);
        return !c->out_of_memory;
}

/* What is no constructor. */
static const char *primitive_name(unsigned type)
{
        switch (type) {
        case ARR_WORDS:
                return "ByteArray#";
        case MVAR_CLEAN:
        case MVAR_DIRTY:
                return "MVar";
        case TVAR:
                return "TVar";
        case MUT_VAR_CLEAN:
        case MUT_VAR_DIRTY:
                return "MutVar#";
        case WEAK:
                return "Weak#";
        case TSO:
                return "thread";
        default:
                if (closure_is_array(type))
                        return "Array#";
                if (closure_is_small_array(type))
                        return "SmallArray#";
                return is_thunk(type) ? "thunk" : is_function(type) ? "function" : closure_type_name(type);
        }
}

/* An operator is in parentheses, as tuples are. */
static void put_type(struct text_out *out, const struct heap_contents *c, const struct closure_table *t)
{
        const struct known *k = known_of(c, t->id);
        const char *name = !t->name                                                   ? primitive_name(t->type)
                           : k->type                                                  ? k->type
                           : t->id < c->known_capacity && c->known[t->id] & AMBIGUOUS ? name_without_package(t->name)
                                                                                      : without_module(t->name);
        const bool is_operator = *name == ':' || (*name && strchr("!#$%&*+./<=>?@\\^|-~", *name));

        text_put(out, is_operator ? "(" : "");
        text_put(out, name);
        text_put(out, is_operator ? ")" : "");
}

static void put_kinds(struct text_out *out, const struct heap_contents *c, const struct contents_row *row,
                      const char *between, bool are_more)
{
        static const char *const names[] = { "", "?", "thunk", "function", "[..]", "[Char]" };

        for (unsigned i = 0; i < CONTENTS_FIELDS && row->kinds[i]; i++) {
                text_put(out, i ? between : "");
                if (row->kinds[i] < KIND_OF_TABLE)
                        text_put(out, names[row->kinds[i]]);
                else
                        put_type(out, c, info_tables_nth(&c->snapshot->ghc->tables, row->kinds[i] - KIND_OF_TABLE));
        }
        if (are_more) {
                text_put(out, between);
                text_put(out, "..");
        }
}

bool heap_contents_name(const struct heap_contents *c, const struct contents_row *row, char *ret, size_t size)
{
        const struct closure_table *t = info_tables_nth(&c->snapshot->ghc->tables, row->id);
        const struct known *k = known_of(c, row->id);
        const bool has_all =
                closure_is_constructor(t->type) || closure_is_thunk(t->type) || closure_is_function(t->type);
        const bool are_more =
                has_all && k->shape == PLAIN && t->type != THUNK_SELECTOR && t->pointers > CONTENTS_FIELDS;
        const bool is_tuple = t->name && !strncmp(without_module(t->name), "(,", 2);
        struct text_out out;

        text_out_init(&out, ret, size);
        if (!row->kinds[0]) {
                put_type(&out, c, t);
        } else if (k->shape == CELL || is_tuple) {
                text_put(&out, is_tuple ? "(" : "[");
                put_kinds(&out, c, row, ", ", are_more);
                text_put(&out, is_tuple ? ")" : "]");
        } else {
                const bool is_code = !closure_is_constructor(t->type) && has_all;
                put_type(&out, c, t);
                text_put(&out, is_code ? " of " : " ");
                put_kinds(&out, c, row, is_code ? ", " : " ", are_more);
        }
        return row->kinds[0] != KIND_NONE;
}

/* --------------------------------------------------------------------------------------- add */

static bool is_counted(const struct closure_table *t, const struct known *k)
{
        return !closure_is_constructor(t->type) || k->shape >= FIELDS;
}

bool heap_contents_add(struct heap_contents *c, const struct closure_table *t, uint64_t at, uint64_t bytes)
{
        struct contents_row r = { .id = t->id, .bytes = bytes };

        if (c->only_matter && !is_counted(t, learn_table(c, t)))
                return false;
        struct fields f = closure_is_constructor(t->type) ? fields_of_constructor(c, (struct object){ t, at, false })
                                                          : fields_of_primitive(c, t, at);

        f.n = f.n < bytes / 8 || !f.is_array ? f.n : bytes / 8;
        if (f.is_array)
                count_elements(c, &f, &r);
        for (uint64_t i = 0; !f.is_array && i < f.n && i < CONTENTS_FIELDS; i++)
                r.kinds[i] = kind_of(c, word_at(c, f.at + 8 * i));
        struct contents_row *to = add_row(c, &r);
        if (to && c->wanted && to->wanted == WANTED_UNKNOWN) {
                char name[2 * PROGRAM_NAME_BYTES];
                const bool is_named = heap_contents_name(c, to, name, sizeof(name));
                to->wanted = is_named && !strcmp(name, c->wanted) ? WANTED : NOT_WANTED;
        }
        return to && c->wanted && to->wanted == WANTED;
}

bool heap_contents_matter(const struct heap_contents *c, const struct closure_table *t)
{
        return is_counted(t, known_of(c, t->id));
}

void heap_contents_done(struct heap_contents *c)
{
        free(c->rows);
        idtable_done(&c->row_ids);
        free(c->known);
        *c = (struct heap_contents){ .snapshot = NULL };
}
