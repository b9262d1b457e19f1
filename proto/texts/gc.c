/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gc.c - the lines of `+RTS -S`, a collection each:
 *
 *         Alloc    Copied     Live     GC     GC      TOT      TOT  Page Flts
 *         bytes     bytes     bytes   user   elap     user     elap
 *       1808048     40528    106032  0.000  0.000    0.003    0.002    0    1  (Gen:  0)
 *
 * "TOT elap" is the time at its end, "GC elap" the pause. The command comes before the table; what comes after it,
 * `-s`, is not read. Live bytes are residency after major collections alone, as in an eventlog.
 */
#include "proto/texts/internal.h"

#include <string.h>

#include "heapwatch/eventlog.h"

#define MOST_GENERATIONS 64u

static void gc_header(struct text_log *t)
{
        text_type(t, HW_PROGRAM_ARGS, WRITER_VARIABLE);
        text_type(t, HW_GC_START, 0);
        text_type(t, HW_GC_END, 0);
        text_type(t, HW_GC_STATS_GHC, 50);
        text_type(t, HW_HEAP_ALLOCATED, 12);
        text_type(t, HW_HEAP_LIVE, 12);
}

/* ------------------------------------------------------------------ command */

/* 'program' 'an argument' +RTS '-S': removes the quotes; -G is the number of generations. */
static const char *parse_command(struct text_log *t, char *line)
{
        size_t n = 0;
        bool quoted = false;

        for (const char *from = line; *from; from++) {
                if (*from == '\'')
                        quoted = !quoted;
                else if (*from != ' ' || quoted)
                        line[n++] = *from;
                else if (n > 0 && line[n - 1])
                        line[n++] = '\0';
        }
        if (n > 0 && line[n - 1]) {
                line[n] = '\0'; /* there is room: a command has a quote or ends here */
                n++;
        }
        for (size_t at = 0; at < n; at += strlen(line + at) + 1) {
                const char *digits = line + at + 2;
                uint64_t generations;
                if (!strncmp(line + at, "-G", 2) && text_number(&digits, &generations) && !*digits && generations > 0 &&
                    generations < MOST_GENERATIONS)
                        t->generations = (uint32_t)generations;
        }
        if (n > 0)
                text_arguments(t, line, n < 60000 ? n : 60000);
        return NULL;
}

/* -------------------------------------------------------------- collections */

struct row {
        uint64_t allocated, copied, live, pause_ns, end_ns, generation;
};

static bool skip(const char **text, const char *word)
{
        while (**text == ' ')
                ++*text;
        size_t n = strlen(word);
        if (strncmp(*text, word, n) != 0)
                return false;
        *text += n;
        while (**text == ' ')
                ++*text;
        return true;
}

static bool read_row(const char *text, struct row *r)
{
        uint64_t user, faults;

        return skip(&text, "") && text_number(&text, &r->allocated) && skip(&text, "") &&
               text_number(&text, &r->copied) && skip(&text, "") && text_number(&text, &r->live) && skip(&text, "") &&
               text_seconds(&text, &user) && skip(&text, "") && text_seconds(&text, &r->pause_ns) && skip(&text, "") &&
               text_seconds(&text, &user) && skip(&text, "") && text_seconds(&text, &r->end_ns) && skip(&text, "") &&
               text_number(&text, &faults) && skip(&text, "") && text_number(&text, &faults) && skip(&text, "(Gen:") &&
               text_number(&text, &r->generation) && skip(&text, ")") && !*text && r->generation < MOST_GENERATIONS;
}

static void put_bytes(struct text_log *t, uint16_t id, uint64_t time_ns, uint64_t bytes)
{
        text_event(t, id, time_ns);
        writer_number(&t->writer, 0, 4);
        writer_number(&t->writer, bytes, 8);
}

static void put_row(struct text_log *t, const struct row *r)
{
        struct eventlog_writer *w = &t->writer;

        t->allocated_bytes += r->allocated;
        text_event(t, HW_GC_START, r->end_ns > r->pause_ns ? r->end_ns - r->pause_ns : 0);
        text_event(t, HW_GC_STATS_GHC, r->end_ns);
        writer_number(w, 0, 4);
        writer_number(w, r->generation, 2);
        writer_number(w, r->copied, 8);
        writer_number(w, UINT64_MAX, 8); /* slop, fragmentation: not known */
        writer_number(w, UINT64_MAX, 8);
        writer_number(w, 0, 4); /* threads: not known */
        writer_number(w, 0, 8);
        writer_number(w, 0, 8);
        text_event(t, HW_GC_END, r->end_ns);
        put_bytes(t, HW_HEAP_ALLOCATED, r->end_ns, t->allocated_bytes);
        if (r->generation + 1 >= t->generations)
                put_bytes(t, HW_HEAP_LIVE, r->end_ns, r->live);
}

/* The line after the last collection: what was allocated since, and two times. */
static bool is_last(const char *text, uint64_t *ret_allocated)
{
        uint64_t n;

        return skip(&text, "") && text_number(&text, ret_allocated) && skip(&text, "") && text_seconds(&text, &n) &&
               skip(&text, "") && text_seconds(&text, &n) && skip(&text, "") && !*text;
}

static const char *gc_line(struct text_log *t, char *line)
{
        const char *text = line;
        struct row r;

        if (t->over)
                return NULL;
        if (!t->begun) {
                t->begun = skip(&text, "Alloc");
                return t->line_number == 1 && strstr(line, "+RTS") ? parse_command(t, line) : NULL;
        }
        if (skip(&text, "bytes"))
                return NULL;
        t->over = is_last(line, &r.allocated);
        if (t->over) {
                put_bytes(t, HW_HEAP_ALLOCATED, 0, t->allocated_bytes + r.allocated);
                return NULL;
        }
        if (!read_row(line, &r))
                return "the numbers of a collection, up to (Gen: N)";
        put_row(t, &r);
        return NULL;
}

/* The line after the last collection was read: the program ended by itself. */
static bool gc_whole(const struct text_log *t)
{
        return t->over;
}

const struct text_reader text_gc = { .header = gc_header, .line = gc_line, .whole = gc_whole };
