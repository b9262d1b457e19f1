/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp.c - a heap profile, line by line:
 *
 *     JOB "program its arguments +RTS -hT -i0.1"        DATE "..."  SAMPLE_UNIT "seconds"  VALUE_UNIT "bytes"
 *     BEGIN_SAMPLE 0.100000
 *     ARR_WORDS<tab>40208
 *     END_SAMPLE 0.100000
 *
 * The runtime begins and ends with an empty sample, which is not a census. A file that does not end with one was cut
 * off, or its program was killed.
 */
#include "proto/eventlog/texts/internal.h"

#include <string.h>

#include "heapwatch/eventlog.h"
#include "proto/base/array.h"
#include "proto/base/digits.h"

#define DEFAULT_PERIOD_NS UINT64_C(100000000)

static void hp_header(struct text_log *t)
{
        text_type(t, HW_PROGRAM_ARGS, WRITER_VARIABLE);
        text_type(t, HW_HEAP_PROF_BEGIN, WRITER_VARIABLE);
        text_type(t, HW_HEAP_PROF_SAMPLE_BEGIN, 8);
        text_type(t, HW_HEAP_PROF_SAMPLE_STRING, WRITER_VARIABLE);
        text_type(t, HW_HEAP_PROF_SAMPLE_END, 8);
        text_type(t, HW_USER_MARKER, WRITER_VARIABLE);
        t->cap = TEXT_NO_CAP;
}

/* --------------------------------------------------------------------- JOB */

/* What -hX chose, as HEAP_PROF_BEGIN numbers it; 0: nothing. With text after X it is a filter. */
static uint32_t breakdown_of(const char *word)
{
        static const char letters[] = "cmdyrbTie";
        const char *letter = word[0] == '-' && word[1] == 'h' && word[2] && !word[3] ? strchr(letters, word[2]) : NULL;

        return letter ? (uint32_t)(letter - letters) + 1 : 0;
}

/* Splits the words of the job in place: a quote inside is doubled, words end at spaces. */
static const char *parse_job(struct text_log *t, char *text)
{
        uint64_t period_ns = DEFAULT_PERIOD_NS;
        uint32_t breakdown = 0;
        size_t n = 0;
        bool closed = false;

        for (char *from = text; *from && !closed; from++) {
                closed = from[0] == '"' && from[1] != '"';
                from += from[0] == '"' && from[1] == '"';
                text[n++] = *from == ' ' || closed ? '\0' : *from;
        }
        if (!closed)
                return "a text in quotes after JOB";
        for (size_t at = 0; at < n; at += strlen(text + at) + 1) {
                const char *seconds = text + at + 2;
                uint64_t ns;
                breakdown = breakdown_of(text + at) ? breakdown_of(text + at) : breakdown;
                if (!strncmp(text + at, "-i", 2) && text_seconds(&seconds, &ns) && !*seconds)
                        period_ns = ns;
        }
        text_arguments(t, text, n < 60000 ? n : 60000);
        if (breakdown) { /* else the runtime did not say its options */
                struct eventlog_writer *w = &t->writer;

                text_event(t, HW_HEAP_PROF_BEGIN, 0);
                size_t length = writer_length_begin(w);
                writer_number(w, 0, 1);
                writer_number(w, period_ns, 8);
                writer_number(w, breakdown, 4);
                for (int i = 0; i < 7; i++) /* no filters */
                        writer_string(w, "");
                writer_length_end(w, length, 0);
        }
        return NULL;
}

/* ----------------------------------------------------------------- samples */

/*
 * The time of a sample is the mutator's CPU time, which the threaded runtime subtracts wrongly at times: the first ones
 * may be below 0, and later ones may go back, by up to 4 ms as measured.
 */
#define STEP_BACK_MAX_NS UINT64_C(20000000)

static bool parse_time(const char *text, uint64_t *ret_ns)
{
        const bool negative = *text == '-';

        text += negative;
        if (!text_seconds(&text, ret_ns) || *text)
                return false;
        *ret_ns = negative ? 0 : *ret_ns;
        return true;
}

