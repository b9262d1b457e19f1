/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/watch/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "heapwatch/eventlog.h"
#include "inspect/show/show.h"
#include "proto/base/array.h"
#include "proto/base/kernel_file.h"
#include "proto/base/clock.h"
#include "proto/base/outside_census.h"
#include "proto/base/process_stat.h"
#include "proto/eventlog/writer.h"

#define MAIN_SET        0      /* the capability set of the process */
#define BY_CLOSURE_TYPE 7      /* rts/EventLogFormat.h: HEAP_PROF_BREAKDOWN_CLOSURE_TYPE */
#define NO_CAPABILITY   0xffff /* of a block: whose events are of the process */
#define FILTERS         7      /* of a heap profile; none is set */
#define ARGUMENTS_BYTES 16384
#define BAND_BYTES      1024 /* most of an event of one band */
#define COUNTED_MOST    3000 /* bands of which a message can have the closures */

static const struct {
        uint16_t number, size;
} declared[] = {
        { HW_LOG_MSG, WRITER_VARIABLE },
        { HW_BLOCK_MARKER, 14 },
        { HW_PROGRAM_ARGS, WRITER_VARIABLE },
        { HW_OSPROCESS_PID, 8 },
        { HW_OSPROCESS_PPID, 8 },
        { HW_WALL_CLOCK_TIME, 16 },
        { HW_HEAP_ALLOCATED, 12 },
        { HW_HEAP_SIZE, 12 },
        { HW_HEAP_LIVE, 12 },
        { HW_HEAP_PROF_BEGIN, WRITER_VARIABLE },
        { HW_HEAP_PROF_SAMPLE_BEGIN, 8 },
        { HW_HEAP_PROF_SAMPLE_STRING, WRITER_VARIABLE },
        { HW_HEAP_PROF_SAMPLE_END, 8 },
        { HW_OUTSIDE_GENERATION, 24 },
        { HW_OUTSIDE_COLLECTIONS, 20 },
        { HW_OUTSIDE_THREADS, 12 },
        { HW_OUTSIDE_BAND_THREADS, 12 },
};

static struct {
        int fd;
        uint64_t start_ns; /* of the process, by CLOCK_BOOTTIME */
        bool open;         /* a block is */
        uint64_t n_censuses;
        struct eventlog_writer writer;
} l = { .fd = -1 };

static uint64_t elapsed_ns(void)
{
        const uint64_t ns = clock_read_ns(CLOCK_BOOTTIME);

        return ns > l.start_ns ? ns - l.start_ns : 0;
}

/* ------------------------------------------------------------------------- the process */

/* ------------------------------------------------------------------------------ events */

static void open_block(void)
{
        const uint64_t at = elapsed_ns();

        if (!l.open)
                writer_block_begin(&l.writer, at, at, NO_CAPABILITY);
        l.open = true;
}

static struct eventlog_writer *begin_event(uint16_t number)
{
        open_block();
        writer_event(&l.writer, number, elapsed_ns());
        return &l.writer;
}

/* Of the process, with a number. */
static void put_number(uint16_t number, uint64_t value, unsigned width)
{
        struct eventlog_writer *w = begin_event(number);

        writer_number(w, MAIN_SET, 4);
        writer_number(w, value, width);
}

static void put_process(pid_t pid)
{
        char arguments[ARGUMENTS_BYTES];
        struct timespec wall;
        uint64_t parent;
        const int n = kernel_file_read(arguments, sizeof(arguments), "/proc/%ld/cmdline", (long)pid);

        (void)clock_gettime(CLOCK_REALTIME, &wall);
        put_number(HW_WALL_CLOCK_TIME, (uint64_t)wall.tv_sec, 8);
        writer_number(&l.writer, (uint64_t)wall.tv_nsec, 4);
        put_number(HW_OSPROCESS_PID, (uint64_t)pid, 4);
        if (process_stat_read(pid, STAT_PARENT, &parent))
                put_number(HW_OSPROCESS_PPID, parent, 4);
        if (n > 0) {
                struct eventlog_writer *w = begin_event(HW_PROGRAM_ARGS);
                const size_t length = writer_length_begin(w);
                writer_number(w, MAIN_SET, 4);
                writer_bytes(w, arguments, (size_t)n);
                writer_length_end(w, length, 0);
        }
}

