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
#include "client/out/notify/alert_event.h"

#include <stdio.h>

#include "proto/base/array.h"
#include "proto/base/document.h"
#include "proto/base/json_out.h"

#define NEVER "0001-01-01T00:00:00Z" /* Alertmanager's value for something that has not ended */

/* -------------------------------------------------------------------- pieces */

struct writer {
        struct json_out json;
        struct document document;
};

static bool begin_object(struct writer *w)
{
        document_open(&w->document);
        w->json = (struct json_out){ .to = w->document.to };
        return w->document.to != NULL;
}

static char *finish_json(struct writer *w)
{
        return document_close(&w->document) ? document_detach(&w->document) : NULL;
}

/* A value as it was read, without line feeds and with control characters escaped. */
static void put_value(struct json_out *j, const json_t *value)
{
        const char *key;
        json_t *member;
        size_t i;

        if (json_is_object(value)) {
                json_open(j, '{');
                json_object_foreach((json_t *)value, key, member)
                {
                        json_text_key(j, key);
                        put_value(j, member);
                }
                json_close(j, '}');
        } else if (json_is_array(value)) {
                json_open(j, '[');
                json_array_foreach(value, i, member) put_value(j, member);
                json_close(j, ']');
        } else if (json_is_integer(value)) {
                json_i64(j, json_integer_value(value));
        } else if (json_is_real(value)) {
                json_double(j, json_real_value(value));
        } else if (json_is_boolean(value)) {
                json_bool(j, json_is_true(value));
        } else {
                json_text(j, json_string_value(value));
        }
}

/* ---------------------------------------------------------------- our own */

char *json_event(const struct alert_event *e)
{
        struct writer w;

        if (!begin_object(&w))
                return NULL;
        put_value(&w.json, e->alert);
        return finish_json(&w);
}

/* ----------------------------------------------------------- Alertmanager */

/* The alert's own pairs of that name, and those of `names` ("in the pair", "in the alert") that it has no pair for. */
static void put_pairs(struct json_out *j, const char *name, const struct alert_event *e, const char *own,
                      const char *const (*names)[2], size_t n, bool ours_win)
{
        json_t *pairs = json_copy(json_object_get(e->alert, own));

        if (!pairs)
                pairs = json_object();
        for (size_t i = 0; i < n; i++) {
                json_t *value = json_object_get(e->alert, names[i][1]);
                if (json_is_string(value) && (ours_win || !json_object_get(pairs, names[i][0])))
                        (void)json_object_set(pairs, names[i][0], value);
        }
        json_key(j, name);
        put_value(j, pairs);
        json_decref(pairs);
}

static void put_labels(struct json_out *j, const char *labels_name, const char *annotations_name,
                       const struct alert_event *e)
{
        static const char *const labels[][2] = {
                { "alertname", "alert" },  { "target", "target" },          { "group", "group" },
                { "band", "band" },        { "band_source", "bandSource" }, { "band_name", "bandName" },
                { "severity", "severity" }
        };
        static const char *const annotations[][2] = { { "summary", "sentence" }, { "value", "valueText" } };

        put_pairs(j, labels_name, e, "labels", labels, ARRAY_SIZE(labels), true);
        put_pairs(j, annotations_name, e, "annotations", annotations, ARRAY_SIZE(annotations), false);
}

static uint64_t starts_at(const struct alert_event *e)
{
        return e->fired_wall_ns != UNKNOWN_U64 ? e->fired_wall_ns : alert_event_wall_ns(e);
}

char *json_webhook(const struct alert_event *e)
{
        struct writer w;
        struct json_out *j = &w.json;

        if (!begin_object(&w))
                return NULL;
        json_open(j, '{');
        json_known_text(j, "version", "4");
        /* The key of a group as Alertmanager writes it: route, then the labels that it is grouped by. */
        const char *name = alert_event_text(e, "alert"), *target = alert_event_text(e, "target");
        char key[8192];

        (void)snprintf(key, sizeof(key), "{}:{alertname=\"%s\", target=\"%s\"}", name, target);
        json_known_text(j, "groupKey", key);
        json_member_open(j, "groupLabels", '{');
        json_known_text(j, "alertname", name);
        json_known_text(j, "target", target);
        json_close(j, '}');
        json_member_u64(j, "truncatedAlerts", 0);
        json_known_text(j, "status", alert_event_text(e, "status"));
        json_known_text(j, "receiver", "heapwatch");
        put_labels(j, "commonLabels", "commonAnnotations", e);
        json_known_text(j, "externalURL", "");
        json_member_open(j, "alerts", '[');
        json_open(j, '{');
        json_known_text(j, "status", alert_event_text(e, "status"));
        put_labels(j, "labels", "annotations", e);
        json_known_wall(j, "startsAt", starts_at(e));
        if (e->resolved)
                json_known_wall(j, "endsAt", alert_event_wall_ns(e));
        else
                json_known_text(j, "endsAt", NEVER);
        json_known_text(j, "generatorURL", "");
        json_known_text(j, "fingerprint", alert_event_text(e, "fingerprint"));
        json_close(j, '}');
        json_close(j, ']');
        json_close(j, '}');
        return finish_json(&w);
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

        if (!begin_object(&w))
                return NULL;
        json_open(j, '[');
        for (size_t i = 0; i < n; i++) {
                json_open(j, '{');
                put_labels(j, "labels", "annotations", events[i]);
                json_known_wall(j, "startsAt", starts_at(events[i]));
                json_known_wall(j, "endsAt", events[i]->resolved ? ended_at(events[i], now_wall_ns) : ends_wall_ns);
                json_close(j, '}');
        }
        json_close(j, ']');
        return finish_json(&w);
}
