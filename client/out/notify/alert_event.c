/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/notify/alert_event.h"

#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"

/* Takes the reference to `alert`. */
static struct alert_event *wrap(json_t *alert, bool resolved, uint64_t fingerprint, uint64_t fired, uint64_t ended)
{
        struct alert_event *e = alert ? malloc(sizeof(*e)) : NULL;

        if (e)
                *e = (struct alert_event){ 1, resolved, fingerprint, fired, ended, alert };
        else
                json_decref(alert);
        return e;
}

struct alert_event *alert_event_new(json_t *alert, uint64_t fired_wall_ns, uint64_t ended_ns)
{
        const char *digits = json_string_value(json_object_get(alert, "fingerprint"));
        const char *status = json_string_value(json_object_get(alert, "status"));

        if (!digits || strspn(digits, "0123456789abcdef") != 16 || digits[16] || !status ||
            !json_is_string(json_object_get(alert, "alert")) || !json_is_string(json_object_get(alert, "target")) ||
            !json_is_string(json_object_get(alert, "severity")) || !json_is_object(json_object_get(alert, "labels")))
                return NULL;
        return wrap(json_incref(alert), strcmp(status, "firing") != 0, strtoull(digits, NULL, 16), fired_wall_ns,
                    ended_ns);
}

struct alert_event *alert_event_ref(const struct alert_event *event)
{
        struct alert_event *e = (struct alert_event *)event;

        e->refs++;
        return e;
}

void alert_event_unref(struct alert_event **ep)
{
        struct alert_event *e = *ep;

        *ep = NULL;
        if (!e || --e->refs > 0)
                return;
        json_decref(e->alert);
        free(e);
}

/* A copy with what identifies the alert as it was. NULL when out of memory. */
static json_t *copy_with_labels(const struct alert_event *e, const struct alert_event *labels)
{
        json_t *copy = json_copy(e->alert);

        if (copy && json_object_set(copy, "severity", json_object_get(labels->alert, "severity")) == 0 &&
            json_object_set(copy, "labels", json_object_get(labels->alert, "labels")) == 0)
                return copy;
        json_decref(copy);
        return NULL;
}

struct alert_event *alert_event_end(const struct alert_event *firing, const struct alert_event *last,
                                    const char *silenced, uint64_t now_wall_ns)
{
        json_t *alert = copy_with_labels(last ? last : firing, firing);
        char now[HW_NUMBER_MAX];
        bool good = alert != NULL;

        if (good && !last) {
                (void)hw_time_text(now, sizeof(now), now_wall_ns);
                (void)json_object_del(alert, "timeNs");
                good = json_object_set_new(alert, "status", json_string("resolved")) == 0 &&
                       json_object_set_new(alert, "at", json_string(now)) == 0;
        }
        if (good && silenced) {
                json_t *annotations = json_copy(json_object_get(alert, "annotations"));
                if (!annotations)
                        annotations = json_object();
                good = json_object_set_new(annotations, "silenced", json_string(silenced)) == 0;
                good = json_object_set_new(alert, "annotations", annotations) == 0 && good;
        }
        if (!good) {
                json_decref(alert);
                return NULL;
        }
        return wrap(alert, true, firing->fingerprint, firing->fired_wall_ns, last ? last->ended_ns : now_wall_ns);
}

struct alert_event *alert_event_begin(const struct alert_event *end)
{
        static const char *const begins[][2] = { { "at", "startsAt" }, { "timeNs", "startsTimeNs" } };
        json_t *alert = json_copy(end->alert);

        if (!alert || json_object_set_new(alert, "status", json_string("firing")) != 0) {
                json_decref(alert);
                return NULL;
        }
        for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
                if (json_object_set(alert, begins[i][0], json_object_get(alert, begins[i][1])) != 0)
                        (void)json_object_del(alert, begins[i][0]); /* it is not known */
        return wrap(alert, false, end->fingerprint, end->fired_wall_ns, UNKNOWN_U64);
}

const char *alert_event_text(const struct alert_event *e, const char *name)
{
        return json_string_value(json_object_get(e->alert, name));
}

uint64_t alert_event_wall_ns(const struct alert_event *e)
{
        return e->resolved ? e->ended_ns : e->fired_wall_ns;
}