static const char *parse_end(struct text_log *t, const char *text)
{
        uint64_t time_ns;
        bool was_open = t->sample_open;

        t->sample_open = false;
        t->over = was_open && t->sample_empty && t->any_sample && !t->sample_foreign;
        if (was_open && !t->sample_empty) {
                text_event(t, HW_HEAP_PROF_SAMPLE_END, 0);
                writer_number(&t->writer, t->era, 8);
        }
        if (!was_open)
                return "BEGIN_SAMPLE before END_SAMPLE";
        return parse_time(text, &time_ns) ? NULL : "seconds after END_SAMPLE";
}

/* LABEL<tab>BYTES; old runtimes and other tools write spaces. */
static const char *parse_row(struct text_log *t, char *line)
{
        struct eventlog_writer *w = &t->writer;
        char *end = line + strlen(line);
        uint64_t bytes;

        while (end > line && end[-1] >= '0' && end[-1] <= '9')
                end--;
        if (end == line || (end[-1] != '\t' && end[-1] != ' ') || !digits_parse(end, UINT64_MAX, &bytes))
                return "LABEL, a tab and a number of bytes";
        if (!t->sample_open)
                return "BEGIN_SAMPLE before a band";
        while (end > line && (end[-1] == '\t' || end[-1] == ' '))
                end--;
        size_t n = (size_t)(end - line) < TEXT_LABEL_MAX ? (size_t)(end - line) : TEXT_LABEL_MAX;
        if (t->sample_empty) {
                text_event(t, HW_HEAP_PROF_SAMPLE_BEGIN, 0);
                writer_number(w, ++t->era, 8);
        }
        t->sample_empty = false;
        t->any_sample = true;
        text_event(t, HW_HEAP_PROF_SAMPLE_STRING, 0);
        size_t length = writer_length_begin(w);
        writer_number(w, 0, 1);
        writer_number(w, bytes, 8);
        writer_bytes(w, line, n);
        writer_number(w, 0, 1);
        writer_length_end(w, length, 0);
        return NULL;
}

/* What follows the keyword and its space, if the line begins with it. */
static char *after_keyword(char *line, const char *keyword)
{
        size_t n = strlen(keyword);

        return !strncmp(line, keyword, n) && line[n] == ' ' ? line + n + 1 : NULL;
}

static const char *hp_line(struct text_log *t, char *line)
{
        static const char *const others[] = { "DATE",    "SAMPLE_UNIT", "VALUE_UNIT", "X_RANGE",
                                              "Y_RANGE", "ORDER",       "SHADE",      "COMMENT" };
        char *text;

        if ((text = after_keyword(line, "BEGIN_SAMPLE"))) {
                uint64_t time_ns;

                if (!parse_time(text, &time_ns))
                        return "seconds after BEGIN_SAMPLE";
                t->sample_open = t->sample_empty = true;
                t->sample_foreign = time_ns + STEP_BACK_MAX_NS < t->time_ns;
                if (t->sample_foreign) /* forkProcess leaves both their file and its offset */
                        return "rising times: several processes wrote this file";
                t->time_ns = time_ns > t->time_ns ? time_ns : t->time_ns;
                return NULL;
        }
        if ((text = after_keyword(line, "END_SAMPLE")))
                return parse_end(t, text);
        if (t->sample_open)
                return t->sample_foreign ? NULL : parse_row(t, line);
        if ((text = after_keyword(line, "MARK"))) {
                uint64_t time_ns;

                if (!parse_time(text, &time_ns))
                        return "seconds after MARK";
                text_event(t, HW_USER_MARKER, time_ns);
                size_t length = writer_length_begin(&t->writer);
                writer_bytes(&t->writer, "MARK", 4);
                writer_length_end(&t->writer, length, 0);
                return NULL;
        }
        if ((text = after_keyword(line, "JOB")))
                return *text == '"' ? parse_job(t, text + 1) : "a text in quotes after JOB";
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if (after_keyword(line, others[i]))
                        return NULL;
        return parse_row(t, line);
}

static bool hp_whole(const struct text_log *t)
{
        return t->over && !t->sample_open;
}

const struct text_reader text_hp = { .header = hp_header, .line = hp_line, .whole = hp_whole };
