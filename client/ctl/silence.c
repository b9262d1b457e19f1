/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/ctl/silence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"

static int parse_silence(const struct command *c, struct silence_words *s, char *const *words, int n, const char *why)
{
        hw__silence_request__init(&s->silence);
        s->request.what_case = HW__REQUEST__WHAT_SILENCE;
        s->request.silence = &s->silence;
        s->silence.rule = words[1];
        s->silence.target = n == 4 ? words[2] : NULL;
        s->silence.has_duration_ns = true;
        s->silence.why = (char *)why;
        if (hw_parse_duration(words[n - 1], &s->silence.duration_ns))
                return 0;
        return command_usage_error(c, "silence '%s': expected a duration, e.g. 30m, 2h, 1d", words[n - 1]);
}

static bool is_number(const char *text)
{
        return *text && strspn(text, "0123456789") == strlen(text);
}

static int parse_unsilence(const struct command *c, struct silence_words *s, char *const *words, int n)
{
        hw__unsilence_request__init(&s->unsilence);
        s->request.what_case = HW__REQUEST__WHAT_UNSILENCE;
        s->request.unsilence = &s->unsilence;
        if (n == 3 || !is_number(words[1])) {
                s->unsilence.rule = words[1];
                s->unsilence.target = n == 3 ? words[2] : NULL;
                return 0;
        }
        errno = 0;
        s->unsilence.has_id = true;
        s->unsilence.id = strtoull(words[1], NULL, 10);
        if (errno || !s->unsilence.id)
                return command_usage_error(c, "'%s': expected the number of a silence, from 1", words[1]);
        return 0;
}

int silence_parse(const struct command *c, struct silence_words *s, char *const *words, int n_words, const char *why)
{
        hw__request__init(&s->request);
        if (!strcmp(words[0], "silence"))
                return parse_silence(c, s, words, n_words, why);
        if (!strcmp(words[0], "unsilence"))
                return parse_unsilence(c, s, words, n_words);
        hw__silences_request__init(&s->silences);
        s->request.what_case = HW__REQUEST__WHAT_SILENCES;
        s->request.silences = &s->silences;
        return 0;
}

/* ------------------------------------------------------------------- print */

static void print_one(const Hw__Silence *s)
{
        char rule[512], target[512], why[1024], until[HW_NUMBER_MAX] = "-";

        (void)hw_terminal_text(rule, sizeof(rule), s->rule ? s->rule : "-");
        (void)hw_terminal_text(target, sizeof(target), s->target ? s->target : "-");
        (void)hw_terminal_text(why, sizeof(why), s->why ? s->why : "-");
        if (s->has_until_wall_ns)
                (void)hw_time_text(until, sizeof(until), s->until_wall_ns);
        (void)printf("%4" PRIu64 "  %-20s  %-20s  %-24s  %s\n", s->id, rule, target, until, why);
}

void silence_print(const Hw__Silences *list)
{
        char safe[1024];

        if (list->n_silences)
                (void)printf("%4s  %-20s  %-20s  %-24s  %s\n", "ID", "RULE", "TARGET", "UNTIL", "WHY");
        else
                (void)printf("no silences\n");
        for (size_t i = 0; i < list->n_silences; i++)
                print_one(list->silences[i]);
        if (list->not_kept) {
                (void)hw_terminal_text(safe, sizeof(safe), list->not_kept);
                (void)printf("not kept over a restart: %s\n", safe);
        }
}
