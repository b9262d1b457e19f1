/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h - the table of a command's options and operands, and its parser.
 *
 *     static const struct option options[] = {
 *             OPTION_LIST("connect", 'c', "EP", struct pipe, endpoints, COMPLETE_ENDPOINT, "follow the daemon at EP"),
 *             OPTION_FLAG("numbers", 'n', struct pipe, numbers, "64-bit integers as numbers"),
 *             OPERAND_LIST("FILE", 0, struct pipe, files, COMPLETE_FILE, "finished eventlogs"),
 *             OPTIONS_END,
 *     };
 *
 * An entry says where its value goes: a member of the command's own struct, of
 * the type that the macro demands (another one does not compile). An operand is
 * an option without a name; operands are filled in the order of the table.
 *
 * Words are read as by getopt_long: options and operands in any order, "--" ends
 * options, --name=value, -xvalue, flags in one word, unambiguous beginnings of
 * long names. Texts are borrowed from argv.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/cli/command.h"

#define OPTIONS_MAX 256 /* members of one list */

/* Borrowed texts, in order; the one after the last is NULL. */
struct text_list {
        const char *items[OPTIONS_MAX + 1];
        size_t n;
};

enum option_type {
        OPTION_IS_END,
        OPTION_IS_FLAG,
        OPTION_IS_TEXT,
        OPTION_IS_LIST,
        OPTION_IS_WORDS,    /* "a,b": the commas are overwritten */
        OPTION_IS_DURATION, /* ns */
        OPTION_IS_SECONDS,  /* ns; a number without a unit is seconds */
        OPTION_IS_BYTES,
        OPTION_IS_NUMBER,
        OPTION_IS_POSITIVE, /* a real number above 0 */
        OPTION_IS_CHOICE,   /* the index of the word; for a bool, whether it is the second */
        OPTION_IS_NAME,     /* one of the words, as text */
        OPTION_IS_CALLBACK,
        OPTION_IS_REST /* an operand: it and all words after it */
};

/* What a value may be, for completion. */
enum complete {
        COMPLETE_NOTHING,
        COMPLETE_FILE,
        COMPLETE_TARGET,
        COMPLETE_TARGET_OR_FILE,
        COMPLETE_SERIES,
        COMPLETE_RULE,
        COMPLETE_ENDPOINT,
        COMPLETE_PROGRAM,
        COMPLETE_VERB /* the words after a verb: the command knows */
};

/* Takes one value. 0, or EXIT_USAGE after a report by option_error. */
typedef int option_taker(const struct command *c, const struct option *o, void *filled, char *value);

struct option {
        const char *name;                /* long, without dashes; NULL: an operand */
        const char *argument;            /* what the help calls the value; NULL: a flag */
        const char *text;                /* for the help; NULL: it is not listed */
        const char *const *words;        /* the possible values, ended by NULL; NULL: anything */
        const char *(*nth_word)(size_t); /* or the n-th of them, NULL after the last */
        option_taker *take;              /* callbacks */
        uint64_t least, most;            /* numbers, ns, bytes; of operands: how many. most 0: no bound */
        size_t at, width;                /* where the value goes */
        enum option_type type;
        enum complete complete;
        char letter; /* 0: none */
};

/* Whether member m of T has the type X: it does not compile otherwise. */
#define OPTION_AT(X, T, m)                                                                                             \
        .at = offsetof(T, m) + 0 * sizeof((X *)NULL == &((T *)NULL)->m), .width = sizeof(((T *)NULL)->m)

#define OPTION_FLAG(n, l, T, m, t)                                                                                     \
        {                                                                                                              \
                .name = n, .letter = l, .text = t, .type = OPTION_IS_FLAG, OPTION_AT(bool, T, m)                       \
        }
#define OPTION_TEXT(n, l, a, T, m, k, t)                                                                               \
        {                                                                                                              \
                .name = n, .letter = l, .argument = a, .text = t, .type = OPTION_IS_TEXT, .complete = k,               \
                OPTION_AT(const char *, T, m)                                                                          \
        }
#define OPTION_LISTED(kind, n, l, a, T, m, k, t)                                                                       \
        {                                                                                                              \
                .name = n, .letter = l, .argument = a, .text = t, .type = kind, .complete = k,                         \
                OPTION_AT(struct text_list, T, m)                                                                      \
        }
#define OPTION_LIST(n, l, a, T, m, k, t)  OPTION_LISTED(OPTION_IS_LIST, n, l, a, T, m, k, t)
#define OPTION_WORDS(n, l, a, T, m, k, t) OPTION_LISTED(OPTION_IS_WORDS, n, l, a, T, m, k, t)
#define OPTION_OF_U64(kind, n, l, a, T, m, low, high, t)                                                               \
        {                                                                                                              \
                .name = n, .letter = l, .argument = a, .text = t, .type = kind, .least = low, .most = high,            \
                OPTION_AT(uint64_t, T, m)                                                                              \
        }
