/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - GHC's libraries may have a section for each function with its return points (split sections), or one for a
 * module, which is cut into its functions then: else code of a megabyte would be hashed for each place that is like one
 * in it. A place in a section is an entry when a symbol names it, or when code or data refers to it and an info table
 * is in front of it: return points have no symbols. It is called as the symbol that it is in; what is in none is local,
 * and is called as the symbol behind it (see names.c) with something after a '.', which GHC's symbols do not have.
 */
#include "inspect/ghc/signatures.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/memory/object_file.h"
#include "proto/base/array.h"
#include "proto/base/haskell_symbol.h"
#include "proto/base/text_out.h"

#define UNIT_LEAST    8u
#define SECTION_MOST  (1u << 26)
#define TEXT_PREFIX   ".text."
#define CLOSURE       "_closure"
#define CONSTANT_MOST 4u /* bytes of one in an instruction, behind an address */

struct made_name {
        char *text;
        uint32_t place;     /* in the texts */
        uint32_t table;     /* of a closure: the name of its info table; 0: not known */
        uint32_t text_hash; /* of a text */
        uint32_t bytes;     /* of a variable; 0: not known, or one in a way of the library, another in another */
        bool has_entry, has_text, is_variable;
};

/* A place in an object's code. */
struct object_place {
        uint32_t section, offset;
        const char *name; /* NULL: no symbol names it */
        uint64_t size;    /* of the symbol */
};

/* A word of an object's data that leads to code. */
struct object_pointer {
        uint32_t section, name; /* name: an id */
        uint64_t offset;
};

struct object {
        const struct object_file *file;
        struct object_place *places; /* sorted by section, offset, and those with names first */
        size_t n_places;
        struct object_pointer *pointers; /* sorted by section, offset */
        size_t n_pointers;
        const Elf64_Sym **variables;
        size_t n_variables;
        Elf64_Rela *relocations; /* of the section in question, sorted */
        size_t n_relocations, relocations_used;
};

/* --------------------------------------------------------------------------- names */

/* Its id; 0: no memory. */
static uint32_t intern_text(struct signature_maker *m, const char *text)
{
        uint64_t hash = signature_hash(SIGNATURE_HASH_START, text, strlen(text));
        uint32_t at, id;

        hash ^= hash >> 29;
        at = idtable_start(&m->ids, hash);
        while ((id = idtable_next(&m->ids, hash, &at)) && strcmp(m->names[id - 1].text, text) != 0)
                ;
        if (id)
                return id;
        char *copy = m->n_names < UINT32_MAX - 1 && ARRAY_RESERVE_NEXT(m->names, m->n_names) ? strdup(text) : NULL;
        if (!copy || idtable_add(&m->ids, hash, (uint32_t)m->n_names + 1) != 0) {
                free(copy);
                return 0;
        }
        m->names[m->n_names++] = (struct made_name){ .text = copy };
        return (uint32_t)m->n_names;
}

/* ------------------------------------------------------------------ places in code */

static bool is_code(const struct object_file *f, size_t section)
{
        const Elf64_Shdr *s = &f->sections[section];

        return section < f->n_sections && s->sh_type == SHT_PROGBITS && (s->sh_flags & SHF_EXECINSTR) &&
               s->sh_size >= UNIT_LEAST && s->sh_size <= SECTION_MOST && object_section_bytes(f, s);
}

/* Of the closures whose info table is in front of a place; 0: there is none. */
static uint32_t table_type(const struct object_file *f, uint32_t section, uint32_t offset)
{
        const uint8_t *bytes = object_section_bytes(f, &f->sections[section]);
        uint32_t type;

        if (offset % 8 || offset < SIGNATURE_TABLE_BYTES || offset > f->sections[section].sh_size)
                return 0;
        memcpy(&type, bytes + offset - 8, sizeof(type));
        return type < CLOSURE_TYPES ? type : 0;
}

