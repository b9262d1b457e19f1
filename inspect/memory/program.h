/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.h - a program as the kernel has it, running or in a core file: its mappings, the files in them that have
 * Haskell code, the names in these files, and the registers of its threads where they are known.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/memory/memory.h"
#include "proto/base/error.h"

/*
 * elf_file.c: segments, sections, symbols and notes of an ELF file of 64 bits, x86-64 or aarch64: a program, a shared
 * library, a file of debugging information or a core file. Anything may be in it: every offset is checked.
 */

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
 * neither, or no memory. elf_symbols_sort() comes after the last. *ret_has_prefix: the name of one that is not local,
 * defined or not, begins so.
 */
bool elf_symbols_add(struct elf_symbols *s, const struct elf_file *f, uint64_t bias, const char *prefix,
                     bool *ret_has_prefix);

void elf_symbols_sort(struct elf_symbols *s);
void elf_symbols_done(struct elf_symbols *s);

/* The first that begins after an address: its index, n when there is none. */
size_t elf_symbols_after(const struct elf_symbols *s, uint64_t address);

#define PROGRAM_NAME_BYTES 512u /* of a function, a type or a file in messages, NUL included */

struct mapping {
        uint64_t start, end;
        uint64_t offset; /* in its file */
        uint32_t file;   /* its number in program.files, plus 1; 0: none */
        bool readable, writable, executable;
        bool named; /* [heap], [stack] ...: no file and not anonymous either */
};

/* Opens files of the program's own file system. */
struct file_opener {
        /* False with a sentence. The memory is the opener's and stays until it is closed itself. */
        bool (*open)(void *ctx, const char *path, struct memory **ret, uint64_t *ret_size, struct error *error);
        void *ctx;
};

/* Of a thread. While Haskell code runs, GHC keeps BaseReg, Sp and Hp of its abstract machine in three of them. */
struct registers {
        int tid;          /* of the operating system */
        uint64_t pc, sp;  /* instruction; C stack */
        uint64_t base;    /* BaseReg: x86-64 r13, aarch64 x19; points into the capability */
        uint64_t hs_sp;   /* Sp, the stack of the Haskell thread: rbp, x20 */
        uint64_t hs_hp;   /* Hp, the last word allocated: r12, x21 */
        uint64_t tls;     /* its pthread_t; 0: not known */
        uint64_t all[31]; /* in which closures may be */
        unsigned n_all;
};

struct range {
        uint64_t start, end;
};

struct signatures;
struct provenance;

struct program {
        struct memory *memory;         /* borrowed */
        struct signatures *signatures; /* borrowed, of code in programs without symbols; NULL: none */
        struct provenance *provenance; /* borrowed, places of code in the source; NULL: they are not wanted */
        uint16_t machine;              /* EM_...: its files must be for it */
        struct mapping *mappings;
        size_t n_mappings, mappings_capacity;
        char **files;                /* paths in the program's file system */
        size_t n_files, newest_file; /* the one that was found last */
        uint64_t entry;              /* where it began: its file is the program's own; 0: not known */
        struct registers *registers;
        size_t n_registers, registers_capacity;

        /* by program_load() */
        struct range *code; /* that GHC may have made; sorted */
        size_t n_code;
        struct range *data; /* sorted, too; which these files may write: closures that do not move */
        size_t n_data;
        struct range *variables; /* .bss after these: the runtime's own variables */
        size_t n_variables;
        struct elf_symbols symbols;
        bool has_symbols;        /* of .symtab: the program is not stripped */
        struct error no_symbols; /* why a file could not be read or was not used; "" */
};

/* Adds a file, or finds it; returns its number plus 1, 0: no memory. */
uint32_t program_file(struct program *p, const char *path);
bool program_add_mapping(struct program *p, struct mapping m);
bool program_add_registers(struct program *p, struct registers r);

/* After the last mapping: reads the files that may have Haskell code. False with a sentence: none could be read. */
bool program_load(struct program *p, const struct file_opener *opener, struct error *error);
void program_done(struct program *p);

/* The mapping of an address; NULL: none. */
const struct mapping *program_mapping(const struct program *p, uint64_t address);

/*
 * The next range of memory that is of no file and may be written, from the mapping number *at on: neighbours together;
 * moves *at behind. False: there is none.
 */
bool program_next_anonymous(const struct program *p, size_t *at, struct range *ret);

/* The program's own file; NULL: not known. */
const char *program_own_file(const struct program *p);

bool program_is_code(const struct program *p, uint64_t address);
bool program_is_data(const struct program *p, uint64_t address);

/* The symbol that an address is in. */
const struct elf_symbol *program_symbol(const struct program *p, uint64_t address);

/* The address of a variable of a unique name; 0: none. */
uint64_t program_variable(const struct program *p, const char *name);
