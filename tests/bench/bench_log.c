/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_log - one way of reading eventlogs, measured once.
 *
 *     bench_log WAY LOG...               WAY: read skip decode model publish
 *     bench_log census LOG
 *
 *     read      read(2) into one buffer of 256 KiB, nothing else
 *     skip      plus a bare loop from event to event: type, size, next
 *     decode    plus the decoder, every event delivered
 *     model     plus the model
 *     publish   plus the publisher, each message packed
 *     census    as publish, each census on its own: from its first byte to its packed message
 *
 * Prints one line of KEY=VALUE: wall and CPU time in ns, peak memory of
 * the process that read in KiB, bytes, and events or messages where they are
 * known. Each run is a process of its own, so that peaks are its own;
 * scripts/bench takes the best of several rounds and makes the tables.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/bytes.h"
#include "proto/wire/limits.h"
#include "heapwatch/eventlog.h"
#include "daemon/model/model.h"
#include "daemon/watch/targets/pipeline.h"
#include "proto/base/error.h"

#define BATCH        256u          /* as pipeline.c */
#define BUFFER_BYTES (256u * 1024) /* of each way except the process, which has its own */

struct result {
        uint64_t wall_ns, cpu_ns, peak_kib;
        uint64_t bytes, events, messages, message_bytes;
};

static uint64_t sink; /* keeps the compiler from dropping work */

static void die(const char *what)
{
        fprintf(stderr, "bench_log: %s: %s\n", what, strerror(errno));
        exit(2);
}

