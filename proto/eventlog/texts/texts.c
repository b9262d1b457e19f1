/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: each whole line, or byte, becomes events of the open block. A block ends when it is large enough, and then
 * its bytes are fetched before more text is taken: so memory is one line and one block, and what the reader keeps.
 */
#include "proto/eventlog/texts/internal.h"

#include <stdlib.h>
#include <string.h>

#include "heapwatch/eventlog.h"
#include "proto/base/array.h"
#include "proto/base/digits.h"
#include "proto/base/time.h"

/* An object whose first key is "program". */
static bool is_profile(const char *text, size_t n)
{
        static const char *const parts[] = { "{", "\"program\"", ":", "\"" };
        size_t at = 0;

        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                size_t length = strlen(parts[i]);
                while (at < n && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
                        at++;
                if (n - at < length || memcmp(text + at, parts[i], length) != 0)
                        return false;
                at += length;
        }
        return true;
}

enum text_kind text_kind_of(const void *beginning, size_t n)
{
        static const char job[] = "JOB \"";

        if (n >= sizeof(job) - 1 && !memcmp(beginning, job, sizeof(job) - 1))
                return TEXT_HP;
        return is_profile(beginning, n) ? TEXT_PROF : TEXT_NONE;
}

struct text_log *text_log_new(enum text_kind kind)
{
        struct text_log *t = calloc(1, sizeof(*t));

        if (!t)
                return NULL;
        t->reader = kind == TEXT_HP ? &text_hp : &text_prof;
        writer_header_begin(&t->writer);
        text_type(t, HW_BLOCK_MARKER, 14);
        t->reader->header(t);
        writer_header_end(&t->writer);
        return t;
}

void text_log_destroy(struct text_log **t)
{
        if (*t)
                prof_done(&(*t)->prof);
        free(*t);
        *t = NULL;
}

const struct text_damage *text_log_damage(const struct text_log *t)
{
        return &t->damage;
}

/* ------------------------------------------------------------------ writing */

void text_type(struct text_log *t, uint16_t id, uint16_t size)
{
        writer_type(&t->writer, id, size, hw_event_info(id)->name);
}

void text_event(struct text_log *t, uint16_t id, uint64_t time_ns)
{
        t->time_ns = time_ns > t->time_ns ? time_ns : t->time_ns;
        if (!t->block_open)
                writer_block_begin(&t->writer, t->time_ns, t->time_ns, t->cap);
        t->block_open = true;
        writer_event(&t->writer, id, t->time_ns);
}

static void end_block(struct text_log *t)
{
        if (!t->block_open)
                return;
        writer_block_until(&t->writer, t->time_ns);
        writer_block_end(&t->writer);
        t->block_open = false;
}

void text_arguments(struct text_log *t, const char *words, size_t n)
{
        text_event(t, HW_PROGRAM_ARGS, t->time_ns);
        size_t length = writer_length_begin(&t->writer);
        writer_number(&t->writer, 0, 4);
        writer_bytes(&t->writer, words, n);
        writer_length_end(&t->writer, length, 0);
}

/* ------------------------------------------------------------------ reading */

bool text_seconds(const char **text, uint64_t *ret_ns)
{
        const char *p = *text;
        uint64_t whole, unit = NS_PER_S, ns = 0;

        if (!digits_read(&p, &whole) || whole >= TEXT_SECONDS_MAX)
                return false;
        if (*p == '.')
                for (p++; *p >= '0' && *p <= '9'; p++)
                        ns += (uint64_t)(*p - '0') * (unit /= 10);
        *text = p;
        *ret_ns = whole * NS_PER_S + ns;
        return true;
}

static bool block_is_full(const struct text_log *t)
{
        return t->block_open && t->writer.n - t->writer.block > TEXT_BLOCK;
}

static void note_damage(struct text_log *t, const char *expected)
{
        if (t->damage.lines++)
                return;
        t->damage.first = t->line_number;
        t->damage.expected = expected;
}

/* Text that has made events, or none: the writer had `before` bytes. */
static void count_parsed(struct text_log *t, size_t taken, size_t before)
{
        *(t->writer.n == before ? &t->idle_bytes : &t->used_bytes) += taken;
}

bool text_log_is_idle(const struct text_log *t)
{
        return t->idle_bytes > t->used_bytes && t->idle_bytes - t->used_bytes > TEXT_IDLE_BYTES;
}

static void parse_line(struct text_log *t)
{
        const char *expected = NULL;

        t->line_number++;
        if (t->n_line > 0 && t->line[t->n_line - 1] == '\r')
                t->n_line--;
        t->line[t->n_line] = '\0';
        if (t->line_too_long)
                expected = "a line of at most 64 KiB";
        else if (strlen(t->line) != t->n_line)
                expected = "text";
        else if (t->n_line > 0)
                expected = t->reader->line(t, t->line);
        if (expected)
                note_damage(t, expected);
        t->n_line = 0;
        t->line_too_long = false;
        if (block_is_full(t))
                end_block(t);
}

static size_t parse_bytes(struct text_log *t, const char *text, size_t n)
{
        size_t taken = 0;

        const size_t before = t->writer.n;
        while (taken < n && !t->waiting && (t->block_open || t->writer.n == 0)) {
                t->line_number += t->line_number == 0 || t->after_line;
                t->after_line = text[taken] == '\n';
                const char *expected = t->reader->byte(t, text[taken++]);
                if (expected)
                        note_damage(t, expected);
                if (t->waiting || block_is_full(t))
                        end_block(t);
        }
        count_parsed(t, taken, before);
        return taken;
}

static size_t parse_lines(struct text_log *t, const char *text, size_t n)
{
        size_t taken = 0;

        while (taken < n && (t->block_open || t->writer.n == 0)) {
                const char *end = memchr(text + taken, '\n', n - taken);
                const size_t before = t->writer.n;
                size_t piece = (end ? (size_t)(end - text) : n) - taken, room = TEXT_LINE_BYTES - t->n_line;
                t->line_too_long |= piece > room;
                memcpy(t->line + t->n_line, text + taken, piece < room ? piece : room);
                t->n_line += piece < room ? piece : room;
                taken += piece + (end != NULL);
                if (end)
                        parse_line(t);
                count_parsed(t, piece + (end != NULL), before);
        }
        return taken;
}

size_t text_log_parse(struct text_log *t, const char *text, size_t n)
{
        return t->reader->line ? parse_lines(t, text, n) : parse_bytes(t, text, n);
}

static void finish_log(struct text_log *t)
{
        end_block(t);
        if (t->ending && !t->waiting && t->reader->whole(t))
                writer_end(&t->writer);
}

void text_log_end(struct text_log *t)
{
        if (t->n_line > 0 || t->line_too_long)
                parse_line(t);
        const char *expected = t->reader->end ? t->reader->end(t) : NULL;
        if (expected)
                note_damage(t, expected);
        t->ending = true;
        finish_log(t);
}

size_t text_log_fetch(struct text_log *t, void *out, size_t size)
{
        if (t->waiting && !t->block_open && t->writer.n == 0) {
                /* A block of what waits. */
                while (t->waiting && !block_is_full(t))
                        t->waiting = t->reader->more(t);
                finish_log(t);
        }
        size_t n = t->block_open ? 0 : t->writer.n - t->fetched;

        n = n < size ? n : size;
        memcpy(out, t->writer.data + t->fetched, n);
        t->fetched += n;
        if (t->fetched == t->writer.n && !t->block_open)
                t->fetched = t->writer.n = 0;
        return n;
}
