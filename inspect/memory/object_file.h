/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * object_file.h - archives of object files (libHSbase.a), and relocatable ELF files of x86-64: sections, symbols,
 * relocations. Anything may be in them: every offset is checked.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool archive_is_one(const uint8_t *bytes, size_t n);

/* The file at *at of an archive (0: the first); moves *at behind it. 1; 0: no further one; -1: damaged or cut off. */
int archive_next(const uint8_t *bytes, size_t n, size_t *at, const uint8_t **ret, size_t *ret_size);

struct object_file {
        uint8_t *bytes; /* a copy, with a NUL behind */
        size_t size;
        Elf64_Shdr *sections;
        size_t n_sections;
        Elf64_Sym *symbols;
        size_t n_symbols;
        const Elf64_Shdr *symbol_names;  /* NULL: it has no symbols */
        const Elf64_Shdr *section_names; /* NULL: they have no names */
};

/* False: it is none, or damaged, or there is no memory; then there is nothing to free. */
bool object_file_open(struct object_file *ret, const uint8_t *bytes, size_t n);
void object_file_close(struct object_file *f);

/* What is in a section; NULL: it is not in the file. */
const uint8_t *object_section_bytes(const struct object_file *f, const Elf64_Shdr *s);

/* Never NULL. */
const char *object_section_name(const struct object_file *f, size_t section);
const char *object_symbol_name(const struct object_file *f, const Elf64_Sym *symbol);

/* The n-th relocation of a section of type SHT_RELA; false: there are not as many, or its symbol does not exist. */
bool object_relocation(const struct object_file *f, const Elf64_Shdr *s, size_t n, Elf64_Rela *ret,
                       const Elf64_Sym **ret_symbol);
