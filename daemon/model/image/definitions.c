/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/image/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"

#define TYPES_MAX  1024u
#define FIELDS_MAX 4096u
#define NAMES_MAX  4096u
#define STRUCT_MAX (1u << 24) /* bytes */
#define DEPTH_MAX  16u        /* structs in structs */

static const char contradiction[] = "the definitions in it contradict each other";

/* What one of the reader's types is made from. */
struct image_plan {
        const struct image_type *their, *own;
        const struct image_field **fields; /* by the reader's field: the writer's; NULL: it had none */
        bool is_copy;
};

/* A type as the image defines it. */
struct image_their_type {
        struct image_type type;
        struct image_field *fields;
        struct image_names *names; /* by field */
        struct image_plan plan;    /* for `plan.own`, if any */
};

/* ----------------------------------------------------------------- writing */

uint32_t definitions_number(struct image *im, const struct image_type *type)
{
        for (uint32_t i = 0; i < im->n_types; i++)
                if (im->types[i] == type)
                        return i;
        if (!ARRAY_RESERVE(im->types, im->types_room, im->n_types + 1)) {
                image_refuse(im, "out of memory");
                return 0;
        }
        im->types[im->n_types] = type;
        return im->n_types++;
}

static void write_name(struct image *im, const char *name)
{
        image_plain(im, (void *)(size_t)name, strlen(name) + 1);
}

static void write_definition(struct image *im, const struct image_type *type)
{
        uint32_t head[] = { type->size, type->n };

        write_name(im, type->name);
        image_plain(im, head, sizeof(head));
        for (uint32_t i = 0; i < type->n; i++) {
                const struct image_field *f = &type->fields[i];
                uint32_t part = f->type ? definitions_number(im, f->type) : 0;
                uint32_t numbers[] = { f->kind, f->offset - type->from, f->size, f->count, part };
                uint32_t n = f->names ? f->names->n : 0;
                write_name(im, f->name);
                image_plain(im, numbers, sizeof(numbers));
                image_plain(im, &n, sizeof(n));
                for (uint32_t k = 0; k < n; k++) {
                        int64_t value = f->names->names[k].value;
                        write_name(im, f->names->names[k].name);
                        image_plain(im, &value, sizeof(value));
                }
        }
}

void definitions_write(struct image *im)
{
        for (uint32_t i = 0; i < im->n_types; i++) /* which adds those of the parts */
                write_definition(im, im->types[i]);
        image_plain(im, &im->n_types, sizeof(im->n_types));
}

/* ----------------------------------------------------------------- reading */

static const char *read_name(struct image *im)
{
        const char *name = (const char *)im->bytes + im->at;
        const char *end = im->trouble ? NULL : memchr(name, '\0', im->n - im->at);

        if (!end) {
                image_refuse(im, contradiction);
                return "";
        }
        im->at += (size_t)(end - name) + 1;
        return name;
}

static uint32_t read_number(struct image *im, uint32_t most)
{
        uint32_t n = 0;

        image_plain(im, &n, sizeof(n));
        if (n > most)
                image_refuse(im, contradiction);
        return image_fine(im) ? n : 0;
}

static void read_names(struct image *im, struct image_names *ret)
{
        uint32_t n = read_number(im, NAMES_MAX);
        struct image_name *names = n ? calloc(n, sizeof(*names)) : NULL;

        if (n && !names)
                image_refuse(im, "out of memory");
        for (uint32_t i = 0; names && i < n; i++) {
                names[i].name = read_name(im);
                image_plain(im, &names[i].value, sizeof(names[i].value));
        }
        *ret = (struct image_names){ names, names ? n : 0 };
}

static bool is_size_of(enum image_kind kind, uint32_t size)
{
        switch (kind) {
        case IMAGE_UNSIGNED:
        case IMAGE_SIGNED:
        case IMAGE_ENUM:
                return size == 1 || size == 2 || size == 4 || size == 8;
        case IMAGE_FLOAT:
                return size == sizeof(float) || size == sizeof(double);
        case IMAGE_BOOL:
        case IMAGE_TEXT:
                return size == 1;
        case IMAGE_POINTER:
                return size == sizeof(void *);
        case IMAGE_PART:
                return size > 0;
        default:
                return false;
        }
}