static void put_profile(void)
{
        static const char filters[FILTERS];
        struct eventlog_writer *w = begin_event(HW_HEAP_PROF_BEGIN);
        const size_t length = writer_length_begin(w);

        writer_number(w, 0, 1);
        writer_number(w, 0, 8); /* no interval: they come as they can be had */
        writer_number(w, BY_CLOSURE_TYPE, 4);
        writer_bytes(w, filters, sizeof(filters));
        writer_length_end(w, length, 0);
}

bool log_begin(int fd, pid_t pid, struct error *error)
{
        const long a_second = sysconf(_SC_CLK_TCK);
        uint64_t ticks;

        if (!process_stat_read(pid, STAT_START_TICKS, &ticks) || ticks == 0 || a_second <= 0)
                return error_set(error, "process %ld has ended", (long)pid);
        l.fd = fd;
        l.start_ns = (uint64_t)((double)ticks / (double)a_second * 1e9);
        writer_header_begin(&l.writer);
        for (size_t i = 0; i < ARRAY_SIZE(declared); i++)
                writer_type(&l.writer, declared[i].number, declared[i].size, "");
        writer_header_end(&l.writer);
        put_process(pid);
        put_profile();
        return log_send() || error_set(error, "nobody reads what is found out");
}

void log_live(uint64_t bytes)
{
        put_number(HW_HEAP_LIVE, bytes, 8);
}

void log_heap_size(uint64_t bytes)
{
        put_number(HW_HEAP_SIZE, bytes, 8);
}

void log_allocated(uint64_t bytes)
{
        put_number(HW_HEAP_ALLOCATED, bytes, 8);
}

void log_generation(unsigned number, unsigned generations, uint64_t collections, uint64_t parallel)
{
        put_number(HW_OUTSIDE_GENERATION, number, 2);
        writer_number(&l.writer, generations, 2);
        writer_number(&l.writer, collections, 8);
        writer_number(&l.writer, parallel, 8);
}

void log_collections(uint64_t copied_bytes, uint64_t collecting_ns)
{
        put_number(HW_OUTSIDE_COLLECTIONS, copied_bytes, 8);
        writer_number(&l.writer, collecting_ns, 8);
}

static void put_text(const char *text)
{
        const size_t length = writer_length_begin(&l.writer);

        writer_string(&l.writer, text);
        writer_length_end(&l.writer, length, 0);
}

void log_message(const char *text)
{
        (void)begin_event(HW_LOG_MSG);
        put_text(text);
}

static bool has_room(size_t bands)
{
        return bands <= (WRITER_BYTES - l.writer.n) / BAND_BYTES;
}

static void put_threads(uint16_t number, uint64_t threads, uint64_t at)
{
        writer_event(&l.writer, number, at);
        writer_number(&l.writer, MAIN_SET, 4);
        writer_number(&l.writer, threads, 8);
}

/* In a log of the program's own, which declares no events of ours. */
static void put_groups(const struct census_threads *t, uint64_t at)
{
        char text[BAND_BYTES];

        (void)snprintf(text, sizeof(text), OUTSIDE_SAYS_THREADS "%llu", (unsigned long long)t->all);
        writer_event(&l.writer, HW_LOG_MSG, at);
        put_text(text);
        for (size_t i = 0; i < t->groups.n; i++) {
                const struct heap_band *b = &t->groups.items[i];
                (void)snprintf(text, sizeof(text), OUTSIDE_SAYS_THREADS "%llu %llu %s", (unsigned long long)b->threads,
                               (unsigned long long)b->bytes, b->name);
                writer_event(&l.writer, HW_LOG_MSG, at);
                put_text(text);
        }
}

static void put_closures(const struct heap_bands *bands, uint64_t at)
{
        static const char begin[] = OUTSIDE_SAYS_CLOSURES;
        struct eventlog_writer *w = &l.writer;
        char number[24];

        if (bands->n == 0 || bands->n > COUNTED_MOST)
                return;
        writer_event(w, HW_LOG_MSG, at);
        const size_t length = writer_length_begin(w);
        writer_bytes(w, begin, sizeof(begin) - 2);
        for (size_t i = 0; i < bands->n; i++) {
                const int n = snprintf(number, sizeof(number), " %llu", (unsigned long long)bands->items[i].objects);
                writer_bytes(w, number, (size_t)n);
        }
        writer_number(w, 0, 1);
        writer_length_end(w, length, 0);
}

