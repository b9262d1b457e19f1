/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/control/notifier.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/watch/alerting/silence.h"
#include "daemon/judge/rules/alerts.h"
#include "proto/base/document.h"
#include "proto/base/json_out.h"
#include "proto/base/process.h"
#include "proto/wire/action_plan.h"

/* 64-bit integers are written as strings, as in all JSON of heapwatch. */
static void put_event_time(struct json_out *j, const char *name, uint64_t ns)
{
        if (ns != UNKNOWN_U64)
                json_member_u64_string(j, name, ns);
}

static void put_pairs(struct json_out *j, const char *name, const struct rule_pair *pairs, size_t n)
{
        json_member_open(j, name, '{');
        for (size_t i = 0; i < n; i++) {
                json_text_key(j, pairs[i].name);
                json_text(j, pairs[i].value);
        }
        json_close(j, '}');
}

static void put_alert(struct json_out *j, const char *target, const struct alert *a, bool over, struct stamp at)
{
        char fingerprint[17];

        (void)snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, a->fingerprint);
        json_member_open(j, "alert", '{');
        json_member_u64(j, "version", 1);
        json_member_text(j, "status", over ? "resolved" : "firing");
        json_known_text(j, "alert", a->rule->name);
        json_known_text(j, "group", a->rule->group);
        json_known_text(j, "target", target);
        json_known_u64(j, "run", a->run > 0, a->run);
        json_known_text(j, "band", a->band_label);
        json_known_text(j, "bandSource", a->band_source);
        json_known_text(j, "bandName", a->band_name);
        json_known_text(j, "severity", severity_name(a->rule->severity));
        json_known_double(j, "value", a->has_value && isfinite(a->value), a->value);
        json_known_text(j, "valueText", a->value_text);
        json_known_text(j, "sentence",
                        over && a->state.now == ALERT_FIRING ? "The target was removed from the daemon." : a->sentence);
        put_pairs(j, "labels", a->rule->text.labels, a->rule->text.n_labels);
        put_pairs(j, "annotations", a->annotations, a->n_annotations);
        json_known_wall(j, "activeAt", a->active.wall_ns);
        json_known_wall(j, "startsAt", a->fired.wall_ns);
        json_known_wall(j, "at", at.wall_ns);
        put_event_time(j, "activeTimeNs", a->active.time_ns);
        put_event_time(j, "startsTimeNs", a->fired.time_ns);
        put_event_time(j, "timeNs", at.time_ns);
        json_member_text(j, "fingerprint", fingerprint);
        json_close(j, '}');
}

static void put_step(struct json_out *j, const struct action_step *s)
{
        json_open(j, '{');
        json_member_text(j, "kind", action_kind_name(s->kind));
        json_member_u64(j, "timeoutNs", s->timeout_ns);
        json_member_u64(j, "attempts", s->attempts);
        json_member_bool(j, "firingOnly", s->firing_only);
        if (s->argv) {
                json_member_open(j, "argv", '[');
                for (size_t i = 0; s->argv[i]; i++)
                        json_text(j, s->argv[i]);
                json_close(j, ']');
        }
        json_known_text(j, "url", s->url);
        json_known_text(j, "bearerFile", s->bearer_file);
        json_known_text(j, "caFile", s->ca_file);
        json_known_u64(j, "resendNs", s->kind == ACTION_ALERTMANAGER, s->resend_ns);
        json_close(j, '}');
}

char *alert_line(const char *target, const struct alert *a, const struct silence *silence, uint64_t gone_wall_ns,
                 size_t *ret_size)
{
        const bool over = gone_wall_ns || a->state.now == ALERT_RESOLVED;
        struct stamp at = over ? a->resolved : a->fired;
        struct document line;

        document_open(&line);
        if (!line.to)
                return NULL;
        struct json_out j = { .to = line.to };
        if (over && a->state.now == ALERT_FIRING)
                at = (struct stamp){ UNKNOWN_U64, gone_wall_ns };
        json_open(&j, '{');
        put_alert(&j, target, a, over, at);
        json_known_u64(&j, "firedNs", a->fired.wall_ns <= INT64_MAX, a->fired.wall_ns);
        json_known_u64(&j, "endedNs", over && at.wall_ns <= INT64_MAX, at.wall_ns);
        if (silence) {
                json_member_open(&j, "silence", '{');
                json_known_u64(&j, "untilNs", silence->until_wall_ns <= INT64_MAX, silence->until_wall_ns);
                json_member_text(&j, "why", silence->why);
                json_close(&j, '}');
        }
        const struct action_plan *plan = a->rule->plan;
        json_member_open(&j, "do", '[');
        for (size_t i = 0; plan && i < action_plan_steps(plan); i++)
                put_step(&j, action_plan_step(plan, i));
        json_close(&j, ']');
        if (plan) {
                const struct action_limits *limits = action_plan_limits(plan);
                json_member_open(&j, "limits", '{');
                json_member_u64(&j, "count", limits->count);
                json_member_u64(&j, "perAlert", limits->per_alert);
                json_member_u64(&j, "windowNs", limits->window_ns);
                json_close(&j, '}');
        }
        json_close(&j, '}');
        (void)putc_unlocked('\n', line.to);
        if (!document_close(&line))
                return NULL;
        *ret_size = line.size;
        return document_detach(&line);
}
