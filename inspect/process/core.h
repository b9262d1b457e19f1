/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core.h - a core file as a program. It has the memory that the program had written; its code is read from the files
 * that the program was started from, which must still be at their paths.
 */
#ifndef HW_INSPECT_PROCESS_CORE_H
#define HW_INSPECT_PROCESS_CORE_H

#include <sys/types.h>

#include "inspect/memory/program.h"
#include "inspect/process/files.h"

struct core {
        pid_t pid; /* that it had; 0: not known */
        struct memory memory;
        struct program program;
        struct files files;
        struct elf_file elf;
        struct core_segment *segments; /* sorted */
        size_t n_segments;
        struct core_source *sources; /* of program.files */
        uint64_t missing;            /* bytes that the file should have: it was cut off */
};

/* False with a sentence, and nothing to close. The struct must stay where it is. */
bool core_open(struct core *c, const char *path, struct error *error);

/* The same of a program's own file: as it is before it runs, at the addresses that the file has. */
bool core_open_image(struct core *c, const char *path, struct error *error);

void core_close(struct core *c);

#endif
