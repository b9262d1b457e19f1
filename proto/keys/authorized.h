/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * authorized.h - the file that says whose keys a daemon lets in, and what each may do:
 *
 *     - { name: alice, role: control, public: 3f0a... }
 *     - { name: prometheus@mon-1, role: read, public: 77c1... }
 *
 * YAML, read and checked as a whole; a mistake is reported with file, line and column, and then none of it is valid.
 */
#ifndef HW_PROTO_KEYS_AUTHORIZED_H
#define HW_PROTO_KEYS_AUTHORIZED_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/keys/key.h"

#define AUTHORIZED_MAX 1000u /* keys in one file */

struct error_sink;

struct authorized_key {
        char name[KEY_NAME_MAX + 1];
        uint8_t public[KEY_BYTES];
        enum key_role role;
        size_t line, column; /* where its entry begins, from 0 */
};

struct authorized {
        struct authorized_key *keys; /* in the order of the file */
        size_t n;
};

/* A file that is missing has no keys. False after reporting mistakes; then there are none. */
bool authorized_read(struct authorized *a, const char *path, const struct error_sink *says);
bool authorized_parse(struct authorized *a, const char *file, const char *text, const struct error_sink *says);
void authorized_done(struct authorized *a);

/* NULL: not listed. */
const struct authorized_key *authorized_by_key(const struct authorized *a, const uint8_t public[KEY_BYTES]);
const struct authorized_key *authorized_by_name(const struct authorized *a, const char *name);

#endif
