/* SPDX-License-Identifier: BSD-3-Clause */
/* news.c - DESIGN: the daemon has checked the actions; they are checked again, because it costs no line to do so. */
#include "client/out/notify/dispatcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/error.h"

static uint64_t read_number(const json_t *o, const char *name, uint64_t absent)
{
        const json_t *number = json_object_get(o, name);

        return json_is_integer(number) && json_integer_value(number) >= 0 ? (uint64_t)json_integer_value(number)
                                                                          : absent;
}

static bool read_step(struct action_plan *plan, const json_t *o, struct error *error)
{
        const char *kind = json_string_value(json_object_get(o, "kind"));
        const char *argv[ACTION_ARGV_MAX + 2] = { NULL };
        const json_t *words = json_object_get(o, "argv");
        struct action_step step = {
                .kind = action_kind_parse(kind ? kind : ""),
                .timeout_ns = read_number(o, "timeoutNs", 0),
                .attempts = (uint32_t)read_number(o, "attempts", 0),
                .firing_only = json_is_true(json_object_get(o, "firingOnly")),
                .argv = words ? argv : NULL,
                .url = json_string_value(json_object_get(o, "url")),
                .bearer_file = json_string_value(json_object_get(o, "bearerFile")),
                .ca_file = json_string_value(json_object_get(o, "caFile")),
                .resend_ns = read_number(o, "resendNs", 0),
        };

        if (step.kind == ACTION_KINDS)
                return error_set(error, "do: an action of a kind that is not known here");
        for (size_t i = 0; i < json_array_size(words) && i <= ACTION_ARGV_MAX; i++)
                argv[i] = json_string_value(json_array_get(words, i));
        return action_plan_add(plan, &step, error);
}

static bool read_plan(struct news *news, const json_t *line, struct error *error)
{
        const json_t *steps = json_object_get(line, "do"), *o = json_object_get(line, "limits");
        const struct action_limits limits = { (uint32_t)read_number(o, "count", 0),
                                              (uint32_t)read_number(o, "perAlert", 0), read_number(o, "windowNs", 0) };

        news->plan = action_plan_new();
        if (!news->plan)
                return error_set(error, "out of memory");
        bool good = action_plan_limit(news->plan, &limits, error);
        for (size_t i = 0; good && i < json_array_size(steps); i++)
                good = read_step(news->plan, json_array_get(steps, i), error);
        return good;
}

/* The text is what receivers show, in one sentence. */
static bool read_silence(struct news *news, const json_t *o, struct error *error)
{
        const uint64_t until_ns = read_number(o, "untilNs", UNKNOWN_U64);
        const char *why = json_string_value(json_object_get(o, "why"));
        char until[HW_NUMBER_MAX] = "it is ended", text[1024];

        if (!o)
                return true;
        if (until_ns != UNKNOWN_U64)
                (void)hw_time_text(until, sizeof(until), until_ns);
        (void)snprintf(text, sizeof(text), "until %s%s%.900s", until, why && *why ? ": " : "", why ? why : "");
        news->silenced = strdup(text);
        return news->silenced || error_set(error, "out of memory");
}

bool news_read(struct news *news, const json_t *line, struct error *error)
{
        *news = (struct news){ .event = alert_event_new(json_object_get(line, "alert"),
                                                        read_number(line, "firedNs", UNKNOWN_U64),
                                                        read_number(line, "endedNs", UNKNOWN_U64)) };
        if (!news->event)
                return error_set(error, "expected an alert with status, fingerprint, severity and labels");
        return read_plan(news, line, error) && read_silence(news, json_object_get(line, "silence"), error);
}

void news_done(struct news *news)
{
        alert_event_unref(&news->event);
        action_plan_unref(&news->plan);
        free(news->silenced);
}
