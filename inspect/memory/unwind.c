/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - libdw executes the tables, for either machine. It is given them as a small ELF file in memory that has
 * nothing but PT_GNU_EH_FRAME, at the addresses of the process, with the bytes that the process has there. What it says
 * of a register is an expression, of which those without jumps are computed here: nothing can last long. Each frame
 * must be further out than the one before, within the copy of the stack.
 */
#include "inspect/memory/unwind.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <dwarf.h>
#include <stdlib.h>

#include "proto/base/array.h"

#define TABLES_MOST  1024u
#define TABLE_BYTES  (UINT64_C(64) << 20) /* of one */
#define ALL_BYTES    (UINT64_C(256) << 20)
#define REGISTERS    33u /* by their numbers in DWARF; the last is where code is */
#define OPERANDS     16u
#define HEADER_BYTES (sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr))
#define SEGMENTS     64u
#define ADDRESS_BITS 48u /* above it aarch64 has a signature in return addresses */

/* Of a file that is mapped, from `base` on. */
struct unwind_table {
        uint64_t base;
        uint8_t *image;
        Elf *elf;
        Dwarf_CFI *cfi;       /* NULL: it has none that can be used */
        const uint8_t *index; /* in the image: pairs of i32, where a function begins, and its entry, both from `from` */
        uint64_t from, n;
};

struct unwinder {
        const struct program *program;
        struct unwind_table *tables;
        size_t n_tables;
        uint64_t bytes;
};

struct unwinder *unwinder_new(const struct program *p)
{
        struct unwinder *u = calloc(1, sizeof(*u));

        (void)elf_version(EV_CURRENT);
        if (u)
                u->program = p;
        return u;
}

static void close_table(struct unwind_table *t)
{
        if (t->cfi)
                (void)dwarf_cfi_end(t->cfi);
        if (t->elf)
                (void)elf_end(t->elf);
        free(t->image);
        *t = (struct unwind_table){ .base = t->base };
}

void unwinder_destroy(struct unwinder **u)
{
        for (size_t i = 0; *u && i < (*u)->n_tables; i++)
                close_table(&(*u)->tables[i]);
        if (*u)
                free((*u)->tables);
        free(*u);
        *u = NULL;
}

/* -------------------------------------------------------------------------- tables */

/* What all linkers write: sizes of 4 bytes, relative to their place or to the header. */
struct header {
        uint8_t version, pointer, count, table;
        int32_t entries; /* from its own place */
        uint32_t n;
};

static int32_t i32_at(const uint8_t *bytes, size_t at)
{
        return (int32_t)u32_at(bytes, at);
}

/* Where the entries end: behind the last one. 0: that is not known. */
static uint64_t find_end(const struct unwinder *u, uint64_t header, uint32_t n, uint64_t least)
{
        const uint64_t bytes = 8 * (uint64_t)n;
        uint8_t *index = bytes <= TABLE_BYTES ? malloc((size_t)bytes + 1) : NULL;
        uint64_t last = 0, end = 0;
        uint32_t length;

        if (index && memory_read(u->program->memory, header + sizeof(struct header), index, (size_t)bytes))
                for (uint32_t i = 0; i < n; i++) {
                        const uint64_t at = header + (uint64_t)(int64_t)i32_at(index, 8 * (size_t)i + 4);
                        last = at > last ? at : last;
                }
        free(index);
        if (last >= least && memory_read(u->program->memory, last, &length, sizeof(length)))
                end = last + 4 + length + 4;
        return end;
}