/* Of the largest bands, as long as there is room. */
static void put_contents(const struct heap_bands *bands, uint64_t at)
{
        char text[BAND_BYTES], name[CONTENTS_TEXT_BYTES];

        for (size_t i = 0, n = 0; i < bands->n && n < OUTSIDE_CONTENTS_MOST && has_room(1); i++) {
                const struct heap_band *b = &bands->items[i];
                if (!b->is_container || b->n_contents == 0)
                        continue;
                (void)snprintf(text, sizeof(text), OUTSIDE_SAYS_CONTENTS "%zu %llu %s", i,
                               (unsigned long long)b->contents[0].bytes, contents_name(&b->contents[0], name));
                writer_event(&l.writer, HW_LOG_MSG, at);
                put_text(text);
                n++;
        }
}

static void put_census(const struct heap_bands *bands, const struct census_threads *beside, uint64_t number,
                       uint64_t at)
{
        struct eventlog_writer *w = &l.writer;

        writer_event(w, HW_HEAP_PROF_SAMPLE_BEGIN, at);
        writer_number(w, number, 8);
        if (beside)
                put_groups(beside, at);
        for (size_t i = 0; i < bands->n; i++) {
                if (bands->items[i].threads)
                        put_threads(HW_OUTSIDE_BAND_THREADS, bands->items[i].threads, at);
                writer_event(w, HW_HEAP_PROF_SAMPLE_STRING, at);
                const size_t length = writer_length_begin(w);
                writer_number(w, 0, 1);
                writer_number(w, bands->items[i].bytes, 8);
                writer_string(w, bands->items[i].name);
                writer_length_end(w, length, 0);
        }
        put_closures(bands, at);
        put_contents(bands, at);
        writer_event(w, HW_HEAP_PROF_SAMPLE_END, at);
        writer_number(w, number, 8);
}

bool log_census(const struct heap_bands *bands, double spread, uint64_t threads)
{
        if (!has_room(bands->n))
                return false;
        open_block();
        const uint64_t at = elapsed_ns();
        put_threads(HW_OUTSIDE_THREADS, threads, at);
        put_census(bands, NULL, spread > 0 ? outside_census_number(spread) : l.n_censuses, at);
        l.n_censuses++;
        return true;
}

/* A socket that others use, too, does not block: what it has no room for waits, until nobody needs it any more. */
static bool wait_for_room(int fd)
{
        struct pollfd fds[] = { { fd, POLLOUT, 0 }, { STDIN_FILENO, 0, 0 } };

        return (poll(fds, 2, -1) > 0 && !fds[1].revents) || errno == EINTR;
}

static bool write_all(int fd, const void *bytes, size_t size)
{
        const uint8_t *at = bytes;

        while (size > 0) {
                const ssize_t n = write(fd, at, size);
                if (n < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_room(fd))))
                        continue;
                if (n <= 0)
                        return false;
                at += n;
                size -= (size_t)n;
        }
        return true;
}

bool log_give(int fd, const struct heap_bands *bands, const struct census_threads *beside, double spread,
              uint64_t age_ns)
{
        struct eventlog_writer *w = &l.writer;
        char line[64];

        w->n = 0;
        if (!has_room(bands->n + (beside ? beside->groups.n + 1 : 0)))
                return true;
        put_census(bands, beside, outside_census_number(spread), age_ns);
        const int n = snprintf(line, sizeof(line), "0 given %zu\n", w->n);
        const bool good = write_all(fd, line, (size_t)n) && write_all(fd, w->data, w->n);
        w->n = 0;
        return good;
}

bool log_send(void)
{
        struct eventlog_writer *w = &l.writer;

        if (l.open) {
                writer_block_until(w, elapsed_ns());
                writer_block_end(w);
        }
        l.open = false;
        const bool good = write_all(l.fd, w->data, w->n);
        w->n = 0;
        return good;
}
