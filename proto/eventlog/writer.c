/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/eventlog/writer.h"

#include <string.h>

#include "heapwatch/eventlog.h"

static bool has_room(struct eventlog_writer *w, size_t size)
{
        w->failed |= size > WRITER_BYTES - w->n;
        return !w->failed;
}

void writer_number(struct eventlog_writer *w, uint64_t value, unsigned width)
{
        if (!has_room(w, width))
                return;
        while (width-- > 0)
                w->data[w->n++] = (uint8_t)(value >> (8 * width));
}

void writer_bytes(struct eventlog_writer *w, const void *bytes, size_t size)
{
        if (!has_room(w, size))
                return;
        memcpy(w->data + w->n, bytes, size);
        w->n += size;
}

void writer_string(struct eventlog_writer *w, const char *text)
{
        writer_bytes(w, text, strlen(text) + 1);
}

void writer_header_begin(struct eventlog_writer *w)
{
        writer_bytes(w, "hdrbhetb", 8);
}

void writer_type(struct eventlog_writer *w, uint16_t id, uint16_t size, const char *name)
{
        writer_bytes(w, "etb\0", 4);
        writer_number(w, id, 2);
        writer_number(w, size, 2);
        writer_number(w, strlen(name), 4);
        writer_bytes(w, name, strlen(name));
        writer_number(w, 0, 4);
        writer_bytes(w, "ete\0", 4);
}

void writer_header_end(struct eventlog_writer *w)
{
        writer_bytes(w, "hetehdredatb", 12);
}

void writer_event(struct eventlog_writer *w, uint16_t id, uint64_t time_ns)
{
        writer_number(w, id, 2);
        writer_number(w, time_ns, 8);
}

/* Fills in a number that was left open before. */
static void patch(struct eventlog_writer *w, size_t at, uint64_t value, unsigned width)
{
        if (w->failed)
                return;
        for (unsigned i = 0; i < width; i++)
                w->data[at + i] = (uint8_t)(value >> (8 * (width - 1 - i)));
}

size_t writer_length_begin(struct eventlog_writer *w)
{
        writer_number(w, 0, 2);
        return w->n;
}

void writer_length_end(struct eventlog_writer *w, size_t begin, unsigned extra)
{
        patch(w, begin - 2, w->n - begin + extra, 2);
}

void writer_block_begin(struct eventlog_writer *w, uint64_t begin_ns, uint64_t end_ns, uint16_t cap)
{
        w->block = w->n;
        writer_event(w, HW_BLOCK_MARKER, begin_ns);
        writer_number(w, 0, 4);
        writer_number(w, end_ns, 8);
        writer_number(w, cap, 2);
}

void writer_block_end(struct eventlog_writer *w)
{
        patch(w, w->block + 10, w->n - w->block, 4);
}

void writer_block_until(struct eventlog_writer *w, uint64_t end_ns)
{
        patch(w, w->block + 14, end_ns, 8);
}

void writer_end(struct eventlog_writer *w)
{
        writer_number(w, 0xffff, 2);
}
