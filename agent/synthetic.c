/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - events gather in one buffer under a mutex; sent, it is one block of
 * capability 0. The header declares exactly the events that are written.
 */
#include "agent/synthetic.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/descriptor.h"
#include "agent/layout.h"
#include "agent/limits.h"
#include "agent/queue.h"
#include "agent/thread.h"
#include "agent/writer.h"
#include "proto/base/agent_socket.h"
#include "proto/base/array.h"
#include "proto/base/bytes.h"

#define BUFFER_BYTES 65536
#define LINE_BYTES   4096 /* of the profile's text: a longer line is cut */
#define VARIABLE     0xffff
#define MAIN_SET     0 /* the capability set of the process */

enum event_number {
        GC_BEGIN = 9,
        GC_END = 10,
        MESSAGE = 16,
        DELETE_SET = 26,
        RTS_IDENTIFIER = 29,
        ARGUMENTS = 30,
        PROCESS = 32,
        PARENT = 33,
        WALL_CLOCK = 43,
        CAPABILITY = 45,
        ALLOCATED = 49,
        HEAP_SIZE = 50,
        LIVE = 51,
        HEAP_INFO = 52,
        GC_STATISTICS = 53,
        PROFILE = 160,
        CENSUS_BEGIN = 162,
        CENSUS_BAND = 164,
        CENSUS_END = 165,
};

static const struct {
        uint16_t number, size;
} declared[] = {
        { GC_BEGIN, 0 },       { GC_END, 0 },           { MESSAGE, VARIABLE },
        { BLOCK_MARKER, 14 },  { ARGUMENTS, VARIABLE }, { RTS_IDENTIFIER, VARIABLE },
        { PROCESS, 8 },        { PARENT, 8 },           { WALL_CLOCK, 16 },
        { CAPABILITY, 2 },     { ALLOCATED, 12 },       { HEAP_SIZE, 12 },
        { LIVE, 12 },          { HEAP_INFO, 38 },       { GC_STATISTICS, 58 },
        { PROFILE, VARIABLE }, { CENSUS_BEGIN, 8 },     { CENSUS_BAND, VARIABLE },
        { CENSUS_END, 8 },     { DELETE_SET, 4 },
};

static struct {
        pthread_mutex_t lock;
        bool runs, child;
        uint8_t block[BUFFER_BYTES]; /* the first BLOCK_MARKER_BYTES are for its marker */
        size_t size;                 /* of events after that */
        int64_t zero_ns;             /* time 0 of the log */
        uint32_t capabilities;       /* that are in the log */
        uint64_t first_ns, allocated_bytes, census;
        bool census_open;
        bool flags_read;    /* the runtime's options are parsed, and HEAP_INFO is in this log if they are understood */
        struct gc_flags gc; /* generations 0: not known */
        char line[LINE_BYTES];
        size_t line_size;
} y = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t time_since_start(void)
{
        return (uint64_t)(thread_now_ns() - y.zero_ns);
}

/* ------------------------------------------------------------------- events */

/* With an empty block of each other capability: a reader waits for what may still come of one that is silent. */
static void send_block(void)
{
        const uint64_t end_ns = time_since_start();
        uint8_t empty[BLOCK_MARKER_BYTES];

        if (y.size == 0)
                return;
        block_marker_write(y.block, y.first_ns, end_ns, BLOCK_MARKER_BYTES + y.size, 0);
        (void)writer_write(y.block, y.size + BLOCK_MARKER_BYTES);
        y.size = 0;
        for (uint32_t i = 1; i < y.capabilities; i++) {
                block_marker_write(empty, end_ns, end_ns, BLOCK_MARKER_BYTES, (uint16_t)i);
                (void)writer_write(empty, sizeof(empty));
        }
}

/* Room for an event's payload of n bytes; a variable one has its length written. */
static uint8_t *append_event(uint16_t number, uint64_t at_ns, size_t n, bool variable)
{
        size_t whole = 10 + (variable ? 2u : 0u) + n;
        uint8_t *at;

        if (BLOCK_MARKER_BYTES + y.size + whole > sizeof(y.block))
                send_block();
        if (y.size == 0 || at_ns < y.first_ns)
                y.first_ns = at_ns;
        at = y.block + BLOCK_MARKER_BYTES + y.size;
        y.size += whole;
        put_be(at, number, 2);
        put_be(at + 2, at_ns, 8);
        if (!variable)
                return at + 10;
        put_be(at + 10, n, 2);
        return at + 12;
}

/* An event of a capability set and a number of `n` bytes, as most are. */
static void set_event(uint16_t number, uint64_t at_ns, uint64_t value, size_t n)
{
        uint8_t *at = append_event(number, at_ns, 4 + n, false);

        put_be(at, MAIN_SET, 4);
        put_be(at + 4, value, n);
}