/* *part: the number of its type, if it is a struct. */
static void read_field(struct image *im, struct image_their_type *t, uint32_t i, uint32_t *part)
{
        struct image_field *f = &t->fields[i];

        f->name = read_name(im);
        f->kind = read_number(im, IMAGE_KINDS - 1);
        f->offset = read_number(im, STRUCT_MAX);
        f->size = read_number(im, STRUCT_MAX);
        f->count = read_number(im, STRUCT_MAX);
        *part = read_number(im, TYPES_MAX);
        read_names(im, &t->names[i]);
        f->names = t->names[i].n ? &t->names[i] : NULL;
        if (!is_size_of(f->kind, f->size) || f->count == 0 || f->offset > t->type.size ||
            (uint64_t)f->size * f->count > t->type.size - f->offset)
                image_refuse(im, contradiction);
}

static bool read_definition(struct image *im, struct image_their_type *t, uint32_t **ret_parts)
{
        t->type.name = read_name(im);
        t->type.size = read_number(im, STRUCT_MAX);
        uint32_t n = read_number(im, FIELDS_MAX);
        t->fields = calloc(n + 1u, sizeof(*t->fields));
        t->names = calloc(n + 1u, sizeof(*t->names));
        *ret_parts = calloc(n + 1u, sizeof(**ret_parts));
        if (!t->fields || !t->names || !*ret_parts) {
                image_refuse(im, "out of memory");
                return false;
        }
        t->type.fields = t->fields;
        for (; t->type.n < n && image_fine(im); t->type.n++)
                read_field(im, t, t->type.n, &(*ret_parts)[t->type.n]);
        return image_fine(im);
}

static void find_parts(struct image *im, struct image_their_type *t, const uint32_t *parts)
{
        for (uint32_t i = 0; i < t->type.n; i++) {
                struct image_field *f = &t->fields[i];
                if (f->kind != IMAGE_PART)
                        continue;
                if (parts[i] >= im->n_types || im->theirs[parts[i]].type.size != f->size)
                        image_refuse(im, contradiction);
                else
                        f->type = &im->theirs[parts[i]].type;
        }
}

void definitions_read(struct image *im)
{
        const size_t begin = im->at;
        uint32_t **parts, n = 0;

        if (im->n - im->at < sizeof(n)) {
                image_refuse(im, "it ends too early");
                return;
        }
        memcpy(&n, im->bytes + im->n - sizeof(n), sizeof(n));
        if (n > TYPES_MAX) {
                image_refuse(im, contradiction);
                return;
        }
        im->theirs = calloc(n + 1u, sizeof(*im->theirs));
        parts = calloc(n + 1u, sizeof(*parts));
        if (!im->theirs || !parts)
                image_refuse(im, "out of memory");
        else
                while (im->n_types < n && read_definition(im, &im->theirs[im->n_types], &parts[im->n_types]))
                        im->n_types++;
        if (image_fine(im) && im->n - im->at != sizeof(n))
                image_refuse(im, contradiction);
        for (uint32_t i = 0; i < im->n_types && image_fine(im); i++)
                find_parts(im, &im->theirs[i], parts[i]);
        for (uint32_t i = 0; parts && i <= n; i++)
                free(parts[i]);
        free(parts);
        im->n = begin;
}

void definitions_done(struct image *im)
{
        for (uint32_t i = 0; im->theirs && i <= im->n_types; i++) { /* the last may be half of one */
                struct image_their_type *t = &im->theirs[i];
                for (uint32_t k = 0; t->names && k <= t->type.n; k++)
                        free((void *)t->names[k].names);
                free(t->names);
                free(t->fields);
                free(t->plan.fields);
        }
        free(im->theirs);
        free(im->types);
}

/* ---------------------------------------------------------------- planning */

