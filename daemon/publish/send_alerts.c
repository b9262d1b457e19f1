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
#include "daemon/rules/alerts.h"

static Hw__Label **encode_pairs(struct encoder *e, const struct rule_pair *pairs, size_t n, size_t *ret_n)
{
        Hw__Label *rows = encoder_calloc(e, n, sizeof(*rows));
        Hw__Label **list = encoder_calloc(e, n, sizeof(*list));

        if (!rows || !list)
                return NULL;
        for (size_t i = 0; i < n; i++) {
                hw__label__init(&rows[i]);
                rows[i].name = encoder_text(e, pairs[i].name);
                rows[i].value = encoder_text(e, pairs[i].value);
                list[i] = &rows[i];
        }
        *ret_n = n;
        return list;
}

static bool put_results(struct encoder *e, Hw__Alert *out, const struct alert_extra *extra)
{
        Hw__ActionResult *rows = encoder_calloc(e, extra->n_results, sizeof(*rows));

        out->actions = encoder_calloc(e, extra->n_results, sizeof(*out->actions));
        if (!rows || !out->actions)
                return false;
        for (size_t i = 0; i < extra->n_results; i++) {
                const struct alert_result *r = &extra->results[i];
                hw__action_result__init(&rows[i]);
                rows[i].kind = encoder_text(e, r->kind);
                if (!r->under_way)
                        PUT(&rows[i], ok, r->ok);
                rows[i].detail = encoder_text(e, r->detail);
                PUT_U64(&rows[i], wall_ns, r->wall_ns);
                PUT(&rows[i], attempts, r->attempts);
                PUT(&rows[i], step, r->step);
                out->actions[out->n_actions++] = &rows[i];
        }
        return true;
}

static bool put_extra(struct encoder *e, Hw__Alert *out, const struct alert_extra *extra)
{
        PUT(out, silenced, extra->silenced);
        if (extra->silenced) {
                out->silence = encoder_message(e, &hw__silence__descriptor);
                if (!out->silence)
                        return false;
                PUT_U64(out->silence, until_wall_ns, extra->silenced_until_wall_ns);
                out->silence->why = encoder_text(e, extra->silenced_why);
        }
        return put_results(e, out, extra);
}

static void put_times(Hw__Alert *out, const struct alert *a)
{
        PUT_U64(out, since_ns, a->active.time_ns);
        PUT_U64(out, since_wall_ns, a->active.wall_ns);
        PUT_U64(out, fired_ns, a->fired.time_ns);
        PUT_U64(out, fired_wall_ns, a->fired.wall_ns);
        PUT_U64(out, resolved_ns, a->resolved.time_ns);
        PUT_U64(out, resolved_wall_ns, a->resolved.wall_ns);
        PUT_U64(out, evaluated_ns, a->judged.time_ns);
}

static bool put_alert(struct encoder *e, Hw__Alert *out, const struct alert *a, const struct alert_extra *extra)
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
        put_times(out, a);
        out->labels = encode_pairs(e, rule->text.labels, rule->text.n_labels, &out->n_labels);
        out->annotations = encode_pairs(e, a->annotations, a->n_annotations, &out->n_annotations);
        return out->labels && out->annotations && put_extra(e, out, extra);
}

struct alert_source {
        const char *target;
        const struct alerts *alerts;
        alert_extra_fn *extra;
        void *extra_ctx;
};

static Hw__Alert *encode_alert(struct encoder *e, const struct alert_source *from, const struct alert *a)
{
        Hw__Alert *out = encoder_message(e, &hw__alert__descriptor);
        struct alert_extra more = { .n_results = 0 };

        if (!out)
                return NULL;
        if (from->extra)
                from->extra(from->extra_ctx, from->target, a, &more);
        return put_alert(e, out, a, &more) ? out : NULL;
}

static bool is_silenced(const Hw__Alert *a)
{
        return a->has_silenced && a->silenced;
}

/* Names in each part the alert that it is counted with, and in that one how severe they are together. */
static void group(struct encoder *e, const struct alerts *alerts, Hw__Alert *const *rows)
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

Hw__Alerts *encode_alerts(struct encoder *e, const char *target, const struct alerts *alerts, alert_extra_fn *extra,
                          void *extra_ctx)
{
        const struct alert_source from = { target, alerts, extra, extra_ctx };
        const size_t n = alerts_count(alerts);
        size_t bytes_left = LIMIT_ALERT_BYTES_PER_UPDATE;
        Hw__Alerts *out = encoder_message(e, &hw__alerts__descriptor);
        Hw__Alert **rows = encoder_calloc(e, n, sizeof(Hw__Alert *));
        Hw__Alert **places = encoder_calloc(e, n, sizeof(Hw__Alert *));

        if (!out || !rows || !places)
                return NULL;
        for (size_t i = 0; i < n; i++)
                if (!(rows[i] = encode_alert(e, &from, alerts_get(alerts, i))))
                        return NULL;
        group(e, alerts, rows);
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
        return send_update(p, &update, update.alerts, to);
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
