/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: alerts one to one, in the rules' order; texts are cleaned by
 * encoder_text. The list is one message, because an alert that is not in it is
 * over: so it takes the critical alerts first, then warnings, and what exceeds
 * LIMIT_ALERT_BYTES_PER_UPDATE is counted as left out. What is part of what is
 * decided here for all subscribers; a silenced alert takes along only parts
 * that are silenced, too: what the silence is not about stays visible.
 */
#include "daemon/publish/encode.h"
#include "daemon/publish/send.h"
#include "daemon/judge/rules/alerts.h"

static void put_pairs(struct encoder *e, Hw__Label **rows, const struct rule_pair *pairs, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                rows[i]->name = encoder_text(e, pairs[i].name);
                rows[i]->value = encoder_text(e, pairs[i].value);
        }
}

static void put_results(struct encoder *e, Hw__Alert *out, const struct alert_deeds *deeds)
{
        PUT_ROWS(e, out, actions, &hw__action_result__descriptor, deeds->n);
        for (size_t i = 0; i < out->n_actions; i++) {
                const struct alert_result *r = &deeds->results[i];
                Hw__ActionResult *row = out->actions[i];
                row->kind = encoder_text(e, r->kind);
                if (!r->under_way)
                        PUT(row, ok, r->ok);
                row->detail = encoder_text(e, r->detail);
                PUT_U64(row, wall_ns, r->wall_ns);
                PUT(row, attempts, r->attempts);
                PUT(row, step, r->step);
        }
}

static void put_silence(struct encoder *e, Hw__Alert *out, const struct alert_extra *extra)
{
        PUT(out, silenced, extra->silenced);
        if (!extra->silenced || !(out->silence = encoder_message(e, &hw__silence__descriptor)))
                return;
        PUT_U64(out->silence, until_wall_ns, extra->silenced_until_wall_ns);
        out->silence->why = encoder_text(e, extra->silenced_why);
}

static void put_alert(struct encoder *e, Hw__Alert *out, const struct alert *a, const struct alert_extra *extra)
{
        const struct rule *rule = a->rule;

        PUT(out, fingerprint, a->fingerprint);
        out->rule = encoder_text(e, rule->name);
        out->group = encoder_text(e, rule->group);
        out->severity = encoder_text(e, severity_name(rule->severity));
        PUT(out, state, (Hw__Alert__State)a->state.now);
        PUT(out, unknown, a->state.unknown);
        if (a->band)
                PUT(out, band, a->band);
        out->band_label = encoder_text(e, a->band_label);
        out->band_source = encoder_text(e, a->band_source);
        out->band_name = encoder_text(e, a->band_name);
        if (a->has_value)
                PUT(out, value, a->value);
        out->value_text = encoder_text(e, a->value_text);
        out->threshold_text = encoder_text(e, a->threshold_text);
        out->expr = encoder_text(e, rule->text.expr);
        out->sentence = encoder_text(e, a->sentence);
        if (a->run)
                PUT(out, run, a->run);
        PUT_U64(out, since_ns, a->active.time_ns);
        PUT_U64(out, since_wall_ns, a->active.wall_ns);
        PUT_U64(out, fired_ns, a->fired.time_ns);
        PUT_U64(out, fired_wall_ns, a->fired.wall_ns);
        PUT_U64(out, resolved_ns, a->resolved.time_ns);
        PUT_U64(out, resolved_wall_ns, a->resolved.wall_ns);
        PUT_U64(out, evaluated_ns, a->judged.time_ns);
        PUT_ROWS(e, out, labels, &hw__label__descriptor, rule->text.n_labels);
        put_pairs(e, out->labels, rule->text.labels, out->n_labels);
        PUT_ROWS(e, out, annotations, &hw__label__descriptor, a->n_annotations);
        put_pairs(e, out->annotations, a->annotations, out->n_annotations);
        put_silence(e, out, extra);
        if (a->deeds)
                put_results(e, out, a->deeds);
}