static void set_text(uint16_t number, const char *text, size_t n)
{
        uint8_t *at = append_event(number, time_since_start(), 4 + n, true);

        put_be(at, MAIN_SET, 4);
        memcpy(at + 4, text, n);
}

/* Those up to the number that are not in the log yet: the runtime makes them after the log has begun, or later. */
static void put_capabilities(uint32_t n)
{
        for (; y.capabilities < n && y.capabilities < AGENT_CAPABILITIES; y.capabilities++)
                put_be(append_event(CAPABILITY, time_since_start(), 2, false), y.capabilities, 2);
}

static void put_process(const char *version, bool threaded)
{
        struct timespec wall;
        char name[64], arguments[16384 + 1];
        int n = snprintf(name, sizeof(name), "GHC-%s %s", version, threaded ? "rts_thr" : "rts_v");
        uint8_t *at = append_event(WALL_CLOCK, time_since_start(), 16, false);

        clock_gettime(CLOCK_REALTIME, &wall);
        put_be(at, MAIN_SET, 4);
        put_be(at + 4, (uint64_t)wall.tv_sec, 8);
        put_be(at + 12, (uint64_t)wall.tv_nsec, 4);
        set_event(PROCESS, time_since_start(), (uint64_t)getpid(), 4);
        set_event(PARENT, time_since_start(), (uint64_t)getppid(), 4);
        if (n > 0 && (size_t)n < sizeof(name))
                set_text(RTS_IDENTIFIER, name, (size_t)n);
        const size_t n_arguments = read_proc_file("/proc/self/cmdline", arguments, sizeof(arguments));
        if (n_arguments > 0)
                set_text(ARGUMENTS, arguments, n_arguments);
        y.capabilities = 0;
        put_capabilities(1);
}

/* The generations and -M, which the runtime itself logs only at its start. Its options must have been parsed. */
static void put_heap_info(void)
{
        uint8_t *at;

        y.flags_read = true;
        if (!layout_gc_flags(rts.RtsFlags.address, rts.RtsFlags.size, &y.gc)) {
                y.gc = (struct gc_flags){ 0 };
                return;
        }
        at = append_event(HEAP_INFO, time_since_start(), 38, false);
        put_be(at, MAIN_SET, 4);
        put_be(at + 4, y.gc.generations, 2);
        put_be(at + 6, y.gc.max_heap_bytes, 8);
        put_be(at + 14, y.gc.alloc_area_bytes, 8);
        put_be(at + 22, RTS_MEGABLOCK_BYTES, 8);
        put_be(at + 30, RTS_BLOCK_BYTES, 8);
}

static size_t put_header(uint8_t *out)
{
        size_t n = 8;

        memcpy(out, "hdrbhetb", 8);
        for (size_t i = 0; i < ARRAY_SIZE(declared); i++, n += 20) {
                memcpy(out + n, "etb\0", 4);
                put_be(out + n + 4, declared[i].number, 2);
                put_be(out + n + 6, declared[i].size, 2);
                memset(out + n + 8, 0, 8); /* no description, nothing more */
                memcpy(out + n + 16, "ete\0", 4);
        }
        memcpy(out + n, "hetehdredatb", 12);
        return n + 12;
}

void synthetic_begin(const char *version, bool threaded, uint64_t now_ns)
{
        uint8_t header[8 + 20 * ARRAY_SIZE(declared) + 12];

        pthread_mutex_lock(&y.lock);
        if (!y.runs && !y.child) {
                y.runs = true;
                y.zero_ns = thread_now_ns() - (int64_t)now_ns;
                y.size = 0;
                y.allocated_bytes = y.census = 0;
                y.census_open = y.flags_read = false;
                (void)queue_push(CHUNK_START, NULL, 0, true);
                (void)writer_write(header, put_header(header));
                put_process(version, threaded);
                send_block();
        }
        pthread_mutex_unlock(&y.lock);
}

void synthetic_introduce(const char *version, bool threaded, uint64_t now_ns)
{
        pthread_mutex_lock(&y.lock);
        if (!y.runs && !y.child) {
                y.zero_ns = thread_now_ns() - (int64_t)now_ns;
                y.size = 0;
                put_process(version, threaded);
                put_heap_info();
                send_block();
        }
        pthread_mutex_unlock(&y.lock);
}

bool synthetic_runs(void)
{
        bool yes;

        pthread_mutex_lock(&y.lock);
        yes = y.runs;
        pthread_mutex_unlock(&y.lock);
        return yes;
}

/* --------------------------------------------------------------- collections */

