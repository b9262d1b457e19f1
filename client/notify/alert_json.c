/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: written piece by piece into memory. Labels identify an alert, so they
 * have what never changes while it fires (rule, target, band and what
 * distinguishes it from others with its label, severity and the rule's own
 * labels); value and times are annotations, as Alertmanager expects. A label of
 * the rule that has the name of one of ours keeps its place and gets our value.
 *
 * The webhook body follows Alertmanager's notification documentation, version
 * "4"; alerts follow its OpenAPI v2 (postableAlerts).
 */
#include "client/notify/alert_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/document.h"
#include "proto/base/json_out.h"

#define NEVER     "0001-01-01T00:00:00Z" /* Alertmanager's value for something that has not ended */
#define PAIRS_MAX (ALERT_EVENT_PAIRS + 8u)

/* -------------------------------------------------------------------- pieces */

struct writer {
        struct json_out json;
        struct document document;
};

static bool begin(struct writer *w)
{
        document_open(&w->document);
        w->json = (struct json_out){ .to = w->document.to };
        return w->document.to != NULL;
}

static char *finish(struct writer *w)
{
        return document_close(&w->document) ? document_detach(&w->document) : NULL;
}

static void put_wall(struct json_out *j, const char *name, bool known, uint64_t wall_ns)
{
        char text[HW_NUMBER_MAX];

        if (known && wall_ns != UNKNOWN_U64)
                json_known_text(j, name, hw_time_text(text, sizeof(text), wall_ns));
}

/* 64-bit integers are written as strings, as in all JSON of heapwatch. */
static void put_ns(struct json_out *j, const char *name, bool known, uint64_t ns)
{
        if (known)
                json_member_u64_string(j, name, ns);
}

static void put_fingerprint(struct json_out *j, const struct alert_event *e)
{
        char text[HW_NUMBER_MAX];

        (void)snprintf(text, sizeof(text), "%016" PRIx64, e->alert->fingerprint);
        json_known_text(j, "fingerprint", text);
}

/* --------------------------------------------------------------------- pairs */

struct pairs {
        const char *name[PAIRS_MAX], *value[PAIRS_MAX];
        size_t n;
};

static bool has(const struct pairs *p, const char *name)
{
        for (size_t i = 0; i < p->n; i++)
                if (!strcmp(p->name[i], name))
                        return true;
        return false;
}

static void set(struct pairs *p, const char *name, const char *value)
{
        size_t i = 0;

        if (!name || !value)
                return;
        while (i < p->n && strcmp(p->name[i], name) != 0)
                i++;
        if (i == PAIRS_MAX)
                return;
        p->name[i] = name;
        p->value[i] = value;
        p->n += i == p->n;
}

static void set_all(struct pairs *p, Hw__Label *const *labels, size_t n)
{
        for (size_t i = 0; i < n; i++)
                set(p, labels[i]->name, labels[i]->value);
}

static void put_pairs(struct json_out *j, const char *name, const struct pairs *p)
{
        json_member_open(j, name, '{');
        for (size_t i = 0; i < p->n; i++) {
                json_text(j, p->name[i]);
                (void)putc_unlocked(':', j->to);
                j->comma = false;
                json_text(j, p->value[i]);
        }
        json_close(j, '}');
}

/* ---------------------------------------------------------------- our own */

char *json_event(const struct alert_event *e)
{
        const Hw__Alert *a = e->alert;
        struct pairs labels = { .n = 0 }, annotations = { .n = 0 };
        struct writer w;
        struct json_out *j = &w.json;

        if (!begin(&w))
                return NULL;
        json_open(j, '{');
        json_member_u64(j, "version", 1);
        json_known_text(j, "status", alert_event_state_name(e));
        json_known_text(j, "alert", a->rule);
        json_known_text(j, "group", a->group);
        json_known_text(j, "target", e->target);
        if (a->has_run && a->run)
                json_member_u64(j, "run", a->run);
        json_known_text(j, "band", a->band_label);
        json_known_text(j, "bandSource", a->band_source);
        json_known_text(j, "bandName", a->band_name);
        json_known_text(j, "severity", a->severity);
        if (a->has_value && isfinite(a->value))
                json_member_double(j, "value", a->value);
        json_known_text(j, "valueText", a->value_text);
        json_known_text(j, "sentence", a->sentence);
        set_all(&labels, a->labels, a->n_labels);
        put_pairs(j, "labels", &labels);
        set_all(&annotations, a->annotations, a->n_annotations);
        put_pairs(j, "annotations", &annotations);
        put_wall(j, "activeAt", a->has_since_wall_ns, a->since_wall_ns);
        put_wall(j, "startsAt", a->has_fired_wall_ns, a->fired_wall_ns);
        put_wall(j, "at", true, alert_event_wall_ns(e));
        put_ns(j, "activeTimeNs", a->has_since_ns, a->since_ns);
        put_ns(j, "startsTimeNs", a->has_fired_ns, a->fired_ns);
        if (e->resolved)
                put_ns(j, "timeNs", a->has_resolved_ns, a->resolved_ns);
        else
                put_ns(j, "timeNs", a->has_fired_ns, a->fired_ns);
        put_fingerprint(j, e);
        json_close(j, '}');
        return finish(&w);
}