#define OPTION_DURATION(n, l, T, m, low, high, t)   OPTION_OF_U64(OPTION_IS_DURATION, n, l, "TIME", T, m, low, high, t)
#define OPTION_SECONDS(n, l, a, T, m, low, high, t) OPTION_OF_U64(OPTION_IS_SECONDS, n, l, a, T, m, low, high, t)
#define OPTION_BYTES(n, l, T, m, low, t)            OPTION_OF_U64(OPTION_IS_BYTES, n, l, "BYTES", T, m, low, 0, t)
#define OPTION_NUMBER(n, l, X, T, m, low, high, t)                                                                     \
        {                                                                                                              \
                .name = n, .letter = l, .argument = "N", .text = t, .type = OPTION_IS_NUMBER, .least = low,            \
                .most = high, OPTION_AT(X, T, m)                                                                       \
        }
#define OPTION_POSITIVE(n, a, T, m, t)                                                                                 \
        {                                                                                                              \
                .name = n, .argument = a, .text = t, .type = OPTION_IS_POSITIVE, OPTION_AT(double, T, m)               \
        }
#define OPTION_CHOICE(n, l, a, X, T, m, w, t)                                                                          \
        {                                                                                                              \
                .name = n, .letter = l, .argument = a, .text = t, .type = OPTION_IS_CHOICE, .words = w,                \
                OPTION_AT(X, T, m)                                                                                     \
        }
#define OPTION_NAME(n, l, a, T, m, nth, t)                                                                             \
        {                                                                                                              \
                .name = n, .letter = l, .argument = a, .text = t, .type = OPTION_IS_NAME, .nth_word = nth,             \
                OPTION_AT(const char *, T, m)                                                                          \
        }
#define OPTION_CALLBACK(n, l, a, f, k, t)                                                                              \
        {                                                                                                              \
                .name = n, .letter = l, .argument = a, .text = t, .type = OPTION_IS_CALLBACK, .take = f, .complete = k \
        }
#define OPTION_CALLBACK_OF(n, l, a, f, nth, t)                                                                         \
        {                                                                                                              \
                .name = n, .letter = l, .argument = a, .text = t, .type = OPTION_IS_CALLBACK, .take = f,               \
                .nth_word = nth                                                                                        \
        }
#define OPERAND(kind, a, X, low, high, T, m, k, t)                                                                     \
        {                                                                                                              \
                .argument = a, .text = t, .type = kind, .least = low, .most = high, .complete = k, OPTION_AT(X, T, m)  \
        }
#define OPERAND_TEXT(a, T, m, k, t)      OPERAND(OPTION_IS_TEXT, a, const char *, 1, 1, T, m, k, t)
#define OPERAND_LIST(a, low, T, m, k, t) OPERAND(OPTION_IS_LIST, a, struct text_list, low, 0, T, m, k, t)
#define OPERAND_REST(a, T, m, k, t)      OPERAND(OPTION_IS_REST, a, char **, 1, 0, T, m, k, t)
#define OPTIONS_END                                                                                                    \
        {                                                                                                              \
                .type = OPTION_IS_END                                                                                  \
        }

/* --format text|json of a bool. */
extern const char *const option_formats[];
#define OPTION_JSON(T, m, t) OPTION_CHOICE("format", 'f', "text|json", bool, T, m, option_formats, t)

/*
 * What values mean that are a daemon's endpoint (COMPLETE_ENDPOINT): a program that knows daemons by names has them put
 * in their place here. NULL: they are taken as typed.
 */
struct option_endpoints {
        /* Sets *value to what is taken instead, which lives on. 0, or EXIT_USAGE after a report by option_error. */
        int (*take)(const struct command *c, const struct option *o, char **value);
        /* After the last word of a command line, before it is checked and run. The same. */
        int (*ready)(const struct command *c);
};
extern const struct option_endpoints *option_endpoints;

enum options_result { OPTIONS_GO, OPTIONS_DONE /* help or version was printed */, OPTIONS_BAD /* reported */ };

/* Fills *filled from the words after argv[0]. */
enum options_result options_parse(const struct command *c, void *filled, int argc, char **argv);

/* Reports what is wrong with the value of `o`, after the option's name; returns EXIT_USAGE. */
int option_error(const struct command *c, const struct option *o, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* The n-th possible value of the option. NULL after the last, and when it may be anything. */
const char *option_word(const struct option *o, size_t n);

/* What it is for, with its words in place of {} in the table's text. Returns `out`. */
#define OPTION_TEXT_ROOM 2048
char *option_text(const struct option *o, char out[OPTION_TEXT_ROOM]);

/* "did you mean 'x'?", else `otherwise`, else (it is NULL) "expected a, b or c" of the option's words. */
char *option_meant(const struct option *o, const char *typed, const char *otherwise, char *out, size_t size);

/* Adds one; 0, or EXIT_USAGE after a report. */
int text_list_add(const struct command *c, struct text_list *list, const char *text);
bool text_list_has(const struct text_list *list, const char *text);
