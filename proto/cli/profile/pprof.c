/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: concatenated protobuf messages are one message with all their fields. So each part of the profile goes to
 * gzip as soon as it is made, a text when it is used first: only texts are kept. The format is so small that it is
 * written by hand: heapwatch-inspect links no library for it. A function is a location of its own, and has no
 * system_name: where that equals the name, pprof takes `[(Int, Char)]` for C++ and shows `[]`.
 *
 *      1 sample_type  2 sample  4 location  5 function  6 string_table
 *      9 time_nanos  10 duration_nanos  11 period_type  12 period  13 comment
 */
#include "proto/cli/profile/pprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/idtable.h"

#define OUT_BYTES    16384
#define GZIP_WINDOW  (16 + MAX_WBITS)
#define MEMORY_LEVEL 8 /* as zlib's own default */

/* Bytes that grow. */
struct bytes {
        uint8_t *at;
        size_t n, capacity;
};

struct pprof {
        FILE *to;
        z_stream z;
        int error;
        uint64_t samples;
        struct bytes whole, part, list; /* a field of the profile, a field of it, and one of that */
        char **texts;                   /* by index */
        uint32_t n_texts, texts_room;
        struct idtable text_ids; /* index + 1 */
};

static void set_error(struct pprof *p, int error)
{
        if (p->error == 0)
                p->error = error;
}

/* ------------------------------------------------------------------------- protobuf */

static void put_bytes(struct pprof *p, struct bytes *b, const void *bytes, size_t n)
{
        if (n == 0)
                return;
        if (!ARRAY_RESERVE(b->at, b->capacity, b->n + n)) {
                set_error(p, -ENOMEM);
                return;
        }
        memcpy(b->at + b->n, bytes, n);
        b->n += n;
}

static void put_varint(struct pprof *p, struct bytes *b, uint64_t value)
{
        uint8_t digits[10];
        size_t n = 0;

        for (; value > 0x7f; value >>= 7)
                digits[n++] = (uint8_t)(value | 0x80);
        digits[n++] = (uint8_t)value;
        put_bytes(p, b, digits, n);
}

static void put_number(struct pprof *p, struct bytes *b, unsigned field, uint64_t value)
{
        put_varint(p, b, field << 3);
        put_varint(p, b, value);
}

/* A field of bytes, which may be another message: `part` is emptied. */
static void put_part(struct pprof *p, struct bytes *b, unsigned field, struct bytes *part)
{
        put_varint(p, b, field << 3 | 2);
        put_varint(p, b, part->n);
        put_bytes(p, b, part->at, part->n);
        part->n = 0;
}

/* --------------------------------------------------------------------------- output */

static void deflate_whole(struct pprof *p, int flush)
{
        uint8_t out[OUT_BYTES];

        p->z.next_in = p->whole.at;
        p->z.avail_in = (unsigned)p->whole.n;
        do {
                p->z.next_out = out;
                p->z.avail_out = sizeof(out);
                (void)deflate(&p->z, flush);
                const size_t n = sizeof(out) - p->z.avail_out;
                errno = 0;
                if (fwrite(out, 1, n, p->to) != n)
                        set_error(p, errno ? -errno : -EIO);
        } while (p->z.avail_out == 0);
        p->whole.n = 0;
}

/* The index of a text; the first is "". */
static uint32_t text_index(struct pprof *p, const char *text)
{
        const uint64_t hash = hash_text(text, 0);
        uint32_t at = idtable_start(&p->text_ids, hash), id;

        if (p->n_texts == 0 && *text)
                (void)text_index(p, "");
        while ((id = idtable_next(&p->text_ids, hash, &at)))
                if (!strcmp(p->texts[id - 1], text))
                        return id - 1;
        char *copy = ARRAY_RESERVE(p->texts, p->texts_room, p->n_texts + 1) ? strdup(text) : NULL;

        if (!copy || idtable_add(&p->text_ids, hash, p->n_texts + 1)) {
                free(copy);
                set_error(p, -ENOMEM);
                return 0;
        }
        put_varint(p, &p->whole, 6 << 3 | 2);
        put_varint(p, &p->whole, strlen(text));
        put_bytes(p, &p->whole, text, strlen(text));
        deflate_whole(p, Z_NO_FLUSH);
        p->texts[p->n_texts] = copy;
        return p->n_texts++;
}

