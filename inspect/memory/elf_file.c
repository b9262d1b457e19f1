/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/memory/program.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/memory/sorted.h"
#include "proto/base/array.h"

#define TABLE_MOST   (UINT64_C(1) << 20) /* segments, sections */
#define SYMBOLS_MOST (UINT64_C(1) << 29) /* bytes of a symbol table, and of its names */
#define NOTES_MOST   (UINT64_C(1) << 16) /* bytes of a note section, where a build-id is */

uint8_t *elf_file_bytes(const struct elf_file *f, uint64_t offset, uint64_t size, uint64_t most)
{
        uint8_t *bytes;

        if (size > most || offset > f->size || size > f->size - offset || !(bytes = malloc((size_t)size + 1)))
                return NULL;
        if (!memory_read(f->file, offset, bytes, (size_t)size)) {
                free(bytes);
                return NULL;
        }
        bytes[size] = 0;
        return bytes;
}

/* ------------------------------------------------------------------------ open */

bool elf_file_open(struct elf_file *ret, struct memory *file, uint64_t size, struct error *error)
{
        struct elf_file f = { .file = file, .size = size };
        Elf64_Ehdr h;

        if (size < sizeof(h) || !memory_read(file, 0, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
                return error_set(error, "it is not an ELF file");
        if (h.e_ident[EI_CLASS] != ELFCLASS64 || (h.e_machine != EM_X86_64 && h.e_machine != EM_AARCH64))
                return error_set(error, "it is of another machine; programs for x86-64 and aarch64 can be inspected");
        /* a core file with more segments than the header can count says how many in the first section */
        Elf64_Shdr first = { .sh_info = 0 };
        const bool is_extended = h.e_phnum == PN_XNUM && memory_read(file, h.e_shoff, &first, sizeof(first));
        const uint64_t n = h.e_phnum != PN_XNUM ? h.e_phnum : is_extended ? first.sh_info : 0;
        if (h.e_phentsize != sizeof(Elf64_Phdr) || n == 0 || n > TABLE_MOST ||
            !(f.segments = (Elf64_Phdr *)(void *)elf_file_bytes(&f, h.e_phoff, n * sizeof(Elf64_Phdr), UINT64_MAX)))
                return error_set(error, "its program headers are damaged or cut off");
        f.type = h.e_type;
        f.machine = h.e_machine;
        f.n_segments = (size_t)n;
        if (h.e_type != ET_CORE && h.e_shentsize == sizeof(Elf64_Shdr) && h.e_shnum > 0)
                f.sections =
                        (Elf64_Shdr *)(void *)elf_file_bytes(&f, h.e_shoff, h.e_shnum * sizeof(Elf64_Shdr), UINT64_MAX);
        f.n_sections = f.sections ? h.e_shnum : 0;
        *ret = f;
        return true;
}

void elf_file_close(struct elf_file *f)
{
        free(f->segments);
        free(f->sections);
        *f = (struct elf_file){ 0 };
}

/* ----------------------------------------------------------------------- notes */

bool elf_note_next(const uint8_t *notes, size_t n, size_t *at, struct elf_note *ret)
{
        Elf64_Nhdr h;

        if (*at > n || n - *at < sizeof(h))
                return false;
        memcpy(&h, notes + *at, sizeof(h));
        const uint64_t from = *at + sizeof(h) + (((uint64_t)h.n_namesz + 3) & ~UINT64_C(3));
        if (from > n || h.n_descsz > n - from)
                return false;
        *ret = (struct elf_note){ h.n_type, notes + from, h.n_descsz };
        const uint64_t next = from + (((uint64_t)h.n_descsz + 3) & ~UINT64_C(3));
        *at = next < n ? (size_t)next : n;
        return true;
}

size_t elf_file_build_id(const struct elf_file *f, uint8_t ret[ELF_BUILD_ID_BYTES])
{
        for (size_t i = 0; i < f->n_segments; i++) {
                const Elf64_Phdr *p = &f->segments[i];
                uint8_t *notes = p->p_type == PT_NOTE ? elf_file_bytes(f, p->p_offset, p->p_filesz, NOTES_MOST) : NULL;
                struct elf_note note;
                size_t at = 0, found = 0;

                while (notes && !found && elf_note_next(notes, (size_t)p->p_filesz, &at, &note))
                        if (note.type == NT_GNU_BUILD_ID && note.size > 1 && note.size <= ELF_BUILD_ID_BYTES) {
                                memcpy(ret, note.bytes, note.size);
                                found = note.size;
                        }
                free(notes);
                if (found)
                        return found;
        }
        return 0;
}

/* --------------------------------------------------------------------- symbols */

static const Elf64_Shdr *section_of_type(const struct elf_file *f, uint32_t type)
{
        for (size_t i = 0; i < f->n_sections; i++)
                if (f->sections[i].sh_type == type && f->sections[i].sh_entsize == sizeof(Elf64_Sym) &&
                    f->sections[i].sh_link < f->n_sections)
                        return &f->sections[i];
        return NULL;
}

/*
 * Neither GHC nor C has names with a '$': $x and $d mark code and data of aarch64, and what LLVM compiled for GHC has
 * ..._info$def beside its names, and for local places alone.
 */
bool elf_symbols_add(struct elf_symbols *s, const struct elf_file *f, uint64_t bias, const char *prefix,
                     bool *ret_has_prefix)
{
        const Elf64_Shdr *table = section_of_type(f, SHT_SYMTAB);

        *ret_has_prefix = false;
        if (!table && !(table = section_of_type(f, SHT_DYNSYM)))
                return false;
        const Elf64_Shdr *strings = &f->sections[table->sh_link];
        uint8_t *bytes = elf_file_bytes(f, table->sh_offset, table->sh_size, SYMBOLS_MOST);
        char *names = bytes ? (char *)elf_file_bytes(f, strings->sh_offset, strings->sh_size, SYMBOLS_MOST) : NULL;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)bytes;
        bool good = names && ARRAY_RESERVE_NEXT(s->strings, s->n_strings);

        if (good)
                s->strings[s->n_strings++] = names;
        else
                free(names);
        for (size_t i = 0; good && i < table->sh_size / sizeof(*symbols); i++) {
                const Elf64_Sym *from = &symbols[i];
                const unsigned type = ELF64_ST_TYPE(from->st_info);
                const char *name = from->st_name < strings->sh_size ? names + from->st_name : "";
                *ret_has_prefix |= ELF64_ST_BIND(from->st_info) != STB_LOCAL && !strncmp(name, prefix, strlen(prefix));
                if (from->st_shndx == SHN_UNDEF || from->st_shndx >= SHN_LORESERVE || from->st_value == 0 ||
                    (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) || !name[0] || strchr(name, '$'))
                        continue;
                good = ARRAY_RESERVE(s->items, s->capacity, s->n + 1);
                if (good)
                        s->items[s->n++] = (struct elf_symbol){ from->st_value + bias, from->st_size, name };
        }
        free(bytes);
        return good;
}

static int by_address(const void *a, const void *b)
{
        const struct elf_symbol *x = a, *y = b;

        if (x->address != y->address)
                return x->address < y->address ? -1 : 1;
        if (x->size != y->size)
                return x->size > y->size ? -1 : 1;
        return strcmp(x->name, y->name);
}

void elf_symbols_sort(struct elf_symbols *s)
{
        ARRAY_SORT(s->items, s->n, by_address);
}

void elf_symbols_done(struct elf_symbols *s)
{
        for (size_t i = 0; i < s->n_strings; i++)
                free(s->strings[i]);
        free(s->strings);
        free(s->items);
        *s = (struct elf_symbols){ 0 };
}

size_t elf_symbols_after(const struct elf_symbols *s, uint64_t address)
{
        return sorted_count(s->items, s->n, sizeof(*s->items), address);
}