static bool make_image(struct unwinder *u, struct unwind_table *t, uint64_t header)
{
        struct header h;
        const struct memory *m = u->program->memory;

        if (!memory_read(m, header, &h, sizeof(h)) || h.version != 1 ||
            h.pointer != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) || h.count != DW_EH_PE_udata4 ||
            h.table != (DW_EH_PE_datarel | DW_EH_PE_sdata4) || h.n == 0)
                return false;
        const uint64_t entries = header + 4 + (uint64_t)(int64_t)h.entries;
        const uint64_t behind = header + sizeof(h) + 8 * (uint64_t)h.n;
        const uint64_t end = find_end(u, header, h.n, entries);
        const uint64_t low = header < entries ? header : entries, high = end > behind ? end : behind;
        const uint64_t n = high - low;
        if (!end || high < low || n > TABLE_BYTES || n > ALL_BYTES - u->bytes ||
            !(t->image = calloc(1, HEADER_BYTES + (size_t)n)) ||
            !memory_read(m, low, t->image + HEADER_BYTES, (size_t)n))
                return false;
        const Elf64_Ehdr file = {
                .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                .e_type = ET_DYN,
                .e_machine = u->program->machine,
                .e_version = EV_CURRENT,
                .e_phoff = sizeof(Elf64_Ehdr),
                .e_ehsize = sizeof(Elf64_Ehdr),
                .e_phentsize = sizeof(Elf64_Phdr),
                .e_phnum = 1,
                .e_shentsize = sizeof(Elf64_Shdr),
        };
        const Elf64_Phdr segment = { .p_type = PT_GNU_EH_FRAME,
                                     .p_offset = HEADER_BYTES + (header - low),
                                     .p_vaddr = header,
                                     .p_paddr = header,
                                     .p_filesz = behind - header,
                                     .p_memsz = behind - header };
        memcpy(t->image, &file, sizeof(file));
        memcpy(t->image + sizeof(file), &segment, sizeof(segment));
        u->bytes += n;
        t->index = t->image + HEADER_BYTES + (header - low) + sizeof(h);
        t->from = header;
        t->n = h.n;
        t->elf = elf_memory((char *)t->image, HEADER_BYTES + (size_t)n);
        t->cfi = t->elf ? dwarf_getcfi_elf(t->elf) : NULL;
        return t->cfi != NULL;
}