static bool same_names(const struct image_names *a, const struct image_names *b)
{
        if (!a || !b)
                return a == b;
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (a->names[i].value != b->names[i].value || strcmp(a->names[i].name, b->names[i].name) != 0)
                        return false;
        return true;
}

/* In the same place, with the same meaning; the types of parts apart. `from`: where the reader's type begins. */
static bool same_field(const struct image_field *a, const struct image_field *b, uint32_t from)
{
        return a && a->kind == b->kind && a->offset == b->offset - from && a->size == b->size && a->count == b->count &&
               same_names(a->names, b->names);
}

static const struct image_field *find_field(const struct image_type *type, const char *name, uint32_t hint)
{
        if (hint < type->n && !strcmp(type->fields[hint].name, name))
                return &type->fields[hint];
        for (uint32_t i = 0; i < type->n; i++)
                if (!strcmp(type->fields[i].name, name))
                        return &type->fields[i];
        return NULL;
}

static bool is_number(enum image_kind kind)
{
        return kind == IMAGE_UNSIGNED || kind == IMAGE_SIGNED || kind == IMAGE_FLOAT || kind == IMAGE_BOOL;
}

static const struct image_plan *plan_type(struct image *im, struct image_their_type *t, const struct image_type *own,
                                          unsigned depth)
{
        struct image_plan *p = &t->plan;

        if (p->own && (p->own == own || !strcmp(p->own->name, own->name)))
                return p;
        if (depth > DEPTH_MAX || p->own || !(p->fields = calloc(own->n + 1u, sizeof(*p->fields)))) {
                image_refuse(im, depth > DEPTH_MAX || p->own ? contradiction : "out of memory");
                return NULL;
        }
        *p = (struct image_plan){ &t->type, own, p->fields, t->type.size == own->size && t->type.n == own->n };
        for (uint32_t i = 0; i < own->n; i++) {
                const struct image_field *f = &own->fields[i], *their = find_field(&t->type, f->name, i);
                p->is_copy = p->is_copy && same_field(their, f, own->from);
                if (!their || (their->kind != f->kind && !(is_number(their->kind) && is_number(f->kind))))
                        continue;
                if (f->kind == IMAGE_PART) {
                        const struct image_plan *part =
                                plan_type(im, (struct image_their_type *)their->type, f->type, depth + 1);
                        if (!part)
                                return NULL;
                        p->is_copy = p->is_copy && part->is_copy;
                }
                p->fields[i] = their;
        }
        return p;
}

const struct image_plan *definitions_plan(struct image *im, uint32_t number, const struct image_type *own)
{
        if (!image_fine(im))
                return NULL;
        if (number >= im->n_types || strcmp(im->theirs[number].type.name, own->name) != 0) {
                image_refuse(im, "another kind of struct is where one must be");
                return NULL;
        }
        return plan_type(im, &im->theirs[number], own, 0);
}

uint32_t plan_size(const struct image_plan *plan)
{
        return plan->their->size;
}

bool plan_is_copy(const struct image_plan *plan)
{
        return plan->is_copy;
}

/* -------------------------------------------------------------- converting */

static uint64_t read_unsigned(const uint8_t *from, uint32_t size)
{
        uint64_t v = 0;

        memcpy(&v, from, size); /* of this machine's byte order, as all of an image */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        v >>= 64 - 8 * size;
#endif
        return v;
}

static void write_unsigned(uint8_t *to, uint32_t size, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        v <<= 64 - 8 * size;
#endif
        memcpy(to, &v, size);
}

static int64_t read_signed(const uint8_t *from, uint32_t size)
{
        const unsigned shift = 64 - 8 * size;

        return (int64_t)(read_unsigned(from, size) << shift) >> shift;
}

static double read_float(const uint8_t *from, uint32_t size)
{
        float narrow;
        double wide;

        if (size == sizeof(wide)) {
                memcpy(&wide, from, sizeof(wide));
                return wide;
        }
        memcpy(&narrow, from, sizeof(narrow));
        return (double)narrow;
}