static bool add_place(struct object *o, struct object_place p)
{
        if (p.offset >= o->file->sections[p.section].sh_size)
                return true;
        if (!ARRAY_RESERVE_NEXT(o->places, o->n_places))
                return false;
        o->places[o->n_places++] = p;
        return true;
}

static bool is_relative(const Elf64_Rela *r)
{
        return ELF64_R_TYPE(r->r_info) == R_X86_64_PC32 || ELF64_R_TYPE(r->r_info) == R_X86_64_PLT32;
}

/* Where in its symbol's section a relocation leads to. */
static int64_t leads_to(const Elf64_Rela *r, const Elf64_Sym *symbol)
{
        return (int64_t)symbol->st_value + r->r_addend + (is_relative(r) ? 4 : 0);
}

static int by_place(const void *a, const void *b)
{
        const struct object_place *x = a, *y = b;

        if (x->section != y->section)
                return x->section < y->section ? -1 : 1;
        if (x->offset != y->offset)
                return x->offset < y->offset ? -1 : 1;
        if (!x->name != !y->name)
                return x->name ? -1 : 1;
        return x->name ? strcmp(x->name, y->name) : 0;
}

/* What symbols name, and info tables that something in the object refers to; each place once. */
static bool find_places(struct object *o)
{
        const struct object_file *f = o->file;
        const Elf64_Sym *to;
        Elf64_Rela r;
        size_t n = 0;

        for (size_t i = 0; i < f->n_symbols; i++) {
                const Elf64_Sym *s = &f->symbols[i];
                const unsigned type = ELF64_ST_TYPE(s->st_info);
                const char *name = object_symbol_name(f, s);
                if (s->st_shndx < f->n_sections && is_code(f, s->st_shndx) && s->st_value < SECTION_MOST &&
                    (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE) && name[0] && !strpbrk(name, ".$") &&
                    !add_place(o, (struct object_place){ s->st_shndx, (uint32_t)s->st_value, name, s->st_size }))
                        return false;
        }
        for (size_t i = 0; i < f->n_sections; i++)
                for (size_t k = 0; object_relocation(f, &f->sections[i], k, &r, &to); k++) {
                        const int64_t at = leads_to(&r, to);
                        if (to->st_shndx < f->n_sections && is_code(f, to->st_shndx) && at > 0 &&
                            at < (int64_t)SECTION_MOST && table_type(f, to->st_shndx, (uint32_t)at) &&
                            !add_place(o, (struct object_place){ to->st_shndx, (uint32_t)at, NULL, 0 }))
                                return false;
                }
        ARRAY_SORT(o->places, o->n_places, by_place);
        for (size_t i = 0; i < o->n_places; i++)
                if (n == 0 || o->places[n - 1].section != o->places[i].section ||
                    o->places[n - 1].offset != o->places[i].offset)
                        o->places[n++] = o->places[i];
        o->n_places = n;
        return true;
}