static uint64_t clock_ns(clockid_t id)
{
        struct timespec t;

        clock_gettime(id, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int open_log(const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                die(path);
        return fd;
}

/* read(2) of the next piece; 0 at the end. */
static size_t read_piece(int fd, uint8_t *buffer, struct result *r)
{
        ssize_t n = read(fd, buffer, BUFFER_BYTES);

        if (n < 0)
                die("read");
        r->bytes += (uint64_t)n;
        return (size_t)n;
}

/* -------------------------------------------------------- read and skip */

static void way_read(const char *path, struct result *r)
{
        static uint8_t buffer[BUFFER_BYTES];
        int fd = open_log(path);
        size_t n;

        while ((n = read_piece(fd, buffer, r)) > 0)
                sink += buffer[n / 2];
        close(fd);
}

/* Fills the size table from a header, which is trusted here and in one piece. Returns its length. */
static size_t read_header(const uint8_t *bytes, uint16_t sizes[65536])
{
        const uint8_t *p = bytes + 8;

        while (be32(p) == 0x65746200) {
                sizes[be16(p + 4)] = be16(p + 6);
                p += 12 + be32(p + 8);
                p += 4 + be32(p) + 4;
        }
        return (size_t)(p - bytes) + 12;
}

/* Goes from event to event as far as they are whole; returns where it stopped. */
static const uint8_t *skip(const uint8_t *p, const uint8_t *end, const uint16_t sizes[65536], uint64_t *events)
{
        uint64_t n = 0;

        while (end - p >= 12) {
                uint16_t id = be16(p), size = sizes[id];
                const uint8_t *next = p + 10 + size;
                if (size == 0xffff) {
                        if (id == 0xffff)
                                break;
                        next = p + 12 + be16(p + 10) - (id == HW_IPE);
                }
                if (next > end)
                        break;
                p = next;
                n++;
        }
        *events += n;
        return p;
}

static void way_skip(const char *path, struct result *r)
{
        static uint8_t buffer[HW_EVENT_MAX_BYTES + BUFFER_BYTES];
        static uint16_t sizes[65536];
        int fd = open_log(path);
        size_t left = 0, n;
        bool in_header = true;

        memset(sizes, 0xff, sizeof(sizes));
        /* An event cut by a piece's end is moved in front of the next one. */
        while ((n = read_piece(fd, buffer + HW_EVENT_MAX_BYTES, r)) > 0) {
                const uint8_t *p = buffer + HW_EVENT_MAX_BYTES - left, *end = buffer + HW_EVENT_MAX_BYTES + n;
                if (in_header)
                        p += read_header(p, sizes);
                in_header = false;
                p = skip(p, end, sizes, &r->events);
                left = (size_t)(end - p);
                if (left > HW_EVENT_MAX_BYTES)
                        left = 0; /* after the end marker */
                memcpy(buffer + HW_EVENT_MAX_BYTES - left, p, left);
        }
        close(fd);
}

/* ----------------------------------------------------- decode and model */

static void drain(struct hw_eventlog *log, struct model *m, struct result *r)
{
        struct hw_event events[BATCH];
        enum hw_eventlog_status s;
        size_t n;

        do {
                s = hw_eventlog_read(log, events, BATCH, &n);
                r->events += n;
                if (n > 0)
                        sink += events[n - 1].time_ns;
                if (m && n > 0)
                        model_events(m, events, n);
                if (m && s == HW_EVENTLOG_RUN)
                        model_begin_run(m, 1);
        } while (s != HW_EVENTLOG_NEED_MORE);
}

static void decode(const char *path, struct model *m, struct result *r)
{
        static uint8_t buffer[BUFFER_BYTES];
        struct hw_eventlog *log = hw_eventlog_new();
        int fd = open_log(path);
        size_t n;

        if (!log)
                die("decoder");
        while ((n = read_piece(fd, buffer, r)) > 0) {
                hw_eventlog_input(log, buffer, n);
                drain(log, m, r);
        }
        close(fd);
        if (hw_eventlog_stats(log)->resyncs > 0)
                fprintf(stderr, "bench_log: %s is damaged\n", path);
        hw_eventlog_destroy(&log);
}

static void way_decode(const char *path, struct result *r)
{
        decode(path, NULL, r);
}

static void way_model(const char *path, struct result *r)
{
        struct model_sink nobody = { 0 };
        struct model *m = model_new(&nobody);

        if (!m)
                die("model");
        decode(path, m, r);
        model_end_run(m, true);
        sink += model_collect_changes(m);
        model_destroy(&m);
}

/* -------------------------------------------------------------- publish */

static int pack(void *ctx, const Hw__Update *update)
{
        static uint8_t packed[LIMIT_MESSAGE_BYTES];
        struct result *r = ctx;

        if (hw__update__get_packed_size(update) > sizeof(packed))
                return -EMSGSIZE;
        r->message_bytes += hw__update__pack(update, packed);
        r->messages++;
        return 0;
}

static struct pipeline *new_pipeline(const char *path, struct result *r)
{
        struct error error;
        struct source_uri uri;
        struct pipeline_options options = {
                .name = "bench",
                .uri = &uri,
                .epoch = 1,
                .sink = { .ctx = r, .send = pack },
        };

        if (!source_uri_parse(path, &uri, &error)) {
                fprintf(stderr, "bench_log: %s: %s\n", path, error.text);
                exit(2);
        }
        struct pipeline *p = pipeline_new(&options, &error);
        if (!p)
                die("pipeline");
        return p;
}

static void way_publish(const char *path, struct result *r)
{
        static uint8_t buffer[BUFFER_BYTES];
        struct pipeline *p = new_pipeline(path, r);
        int fd = open_log(path), status = 0;
        size_t n;

        while (status == 0 && (n = read_piece(fd, buffer, r)) > 0)
                status = pipeline_bytes(p, buffer, n);
        close(fd);
        if (status != 0 || pipeline_finish(p, NULL, false) != 0)
                fprintf(stderr, "bench_log: %s: error %d\n", path, status);
        pipeline_destroy(&p);
}

/* --------------------------------------------------------------- census */

struct span {
        uint64_t begin, end;
};

/* Where the censuses are in the log. Returns their number. */
static size_t find_censuses(const uint8_t *bytes, size_t size, struct span *spans, size_t max)
{
        struct hw_eventlog *log = hw_eventlog_new();
        struct hw_event events[BATCH];
        enum hw_eventlog_status s;
        size_t n, found = 0;

        if (!log)
                die("decoder");
        hw_eventlog_input(log, bytes, size);
        do {
                s = hw_eventlog_read(log, events, BATCH, &n);
                for (size_t i = 0; i < n; i++) {
                        if (events[i].id == HW_HEAP_PROF_SAMPLE_BEGIN && found < max)
                                spans[found].begin = events[i].offset;
                        if (events[i].id == HW_HEAP_PROF_SAMPLE_END && found < max)
                                spans[found++].end = events[i].offset + 10 + events[i].size;
                }
        } while (s != HW_EVENTLOG_NEED_MORE);
        hw_eventlog_destroy(&log);
        return found;
}

static int compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

static uint8_t *load(const char *path, size_t *ret_size)
{
        struct stat st;
        int fd = open_log(path);

        if (fstat(fd, &st) != 0)
                die(path);
        uint8_t *bytes = malloc((size_t)st.st_size + 1);
        if (!bytes)
                die(path);
        *ret_size = 0;
        while (*ret_size < (size_t)st.st_size) {
                ssize_t n = read(fd, bytes + *ret_size, (size_t)st.st_size - *ret_size);
                if (n <= 0)
                        die(path);
                *ret_size += (size_t)n;
        }
        close(fd);
        return bytes;
}

/* CPU time of this thread: the cost of each census, however busy the machine is. */
static int censuses(const char *path)
{
        enum { MOST = 4096 };
        static struct span spans[MOST];
        static uint64_t took[MOST];
        struct result r = { 0 };
        size_t size, at = 0;
        uint8_t *bytes = load(path, &size);
        size_t n = find_censuses(bytes, size, spans, MOST);
        struct pipeline *p = new_pipeline(path, &r);

        for (size_t i = 0; i < n; i++) {
                (void)pipeline_bytes(p, bytes + at, spans[i].begin - at);
                uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
                (void)pipeline_bytes(p, bytes + spans[i].begin, spans[i].end - spans[i].begin);
                took[i] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
                at = spans[i].end;
        }
        if (n == 0 || pipeline_finish(p, NULL, false) != 0) {
                fprintf(stderr, "bench_log: %s: no census\n", path);
                return 2;
        }
        uint64_t first = took[0];
        qsort(took, n, sizeof(*took), compare);
        printf("censuses=%zu first_ns=%" PRIu64 " median_ns=%" PRIu64 " p99_ns=%" PRIu64 " max_ns=%" PRIu64 "\n", n,
               first, took[n / 2], took[n - 1 - n / 100], took[n - 1]);
        pipeline_destroy(&p);
        free(bytes);
        return 0;
}

/* --------------------------------------------------------------- a process */

static uint64_t own_peak_kib(void)
{
        FILE *f = fopen("/proc/self/status", "r");
        char line[256];
        uint64_t kib = 0;

        while (f && fgets(line, sizeof(line), f))
                if (!strncmp(line, "VmHWM:", 6))
                        kib = strtoull(line + 6, NULL, 10);
        if (f)
                fclose(f);
        return kib;
}

static void print(const struct result *r)
{
        printf("wall_ns=%" PRIu64 " cpu_ns=%" PRIu64 " peak_kib=%" PRIu64 " bytes=%" PRIu64 " events=%" PRIu64
               " messages=%" PRIu64 " message_bytes=%" PRIu64 "\n",
               r->wall_ns, r->cpu_ns, r->peak_kib, r->bytes, r->events, r->messages, r->message_bytes);
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*run)(const char *path, struct result *r);
        } ways[] = { { "read", way_read },
                     { "skip", way_skip },
                     { "decode", way_decode },
                     { "model", way_model },
                     { "publish", way_publish } };
        struct result r = { 0 };

        if (argc == 3 && !strcmp(argv[1], "census"))
                return censuses(argv[2]);
        for (size_t i = 0; argc > 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
                if (strcmp(argv[1], ways[i].name) != 0)
                        continue;
                uint64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
                for (int k = 2; k < argc; k++)
                        ways[i].run(argv[k], &r);
                r.wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
                r.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
                r.peak_kib = own_peak_kib();
                print(&r);
                return sink == 42 ? 1 : 0;
        }
        fprintf(stderr,
                "usage: bench_log read|skip|decode|model|publish LOG...\n"
                "       bench_log census LOG\n");
        return 2;
}