/* By the headers that are loaded with each file. */
static bool load_table(struct unwinder *u, struct unwind_table *t)
{
        const struct memory *m = u->program->memory;
        Elf64_Phdr segments[SEGMENTS];
        Elf64_Ehdr h;
        uint64_t bias = 0;
        bool has_bias = false;

        if (!memory_read(m, t->base, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
            h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(segments[0]) || h.e_phnum > SEGMENTS ||
            !memory_read(m, t->base + h.e_phoff, segments, h.e_phnum * sizeof(segments[0])))
                return false;
        for (size_t i = 0; i < h.e_phnum && !has_bias; i++)
                if (segments[i].p_type == PT_LOAD) {
                        bias = t->base - (segments[i].p_vaddr - segments[i].p_offset);
                        has_bias = true;
                }
        for (size_t i = 0; i < h.e_phnum; i++)
                if (segments[i].p_type == PT_GNU_EH_FRAME)
                        return make_image(u, t, segments[i].p_vaddr + bias);
        return false;
}

/* Of the file that a mapping is of; NULL: there is none. It is read when it is first wanted. */
static struct unwind_table *table_of(struct unwinder *u, const struct mapping *m)
{
        while (m > u->program->mappings && m->file && m->offset != 0 && m[-1].file == m->file)
                m--;
        if (m->offset != 0)
                return NULL;
        for (size_t i = 0; i < u->n_tables; i++)
                if (u->tables[i].base == m->start)
                        return u->tables[i].cfi ? &u->tables[i] : NULL;
        if (u->n_tables >= TABLES_MOST || !ARRAY_RESERVE_NEXT(u->tables, u->n_tables))
                return NULL;
        struct unwind_table *t = &u->tables[u->n_tables++];
        *t = (struct unwind_table){ .base = m->start };
        if (load_table(u, t))
                return t;
        close_table(t);
        return NULL;
}

void unwinder_load(struct unwinder *u)
{
        for (size_t i = 0; i < u->program->n_mappings; i++)
                if (u->program->mappings[i].executable)
                        (void)table_of(u, &u->program->mappings[i]);
}

/* Its row at a place, malloc'd; NULL: none. */
static Dwarf_Frame *find_row(struct unwinder *u, uint64_t at, struct unwind_table **ret)
{
        const struct mapping *m = program_mapping(u->program, at);
        Dwarf_Frame *row = NULL;

        *ret = m && m->executable ? table_of(u, m) : NULL;
        return *ret && dwarf_cfi_addrframe((*ret)->cfi, at, &row) == 0 ? row : NULL;
}

bool unwinder_covers(struct unwinder *u, uint64_t at)
{
        struct unwind_table *t;
        Dwarf_Frame *row = find_row(u, at, &t);

        free(row);
        return row != NULL;
}

/* The last function in the index that begins at or before a place. */
static uint64_t function_of_place(const struct unwind_table *t, uint64_t at)
{
        uint64_t low = 0, high = t->n;

        while (low + 1 < high) {
                const uint64_t middle = (low + high) / 2;
                if (t->from + (uint64_t)(int64_t)i32_at(t->index, 8 * (size_t)middle) <= at)
                        low = middle;
                else
                        high = middle;
        }
        const uint64_t begin = t->from + (uint64_t)(int64_t)i32_at(t->index, 8 * (size_t)low);
        return begin <= at ? begin : at;
}

/* -------------------------------------------------------------------------- frames */

struct walk {
        uint64_t values[REGISTERS];
        uint64_t known; /* a bit for each */
        unsigned n, pc, sp, hs_sp;
        uint64_t low; /* of the copy of the stack */
        const uint64_t *words;
        size_t n_words;
        uint64_t cfa;
};

static bool read_stack(const struct walk *w, uint64_t at, uint64_t *ret)
{
        if (at < w->low || (at & 7) || (at - w->low) / 8 >= w->n_words)
                return false;
        *ret = w->words[(at - w->low) / 8];
        return true;
}

static bool value_of(const struct walk *w, uint64_t number, uint64_t *ret)
{
        if (number >= w->n || !(w->known >> number & 1))
                return false;
        *ret = w->values[number];
        return true;
}

/* Adds what an operation gives to the operands. False: one that is not known, or too few operands. */
static bool compute_operation(const struct walk *w, const Dwarf_Op *op, uint64_t *operands, size_t *n)
{
        uint64_t x = 0;

        if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
                x = op->atom - DW_OP_lit0;
        else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31 && value_of(w, op->atom - DW_OP_breg0, &x))
                x += op->number;
        else if (op->atom == DW_OP_bregx && value_of(w, op->number, &x))
                x += op->number2;
        else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
                x = op->number;
        else if (op->atom == DW_OP_call_frame_cfa)
                x = w->cfa;
        else if (op->atom == DW_OP_plus_uconst && *n)
                x = operands[--*n] + op->number;
        else if (op->atom == DW_OP_deref && *n && read_stack(w, operands[*n - 1], &x))
                --*n;
        else if (*n >= 2) {
                const uint64_t b = operands[--*n], a = operands[--*n];
                if (op->atom == DW_OP_plus)
                        x = a + b;
                else if (op->atom == DW_OP_minus)
                        x = a - b;
                else if (op->atom == DW_OP_and)
                        x = a & b;
                else if (op->atom == DW_OP_shl)
                        x = b < 64 ? a << b : 0;
                else if (op->atom == DW_OP_ge)
                        x = (int64_t)a >= (int64_t)b;
                else
                        return false;
        } else
                return false;
        if (*n >= OPERANDS)
                return false;
        operands[(*n)++] = x;
        return true;
}

/* What operations give: a value, or where in the stack it is. */
static bool evaluate_expression(const struct walk *w, const Dwarf_Op *ops, size_t n, bool is_place, uint64_t *ret)
{
        uint64_t operands[OPERANDS];
        size_t used = 0;

        if (n == 1 && (ops[0].atom == DW_OP_regx || (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)))
                return value_of(w, ops[0].atom == DW_OP_regx ? ops[0].number : (Dwarf_Word)(ops[0].atom - DW_OP_reg0),
                                ret);
        for (size_t i = 0; i < n; i++) {
                if (ops[i].atom == DW_OP_stack_value)
                        is_place = false;
                else if (!compute_operation(w, &ops[i], operands, &used))
                        return false;
        }
        if (used == 0)
                return false;
        *ret = operands[used - 1];
        return !is_place || read_stack(w, *ret, ret);
}

