/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c - DESIGN: one pass over the words. Each value goes through one
 * function per type, so that the same mistake has the same words everywhere.
 */
#include "proto/cli/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/digits.h"
#include "proto/base/nearest.h"
#include "proto/base/text_out.h"
#include "proto/cli/complete.h"
#include "proto/cli/version.h"

#define NAMES_MAX 256 /* words that a mistyped one is compared with */

const char *const option_formats[] = { "text", "json", NULL };

struct parser {
        const struct command *command;
        void *filled;
        int argc;
        char **argv;
        int next; /* word */
        size_t n_operands;
        bool ended; /* "--" was there */
};

/* ---------------------------------------------------------------- mistakes */

int option_error(const struct command *c, const struct option *o, const char *format, ...)
{
        char text[1024];
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        return command_usage_error(c, "%s%s: %s", o->name ? "--" : "", o->name ? o->name : o->argument, text);
}

const char *option_word(const struct option *o, size_t n)
{
        if (o->nth_word)
                return o->nth_word(n);
        for (size_t i = 0; o->words && o->words[i]; i++)
                if (i == n)
                        return o->words[i];
        return NULL;
}

static size_t all_words(const struct option *o, const char **names)
{
        size_t n = 0;

        while (n < NAMES_MAX && (names[n] = option_word(o, n)))
                n++;
        return n;
}

char *option_meant(const struct option *o, const char *typed, const char *otherwise, char *out, size_t size)
{
        const char *names[NAMES_MAX];
        const size_t n = all_words(o, names);
        const char *meant = nearest(typed, names, n);
        struct text_out to;

        if (meant)
                return text_join(out, size, "did you mean '", meant, "'?", NULL);
        text_out_init(&to, out, size);
        text_put(&to, otherwise ? otherwise : "expected ");
        if (!otherwise)
                text_put_alternatives(&to, names, n);
        return out;
}

char *option_text(const struct option *o, char out[OPTION_TEXT_ROOM])
{
        const char *names[NAMES_MAX], *words = strstr(o->text, "{}");
        struct text_out to;

        text_out_init(&to, out, OPTION_TEXT_ROOM);
        text_put_n(&to, o->text, words ? (size_t)(words - o->text) : strlen(o->text));
        if (words) {
                text_put_alternatives(&to, names, all_words(o, names));
                text_put(&to, words + strlen("{}"));
        }
        return out;
}

static int unknown_option(const struct parser *p, const char *word, size_t n)
{
        char *typed = strndup(word, n);
        struct nearest near = { .typed = typed };

        for (const struct option *o = p->command->options; typed && n > 1 && o && o->type != OPTION_IS_END; o++)
                if (o->name && o->text)
                        nearest_try(&near, o->name);
        free(typed);
        if (near.found)
                return command_usage_error(p->command, "unknown option --%.*s; did you mean '--%s'?", (int)n, word,
                                           near.found);
        return command_usage_error(p->command, "unknown option --%.*s", (int)n, word);
}

/* ------------------------------------------------------------------ values */

int text_list_add(const struct command *c, struct text_list *list, const char *text)
{
        if (list->n == OPTIONS_MAX)
                return command_usage_error(c, "more than %d arguments of one kind", OPTIONS_MAX);
        list->items[list->n++] = text;
        return 0;
}

bool text_list_has(const struct text_list *list, const char *text)
{
        for (size_t i = 0; i < list->n; i++)
                if (!strcmp(list->items[i], text))
                        return true;
        return false;
}

/* Numbers as they are typed, in whole seconds where that is exact. */
static char *bound_text(char *out, size_t size, const struct option *o, uint64_t bound)
{
        if (o->type == OPTION_IS_NUMBER)
                (void)snprintf(out, size, "%" PRIu64, bound);
        else if (o->type == OPTION_IS_SECONDS)
                (void)snprintf(out, size, "%g", (double)bound / 1e9);
        else
                (void)snprintf(out, size,
                               bound % UINT64_C(3600000000000) == 0 ? "%" PRIu64 "h"
                               : bound % UINT64_C(60000000000) == 0 ? "%" PRIu64 "m"
                               : bound % UINT64_C(1000000000) == 0  ? "%" PRIu64 "s"
                                                                    : "%" PRIu64 "ms",
                               bound % UINT64_C(3600000000000) == 0 ? bound / UINT64_C(3600000000000)
                               : bound % UINT64_C(60000000000) == 0 ? bound / UINT64_C(60000000000)
                               : bound % UINT64_C(1000000000) == 0  ? bound / UINT64_C(1000000000)
                                                                    : bound / 1000000);
        return out;
}