/* ----------------------------------------------------------- Alertmanager */

static struct pairs labels_of(const struct alert_event *e)
{
        const Hw__Alert *a = e->alert;
        struct pairs p = { .n = 0 };

        set_all(&p, a->labels, a->n_labels);
        set(&p, "alertname", a->rule);
        set(&p, "target", e->target);
        set(&p, "group", a->group);
        set(&p, "band", a->band_label);
        set(&p, "band_source", a->band_source);
        set(&p, "band_name", a->band_name);
        set(&p, "severity", a->severity);
        return p;
}

static struct pairs annotations_of(const struct alert_event *e)
{
        const Hw__Alert *a = e->alert;
        struct pairs p = { .n = 0 };

        set_all(&p, a->annotations, a->n_annotations);
        if (!has(&p, "summary"))
                set(&p, "summary", a->sentence);
        if (!has(&p, "value"))
                set(&p, "value", a->value_text);
        return p;
}

static uint64_t starts_at(const struct alert_event *e)
{
        uint64_t fired = alert_event_fired_wall_ns(e);

        return fired != UNKNOWN_U64 ? fired : alert_event_wall_ns(e);
}

static void put_labels(struct json_out *j, const char *labels_name, const char *annotations_name,
                       const struct alert_event *e)
{
        struct pairs labels = labels_of(e), annotations = annotations_of(e);

        put_pairs(j, labels_name, &labels);
        put_pairs(j, annotations_name, &annotations);
}

static void put_webhook_alert(struct json_out *j, const struct alert_event *e)
{
        json_open(j, '{');
        json_known_text(j, "status", alert_event_state_name(e));
        put_labels(j, "labels", "annotations", e);
        put_wall(j, "startsAt", true, starts_at(e));
        if (e->resolved)
                put_wall(j, "endsAt", true, alert_event_wall_ns(e));
        else
                json_known_text(j, "endsAt", NEVER);
        json_known_text(j, "generatorURL", "");
        put_fingerprint(j, e);
        json_close(j, '}');
}

/* The key of a group as Alertmanager writes it: route, then the labels that it is grouped by. */
static void put_group(struct json_out *j, const struct alert_event *e)
{
        char key[2 * ALERT_EVENT_TEXT_BYTES + 64];
        struct pairs by = { .n = 0 };

        (void)snprintf(key, sizeof(key), "{}:{alertname=\"%s\", target=\"%s\"}", e->alert->rule, e->target);
        json_known_text(j, "groupKey", key);
        set(&by, "alertname", e->alert->rule);
        set(&by, "target", e->target);
        put_pairs(j, "groupLabels", &by);
}

char *json_webhook(const struct alert_event *e)
{
        struct writer w;
        struct json_out *j = &w.json;

        if (!begin(&w))
                return NULL;
        json_open(j, '{');
        json_known_text(j, "version", "4");
        put_group(j, e);
        json_member_u64(j, "truncatedAlerts", 0);
        json_known_text(j, "status", alert_event_state_name(e));
        json_known_text(j, "receiver", "heapwatch");
        put_labels(j, "commonLabels", "commonAnnotations", e);
        json_known_text(j, "externalURL", "");
        json_member_open(j, "alerts", '[');
        put_webhook_alert(j, e);
        json_close(j, ']');
        json_close(j, '}');
        return finish(&w);
}

static uint64_t ended_at(const struct alert_event *e, uint64_t now_wall_ns)
{
        uint64_t end = alert_event_wall_ns(e) < now_wall_ns ? alert_event_wall_ns(e) : now_wall_ns;

        return starts_at(e) == UNKNOWN_U64 || end > starts_at(e) ? end : starts_at(e);
}

char *json_alertmanager(const struct alert_event *const *events, size_t n, uint64_t now_wall_ns, uint64_t ends_wall_ns)
{
        struct writer w;
        struct json_out *j = &w.json;

        if (!begin(&w))
                return NULL;
        json_open(j, '[');
        for (size_t i = 0; i < n; i++) {
                json_open(j, '{');
                put_labels(j, "labels", "annotations", events[i]);
                put_wall(j, "startsAt", true, starts_at(events[i]));
                put_wall(j, "endsAt", true, events[i]->resolved ? ended_at(events[i], now_wall_ns) : ends_wall_ns);
                json_close(j, '}');
        }
        json_close(j, ']');
        return finish(&w);
}
