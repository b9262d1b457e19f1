/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/ctl_print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/digits.h"
#include "proto/base/utf8.h"

static int parse_silence(const struct command *c, Hw__Request **r, char *const *words, int n, const char *why)
{
        Hw__SilenceRequest *s = (*r)->silence;

        s->has_duration_ns = true;
        if (!hw_parse_duration(words[n - 1], &s->duration_ns))
                return command_usage_error(c, "silence '%s': expected a duration, e.g. 30m, 2h, 1d", words[n - 1]);
        if (hw_request_set_text(&s->rule, words[1]) < 0 ||
            hw_request_set_text(&s->target, n == 4 ? words[2] : NULL) < 0 || hw_request_set_text(&s->why, why) < 0)
                hw_request_destroy(r);
        return 0;
}

static int parse_unsilence(const struct command *c, Hw__Request **r, char *const *words, int n)
{
        Hw__UnsilenceRequest *u = (*r)->unsilence;
        const bool is_id = n != 3 && *words[1] && strspn(words[1], "0123456789") == strlen(words[1]);

        if (!is_id) {
                if (hw_request_set_text(&u->rule, words[1]) < 0 ||
                    hw_request_set_text(&u->target, n == 3 ? words[2] : NULL) < 0)
                        hw_request_destroy(r);
                return 0;
        }
        u->has_id = true;
        if (!digits_parse(words[1], UINT64_MAX, &u->id) || !u->id)
                return command_usage_error(c, "'%s': expected the number of a silence, from 1", words[1]);
        return 0;
}

int silence_parse(const struct command *c, Hw__Request **ret_request, char *const *words, int n_words, const char *why)
{
        bool is_silence = !strcmp(words[0], "silence"), is_end = !strcmp(words[0], "unsilence");
        Hw__Request *r = hw_request_new(is_silence ? HW__REQUEST__WHAT_SILENCE
                                        : is_end   ? HW__REQUEST__WHAT_UNSILENCE
                                                   : HW__REQUEST__WHAT_SILENCES);
        int status = 0;

        if (r && is_silence)
                status = parse_silence(c, &r, words, n_words, why);
        else if (r && is_end)
                status = parse_unsilence(c, &r, words, n_words);
        if (status)
                hw_request_destroy(&r);
        *ret_request = r;
        return status;
}

/* ------------------------------------------------------------------- print */

void silence_print(const Hw__Silences *list)
{
        if (list->n_silences)
                (void)printf("%4s  %-20s  %-20s  %-24s  %s\n", "ID", "RULE", "TARGET", "UNTIL", "WHY");
        else
                (void)printf("no silences\n");
        for (size_t i = 0; i < list->n_silences; i++) {
                const Hw__Silence *s = list->silences[i];
                char rule[512], target[512], why[1024], until[HW_NUMBER_MAX] = "-";

                if (s->has_until_wall_ns)
                        (void)hw_time_text(until, sizeof(until), s->until_wall_ns);
                (void)printf("%4" PRIu64 "  %-20s  %-20s  %-24s  %s\n", s->id,
                             safe_text(rule, sizeof(rule), s->rule ? s->rule : "-"),
                             safe_text(target, sizeof(target), s->target ? s->target : "-"), until,
                             safe_text(why, sizeof(why), s->why ? s->why : "-"));
        }
        if (list->not_kept)
                (void)printf("not kept over a restart: %s\n", SAFE_TEXT(1024, list->not_kept));
}