static void write_part(struct pprof *p, unsigned field)
{
        put_part(p, &p->whole, field, &p->part);
        deflate_whole(p, Z_NO_FLUSH);
}

static void write_number(struct pprof *p, unsigned field, uint64_t value)
{
        put_number(p, &p->whole, field, value);
        deflate_whole(p, Z_NO_FLUSH);
}

/* -------------------------------------------------------------------------- profile */

static void write_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
        put_number(p, &p->part, 1, text_index(p, type));
        put_number(p, &p->part, 2, text_index(p, unit));
        write_part(p, field);
}

void pprof_add_type(struct pprof *p, const char *type, const char *unit)
{
        write_type(p, 1, type, unit);
}

void pprof_set_period(struct pprof *p, const char *type, const char *unit, uint64_t period)
{
        write_type(p, 11, type, unit);
        write_number(p, 12, period);
}

void pprof_set_time(struct pprof *p, uint64_t wall_ns, uint64_t duration_ns)
{
        if (wall_ns)
                write_number(p, 9, wall_ns);
        if (duration_ns)
                write_number(p, 10, duration_ns);
}

void pprof_add_comment(struct pprof *p, const char *text)
{
        write_number(p, 13, text_index(p, text));
}

void pprof_add_function(struct pprof *p, uint32_t number, const char *name, const char *file, uint32_t line)
{
        const uint32_t name_index = text_index(p, name);

        put_number(p, &p->list, 1, number);
        if (line)
                put_number(p, &p->list, 2, line);
        put_number(p, &p->part, 1, number);
        put_part(p, &p->part, 4, &p->list);
        write_part(p, 4);
        put_number(p, &p->part, 1, number);
        put_number(p, &p->part, 2, name_index);
        if (file)
                put_number(p, &p->part, 4, text_index(p, file));
        if (line)
                put_number(p, &p->part, 5, line);
        write_part(p, 5);
}

void pprof_add_sample(struct pprof *p, const uint32_t *functions, size_t n, const uint64_t *values, size_t n_values,
                      uint64_t time_ns)
{
        for (size_t i = 0; i < n; i++)
                put_varint(p, &p->list, functions[i]);
        put_part(p, &p->part, 1, &p->list);
        for (size_t i = 0; i < n_values; i++)
                put_varint(p, &p->list, values[i]);
        put_part(p, &p->part, 2, &p->list);
        if (time_ns != UINT64_MAX) {
                put_number(p, &p->list, 1, text_index(p, "time"));
                put_number(p, &p->list, 3, time_ns);
                put_number(p, &p->list, 4, text_index(p, "nanoseconds"));
                put_part(p, &p->part, 3, &p->list);
        }
        write_part(p, 2);
        p->samples++;
}

/* ----------------------------------------------------------------------------- life */

struct pprof *pprof_new(FILE *to)
{
        struct pprof *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        p->to = to;
        if (deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) ==
            Z_OK)
                return p;
        free(p);
        return NULL;
}

void pprof_destroy(struct pprof **pp)
{
        struct pprof *p = *pp;

        *pp = NULL;
        if (!p)
                return;
        (void)deflateEnd(&p->z);
        for (uint32_t i = 0; i < p->n_texts; i++)
                free(p->texts[i]);
        free(p->texts);
        idtable_done(&p->text_ids);
        free(p->whole.at);
        free(p->part.at);
        free(p->list.at);
        free(p);
}

uint64_t pprof_samples(const struct pprof *p)
{
        return p->samples;
}

int pprof_close(struct pprof *p)
{
        if (p->n_texts) /* otherwise nothing was written */
                deflate_whole(p, Z_FINISH);
        return p->error;
}
