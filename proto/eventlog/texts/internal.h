/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - what the texts share: a reader takes a line, and writes events into the open block. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/eventlog/writer.h"
#include "proto/eventlog/texts/texts.h"

#define TEXT_LINE_BYTES 65536u /* longer lines cannot be read */
#define TEXT_LABEL_MAX  4000u  /* a longer label is cut */
#define TEXT_BLOCK      65536u /* bytes of events after which a block ends */
#define TEXT_NO_CAP     0xffffu

struct text_log {
        const struct text_reader *reader;
        struct eventlog_writer writer;
        size_t fetched; /* how many of the writer's bytes */
        bool block_open;
        uint16_t cap;     /* of the blocks */
        uint64_t time_ns; /* of the newest event; never decreases */

        char line[TEXT_LINE_BYTES + 1];
        size_t n_line;
        bool line_too_long;
        uint64_t line_number;            /* of the current line, from 1 */
        bool after_line;                 /* the newest byte was a line feed */
        uint64_t used_bytes, idle_bytes; /* of the text: that have made events, and that have not */
        struct text_damage damage;

        bool sample_open, sample_empty; /* .hp */
        bool sample_foreign;            /* .hp: the open sample is of another process, and left out */
        bool any_sample, over;          /* .hp: its last sample was the empty one with which the runtime ends */
        uint64_t era;
        struct prof *prof; /* -pj; NULL: out of memory, or not one */

        bool waiting; /* events wait until what is in `writer` was fetched: no text is taken */
        bool ending;  /* no more text follows */
};

/* A text is read by lines or by bytes. What was expected is NULL when nothing else was. */
struct text_reader {
        void (*header)(struct text_log *t);                  /* the types of events */
        const char *(*line)(struct text_log *t, char *line); /* returns what was expected there, or */
        const char *(*byte)(struct text_log *t, char c);
        bool (*more)(struct text_log *t);       /* while `waiting`: writes an event; whether others wait. May be NULL */
        const char *(*end)(struct text_log *t); /* no text follows; may be NULL */
        bool (*whole)(const struct text_log *t); /* at the end: whether the program ended by itself */
};

extern const struct text_reader text_hp, text_prof;

struct prof;
void prof_done(struct prof **p);

/* Declares a type of the eventlog's header by its number. */
void text_type(struct text_log *t, uint16_t id, uint16_t size);

/* An event at this time, or at that of the newest event if that is later; its payload follows. */
void text_event(struct text_log *t, uint16_t id, uint64_t time_ns);

/* The program and its arguments, NUL-terminated words one after the other: PROGRAM_ARGS. */
void text_arguments(struct text_log *t, const char *words, size_t n);

#define TEXT_SECONDS_MAX 1000000000u /* times are below that */

/* Seconds "12.345678" at *text, as ns, moving past them. False: not a number, or too many. */
bool text_seconds(const char **text, uint64_t *ret_ns);