/* Into another kind and width. What is unknown stays so: NaN, and all ones. */
static void convert_number(const struct image_field *their, const uint8_t *from, const struct image_field *own,
                           uint8_t *to)
{
        uint64_t whole;
        double real;

        if (their->kind == IMAGE_FLOAT) {
                real = read_float(from, their->size);
                whole = real >= 0 && real < 0x1p64 ? (uint64_t)real : UINT64_MAX;
        } else if (their->kind == IMAGE_SIGNED) {
                whole = (uint64_t)read_signed(from, their->size);
                real = (double)(int64_t)whole;
        } else {
                whole = read_unsigned(from, their->size);
                real = whole == UINT64_MAX ? (double)NAN : (double)whole;
        }
        const float narrow = (float)real;
        if (own->kind == IMAGE_BOOL)
                *to = whole != 0;
        else if (own->kind != IMAGE_FLOAT)
                write_unsigned(to, own->size, whole);
        else if (own->size == sizeof(real))
                memcpy(to, &real, sizeof(real));
        else
                memcpy(to, &narrow, sizeof(narrow));
}

/* By the enumerator's name. */
static void convert_enum(struct image *im, const struct image_field *their, const uint8_t *from,
                         const struct image_field *own, uint8_t *to)
{
        int64_t value = read_signed(from, their->size);

        for (uint32_t i = 0; their->names && i < their->names->n; i++)
                for (uint32_t k = 0; their->names->names[i].value == value && k < own->names->n; k++)
                        if (!strcmp(their->names->names[i].name, own->names->names[k].name)) {
                                write_unsigned(to, own->size, (uint64_t)own->names->names[k].value);
                                return;
                        }
        image_refuse(im, "a state in it is not known to this version");
}

static void convert_item(struct image *im, const struct image_field *their, const uint8_t *from,
                         const struct image_field *own, uint8_t *to)
{
        switch (own->kind) {
        case IMAGE_PART: {
                const struct image_plan *part = plan_type(im, (struct image_their_type *)their->type, own->type, 0);
                if (part)
                        plan_apply(im, part, from, to);
                break;
        }
        case IMAGE_ENUM:
                convert_enum(im, their, from, own, to);
                break;
        case IMAGE_POINTER:
                memcpy(to, from, own->size);
                break;
        default:
                convert_number(their, from, own, to);
        }
}

/* Each item of an array goes where its name has its place now. */
static void convert_named(struct image *im, const struct image_field *their, const uint8_t *from,
                          const struct image_field *own, uint8_t *to)
{
        for (uint32_t i = 0; their->names && i < own->names->n; i++)
                for (uint32_t k = 0; k < their->names->n; k++) {
                        const struct image_name *a = &own->names->names[i], *b = &their->names->names[k];
                        if (strcmp(a->name, b->name) != 0)
                                continue;
                        if ((uint64_t)a->value < own->count && (uint64_t)b->value < their->count)
                                convert_item(im, their, from + (size_t)b->value * their->size, own,
                                             to + (size_t)a->value * own->size);
                }
}

static void convert_field(struct image *im, const struct image_field *their, const uint8_t *from,
                          const struct image_field *own, uint8_t *to)
{
        const uint32_t n = their->count < own->count ? their->count : own->count;

        from += their->offset;
        to += own->offset;
        if (own->names && own->kind != IMAGE_ENUM) {
                convert_named(im, their, from, own, to);
        } else if (own->kind == IMAGE_TEXT) {
                memcpy(to, from, n);
                to[n - 1] = '\0';
        } else {
                for (uint32_t i = 0; i < n; i++)
                        convert_item(im, their, from + (size_t)i * their->size, own, to + (size_t)i * own->size);
        }
}

void plan_apply(struct image *im, const struct image_plan *plan, const uint8_t *from, uint8_t *to)
{
        if (plan->is_copy) {
                memcpy(to, from, plan->own->size);
                return;
        }
        for (uint32_t i = 0; i < plan->own->n && image_fine(im); i++)
                if (plan->fields[i])
                        convert_field(im, plan->fields[i], from, &plan->own->fields[i], to - plan->own->from);
}
