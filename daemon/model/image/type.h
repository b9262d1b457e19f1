/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * type.h - what a struct is made of, so that another version of it can be read.
 *
 * scripts/layouts makes these descriptions from the structs' declarations. An image holds those of the version that
 * wrote it (daemon/model/image/definitions.c). Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum image_kind {
        IMAGE_UNSIGNED,
        IMAGE_SIGNED,
        IMAGE_FLOAT,
        IMAGE_BOOL,
        IMAGE_TEXT,    /* an array of char, which ends with a NUL */
        IMAGE_POINTER, /* an address of the writer's: whoever reads it relocates or replaces it */
        IMAGE_ENUM,    /* a value of `names` */
        IMAGE_PART,    /* a struct of `type` */
        IMAGE_KINDS
};

struct image_name {
        const char *name;
        int64_t value;
};

/* The enumerators of an enum. */
struct image_names {
        const struct image_name *names;
        uint32_t n;
};

struct image_field {
        const char *name;
        enum image_kind kind;
        uint32_t offset, size, count; /* bytes of one item; items: 1, or those of an array */
        const struct image_type *type;
        const struct image_names *names; /* of an enum; else: each item of the array belongs to that name's value */
};

struct image_type {
        const char *name;
        uint32_t size, from; /* bytes; of a span of a struct: where it begins */
        const struct image_field *fields;
        uint32_t n;
};

/* For the descriptions that scripts/layouts makes. */
#define IMAGE_FIELD(of, member, kind, item)                                                                            \
        {                                                                                                              \
#member, kind, offsetof(of, member), sizeof(item), sizeof(((of *)0)->member) / sizeof(item), NULL,     \
                        NULL                                                                                           \
        }
#define IMAGE_NAMED(of, member, kind, item, names)                                                                     \
        {                                                                                                              \
#member, kind, offsetof(of, member), sizeof(item), sizeof(((of *)0)->member) / sizeof(item), NULL,     \
                        names                                                                                          \
        }
#define IMAGE_INNER(of, outer, member, kind, item)                                                                     \
        {                                                                                                              \
#member, kind, offsetof(of, outer.member), sizeof(item), 1, NULL, NULL                                 \
        }
#define IMAGE_STRUCT(of, member, item, type, names)                                                                    \
        {                                                                                                              \
#member, IMAGE_PART, offsetof(of, member), sizeof(item), sizeof(((of *)0)->member) / sizeof(item),     \
                        type, names                                                                                    \
        }

/* What `scripts/layouts` describes is what is named so in the file that includes the descriptions. */
#define IMAGE_TYPE(tag)  (&image_type_##tag)
#define IMAGE_NAMES(tag) (&image_names_##tag)
