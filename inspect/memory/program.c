/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/memory/program.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/memory/sorted.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"

#define MAPPINGS_MOST  (UINT64_C(1) << 20)
#define FILES_MOST     4096u
#define DEBUG_FILES    "/usr/lib/debug/.build-id/"
#define PAGE           4096u
#define RUNTIME_PREFIX "stg_" /* names of the runtime that all code of Haskell refers to */
#define LEAST_OF_CODE  64u    /* bytes of a section: .init and .plt have no info tables */

uint32_t program_file(struct program *p, const char *path)
{
        /* mappings of a file are neighbours, and files come in the same order when mappings are read again */
        for (size_t i = 0; i < p->n_files; i++) {
                const size_t at = (p->newest_file + i) % p->n_files;
                if (!strcmp(p->files[at], path)) {
                        p->newest_file = at;
                        return (uint32_t)at + 1;
                }
        }
        if (p->n_files >= FILES_MOST || !ARRAY_RESERVE_NEXT(p->files, p->n_files) ||
            !(p->files[p->n_files] = strdup(path)))
                return 0;
        p->newest_file = p->n_files;
        return (uint32_t)++p->n_files;
}

bool program_add_mapping(struct program *p, struct mapping m)
{
        if (m.start >= m.end || p->n_mappings >= MAPPINGS_MOST ||
            !ARRAY_RESERVE(p->mappings, p->mappings_capacity, p->n_mappings + 1))
                return false;
        p->mappings[p->n_mappings++] = m;
        return true;
}

bool program_add_registers(struct program *p, struct registers r)
{
        if (!ARRAY_RESERVE(p->registers, p->registers_capacity, p->n_registers + 1))
                return false;
        p->registers[p->n_registers++] = r;
        return true;
}

void program_done(struct program *p)
{
        for (size_t i = 0; i < p->n_files; i++)
                free(p->files[i]);
        free(p->files);
        free(p->mappings);
        free(p->registers);
        free(p->code);
        free(p->data);
        free(p->variables);
        elf_symbols_done(&p->symbols);
        *p = (struct program){
                .memory = p->memory, .signatures = p->signatures, .provenance = p->provenance, .machine = p->machine
        };
}

/* --------------------------------------------------------------------- look-ups */

const struct mapping *program_mapping(const struct program *p, uint64_t address)
{
        const size_t i = sorted_range(p->mappings, p->n_mappings, sizeof(*p->mappings), address);

        return i < p->n_mappings ? &p->mappings[i] : NULL;
}

static bool is_anonymous(const struct mapping *m)
{
        return m->readable && m->writable && !m->file && !m->named;
}

bool program_next_anonymous(const struct program *p, size_t *at, struct range *ret)
{
        while (*at < p->n_mappings && !is_anonymous(&p->mappings[*at]))
                ++*at;
        if (*at == p->n_mappings)
                return false;
        *ret = (struct range){ p->mappings[*at].start, p->mappings[*at].end };
        while (++*at < p->n_mappings && p->mappings[*at].start == ret->end && is_anonymous(&p->mappings[*at]))
                ret->end = p->mappings[*at].end;
        return true;
}

const char *program_own_file(const struct program *p)
{
        const struct mapping *m = p->entry ? program_mapping(p, p->entry) : NULL;

        return m && m->file ? p->files[m->file - 1] : NULL;
}

bool program_is_code(const struct program *p, uint64_t address)
{
        return sorted_range(p->code, p->n_code, sizeof(*p->code), address) < p->n_code;
}

bool program_is_data(const struct program *p, uint64_t address)
{
        return sorted_range(p->data, p->n_data, sizeof(*p->data), address) < p->n_data;
}

const struct elf_symbol *program_symbol(const struct program *p, uint64_t address)
{
        const size_t after = elf_symbols_after(&p->symbols, address);
        const struct elf_symbol *s = after ? &p->symbols.items[after - 1] : NULL;

        /* the largest of those that begin together is the first of them */
        while (s && s > p->symbols.items && s[-1].address == s->address)
                s--;
        return s && (address == s->address || address - s->address < s->size) ? s : NULL;
}

