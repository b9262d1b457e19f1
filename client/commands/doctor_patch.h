/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor_patch.h - lines to insert into text files, as a unified diff that `patch -p1` and `git apply` take. */
#ifndef HW_CLIENT_COMMANDS_DOCTOR_PATCH_H
#define HW_CLIENT_COMMANDS_DOCTOR_PATCH_H

#include <stdbool.h>
#include <stddef.h>

struct patched_file {
        const char *path; /* relative to where the patch is applied */
        char *const *lines;
        size_t n;
        bool cut; /* its last line has no newline */
};

struct insertion {
        size_t after;       /* which line, from 1 */
        const char *indent; /* before each line of the text, whose own `strip` columns are left out */
        size_t columns, strip;
        const char *text;
};

/* Whether a patch can have the file: its path and its lines are text. */
bool patch_can_have(const struct patched_file *f);

/* Prints the part of a file. `insertions`: at least one, in the order of their lines. */
void patch_print(const struct patched_file *f, const struct insertion *insertions, size_t n);

#endif