static bool parse_seconds(const char *text, uint64_t *ret_ns)
{
        char *end;
        double s = strtod(text, &end);

        if (end == text || *end)
                return hw_parse_duration(text, ret_ns);
        if (!(s >= 0 && s <= 1e9))
                return false;
        *ret_ns = (uint64_t)(s * 1e9);
        return true;
}

static int parse_u64(const struct command *c, const struct option *o, void *at, const char *value)
{
        static const char *const expected[] = {
                [OPTION_IS_DURATION] = "a duration in ns, us, ms, s, m, h or d, e.g. 500ms",
                [OPTION_IS_SECONDS] = "seconds, or a duration in ns, us, ms, s, m, h or d, e.g. 500ms",
                [OPTION_IS_BYTES] = "a size, e.g. 512M or 1.5GiB",
                [OPTION_IS_NUMBER] = "a whole number",
        };
        char low[32], high[32];
        uint64_t v = 0;
        bool good = o->type == OPTION_IS_DURATION  ? hw_parse_duration(value, &v)
                    : o->type == OPTION_IS_SECONDS ? parse_seconds(value, &v)
                    : o->type == OPTION_IS_BYTES   ? hw_parse_bytes(value, &v)
                                                   : digits_parse(value, UINT64_MAX, &v);

        if (!good)
                return option_error(c, o, "'%s': expected %s", value, expected[o->type]);
        if (o->type == OPTION_IS_BYTES && v < o->least)
                return option_error(c, o, "'%s': expected more than nothing", value);
        if (v < o->least || (o->most && v > o->most))
                return option_error(c, o, "'%s': expected %s to %s", value, bound_text(low, sizeof(low), o, o->least),
                                    bound_text(high, sizeof(high), o, o->most ? o->most : UINT64_MAX));
        if (o->width == sizeof(uint64_t))
                *(uint64_t *)at = v;
        else
                *(unsigned *)at = (unsigned)v;
        return 0;
}

static int parse_positive(const struct command *c, const struct option *o, double *at, const char *value)
{
        char *end;
        double v = strtod(value, &end);

        if (end == value || *end || !isfinite(v) || v <= 0)
                return option_error(c, o, "'%s': expected a number above 0", value);
        *at = v;
        return 0;
}

static int parse_choice(const struct command *c, const struct option *o, void *at, char *value)
{
        char meant[512];

        for (size_t i = 0; option_word(o, i); i++) {
                if (strcmp(option_word(o, i), value))
                        continue;
                if (o->type == OPTION_IS_NAME)
                        *(const char **)at = option_word(o, i);
                else if (o->width == sizeof(bool))
                        *(bool *)at = i == 1;
                else
                        *(int *)at = (int)i;
                return 0;
        }
        return option_error(c, o, "unknown '%s'; %s", value, option_meant(o, value, NULL, meant, sizeof(meant)));
}

const struct option_endpoints *option_endpoints;

static int parse_value(const struct parser *p, const struct option *o, char *value)
{
        const struct command *c = p->command;
        void *at = (char *)p->filled + o->at;

        if (o->complete == COMPLETE_ENDPOINT && option_endpoints && option_endpoints->take(c, o, &value))
                return EXIT_USAGE;
        switch (o->type) {
        case OPTION_IS_FLAG:
                *(bool *)at = true;
                return 0;
        case OPTION_IS_TEXT:
                *(const char **)at = value;
                return 0;
        case OPTION_IS_LIST:
                return text_list_add(c, at, value);
        case OPTION_IS_WORDS: {
                char *part;
                while ((part = strsep(&value, ","))) {
                        if (!*part)
                                return option_error(c, o, "an empty name in a list; expected a,b,c");
                        if (text_list_add(c, at, part))
                                return EXIT_USAGE;
                }
                return 0;
        }
        case OPTION_IS_POSITIVE:
                return parse_positive(c, o, at, value);
        case OPTION_IS_CHOICE:
        case OPTION_IS_NAME:
                return parse_choice(c, o, at, value);
        case OPTION_IS_CALLBACK:
                return o->take(c, o, p->filled, value);
        case OPTION_IS_DURATION:
        case OPTION_IS_SECONDS:
        case OPTION_IS_BYTES:
        case OPTION_IS_NUMBER:
                return parse_u64(c, o, at, value);
        case OPTION_IS_REST:
        case OPTION_IS_END:
                break;
        }
        return 0;
}

/* ------------------------------------------------------------------- words */

