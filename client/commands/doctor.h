/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor.h - the parts of `heapwatch doctor`; first its rows: what can be seen of a program, and what to add. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/launch/program/inquire.h"
#include "proto/base/json_out.h"
#include "client/launch/program/agent_fit.h"

#define FEATURES_MAX 32

struct feature {
        const char *name; /* static */
        bool seen;
        bool needed;   /* counts for the exit status; the others are optional */
        char add[768]; /* what to add if not seen, or how it can be seen; may be "" */
};

struct features {
        struct feature rows[FEATURES_MAX];
        size_t n;
};

/* Appends a row; does nothing when full. */
void features_add(struct features *f, const char *name, bool seen, bool needed, const char *add);

/* Whether every needed row is seen. */
bool features_complete(const struct features *f);

/* The rows of a program, according to its own parser of flags (inquire.h). */
void features_of_program(struct features *f, const char *path, const struct rtsinfo *info, const struct agent_fit *fit);

/* Prints a table. */
void features_print(const struct features *f);

/* Prints a JSON array. */
void features_put_json(struct json_out *j, const struct features *f);

/* doctor_patch.c: lines to insert into text files, as a unified diff that `patch -p1` and `git apply` take. */

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

/* doctor_project.c: `heapwatch doctor DIRECTORY`: what to add to the files that build a Haskell project. */

/*
 * Prints the findings, or a patch with what is needed; changes no file. Returns the exit status: EXIT_FINDING if a
 * needed line is missing, or is not in the patch.
 */
int doctor_project(const char *directory, bool json, bool patch);

/* doctor_unit.c: `heapwatch doctor --systemd`. */

/* Prints the drop-in that puts the agent before the service `unit`. Returns the exit status. */
int doctor_unit(const char *unit);