uint64_t program_variable(const struct program *p, const char *name)
{
        uint64_t found = 0;

        for (size_t i = 0; i < p->symbols.n; i++)
                if (!strcmp(p->symbols.items[i].name, name)) {
                        if (found && found != p->symbols.items[i].address)
                                return 0;
                        found = p->symbols.items[i].address;
                }
        return found;
}

/* ------------------------------------------------------------------ one file */

static bool add_range(struct range **ranges, size_t *n, struct range r)
{
        if (r.start >= r.end || !ARRAY_RESERVE_NEXT(*ranges, *n))
                return r.start >= r.end;
        (*ranges)[(*n)++] = r;
        return true;
}

/* What is added to the file's addresses: by the segment that the file's first mapping shows. */
static bool find_bias(const struct elf_file *f, const struct mapping *m, uint64_t *ret)
{
        for (size_t i = 0; i < f->n_segments; i++) {
                const Elf64_Phdr *s = &f->segments[i];
                const uint64_t from = s->p_offset & ~(uint64_t)(PAGE - 1);
                if (s->p_type != PT_LOAD || m->offset < from || m->offset - from >= s->p_filesz + PAGE)
                        continue;
                *ret = m->start - (s->p_vaddr - s->p_offset + m->offset);
                return true;
        }
        return false;
}

/* GHC's code is in sections; a linker may put constants into the same segment, which are not taken for code then. */
static bool add_code(struct program *p, const struct elf_file *f, uint64_t bias)
{
        bool any = false;

        for (size_t i = 0; i < f->n_sections; i++) {
                const Elf64_Shdr *s = &f->sections[i];
                const uint64_t start = s->sh_addr + bias;
                if (s->sh_type != SHT_PROGBITS || !(s->sh_flags & SHF_EXECINSTR) || s->sh_size < LEAST_OF_CODE)
                        continue;
                if (!add_range(&p->code, &p->n_code, (struct range){ start, start + s->sh_size }))
                        return false;
                any = true;
        }
        for (size_t i = 0; !any && i < f->n_segments; i++) {
                const Elf64_Phdr *s = &f->segments[i];
                const uint64_t start = s->p_vaddr + bias;
                if (s->p_type == PT_LOAD && (s->p_flags & PF_X) &&
                    !add_range(&p->code, &p->n_code, (struct range){ start, start + s->p_filesz }))
                        return false;
        }
        return true;
}

static bool add_data(struct program *p, const struct elf_file *f, uint64_t bias)
{
        for (size_t i = 0; i < f->n_segments; i++) {
                const Elf64_Phdr *s = &f->segments[i];
                const uint64_t start = s->p_vaddr + bias, middle = start + s->p_filesz, end = start + s->p_memsz;
                if (s->p_type != PT_LOAD || !(s->p_flags & PF_W))
                        continue;
                if (!add_range(&p->data, &p->n_data, (struct range){ start, middle }) ||
                    (end > middle && !add_range(&p->variables, &p->n_variables, (struct range){ middle, end })))
                        return false;
        }
        return true;
}

/* Whether the file is the one that was loaded, as far as its build-id in memory can be read. */
static bool is_same_file(const struct program *p, const struct elf_file *f, uint64_t bias)
{
        uint8_t id[ELF_BUILD_ID_BYTES], notes[1024];
        const size_t n = elf_file_build_id(f, id);

        for (size_t i = 0; n && i < f->n_segments; i++) {
                const Elf64_Phdr *s = &f->segments[i];
                struct elf_note note;
                size_t at = 0;

                if (s->p_type != PT_NOTE || s->p_filesz > sizeof(notes) ||
                    !memory_read(p->memory, s->p_vaddr + bias, notes, (size_t)s->p_filesz))
                        continue;
                while (elf_note_next(notes, (size_t)s->p_filesz, &at, &note))
                        if (note.type == NT_GNU_BUILD_ID)
                                return note.size == n && !memcmp(note.bytes, id, n);
        }
        return true;
}

static bool open_elf(const struct program *p, const struct file_opener *opener, const char *path, struct elf_file *ret,
                     struct error *error)
{
        struct memory *file;
        uint64_t size;

