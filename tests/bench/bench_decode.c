/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_decode.c - what decoding costs, against what any reader must do.
 *
 *     bench_decode LOG [PIECE_BYTES]
 *
 * The same file in one run, best of several rounds, interleaved:
 *
 *     read      read(2) into one buffer, nothing else
 *     skip      the bare loop from event to event in memory: type, size, next
 *     decode    the decoder in memory, every event delivered
 *     both      read(2) into one buffer and the decoder
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "decode/bytes.h"
#include "heapwatch/eventlog.h"

#define ROUNDS 7
#define BATCH 256

static uint64_t now_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct input {
        const char *path;
        const uint8_t *bytes;
        size_t size, piece;
        size_t data;                    /* offset of the first event */
        uint16_t sizes[65536];          /* as declared, 0xffff variable */
};

static uint64_t sink;                   /* keeps the compiler from dropping work */

/* Fills the size table; the header is trusted here. */
static void read_header(struct input *in)
{
        const uint8_t *p = in->bytes + 8;
        while (be32(p) == 0x65746200) {
                in->sizes[be16(p + 4)] = be16(p + 6);
                p += 12 + be32(p + 8);
                p += 4 + be32(p) + 4;
        }
        in->data = (size_t)(p - in->bytes) + 12;
}

static uint64_t run_skip(const struct input *in)
{
        const uint8_t *p = in->bytes + in->data, *end = in->bytes + in->size;
        uint64_t n = 0;
        while (end - p >= 10) {
                uint16_t size = in->sizes[be16(p)];
                if (size != 0xffff)
                        p += 10 + size;
                else if (be16(p) == 0xffff)
                        break;
                else
                        p += 12 + be16(p + 10) - (be16(p) == HW_IPE);
                n++;
        }
        return n;
}

static uint64_t drain(struct hw_eventlog *log)
{
        static struct hw_event events[BATCH];
        size_t n;
        uint64_t total = 0;
        enum hw_eventlog_status s;
        do {
                s = hw_eventlog_read(log, events, BATCH, &n);
                total += n;
                if (n > 0)
                        sink += events[n - 1].time_ns;
        } while (s != HW_EVENTLOG_NEED_MORE);
        return total;
}

static uint64_t run_decode(const struct input *in)
{
        struct hw_eventlog *log = hw_eventlog_new();
        uint64_t n = 0;
        if (!log)
                exit(1);
        for (size_t at = 0; at < in->size; at += in->piece) {
                hw_eventlog_input(log, in->bytes + at, in->size - at < in->piece ? in->size - at : in->piece);
                n += drain(log);
        }
        if (hw_eventlog_stats(log)->resyncs > 0)
                fprintf(stderr, "bench_decode: the log is damaged\n");
        hw_eventlog_destroy(&log);
        return n;
}

/* read(2) of the whole file, with or without the decoder. */
static uint64_t run_read(const struct input *in, struct hw_eventlog *log)
{
        static uint8_t buffer[256 * 1024];
        uint64_t n = 0;
        ssize_t got;
        int fd = open(in->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                exit(1);
        while ((got = read(fd, buffer, sizeof buffer)) > 0) {
                sink += buffer[got / 2];
                if (!log)
                        continue;
                hw_eventlog_input(log, buffer, (size_t)got);
                n += drain(log);
        }
        close(fd);
        return n;
}

static uint64_t run_plain_read(const struct input *in)
{
        return run_read(in, NULL);
}

static uint64_t run_both(const struct input *in)
{
        struct hw_eventlog *log = hw_eventlog_new();
        if (!log)
                exit(1);
        uint64_t n = run_read(in, log);
        hw_eventlog_destroy(&log);
        return n;
}

int main(int argc, char **argv)
{
        static struct input in;
        static const struct {
                const char *name;
                uint64_t (*run)(const struct input *);
        } ways[] = {{"read", run_plain_read}, {"skip", run_skip}, {"decode", run_decode}, {"both", run_both}};
        uint64_t best[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}, events[4] = {0};
        struct stat st;
        if (argc < 2) {
                fprintf(stderr, "usage: bench_decode LOG [PIECE_BYTES]\n");
                return 2;
        }
        in.path = argv[1];
        in.piece = argc > 2 ? strtoul(argv[2], NULL, 10) : 256 * 1024;
        int fd = open(in.path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < 1000 || in.piece == 0) {
                fprintf(stderr, "bench_decode: cannot use %s\n", in.path);
                return 2;
        }
        in.size = (size_t)st.st_size;
        in.bytes = mmap(NULL, in.size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        close(fd);
        if (in.bytes == MAP_FAILED || memcmp(in.bytes, "hdrbhetb", 8) != 0) {
                fprintf(stderr, "bench_decode: %s is no eventlog\n", in.path);
                return 2;
        }
        read_header(&in);
        for (int round = 0; round < ROUNDS; round++)
                for (size_t i = 0; i < 4; i++) {
                        uint64_t start = now_ns();
                        events[i] = ways[i].run(&in);
                        uint64_t took = now_ns() - start;
                        best[i] = took < best[i] ? took : best[i];
                }
        if (events[1] != events[2] || events[2] != events[3])
                fprintf(stderr, "bench_decode: the ways disagree: skip %llu, decode %llu, both %llu events\n",
                        (unsigned long long)events[1], (unsigned long long)events[2], (unsigned long long)events[3]);
        printf("%zu bytes, %llu events, pieces of %zu bytes\n", in.size, (unsigned long long)events[2], in.piece);
        for (size_t i = 0; i < 4; i++)
                printf("%-8s %8.3f GB/s %8.2f ns/event\n", ways[i].name, (double)in.size / (double)best[i],
                       (double)best[i] / (double)events[2]);
        printf("decode / skip: %.2f\n", (double)best[1] / (double)best[2]);
        return sink == 42 ? 1 : 0;
}
