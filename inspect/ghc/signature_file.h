/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signature_file.h - signatures of code: what is known of the code of libraries without having it. Written from static
 * libraries (signature_maker.c), read to find this code in programs without symbols (signatures.h); docs/FORMATS.md.
 *
 * A unit is a section of code as the compiler wrote it, which the linker keeps whole but for the places that its
 * relocations name: these count as zeros. Entries are the places in it by which it is found: what symbols name, and
 * what has an info table in front.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

#define SIGNATURE_FILE_SUFFIX ".hwsig"
#define SIGNATURE_UNIT_MOST   (1u << 20) /* bytes of a unit: larger ones are left out */
#define SIGNATURE_HEAD_MOST   24u        /* bytes from the entry on that its key is of */
#define SIGNATURE_TABLE_BYTES 16u        /* of an info table, as far as keys are of it */

struct signature_unit {
        uint64_t hash;        /* of its bytes, where relocations are zeros */
        uint32_t size;        /* bytes */
        uint32_t shape;       /* a hash of the size and of the places of relocations */
        uint32_t relocations; /* where they begin in those of the table; one unit's follow the other's */
        uint32_t n_relocations;
};

/* Sorted by key, shape, offset, hash of the unit. */
struct signature_entry {
        uint32_t key;    /* signature_key() */
        uint32_t unit;   /* its index */
        uint32_t offset; /* in the unit */
        uint32_t name; /* in the texts: "base_GHCziList_lines_info"; with ".Lr1_info" behind: local, before that one */
};

enum signature_target {
        TARGET_NONE,    /* it leads somewhere that is not known */
        TARGET_SELF,    /* into the unit itself */
        TARGET_CODE,    /* to the entry of a name */
        TARGET_CLOSURE, /* to a closure whose info table has the name */
        TARGET_TEXT,    /* to a text ended by a NUL; `name` is signature_of_text() */
        TARGET_VARIABLE /* to what C code has in its data: that of a name */
};

enum signature_place { /* what it holds */
                       PLACE_ABSOLUTE_32,
                       PLACE_RELATIVE_32,
                       PLACE_ABSOLUTE_64,
                       PLACE_OPAQUE /* anything; then the target is TARGET_NONE */
};

struct signature_relocation {
        uint32_t at, bytes; /* in the unit */
        enum signature_place place;
        enum signature_target target;
        uint32_t name;  /* of TARGET_CODE, TARGET_CLOSURE and TARGET_VARIABLE: in the texts */
        uint32_t size;  /* of a variable: bytes; 0: not known */
        int64_t addend; /* added to the target; TARGET_SELF: to the unit's beginning */
};

struct signature_table {
        struct signature_unit *units;
        struct signature_entry *entries;
        uint8_t *relocations;
        char *texts;
        uint32_t n_units, n_entries, n_relocations, n_texts; /* the last two: bytes */
};

/* malloc'd; NULL: out of memory, or zstd failed. */
uint8_t *signature_file_encode(const struct signature_table *t, size_t *ret_size);

/* False with a sentence; then there is nothing to free. */
bool signature_file_decode(struct signature_table *ret, const uint8_t *bytes, size_t size, struct error *error);
void signature_table_done(struct signature_table *t);

/* The first entry of a key, or where it would be. */
uint32_t signature_table_first(const struct signature_table *t, uint32_t key);

/* One relocation, at *at bytes of `n`, behind what ended at `end` in the unit; moves *at. False: cut off or damaged. */
bool signature_relocation_next(const uint8_t *from, uint32_t n, uint32_t *at, uint32_t end,
                               struct signature_relocation *ret);
/* The same, into at least 32 bytes; returns how many. */
size_t signature_relocation_put(uint8_t *to, uint32_t end, const struct signature_relocation *r);

/* FNV-1a of 64 bits. */
#define SIGNATURE_HASH_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t signature_hash(uint64_t hash, const void *bytes, size_t n)
{
        for (const uint8_t *at = bytes; n-- > 0; at++)
                hash = (hash ^ *at) * UINT64_C(0x100000001b3);
        return hash;
}

static inline uint32_t signature_fold(uint64_t hash)
{
        return (uint32_t)(hash ^ hash >> 32);
}

/* Of at most so many of its bytes. */
#define SIGNATURE_TEXT_MOST 1024u

/* What is in front of an entry. */
enum signature_front {
        FRONT_NOTHING, /* that counts */
        FRONT_TYPE,    /* an info table whose layout is relocated */
        FRONT_TABLE    /* an info table: layout and type count */
};

/* `table`: the 16 bytes in front; `head`: n bytes from the entry on. */
uint32_t signature_key(enum signature_front front, const uint8_t *table, const uint8_t *head, uint8_t n);

/* The last step, for keys of one place and several n: `hash` is that of all before. */
static inline uint32_t signature_key_end(uint64_t hash, uint8_t n)
{
        return signature_fold(signature_hash(hash, &n, 1));
}
