/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elf_file.h - segments, sections, symbols and notes of an ELF file of 64 bits, x86-64 or aarch64: a program, a shared
 * library, a file of debugging information or a core file. Anything may be in it: every offset is checked.
 */
#ifndef HW_INSPECT_MEMORY_ELF_FILE_H
#define HW_INSPECT_MEMORY_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/memory/memory.h"
#include "proto/base/error.h"

#define ELF_BUILD_ID_BYTES 32u

struct elf_file {
        struct memory *file; /* borrowed */
        uint64_t size;       /* of the file */
        uint16_t type;       /* ET_EXEC, ET_DYN, ET_CORE */
        uint16_t machine;    /* EM_X86_64, EM_AARCH64 */
        Elf64_Phdr *segments;
        size_t n_segments;
        Elf64_Shdr *sections; /* none: the file has none, or they are damaged */
        size_t n_sections;
};

/* False with a sentence; then there is nothing to free. */
bool elf_file_open(struct elf_file *ret, struct memory *file, uint64_t size, struct error *error);
void elf_file_close(struct elf_file *f);

/* Bytes of the file; malloc'd, with a NUL after them. NULL: not in the file, or more than `most`. */
uint8_t *elf_file_bytes(const struct elf_file *f, uint64_t offset, uint64_t size, uint64_t most);

/* Its build-id; returns how many bytes, 0: none. */
size_t elf_file_build_id(const struct elf_file *f, uint8_t ret[ELF_BUILD_ID_BYTES]);

struct elf_note {
        uint32_t type;
        const uint8_t *bytes;
        size_t size;
};

/* The note at *at of `n` bytes; moves *at behind it. False: no further one. */
bool elf_note_next(const uint8_t *notes, size_t n, size_t *at, struct elf_note *ret);

struct elf_symbol {
        uint64_t address; /* in the process: that of the file plus the bias */
        uint64_t size;    /* 0: not known */
        const char *name; /* borrowed from `strings` */
};

/* Sorted by address, then the larger before the smaller. */
struct elf_symbols {
        struct elf_symbol *items;
        size_t n, capacity;
        char **strings; /* the string tables that names are in */
        size_t n_strings;
};

/*
 * Appends defined symbols of functions and objects: of .symtab, or of .dynsym where there is none. False: it has
 * neither, or no memory. elf_symbols_sort() comes after the last.
 */
bool elf_symbols_add(struct elf_symbols *s, const struct elf_file *f, uint64_t bias);
void elf_symbols_sort(struct elf_symbols *s);
void elf_symbols_done(struct elf_symbols *s);

/* The first that begins after an address: its index, n when there is none. */
size_t elf_symbols_after(const struct elf_symbols *s, uint64_t address);

#endif
