/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pprof.c - a profile for `pprof` and what reads its format: profile.proto, written by hand, for this program links no
 * library. A function is a location of its own. gzip's format is kept by blocks that are stored as they are.
 *
 *      1 sample_type  2 sample  4 location  5 function  6 string_table  10 duration_nanos  11 period_type  12 period
 */
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "inspect/ghc/names.h"
#include "inspect/show/profile_file.h"
#include "proto/base/array.h"

#define STORED_MOST 65535u /* bytes of a block of deflate */

enum {
        TEXT_NONE,
        TEXT_SAMPLES,
        TEXT_COUNT,
        TEXT_CPU,
        TEXT_NANOSECONDS,
        TEXT_WAITS,
        TEXT_WAITING,
        TEXT_ALLOCATED,
        TEXT_BYTES,
        TEXTS
};

/* Bytes that grow. */
struct bytes {
        uint8_t *at;
        size_t n, capacity;
        bool failed; /* there was no memory */
};

/* ------------------------------------------------------------------------- protobuf */

static void put_bytes(struct bytes *b, const void *bytes, size_t n)
{
        b->failed |= !ARRAY_RESERVE(b->at, b->capacity, b->n + n);
        if (b->failed || n == 0)
                return;
        memcpy(b->at + b->n, bytes, n);
        b->n += n;
}

static void put_varint(struct bytes *b, uint64_t value)
{
        uint8_t digits[10];
        size_t n = 0;

        for (; value > 0x7f; value >>= 7)
                digits[n++] = (uint8_t)(value | 0x80);
        digits[n++] = (uint8_t)value;
        put_bytes(b, digits, n);
}

static void put_number(struct bytes *b, unsigned field, uint64_t value)
{
        put_varint(b, field << 3);
        put_varint(b, value);
}

static void put_field(struct bytes *b, unsigned field, const void *bytes, size_t n)
{
        put_varint(b, field << 3 | 2);
        put_varint(b, n);
        put_bytes(b, bytes, n);
}

/* A message of other messages or numbers: `part` is emptied. */
static void put_message(struct bytes *b, unsigned field, struct bytes *part)
{
        put_field(b, field, part->at, part->n);
        b->failed |= part->failed;
        part->n = 0;
}

/* -------------------------------------------------------------------------- profile */

static void put_type(struct bytes *b, struct bytes *part, unsigned field, unsigned type, unsigned unit)
{
        put_number(part, 1, type);
        put_number(part, 2, unit);
        put_message(b, field, part);
}

/* The locations of a stack, innermost first, and its `n` values: its number and weight from `first` on, else 0. */
static void put_sample(struct bytes *b, struct bytes *part, struct bytes *list, const struct time_tree *t, uint32_t id,
                       unsigned first, unsigned n)
{
        const struct time_node *node = time_tree_nth(t, id);

        for (uint32_t at = id; at; at = time_tree_nth(t, at)->parent)
                put_varint(list, time_tree_nth(t, at)->name);
        put_message(part, 1, list);
        for (unsigned i = 0; i < n; i++)
                put_varint(list, i == first ? node->self_samples : i == first + 1 ? node->self_weight : 0);
        put_message(part, 2, list);
        put_message(b, 2, part);
}

static void put_samples(struct bytes *b, struct bytes *part, struct bytes *list, const struct time_tree *t,
                        unsigned first, unsigned n)
{
        for (uint32_t id = 1; id <= time_tree_count(t); id++)
                if (time_tree_nth(t, id)->self_samples)
                        put_sample(b, part, list, t, id, first, n);
}

static void put_function(struct bytes *b, struct bytes *part, struct bytes *line, uint32_t name)
{
        put_number(line, 1, name);
        put_number(part, 1, name);
        put_message(part, 4, line);
        put_message(b, 4, part);
        put_number(part, 1, name);
        put_number(part, 2, TEXTS + name - 1u);
        put_message(b, 5, part);
}

static void put_profile(struct bytes *b, const struct stack_profile *p)
{
        static const char *const texts[TEXTS] = { "",      "samples", "count",       "cpu",  "nanoseconds",
                                                  "waits", "waiting", "alloc_space", "bytes" };
        const uint64_t samples = time_tree_samples(&p->running);
        const unsigned type = p->by_allocation ? TEXT_ALLOCATED : TEXT_CPU;
        const unsigned unit = p->by_allocation ? TEXT_BYTES : TEXT_NANOSECONDS;
        struct bytes part = { .n = 0 }, list = { .n = 0 };

        put_type(b, &part, 1, TEXT_SAMPLES, TEXT_COUNT);
        put_type(b, &part, 1, type, unit);
        if (p->with_waiting) {
                put_type(b, &part, 1, TEXT_WAITS, TEXT_COUNT);
                put_type(b, &part, 1, TEXT_WAITING, TEXT_NANOSECONDS);
        }
        put_samples(b, &part, &list, &p->running, 0, p->with_waiting ? 4 : 2);
        put_samples(b, &part, &list, &p->waiting, 2, 4);
        for (uint32_t name = 1; name <= p->names.count; name++)
                put_function(b, &part, &list, name);
        for (size_t i = 0; i < TEXTS; i++)
                put_field(b, 6, texts[i], strlen(texts[i]));
        for (uint32_t name = 1; name <= p->names.count; name++) {
                char text[2 * PROGRAM_NAME_BYTES];
                const char *from = name_without_package(stack_profile_name(p, name));
                put_field(b, 6, text, hw_utf8_clean(text, sizeof(text), from, strlen(from)));
        }
        put_number(b, 10, p->elapsed_ns);
        put_type(b, &part, 11, type, unit);
        put_number(b, 12, samples ? time_tree_weight(&p->running) / samples : 0);
        b->failed |= part.failed || list.failed;
        free(part.at);
        free(list.at);
}

/* ----------------------------------------------------------------------------- gzip */

static uint32_t crc_of(const uint8_t *bytes, size_t n)
{
        uint32_t crc = UINT32_MAX;

        for (size_t i = 0; i < n; i++) {
                crc ^= bytes[i];
                for (int bit = 0; bit < 8; bit++)
                        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
        return ~crc;
}

static void put_little(FILE *to, uint32_t value, int n)
{
        for (; n > 0; n--, value >>= 8)
                (void)putc((int)(value & 0xff), to);
}

static void put_gzip(FILE *to, const uint8_t *bytes, size_t n)
{
        static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
        size_t at = 0;

        (void)fwrite(head, 1, sizeof(head), to);
        do {
                const uint32_t k = n - at < STORED_MOST ? (uint32_t)(n - at) : STORED_MOST;
                (void)putc(at + k == n, to); /* the last block */
                put_little(to, k, 2);
                put_little(to, ~k, 2);
                (void)fwrite(bytes + at, 1, k, to);
                at += k;
        } while (at < n);
        put_little(to, crc_of(bytes, n), 4);
        put_little(to, (uint32_t)n, 4);
}

bool profile_write_pprof(FILE *to, const struct stack_profile *p, const char *program)
{
        struct bytes b = { .n = 0 };

        (void)program;
        put_profile(&b, p);
        const bool good = !b.failed;
        if (good)
                put_gzip(to, b.at, b.n);
        free(b.at);
        return good;
}