/* The registers of the caller. False: there is none, or it is not known. */
static bool step_frame(struct walk *w, Dwarf_Frame *row, bool is_first, bool *ret_signal)
{
        const int back = dwarf_frame_info(row, NULL, NULL, ret_signal);
        struct walk caller = *w;
        Dwarf_Op memory[3], *ops;
        size_t n;

        if (back < 0 || (unsigned)back >= w->n || dwarf_frame_cfa(row, &ops, &n) != 0 || !ops ||
            !evaluate_expression(w, ops, n, false, &w->cfa))
                return false;
        caller.known = 0;
        for (unsigned i = 0; i < w->n; i++) {
                uint64_t value;
                if (i == w->sp || dwarf_frame_register(row, (int)i, memory, &ops, &n) != 0)
                        continue;
                if (n == 0 ? (!ops && value_of(w, i, &value)) : evaluate_expression(w, ops, n, true, &value)) {
                        caller.values[i] = value;
                        caller.known |= UINT64_C(1) << i;
                }
        }
        if (!value_of(&caller, (uint64_t)back, &caller.values[w->pc]) ||
            (w->cfa <= w->values[w->sp] && !(is_first && w->cfa == w->values[w->sp])))
                return false;
        caller.values[w->pc] &= (UINT64_C(1) << ADDRESS_BITS) - 1;
        caller.values[w->sp] = w->cfa;
        caller.known |= UINT64_C(1) << w->pc | UINT64_C(1) << w->sp;
        *w = caller;
        return true;
}

/* By the order in which the kernel has them. */
static bool begin_walk(struct walk *w, const struct program *p, const struct registers *r)
{
        static const uint8_t x86_64[] = { 10, 12, 11, 5, 13, 14, 4, 0, 9, 8, 7, 6, 3, 2, 1, 0 };
        const bool is_arm = p->machine == EM_AARCH64;

        w->n = is_arm ? 33 : 17;
        w->sp = is_arm ? 31 : 7;
        w->pc = is_arm ? 32 : 16;
        w->hs_sp = is_arm ? 20 : 6;
        if (r->n_all < (is_arm ? 31u : 15u))
                return false;
        for (unsigned i = 0; i < w->pc; i++)
                w->values[i] = i == w->sp ? r->sp : r->all[is_arm ? i : x86_64[i]];
        w->values[w->pc] = r->pc;
        w->known = (UINT64_C(1) << w->n) - 1;
        return true;
}

size_t unwind_stack(struct unwinder *u, const struct registers *r, const uint64_t *words, size_t n,
                    struct c_frame ret[UNWIND_FRAMES], struct c_caller *ret_caller)
{
        struct walk w = { .low = r->sp & ~UINT64_C(7), .words = words, .n_words = n };
        size_t found = 0;
        bool is_exact = true, good = begin_walk(&w, u->program, r);

        *ret_caller = (struct c_caller){ 0, 0 };
        while (good && found < UNWIND_FRAMES) {
                const uint64_t at = w.values[w.pc];
                struct unwind_table *t;
                /* a call may be the last instruction of its function: its return address is behind that */
                Dwarf_Frame *row = find_row(u, at - !is_exact, &t);
                if (!row) {
                        ret_caller->at = at;
                        (void)value_of(&w, w.hs_sp, &ret_caller->hs_sp);
                        return found;
                }
                ret[found] = (struct c_frame){ at, function_of_place(t, at - !is_exact) };
                is_exact = false;
                good = step_frame(&w, row, found++ == 0, &is_exact);
                free(row);
        }
        return found;
}
