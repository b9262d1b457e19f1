/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make_log - a long eventlog out of a short one: its header once, its events
 * TIMES times with the clock going on.
 *
 *   make_log IN OUT TIMES
 *
 * Cumulative numbers (HEAP_ALLOCATED) start anew with each repetition; nothing
 * that is measured with such a log depends on them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/eventlog.h"

#define MARKER_BYTES 24u
#define MARKER_SIZE_AT 10u      /* u32 in a block marker */
#define MARKER_END_AT 14u       /* u64 */

struct input {
        uint8_t *bytes;
        size_t size;
        size_t first, end;      /* events are bytes[first..end) */
        size_t *times;          /* offsets of all timestamps */
        size_t n_times;
        uint64_t span_ns;       /* newest timestamp */
};

static void die(const char *what)
{
        perror(what);
        exit(2);
}

static void read_all(struct input *in, const char *path)
{
        FILE *f = fopen(path, "rb");

        if (!f || fseek(f, 0, SEEK_END) != 0)
                die(path);
        long size = ftell(f);
        rewind(f);
        in->size = (size_t)size;
        in->bytes = malloc(in->size + 1);
        in->times = calloc(in->size / 10 + 2, 2 * sizeof(*in->times));
        if (!in->bytes || !in->times || fread(in->bytes, 1, in->size, f) != in->size)
                die(path);
        fclose(f);
}

static uint64_t get(const uint8_t *p, unsigned width)
{
        uint64_t v = 0;

        while (width-- > 0)
                v = v << 8 | *p++;
        return v;
}

static void put(uint8_t *p, uint64_t v, unsigned width)
{
        while (width-- > 0)
                *p++ = (uint8_t)(v >> (8 * width));
}

static void note_event(struct input *in, const struct hw_event *e, size_t *last_marker)
{
        if (in->n_times == 0)
                in->first = (size_t)e->offset;
        in->times[in->n_times++] = (size_t)e->offset + 2;
        if (e->time_ns > in->span_ns)
                in->span_ns = e->time_ns;
        if (e->id == HW_BLOCK_MARKER) {
                *last_marker = (size_t)e->offset;
                in->times[in->n_times++] = (size_t)e->offset + MARKER_END_AT;
        }
}

/* Finds every timestamp and the end; takes the end marker out of the last block. */
static void scan(struct input *in)
{
        struct hw_eventlog *log = hw_eventlog_new();
        struct hw_event events[256];
        enum hw_eventlog_status s;
        size_t n, last_marker = 0;

        if (!log)
                die("decoder");
        hw_eventlog_input(log, in->bytes, in->size);
        do {
                s = hw_eventlog_read(log, events, 256, &n);
                for (size_t i = 0; i < n; i++)
                        note_event(in, &events[i], &last_marker);
        } while (s == HW_EVENTLOG_OK || s == HW_EVENTLOG_RUN);
        hw_eventlog_destroy(&log);
        in->end = in->size;
        if (s == HW_EVENTLOG_END)
                in->end -= 2;
        uint64_t block = get(in->bytes + last_marker + MARKER_SIZE_AT, 4);
        if (last_marker + block > in->end)
                put(in->bytes + last_marker + MARKER_SIZE_AT, in->end - last_marker, 4);
}

int main(int argc, char **argv)
{
        struct input in = { .size = 0 };
        unsigned long times = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;

        if (times == 0) {
                fprintf(stderr, "usage: make_log IN OUT TIMES\n");
                return 2;
        }
        read_all(&in, argv[1]);
        scan(&in);
        FILE *out = fopen(argv[2], "wb");
        if (!out || fwrite(in.bytes, 1, in.first, out) != in.first)
                die(argv[2]);
        for (unsigned long i = 0; i < times; i++) {
                if (fwrite(in.bytes + in.first, 1, in.end - in.first, out) != in.end - in.first)
                        die(argv[2]);
                for (size_t k = 0; k < in.n_times; k++) {
                        uint8_t *t = in.bytes + in.times[k];
                        put(t, get(t, 8) + in.span_ns, 8);
                }
        }
        if (fwrite("\xff\xff", 1, 2, out) != 2 || fclose(out) != 0)
                die(argv[2]);
        free(in.times);
        free(in.bytes);
        return 0;
}