/* How many places are before an offset of a section. */
static size_t count_places(const struct object *o, uint32_t section, int64_t offset)
{
        size_t low = 0, high = o->n_places;

        while (low < high) {
                const size_t middle = low + (high - low) / 2;
                const struct object_place *p = &o->places[middle];
                if (p->section < section || (p->section == section && (int64_t)p->offset < offset))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* The named place behind, or else before, one without a name. */
static const char *nearest_name(const struct object *o, size_t place)
{
        for (size_t i = place + 1; i < o->n_places; i++)
                if (o->places[i].name)
                        return o->places[i].name;
        for (size_t i = place; i-- > 0;)
                if (o->places[i].name)
                        return o->places[i].name;
        return NULL;
}

/* The id of what a place is called; 0: nothing, or no memory. */
static uint32_t name_of_place(struct signature_maker *m, const struct object *o, size_t place)
{
        const struct object_place *p = &o->places[place];
        const char *section = object_section_name(o->file, p->section), *nearest;
        char name[2 * SYMBOL_BYTES];
        struct text_out out;

        for (size_t i = place + 1; i-- > 0 && o->places[i].section == p->section;)
                if (o->places[i].name && (i == place || p->offset - o->places[i].offset < o->places[i].size))
                        return intern_text(m, o->places[i].name);
                else if (o->places[i].name)
                        break;
        if (!(nearest = nearest_name(o, place)))
                return 0;
        if (!strncmp(section, TEXT_PREFIX, strlen(TEXT_PREFIX)))
                section += strlen(TEXT_PREFIX);
        text_out_init(&out, name, sizeof(name));
        text_put(&out, nearest);
        text_put(&out, ".");
        text_put(&out, section);
        if (place != count_places(o, p->section, 0)) {
                text_put(&out, "+");
                text_put_hex(&out, p->offset);
        }
        return out.cut ? 0 : intern_text(m, name);
}

/* The place at an offset of a section; n_places: there is none. */
static size_t find_place(const struct object *o, uint32_t section, int64_t offset)
{
        const size_t i = count_places(o, section, offset);
        const struct object_place *p = &o->places[i];

        return i < o->n_places && p->section == section && (int64_t)p->offset == offset ? i : o->n_places;
}

/* --------------------------------------------------------------------------- closures */

static int by_pointer(const void *a, const void *b)
{
        const struct object_pointer *x = a, *y = b;

        if (x->section != y->section)
                return x->section < y->section ? -1 : 1;
        return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The id of what a word of data leads to; 0: it is not the beginning of known code. */
static uint32_t name_of_target(struct signature_maker *m, const struct object *o, const Elf64_Rela *r,
                               const Elf64_Sym *to)
{
        if (ELF64_ST_TYPE(to->st_info) != STT_SECTION)
                return r->r_addend == 0 ? intern_text(m, object_symbol_name(o->file, to)) : 0;
        const size_t place = find_place(o, to->st_shndx, r->r_addend);
        return place < o->n_places ? name_of_place(m, o, place) : 0;
}

static bool find_pointers(struct signature_maker *m, struct object *o)
{
        const struct object_file *f = o->file;
        const Elf64_Sym *to;
        Elf64_Rela r;

        for (size_t i = 0; i < f->n_sections; i++) {
                const uint32_t of = f->sections[i].sh_info;
                if (f->sections[i].sh_type != SHT_RELA || of >= f->n_sections ||
                    (f->sections[of].sh_flags & (SHF_WRITE | SHF_EXECINSTR)) != SHF_WRITE)
                        continue;
                for (size_t k = 0; object_relocation(f, &f->sections[i], k, &r, &to); k++) {
                        const uint32_t name = ELF64_R_TYPE(r.r_info) == R_X86_64_64 ? name_of_target(m, o, &r, to) : 0;
                        if (name == 0)
                                continue;
                        if (!ARRAY_RESERVE_NEXT(o->pointers, o->n_pointers))
                                return false;
                        o->pointers[o->n_pointers++] = (struct object_pointer){ of, name, r.r_offset };
                }
        }
        ARRAY_SORT(o->pointers, o->n_pointers, by_pointer);
        return true;
}

/* The id of the info table of a closure at a place in data; 0: not known. */
static uint32_t table_of_closure(const struct object *o, uint32_t section, uint64_t offset)
{
        const struct object_pointer key = { section, 0, offset };
        const struct object_pointer *found =
                o->n_pointers ? bsearch(&key, o->pointers, o->n_pointers, sizeof(key), by_pointer) : NULL;

        return found ? found->name : 0;
}

/* The signature of a text that is at an offset of a symbol's section. False: there is none. */
static bool find_text(const struct object_file *f, const Elf64_Sym *to, int64_t at, uint32_t *ret)
{
        const Elf64_Shdr *s = to->st_shndx < f->n_sections ? &f->sections[to->st_shndx] : NULL;
        const uint8_t *bytes = s && (s->sh_flags & SHF_STRINGS) ? object_section_bytes(f, s) : NULL;

        if (!bytes || at < 0 || (uint64_t)at >= s->sh_size)
                return false;
        const uint64_t left = s->sh_size - (uint64_t)at;
        const size_t n = strnlen((const char *)bytes + at, left < SIGNATURE_TEXT_MOST ? left : SIGNATURE_TEXT_MOST);
        *ret = signature_fold(signature_hash(SIGNATURE_HASH_START, bytes + at, n));
        return n < left;
}

/* What C code has in its data, not what GHC makes: that is named by its module. */
static bool is_variable(const struct object_file *f, const Elf64_Sym *s)
{
        struct haskell_symbol name;

        return ELF64_ST_TYPE(s->st_info) == STT_OBJECT && s->st_shndx < f->n_sections && s->st_size <= UINT32_MAX &&
               !(f->sections[s->st_shndx].sh_flags & (SHF_EXECINSTR | SHF_STRINGS | SHF_MERGE)) &&
               (!haskell_symbol_decode(&name, object_symbol_name(f, s)) || !name.module[0]);
}

/* What other objects may refer to by a symbol. */
static bool name_data(struct signature_maker *m, struct object *o)
{
        const struct object_file *f = o->file;

        for (size_t i = 0; i < f->n_symbols; i++) {
                const Elf64_Sym *s = &f->symbols[i];
                const char *name = object_symbol_name(f, s);
                const uint32_t table =
                        text_has_suffix(name, CLOSURE) ? table_of_closure(o, s->st_shndx, s->st_value) : 0;
                uint32_t text = 0, id;
                const bool has_text = name[0] && find_text(f, s, (int64_t)s->st_value, &text);
                const bool has_variable = name[0] && !table && !has_text && is_variable(f, s);
                if (!table && !has_text && !has_variable)
                        continue;
                if (!(id = intern_text(m, name)))
                        return false;
                struct made_name *to = &m->names[id - 1];
                if (has_variable) {
                        if (!ARRAY_RESERVE_NEXT(o->variables, o->n_variables))
                                return false;
                        o->variables[o->n_variables++] = s;
                        to->bytes = !to->is_variable || to->bytes == s->st_size ? (uint32_t)s->st_size : 0;
                        to->is_variable = true;
                        continue;
                }
                to->table = table;
                to->text_hash = text;
                to->has_text = has_text;
        }
        return true;
}

/* ------------------------------------------------------------------------ relocations */

static int by_offset(const void *a, const void *b)
{
        const Elf64_Rela *x = a, *y = b;

        return (x->r_offset > y->r_offset) - (x->r_offset < y->r_offset);
}

/* Those of one section. */
static bool collect_relocations(struct object *o, uint32_t section)
{
        const struct object_file *f = o->file;
        const Elf64_Sym *to;
        Elf64_Rela r;

        o->n_relocations = o->relocations_used = 0;
        free(o->relocations);
        o->relocations = NULL;
        /* the section of relocations follows that which they are of, in whatever GNU as writes */
        for (size_t i = section + 1; i < f->n_sections; i++) {
                if (f->sections[i].sh_type != SHT_RELA || f->sections[i].sh_info != section)
                        continue;
                for (size_t k = 0; object_relocation(f, &f->sections[i], k, &r, &to); k++) {
                        if (!ARRAY_RESERVE_NEXT(o->relocations, o->n_relocations))
                                return false;
                        o->relocations[o->n_relocations++] = r;
                }
                break;
        }
        ARRAY_SORT(o->relocations, o->n_relocations, by_offset);
        return true;
}

/* What it changes. False: not known. */
static bool place_of_relocation(const Elf64_Rela *r, struct signature_relocation *ret)
{
        static const struct {
                uint32_t type, before, bytes; /* GOTPCRELX: the linker may change the instruction in front, too */
                enum signature_place place;
        } kinds[] = {
                { R_X86_64_32, 0, 4, PLACE_ABSOLUTE_32 },       { R_X86_64_32S, 0, 4, PLACE_ABSOLUTE_32 },
                { R_X86_64_PC32, 0, 4, PLACE_RELATIVE_32 },     { R_X86_64_PLT32, 0, 4, PLACE_RELATIVE_32 },
                { R_X86_64_64, 0, 8, PLACE_ABSOLUTE_64 },       { R_X86_64_PC64, 0, 8, PLACE_OPAQUE },
                { R_X86_64_GOTPCREL, 0, 4, PLACE_OPAQUE },      { R_X86_64_GOTPCRELX, 2, 6, PLACE_OPAQUE },
                { R_X86_64_REX_GOTPCRELX, 3, 7, PLACE_OPAQUE }, { R_X86_64_GOTTPOFF, 3, 7, PLACE_OPAQUE },
                { R_X86_64_TPOFF32, 0, 4, PLACE_OPAQUE },
        };

        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (kinds[i].type == ELF64_R_TYPE(r->r_info) && r->r_offset >= kinds[i].before) {
                        *ret = (struct signature_relocation){ .bytes = kinds[i].bytes, .place = kinds[i].place };
                        ret->at = (uint32_t)r->r_offset - kinds[i].before;
                        return r->r_offset < SECTION_MOST;
                }
        return false;
}

/*
 * A variable that a reference to a section of data tells the place of. Any would do, for the linker keeps the section
 * whole; it is the one that the code means, as far as that is known: a constant behind the place makes the offset less.
 */
static bool find_variable(const struct object *o, uint32_t section, int64_t at, const Elf64_Sym **ret)
{
        uint64_t best = UINT64_MAX;

        for (size_t i = 0; i < o->n_variables; i++) {
                const Elf64_Sym *s = o->variables[i];
                const int64_t behind = (int64_t)s->st_value - at;
                const uint64_t distance = behind >= 0 ? (uint64_t)behind : (uint64_t)-behind + CONSTANT_MOST;
                if (s->st_shndx == section && behind <= (int64_t)CONSTANT_MOST && distance < best) {
                        best = distance;
                        *ret = s;
                }
        }
        return best != UINT64_MAX;
}

/* Where it leads: sets target, name and addend. */
static void find_target(struct signature_maker *m, const struct object *o, uint32_t section, const Elf64_Rela *r,
                        struct signature_relocation *ret)
{
        const struct object_file *f = o->file;
        const Elf64_Sym *to = &f->symbols[ELF64_R_SYM(r->r_info)], *variable;
        const bool is_section = ELF64_ST_TYPE(to->st_info) == STT_SECTION;
        const int64_t at = leads_to(r, to), before = is_relative(r) ? -4 : 0;

        ret->addend = r->r_addend;
        if (to->st_shndx == section) {
                ret->target = TARGET_SELF;
                ret->addend = (int64_t)to->st_value + r->r_addend;
        } else if (find_text(f, to, at, &ret->name)) {
                ret->target = TARGET_TEXT;
                ret->addend = before;
        } else if (!is_section) {
                const char *name = object_symbol_name(f, to);
                ret->name = intern_text(m, name);
                ret->target = ret->name == 0                   ? TARGET_NONE
                              : text_has_suffix(name, CLOSURE) ? TARGET_CLOSURE
                                                               : TARGET_CODE;
        } else if (to->st_shndx < f->n_sections && is_code(f, to->st_shndx)) {
                const size_t place = find_place(o, to->st_shndx, at);
                ret->name = place < o->n_places ? name_of_place(m, o, place) : 0;
                ret->target = ret->name ? TARGET_CODE : TARGET_NONE;
                ret->addend = before;
        } else if (find_variable(o, to->st_shndx, at, &variable)) {
                ret->name = intern_text(m, object_symbol_name(f, variable));
                ret->target = ret->name ? TARGET_VARIABLE : TARGET_NONE;
                ret->size = (uint32_t)variable->st_size;
                ret->addend -= (int64_t)variable->st_value;
        } else if (at >= 0) { /* the lowest bits of a closure's address may say what it is */
                ret->name = table_of_closure(o, to->st_shndx, (uint64_t)at & ~UINT64_C(7));
                ret->target = ret->name ? TARGET_CLOSURE : TARGET_NONE;
                ret->addend = (at & 7) + before;
        }
}

/* ------------------------------------------------------------------------------ units */

/* The part of a section that is one. */
struct piece {
        uint32_t section, from, to;
};

/* The key of an entry at an offset of the piece; relocations are zeros in `bytes`. */
static uint32_t key_of(const struct object *o, const struct signature_relocation *relocations, size_t n,
                       const struct piece *p, uint32_t offset, const uint8_t *bytes)
{
        const uint32_t left = p->to - p->from - offset;
        uint8_t head = (uint8_t)(left < SIGNATURE_HEAD_MOST ? left : SIGNATURE_HEAD_MOST);
        enum signature_front front =
                offset >= SIGNATURE_TABLE_BYTES && table_type(o->file, p->section, p->from + offset) ? FRONT_TABLE
                                                                                                     : FRONT_NOTHING;

        for (size_t i = 0; i < n; i++) {
                const struct signature_relocation *r = &relocations[i];
                if (r->at + r->bytes > offset && r->at < offset + head)
                        head = r->at > offset ? (uint8_t)(r->at - offset) : 0;
                if (front == FRONT_TABLE && r->at + r->bytes > offset - 16 && r->at < offset - 8)
                        front = FRONT_TYPE;
        }
        return signature_key(front, front == FRONT_NOTHING ? NULL : bytes + offset - 16, bytes + offset, head);
}

/* Those of a piece, which follow those of the piece before. */
static bool add_relocations(struct signature_maker *m, struct object *o, const struct piece *p,
                            struct signature_unit *u, bool *known)
{
        uint32_t end = p->from;

        *known = true;
        for (; o->relocations_used < o->n_relocations; o->relocations_used++) {
                const Elf64_Rela *from = &o->relocations[o->relocations_used];
                struct signature_relocation r;
                if (from->r_offset >= p->to)
                        break;
                if (!*known || ELF64_R_TYPE(from->r_info) == R_X86_64_NONE)
                        continue;
                if (!place_of_relocation(from, &r) || r.at < end || r.bytes > p->to || r.at > p->to - r.bytes) {
                        *known = false;
                        continue;
                }
                if (r.place != PLACE_OPAQUE)
                        find_target(m, o, p->section, from, &r);
                if (!ARRAY_RESERVE_NEXT(m->relocations, m->n_relocations))
                        return false;
                end = r.at + r.bytes;
                r.at -= p->from;
                r.addend -= r.target == TARGET_SELF ? (int64_t)p->from : 0;
                m->relocations[m->n_relocations++] = r;
                u->n_relocations++;
        }
        return true;
}

static bool add_entries(struct signature_maker *m, const struct object *o, const struct piece *p, size_t place,
                        const uint8_t *bytes)
{
        const struct signature_unit *u = &m->units[m->n_units - 1];

        for (size_t i = place; i < o->n_places && o->places[i].section == p->section && o->places[i].offset < p->to;
             i++) {
                const uint32_t name = name_of_place(m, o, i), offset = o->places[i].offset - p->from;
                if (name == 0)
                        continue;
                if (!ARRAY_RESERVE_NEXT(m->entries, m->n_entries))
                        return false;
                m->names[name - 1].has_entry = true;
                m->entries[m->n_entries++] = (struct signature_entry){ key_of(o, m->relocations + u->relocations,
                                                                              u->n_relocations, p, offset, bytes),
                                                                       (uint32_t)m->n_units - 1, offset, name };
        }
        return true;
}

/* `place`: the first one in it. */
static bool add_unit(struct signature_maker *m, struct object *o, const struct piece *p, size_t place)
{
        struct signature_unit u = { .size = p->to - p->from, .relocations = (uint32_t)m->n_relocations };
        uint64_t shape = signature_hash(SIGNATURE_HASH_START, &u.size, sizeof(u.size));
        bool known;

        if (!add_relocations(m, o, p, &u, &known))
                return false;
        if (!known || u.size > SIGNATURE_UNIT_MOST) {
                m->n_relocations = u.relocations;
                return true;
        }
        uint8_t *bytes = malloc(u.size);
        if (!bytes || !ARRAY_RESERVE_NEXT(m->units, m->n_units)) {
                free(bytes);
                return false;
        }
        memcpy(bytes, object_section_bytes(o->file, &o->file->sections[p->section]) + p->from, u.size);
        for (uint32_t i = 0; i < u.n_relocations; i++) {
                const struct signature_relocation *r = &m->relocations[u.relocations + i];
                memset(bytes + r->at, 0, r->bytes);
                shape = signature_hash(shape, &r->at, sizeof(r->at));
                shape = signature_hash(shape, &r->bytes, sizeof(r->bytes));
        }
        u.hash = signature_hash(SIGNATURE_HASH_START, bytes, u.size);
        u.shape = signature_fold(shape);
        m->units[m->n_units++] = u;
        const bool good = add_entries(m, o, p, place, bytes);
        free(bytes);
        return good;
}

/* Whether more begins here than a return point of the function before. */
static bool begins_function(const struct object *o, size_t place)
{
        const struct object_place *p = &o->places[place];
        const uint32_t type = table_type(o->file, p->section, p->offset);

        return type && (p->name || closure_is_function(type) || closure_is_thunk(type));
}

/* Cut in front of the table of each function. `place`: the section's first. */
static bool add_section(struct signature_maker *m, struct object *o, size_t place)
{
        struct piece p = { .section = o->places[place].section };
        const uint32_t size = (uint32_t)o->file->sections[p.section].sh_size;
        bool good = collect_relocations(o, p.section);

        for (size_t first = place; good && p.from < size; p.from = p.to, first = place) {
                for (p.to = size; place < o->n_places && o->places[place].section == p.section; place++) {
                        if (place == first || !begins_function(o, place))
                                continue;
                        p.to = o->places[place].offset - SIGNATURE_TABLE_BYTES;
                        if (p.to > o->places[place - 1].offset)
                                break;
                        p.to = size;
                }
                good = add_unit(m, o, &p, first);
        }
        return good;
}

static bool add_object(struct signature_maker *m, const struct object_file *f)
{
        struct object o = { .file = f };
        bool good = find_places(&o) && find_pointers(m, &o) && name_data(m, &o);

        for (size_t i = 0; good && i < o.n_places; i++)
                if (i == 0 || o.places[i - 1].section != o.places[i].section)
                        good = add_section(m, &o, i);
        free(o.places);
        free(o.pointers);
        free(o.variables);
        free(o.relocations);
        m->n_objects += good;
        return good;
}

bool signature_maker_add(struct signature_maker *m, const uint8_t *bytes, size_t n, struct error *error)
{
        const bool is_archive = archive_is_one(bytes, n);
        const uint8_t *member = bytes;
        struct object_file f;
        size_t at = 0, size = n;
        int more = 1;

        while (!is_archive || (more = archive_next(bytes, n, &at, &member, &size)) > 0) {
                if (object_file_open(&f, member, size)) {
                        const bool good = add_object(m, &f);
                        object_file_close(&f);
                        if (!good)
                                return error_set(error, "out of memory");
                } else if (!is_archive) {
                        return error_set(error, "it is no archive (.a) and no object file (.o) for x86-64");
                }
                if (!is_archive)
                        break;
        }
        return more >= 0 || error_set(error, "it is damaged, or cut off, at byte %zu of %zu", at, n);
}

/* ----------------------------------------------------------------------------- finish */

static const struct signature_table *sorted; /* qsort has no context */

static int by_key(const void *a, const void *b)
{
        const struct signature_entry *x = a, *y = b;
        const struct signature_unit *u = &sorted->units[x->unit], *v = &sorted->units[y->unit];

        if (x->key != y->key)
                return x->key < y->key ? -1 : 1;
        if (u->shape != v->shape)
                return u->shape < v->shape ? -1 : 1;
        if (x->offset != y->offset)
                return x->offset < y->offset ? -1 : 1;
        if (u->hash != v->hash)
                return u->hash < v->hash ? -1 : 1;
        return (x->unit > y->unit) - (x->unit < y->unit);
}

/* Names without code here say nothing: they cannot be looked up. A closure's is that of its table. */
static void resolve_relocation(const struct signature_maker *m, struct signature_relocation *r)
{
        if (r->target == TARGET_CODE && m->names[r->name - 1].has_text) {
                r->target = TARGET_TEXT;
                r->name = m->names[r->name - 1].text_hash;
        }
        if (r->target == TARGET_CLOSURE && m->names[r->name - 1].table)
                r->name = m->names[r->name - 1].table;
        if (r->target == TARGET_CODE && m->names[r->name - 1].is_variable && !m->names[r->name - 1].has_entry) {
                r->target = TARGET_VARIABLE;
                r->size = m->names[r->name - 1].bytes;
        }
        if (r->target == TARGET_VARIABLE)
                r->name = m->names[r->name - 1].place;
        if (r->target == TARGET_CODE || r->target == TARGET_CLOSURE) {
                if (r->name == 0 || !m->names[r->name - 1].has_entry)
                        r->target = TARGET_NONE;
                else
                        r->name = m->names[r->name - 1].place;
        }
        if (r->target == TARGET_NONE)
                r->name = 0, r->addend = 0;
}

static bool is_put(const struct made_name *name)
{
        return name->has_entry || name->is_variable;
}

static bool put_texts(struct signature_maker *m, struct signature_table *t)
{
        uint64_t n = 1;

        for (size_t i = 0; i < m->n_names; i++)
                n += is_put(&m->names[i]) ? strlen(m->names[i].text) + 1 : 0;
        if (n > UINT32_MAX || !(t->texts = calloc(1, (size_t)n)))
                return false;
        for (size_t i = 0; i < m->n_names; i++) {
                if (!is_put(&m->names[i]))
                        continue;
                m->names[i].place = t->n_texts;
                memcpy(t->texts + t->n_texts, m->names[i].text, strlen(m->names[i].text) + 1);
                t->n_texts += (uint32_t)strlen(m->names[i].text) + 1;
        }
        t->n_texts += t->n_texts == 0;
        return true;
}

static bool put_relocations(struct signature_maker *m, struct signature_table *t)
{
        if (m->n_relocations > UINT32_MAX / 32 || !(t->relocations = malloc(m->n_relocations * 32 + 32)))
                return false;
        for (size_t i = 0; i < m->n_units; i++) {
                struct signature_unit *u = &m->units[i];
                const uint32_t first = u->relocations;
                uint32_t end = 0;
                u->relocations = t->n_relocations;
                for (uint32_t k = 0; k < u->n_relocations; k++) {
                        struct signature_relocation r = m->relocations[first + k];
                        resolve_relocation(m, &r);
                        t->n_relocations +=
                                (uint32_t)signature_relocation_put(t->relocations + t->n_relocations, end, &r);
                        end = r.at + r.bytes;
                }
        }
        return true;
}

bool signature_maker_finish(struct signature_maker *m, struct signature_table *ret)
{
        *ret = (struct signature_table){ 0 };
        if (m->n_units > UINT32_MAX || m->n_entries > UINT32_MAX || !put_texts(m, ret) || !put_relocations(m, ret))
                return false;
        for (size_t i = 0; i < m->n_entries; i++)
                m->entries[i].name = m->names[m->entries[i].name - 1].place;
        ret->units = m->units;
        ret->entries = m->entries;
        ret->n_units = (uint32_t)m->n_units;
        ret->n_entries = (uint32_t)m->n_entries;
        m->units = NULL;
        m->entries = NULL;
        m->n_units = m->n_entries = 0;
        sorted = ret;
        ARRAY_SORT(ret->entries, ret->n_entries, by_key);
        return true;
}

void signature_maker_done(struct signature_maker *m)
{
        for (size_t i = 0; i < m->n_names; i++)
                free(m->names[i].text);
        free(m->names);
        free(m->units);
        free(m->entries);
        free(m->relocations);
        idtable_done(&m->ids);
        *m = (struct signature_maker){ 0 };
}
