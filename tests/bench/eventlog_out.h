/* SPDX-License-Identifier: BSD-3-Clause */
/* eventlog_out.h - an eventlog written by hand: what the benches need to make logs that no program wrote. */
#ifndef HW_TESTS_BENCH_EVENTLOG_OUT_H
#define HW_TESTS_BENCH_EVENTLOG_OUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_BYTES    (1u << 20) /* one block at most; the RTS uses 2 MiB */
#define OUT_VARIABLE 0xffffu
#define OUT_NO_CAP   0xffffu

struct out {
        size_t n;
        size_t block; /* where the open block's marker stands */
        uint8_t data[OUT_BYTES];
};

static inline void out_number(struct out *o, uint64_t value, unsigned width)
{
        if (OUT_BYTES - o->n < width)
                abort(); /* a block that is too large: a mistake in the bench */
        while (width-- > 0)
                o->data[o->n++] = (uint8_t)(value >> (8 * width));
}

static inline void out_bytes(struct out *o, const void *bytes, size_t size)
{
        if (OUT_BYTES - o->n < size)
                abort();
        memcpy(o->data + o->n, bytes, size);
        o->n += size;
}

/* Text with its NUL. */
static inline void out_string(struct out *o, const char *text)
{
        out_bytes(o, text, strlen(text) + 1);
}

static inline void out_header_begin(struct out *o)
{
        out_bytes(o, "hdrbhetb", 8);
}

static inline void out_type(struct out *o, uint16_t id, uint16_t size, const char *name)
{
        out_bytes(o, "etb\0", 4);
        out_number(o, id, 2);
        out_number(o, size, 2);
        out_number(o, strlen(name), 4);
        out_bytes(o, name, strlen(name));
        out_number(o, 0, 4);
        out_bytes(o, "ete\0", 4);
}

static inline void out_header_end(struct out *o)
{
        out_bytes(o, "hetehdredatb", 12);
}

static inline void out_event(struct out *o, uint16_t id, uint64_t time_ns)
{
        out_number(o, id, 2);
        out_number(o, time_ns, 8);
}

/* The length of a variable event: put after its time, and mended when the payload is there. */
static inline size_t out_length_begin(struct out *o)
{
        out_number(o, 0, 2);
        return o->n;
}

static inline void out_length_end(struct out *o, size_t begin, unsigned extra)
{
        size_t length = o->n - begin + extra;

        o->data[begin - 2] = (uint8_t)(length >> 8);
        o->data[begin - 1] = (uint8_t)length;
}

/* All events of a block lie between its two times. */
static inline void out_block_begin(struct out *o, uint64_t begin_ns, uint64_t end_ns, uint16_t cap)
{
        o->block = o->n;
        out_event(o, 18, begin_ns);
        out_number(o, 0, 4);
        out_number(o, end_ns, 8);
        out_number(o, cap, 2);
}

static inline void out_block_end(struct out *o)
{
        size_t size = o->n - o->block;

        for (unsigned i = 0; i < 4; i++)
                o->data[o->block + 10 + i] = (uint8_t)(size >> (24 - 8 * i));
}

/* Writes what is there and starts again; the bench ends when that fails. */
static inline void out_flush(struct out *o, FILE *f)
{
        if (fwrite(o->data, 1, o->n, f) != o->n) {
                perror("write");
                exit(2);
        }
        o->n = 0;
}

#endif