void synthetic_collection(const struct gc_details *gc)
{
        pthread_mutex_lock(&y.lock);
        if (y.runs) {
                y.allocated_bytes += gc->allocated_bytes;
                uint64_t end_ns = time_since_start();
                uint64_t took = gc->elapsed_ns > 0 ? (uint64_t)gc->elapsed_ns : 0;
                uint8_t *at;

                if (!y.flags_read)
                        put_heap_info();
                if (rts.n_capabilities.address)
                        put_capabilities(*(const uint32_t *)rts.n_capabilities.address);
                (void)append_event(GC_BEGIN, took < end_ns ? end_ns - took : end_ns, 0, false);
                at = append_event(GC_STATISTICS, end_ns, 58, false);
                put_be(at, MAIN_SET, 4);
                put_be(at + 4, gc->generation, 2);
                put_be(at + 6, gc->copied_bytes, 8);
                put_be(at + 14, gc->slop_bytes, 8);
                put_be(at + 22, 0, 8); /* fragmentation: not reported before 9.4 */
                put_be(at + 30, gc->threads, 4);
                put_be(at + 34, gc->parallel_max_copied_bytes, 8);
                put_be(at + 42, gc->copied_bytes, 8);
                put_be(at + 50, gc->parallel_balanced_copied_bytes, 8);
                (void)append_event(GC_END, end_ns, 0, false);
                if (y.gc.generations ? gc->generation + 1 == y.gc.generations : gc->generation > 0)
                        set_event(LIVE, end_ns, gc->live_bytes, 8);
                set_event(HEAP_SIZE, end_ns, gc->memory_bytes, 8);
                set_event(ALLOCATED, end_ns, y.allocated_bytes, 8);
        }
        pthread_mutex_unlock(&y.lock);
}

/* ------------------------------------------------------------------ censuses */

static void end_census(void)
{
        if (y.census_open)
                put_be(append_event(CENSUS_END, time_since_start(), 8, false), y.census++, 8);
        y.census_open = false;
}

/* "LABEL\tBYTES" */
static void put_band(const char *line)
{
        const char *tab = strrchr(line, '\t');
        size_t n = tab ? (size_t)(tab - line) : 0;
        char *end;
        uint64_t bytes = tab ? strtoull(tab + 1, &end, 10) : 0;
        uint8_t *at;

        if (!tab || end == tab + 1)
                return;
        if (!y.census_open) /* the empty ones that a profile begins and ends with do not count */
                put_be(append_event(CENSUS_BEGIN, time_since_start(), 8, false), y.census, 8);
        y.census_open = true;
        at = append_event(CENSUS_BAND, time_since_start(), 9 + n + 1, true);
        at[0] = 0;
        put_be(at + 1, bytes, 8);
        memcpy(at + 9, line, n);
        at[9 + n] = '\0';
}

static ssize_t write_text(void *unused, const char *text, size_t size)
{
        static const char begin[] = "BEGIN_SAMPLE ", end[] = "END_SAMPLE ";

        pthread_mutex_lock(&y.lock);
        for (size_t i = 0; y.runs && i < size; i++) {
                if (text[i] != '\n') {
                        if (y.line_size < sizeof(y.line) - 1)
                                y.line[y.line_size++] = text[i];
                        continue;
                }
                y.line[y.line_size] = '\0';
                y.line_size = 0;
                if (!strncmp(y.line, end, sizeof(end) - 1))
                        end_census();
                else if (strncmp(y.line, begin, sizeof(begin) - 1) != 0)
                        put_band(y.line);
        }
        pthread_mutex_unlock(&y.lock);
        return (ssize_t)size;
}

FILE *synthetic_profile(void)
{
        static const uint32_t by_closure_type = 7;
        FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_text });
        uint8_t *at;

        if (!f)
                return NULL;
        pthread_mutex_lock(&y.lock);
        at = append_event(PROFILE, time_since_start(), 13 + 7, true);
        at[0] = 0;
        put_be(at + 1, AGENT_CENSUS_PERIOD_NS, 8);
        put_be(at + 9, by_closure_type, 4);
        memset(at + 13, 0, 7); /* seven filters: none */
        pthread_mutex_unlock(&y.lock);
        return f;
}

/* --------------------------------------------------------------------- sending */

void synthetic_flush(void)
{
        pthread_mutex_lock(&y.lock);
        if (y.runs && !y.census_open)
                send_block();
        pthread_mutex_unlock(&y.lock);
}

void synthetic_end(bool exits)
{
        uint8_t end[2] = { 0xff, 0xff };

        pthread_mutex_lock(&y.lock);
        if (y.runs) {
                end_census();
                if (exits)
                        put_be(append_event(DELETE_SET, time_since_start(), 4, false), MAIN_SET, 4);
                send_block();
                (void)writer_write(end, sizeof(end));
                y.runs = false;
        }
        pthread_mutex_unlock(&y.lock);
}

void synthetic_fork_child(void)
{
        pthread_mutex_init(&y.lock, NULL);
        y.runs = false;
        y.child = true;
}

void synthetic_resume_in_child(void)
{
        y.child = false;
        y.line_size = 0;
}