static bool is_silenced(const Hw__Alert *a)
{
        return a->has_silenced && a->silenced;
}

/* Names in each part the alert that it is counted with, and in that one how severe they are together. */
static void group_alerts(struct encoder *e, const struct alerts *alerts, Hw__Alert *const *rows)
{
        for (size_t i = 0; i < alerts_count(alerts); i++) {
                const size_t at = alerts_whole(alerts, i);
                const struct alert *part = alerts_get(alerts, i), *whole;

                if (at == ALERTS_NONE || (is_silenced(rows[at]) && !is_silenced(rows[i])))
                        continue;
                whole = alerts_get(alerts, at);
                rows[i]->part_of = encoder_text(e, whole->rule->name);
                if (part->state.now == whole->state.now &&
                    (!rows[at]->whole_severity || part->rule->severity > severity_of(rows[at]->whole_severity)))
                        rows[at]->whole_severity = encoder_text(
                                e, severity_name(part->rule->severity > whole->rule->severity ? part->rule->severity
                                                                                              : whole->rule->severity));
        }
}

/* Moves the alerts of one severity to their places while there are bytes left. */
static void collect_severity(const struct alerts *alerts, Hw__Alert *const *rows, enum severity severity,
                             Hw__Alert **places, size_t *bytes_left)
{
        for (size_t i = 0; i < alerts_count(alerts); i++) {
                if (alerts_get(alerts, i)->rule->severity != severity)
                        continue;
                size_t size = protobuf_c_message_get_packed_size(&rows[i]->base);
                if (size > *bytes_left)
                        continue;
                places[i] = rows[i];
                *bytes_left -= size;
        }
}

static Hw__Alerts *encode_alerts(struct encoder *e, const char *target, const struct alerts *alerts,
                                 alert_extra_fn *extra, void *extra_ctx)
{
        const size_t n = alerts_count(alerts);
        size_t bytes_left = LIMIT_ALERT_BYTES_PER_UPDATE;
        Hw__Alerts *out = encoder_message(e, &hw__alerts__descriptor);
        Hw__Alert **rows = encoder_rows(e, &hw__alert__descriptor, n);
        Hw__Alert **places = encoder_calloc(e, n, sizeof(Hw__Alert *));

        if (!out || !rows || !places)
                return NULL;
        for (size_t i = 0; i < n; i++) {
                struct alert_extra more = { .silenced = false };
                if (extra)
                        extra(extra_ctx, target, alerts_get(alerts, i), &more);
                put_alert(e, rows[i], alerts_get(alerts, i), &more);
        }
        group_alerts(e, alerts, rows);
        for (int severity = SEVERITY_CRITICAL; severity >= SEVERITY_INFO; severity--)
                collect_severity(alerts, rows, (enum severity)severity, places, &bytes_left);
        out->alerts = places;
        for (size_t i = 0; i < n; i++)
                if (places[i])
                        places[out->n_alerts++] = places[i];
        PUT(out, rules_generation, alerts_generation(alerts));
        if (alerts_left_out(alerts) + (n - out->n_alerts))
                PUT(out, left_out, alerts_left_out(alerts) + (n - out->n_alerts));
        return out;
}

bool send_alerts(struct publisher *p, struct snapshot *to)
{
        Hw__Update update = HW__UPDATE__INIT;

        if (!p->alerts)
                return true;
        update.body_case = HW__UPDATE__BODY_ALERTS;
        update.alerts = encode_alerts(p->encoder, p->target, p->alerts, p->alert_extra, p->alert_extra_ctx);
        return send_update(p, &update, to);
}

void publisher_alerts(struct publisher *p, uint64_t wall_ns)
{
        p->wall_ns = wall_ns;
        (void)send_alerts(p, NULL); /* full state: the next one repeats it */
}

void publisher_set_alerts(struct publisher *p, const struct alerts *alerts, alert_extra_fn *extra, void *extra_ctx)
{
        p->alerts = alerts;
        p->alert_extra = extra;
        p->alert_extra_ctx = extra_ctx;
}
