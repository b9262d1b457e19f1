/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * key.h - the keys by which programs on other machines recognise each other: Curve25519, as ZeroMQ's CURVE has it.
 *
 * A pair has a name, of a host or of a person. The public half is what others record: 64 hexadecimal digits, which
 * neither a shell nor YAML reads as anything else. The role of a key is what its holder may do, each one including
 * those before it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_BYTES    32u
#define KEY_TEXT     (2 * KEY_BYTES + 1) /* as hexadecimal digits, with a NUL */
#define KEY_NAME_MAX 64u

/* In a directory of keys, which nobody else may enter: NAME.key, and of a daemon these. */
#define KEYS_SERVER     "server.key"
#define KEYS_AUTHORIZED "authorized.yaml"

struct error;

enum key_role {
        ROLE_READ,    /* follow and ask */
        ROLE_SILENCE, /* and silence alerts */
        ROLE_CONTROL, /* and add and remove targets, reload, act on alerts */
};

struct key_pair {
        char name[KEY_NAME_MAX + 1];
        uint8_t public[KEY_BYTES], secret[KEY_BYTES];
};

/* 1 to 64 of [A-Za-z0-9._@-], not beginning with a '.' or '-'. */
bool key_name_valid(const char *name);

/* 64 hexadecimal digits. False: not a key. */
bool key_parse(const char *text, uint8_t ret_key[KEY_BYTES]);
void key_print(const uint8_t key[KEY_BYTES], char ret_text[KEY_TEXT]);

const char *role_name(enum key_role role); /* "read" */
bool role_parse(const char *text, enum key_role *ret_role);
extern const char *const role_names[]; /* ended by NULL */

/* The default directory of keys: heapwatch/keys below $XDG_CONFIG_HOME or ~/.config. False with a sentence. */
bool keys_directory(char *ret_path, size_t size, struct error *error);

/* A new pair. False with a sentence: not a valid name, or this libzmq has no CURVE. */
bool key_pair_new(struct key_pair *pair, const char *name, struct error *error);

/* From a private file (proto/base/private_directory.h). False with a sentence that has nothing of the secret. */
bool key_pair_read(struct key_pair *pair, const char *path, struct error *error);

/* Writes the file, mode 0600, whole or not at all. False with a sentence. */
bool key_pair_write(const struct key_pair *pair, const char *path, struct error *error);

/* Overwrites it, in a way that is not optimised away. */
void key_pair_wipe(struct key_pair *pair);

/*
 * authorized.c: the file that says whose keys a daemon lets in, and what each may do:
 *
 *     - { name: alice, role: control, public: 3f0a... }
 *     - { name: prometheus@mon-1, role: read, public: 77c1... }
 *
 * YAML, read and checked as a whole; a mistake is reported with file, line and column, and then none of it is valid.
 */

#define AUTHORIZED_MAX 1000u /* keys in one file */

struct error_sink;

struct authorized_key {
        char name[KEY_NAME_MAX + 1];
        uint8_t public[KEY_BYTES];
        enum key_role role;
        size_t line; /* where its entry begins, from 0 */
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
