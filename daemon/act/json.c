/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: jansson builds and escapes. Labels are what an alert is told apart
 * by, so they hold what never changes while it fires (rule, target, band and
 * what tells it from others of its label, severity and the rule's own labels); value and times are annotations, as
 * Alertmanager wants them.
 *
 * The webhook body follows Alertmanager's notification documentation, version
 * "4"; alerts follow its OpenAPI v2 (postableAlerts).
 */
#include "daemon/act/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"

#define NEVER "0001-01-01T00:00:00Z" /* Alertmanager's way to say that something has not ended */

static void put_text(json_t *object, const char *name, const char *text)
{
        if (text)
                json_object_set_new(object, name, json_string(text));
}

static void put_wall(json_t *object, const char *name, uint64_t wall_ns)
{
        char text[HW_NUMBER_MAX];

        if (wall_ns != NOTICE_NO_TIME)
                put_text(object, name, hw_time_text(text, sizeof(text), wall_ns));
}

/* 64-bit integers are written as strings, as in all JSON of heapwatch. */
static void put_ns(json_t *object, const char *name, uint64_t ns)
{
        char text[HW_NUMBER_MAX];

        if (ns == NOTICE_NO_TIME)
                return;
        snprintf(text, sizeof(text), "%" PRIu64, ns);
        put_text(object, name, text);
}

static void put_fingerprint(json_t *object, const struct notice *n)
{
        char text[HW_NUMBER_MAX];

        snprintf(text, sizeof(text), "%016" PRIx64, n->fingerprint);
        put_text(object, "fingerprint", text);
}

static json_t *pairs(const struct notice_pair *p, size_t n)
{
        json_t *object = json_object();

        for (size_t i = 0; i < n; i++)
                if (p[i].name)
                        put_text(object, p[i].name, p[i].value);
        return object;
}

static char *dump(json_t *root)
{
        char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

        json_decref(root);
        return text;
}

/* ---------------------------------------------------------------- our own */

char *json_notice(const struct notice *n)
{
        json_t *o = json_object();

        json_object_set_new(o, "version", json_integer(1));
        put_text(o, "status", notice_state_name(n->state));
        put_text(o, "alert", n->rule);
        put_text(o, "group", n->group);
        put_text(o, "target", n->target);
        if (n->run)
                json_object_set_new(o, "run", json_integer(n->run));
        put_text(o, "band", n->band);
        put_text(o, "bandSource", n->band_source);
        put_text(o, "bandName", n->band_name);
        put_text(o, "severity", notice_severity_name(n->severity));
        if (n->has_value && isfinite(n->value))
                json_object_set_new(o, "value", json_real(n->value));
        put_text(o, "valueText", n->value_text);
        put_text(o, "sentence", n->sentence);
        json_object_set_new(o, "labels", pairs(n->labels, n->n_labels));
        json_object_set_new(o, "annotations", pairs(n->annotations, n->n_annotations));
        put_wall(o, "activeAt", n->active_wall_ns);
        put_wall(o, "startsAt", n->fired_wall_ns);
        put_wall(o, "at", n->wall_ns);
        put_ns(o, "activeTimeNs", n->active_ns);
        put_ns(o, "startsTimeNs", n->fired_ns);
        put_ns(o, "timeNs", n->time_ns);
        put_fingerprint(o, n);
        return dump(o);
}

/* ----------------------------------------------------------- Alertmanager */

static json_t *labels_of(const struct notice *n)
{
        json_t *o = pairs(n->labels, n->n_labels);

        put_text(o, "alertname", n->rule);
        put_text(o, "target", n->target);
        put_text(o, "group", n->group);
        put_text(o, "band", n->band);
        put_text(o, "band_source", n->band_source);
        put_text(o, "band_name", n->band_name);
        put_text(o, "severity", notice_severity_name(n->severity));
        return o;
}

static json_t *annotations_of(const struct notice *n)
{
        json_t *o = pairs(n->annotations, n->n_annotations);

        if (!json_object_get(o, "summary"))
                put_text(o, "summary", n->sentence);
        if (!json_object_get(o, "value"))
                put_text(o, "value", n->value_text);
        return o;
}

static uint64_t starts_at(const struct notice *n)
{
        return n->fired_wall_ns != NOTICE_NO_TIME ? n->fired_wall_ns : n->wall_ns;
}

static json_t *webhook_alert(const struct notice *n)
{
        json_t *o = json_object();

        put_text(o, "status", n->state == NOTICE_RESOLVED ? "resolved" : "firing");
        json_object_set_new(o, "labels", labels_of(n));
        json_object_set_new(o, "annotations", annotations_of(n));
        put_wall(o, "startsAt", starts_at(n));
        if (n->state == NOTICE_RESOLVED)
                put_wall(o, "endsAt", n->wall_ns);
        else
                put_text(o, "endsAt", NEVER);
        put_text(o, "generatorURL", "");
        put_fingerprint(o, n);
        return o;
}

/* As Alertmanager writes the key of a group: route, then the labels it is grouped by. */
static void put_group(json_t *o, const struct notice *n)
{
        json_t *by = json_object();
        char key[2 * LIMIT_NOTICE_TEXT_BYTES + 64];

        snprintf(key, sizeof(key), "{}:{alertname=\"%s\", target=\"%s\"}", n->rule ? n->rule : "",
                 n->target ? n->target : "");
        put_text(o, "groupKey", key);
        put_text(by, "alertname", n->rule);
        put_text(by, "target", n->target);
        json_object_set_new(o, "groupLabels", by);
}

char *json_webhook(const struct notice *n)
{
        json_t *o = json_object(), *alerts = json_array();

        put_text(o, "version", "4");
        put_group(o, n);
        json_object_set_new(o, "truncatedAlerts", json_integer(0));
        put_text(o, "status", n->state == NOTICE_RESOLVED ? "resolved" : "firing");
        put_text(o, "receiver", "heapwatch");
        json_object_set_new(o, "commonLabels", labels_of(n));
        json_object_set_new(o, "commonAnnotations", annotations_of(n));
        put_text(o, "externalURL", "");
        json_array_append_new(alerts, webhook_alert(n));
        json_object_set_new(o, "alerts", alerts);
        return dump(o);
}

static uint64_t ended_at(const struct notice *n, uint64_t now_wall_ns)
{
        uint64_t end = n->wall_ns < now_wall_ns ? n->wall_ns : now_wall_ns;

        return starts_at(n) == NOTICE_NO_TIME || end > starts_at(n) ? end : starts_at(n);
}

char *json_alertmanager(const struct notice *const *notices, size_t n, uint64_t now_wall_ns, uint64_t ends_wall_ns)
{
        json_t *alerts = json_array();

        for (size_t i = 0; i < n; i++) {
                bool resolved = notices[i]->state == NOTICE_RESOLVED;
                json_t *o = json_object();

                json_object_set_new(o, "labels", labels_of(notices[i]));
                json_object_set_new(o, "annotations", annotations_of(notices[i]));
                put_wall(o, "startsAt", starts_at(notices[i]));
                put_wall(o, "endsAt", resolved ? ended_at(notices[i], now_wall_ns) : ends_wall_ns);
                json_array_append_new(alerts, o);
        }
        return dump(alerts);
}