const struct option *option_find(const struct command *c, const char *name, size_t n)
{
        const struct option *found = NULL;
        bool several = false;

        for (const struct option *o = c->options; o && o->type != OPTION_IS_END; o++) {
                if (!o->name || strncmp(o->name, name, n))
                        continue;
                if (!o->name[n])
                        return o;
                several = found != NULL;
                found = o;
        }
        return several || n == 0 ? NULL : found;
}

const struct option *option_find_letter(const struct command *c, char letter)
{
        for (const struct option *o = c->options; o && o->type != OPTION_IS_END; o++)
                if (o->name && o->letter == letter)
                        return o;
        return NULL;
}

/* The value of an option: the rest of its word, or the next word. */
static int parse_option(struct parser *p, const struct option *o, char *value)
{
        if (o->argument && !value) {
                if (p->next == p->argc)
                        return option_error(p->command, o, "the value is missing; expected --%s %s", o->name,
                                            o->argument);
                value = p->argv[p->next++];
        }
        if (!o->argument && value)
                return option_error(p->command, o, "takes no value, got '%s'", value);
        return parse_value(p, o, value);
}

static enum options_result parse_long(struct parser *p, char *word)
{
        size_t n = strcspn(word, "=");
        const struct option *o = option_find(p->command, word, n);

        if (!o && !strcmp(word, "help")) {
                help_print(stdout, p->command);
                return OPTIONS_DONE;
        }
        if (!o && !p->command->name && !strcmp(word, "version")) {
                version_print(stdout, command_title(p->command));
                return OPTIONS_DONE;
        }
        if (!o) {
                (void)unknown_option(p, word, n);
                return OPTIONS_BAD;
        }
        return parse_option(p, o, word[n] ? word + n + 1 : NULL) ? OPTIONS_BAD : OPTIONS_GO;
}

static enum options_result parse_letters(struct parser *p, char *word)
{
        while (*word) {
                const struct option *o = option_find_letter(p->command, *word);

                if (!o && (*word == 'h' || (*word == 'V' && !p->command->name)))
                        return parse_long(p, *word == 'h' ? (char[]){ "help" } : (char[]){ "version" });
                if (!o) {
                        (void)command_usage_error(p->command, "unknown option -%c", *word);
                        return OPTIONS_BAD;
                }
                word++;
                if (o->argument)
                        return parse_option(p, o, *word ? word : NULL) ? OPTIONS_BAD : OPTIONS_GO;
                if (parse_value(p, o, NULL))
                        return OPTIONS_BAD;
        }
        return OPTIONS_GO;
}

const struct option *option_operand(const struct command *c, size_t n)
{
        for (const struct option *o = c->options; o && o->type != OPTION_IS_END; o++) {
                if (o->name)
                        continue;
                if (n == 0 || !o->most || n < o->most)
                        return o;
                n -= o->most;
        }
        return NULL;
}

static enum options_result parse_operand(struct parser *p, char *word)
{
        const struct option *o = option_operand(p->command, p->n_operands);

        if (!o) {
                o = p->n_operands ? option_operand(p->command, p->n_operands - 1) : NULL;
                (void)command_usage_error(p->command, "unexpected argument '%s'%s%s", word, o ? " after " : "",
                                          o ? o->argument : "");
                return OPTIONS_BAD;
        }
        p->n_operands++;
        if (o->type == OPTION_IS_REST) {
                *(char ***)((char *)p->filled + o->at) = p->argv + p->next - 1;
                p->next = p->argc;
                return OPTIONS_GO;
        }
        return parse_value(p, o, word) ? OPTIONS_BAD : OPTIONS_GO;
}

static enum options_result parse_word(struct parser *p)
{
        char *word = p->argv[p->next++];

        if (p->ended || word[0] != '-' || !word[1])
                return parse_operand(p, word);
        if (word[1] != '-')
                return parse_letters(p, word + 1);
        if (word[2])
                return parse_long(p, word + 2);
        p->ended = true;
        return OPTIONS_GO;
}

enum options_result options_parse(const struct command *c, void *filled, int argc, char **argv)
{
        struct parser p = { .command = c, .filled = filled, .argc = argc, .argv = argv, .next = 1 };
        enum options_result result = OPTIONS_GO;
        size_t wanted = 0;

        while (result == OPTIONS_GO && p.next < argc)
                result = parse_word(&p);
        if (result != OPTIONS_GO)
                return result;
        for (const struct option *o = c->options; o && o->type != OPTION_IS_END; o++) {
                wanted += o->name ? 0 : o->least;
                if (!o->name && p.n_operands < wanted) {
                        (void)command_usage_error(c, "%s is missing", o->argument);
                        return OPTIONS_BAD;
                }
        }
        return OPTIONS_GO;
}
