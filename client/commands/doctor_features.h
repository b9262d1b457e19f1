/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doctor_features.h - what can be seen of a program, and what to add for the rest:
 * the rows of `heapwatch doctor`.
 */
#ifndef HW_CLIENT_COMMANDS_DOCTOR_FEATURES_H
#define HW_CLIENT_COMMANDS_DOCTOR_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/json_out.h"
#include "client/program/agent_fit.h"
#include "client/program/rtsinfo.h"

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

#endif