        if (!opener->open(opener->ctx, path, &file, &size, error) || !elf_file_open(ret, file, size, error))
                return false;
        if (ret->machine == p->machine)
                return true;
        elf_file_close(ret);
        return error_set(error, "it is of another machine than the program");
}

/* A file of debugging information that was installed apart. */
static bool add_debug_symbols(struct program *p, const struct elf_file *f, uint64_t bias,
                              const struct file_opener *opener)
{
        static const char digits[] = "0123456789abcdef";
        uint8_t id[ELF_BUILD_ID_BYTES];
        const size_t n = elf_file_build_id(f, id);
        char path[sizeof(DEBUG_FILES) + 2 * sizeof(id) + 16];
        struct text_out out;
        struct elf_file debug;
        bool unused;

        text_out_init(&out, path, sizeof(path));
        text_put(&out, DEBUG_FILES);
        for (size_t i = 0; i < n; i++) {
                const char pair[] = { digits[id[i] >> 4], digits[id[i] & 15], '/' };
                text_put_n(&out, pair, i == 0 ? 3 : 2);
        }
        text_put(&out, ".debug");
        if (n == 0 || !open_elf(p, opener, path, &debug, NULL))
                return false;
        const bool good = elf_symbols_add(&p->symbols, &debug, bias, RUNTIME_PREFIX, &unused);
        elf_file_close(&debug);
        return good;
}

/*
 * A library that another program has loaded as Haskell's may have any name: it refers to the runtime. Of C code that
 * Haskell calls the names alone: without them it is shown by its file.
 */
static bool load_elf(struct program *p, struct elf_file *f, const struct mapping *m, bool *is_haskell,
                     const struct file_opener *opener, struct error *error)
{
        bool has_table = false, refers;
        uint64_t bias;

        if (!find_bias(f, m, &bias) || !is_same_file(p, f, bias))
                return error_set(error, "it is another file than the one that the program was started from");
        for (size_t i = 0; i < f->n_sections; i++)
                has_table |= f->sections[i].sh_type == SHT_SYMTAB;
        const bool good = elf_symbols_add(&p->symbols, f, bias, RUNTIME_PREFIX, &refers);
        *is_haskell |= refers;
        if (!*is_haskell)
                return true;
        if (!good && has_table)
                return error_set(error, "its symbols are damaged, or need more memory than allowed");
        if (!add_code(p, f, bias) || !add_data(p, f, bias))
                return error_set(error, "out of memory");
        p->has_symbols |= has_table || add_debug_symbols(p, f, bias, opener);
        return true;
}

static void load_file(struct program *p, const struct mapping *m, const struct file_opener *opener)
{
        const char *path = p->files[m->file - 1];
        const char *own = program_own_file(p), *name = strrchr(path, '/');
        bool is_haskell = (own ? !strcmp(path, own) : path[0] == '/') || !strncmp(name ? name + 1 : path, "libHS", 5);
        bool good = false;
        struct error why = { "" };
        struct elf_file f;

        if (open_elf(p, opener, path, &f, &why)) {
                good = load_elf(p, &f, m, &is_haskell, opener, &why);
                elf_file_close(&f);
        }
        if (!good && is_haskell)
                (void)error_set(&p->no_symbols, "%.300s: %.500s", path, why.text);
}

bool program_load(struct program *p, const struct file_opener *opener, struct error *error)
{
        uint32_t last = 0;

        ARRAY_SORT(p->mappings, p->n_mappings, sorted_compare);
        for (size_t i = 0; i < p->n_mappings; i++) {
                const struct mapping m = p->mappings[i];
                if (m.file == 0 || m.file == last)
                        continue;
                last = m.file;
                load_file(p, &m, opener);
        }
        if (p->n_code == 0)
                return error_set(error, "the program's file cannot be used: %s",
                                 p->no_symbols.text[0] ? p->no_symbols.text : "it is not known which one it is");
        qsort(p->code, p->n_code, sizeof(*p->code), sorted_compare);
        ARRAY_SORT(p->data, p->n_data, sorted_compare);
        elf_symbols_sort(&p->symbols);
        return true;
}
