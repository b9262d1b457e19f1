/* SPDX-License-Identifier: BSD-3-Clause */
/* alert_event.c - the message is copied by packing and unpacking; texts are cut or replaced in the copy. */
#include "client/notify/alert_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/utf8.h"

/* ---------------------------------------------------------------------- copy */

static void cut(char *text)
{
        if (text && strnlen(text, ALERT_EVENT_TEXT_BYTES) == ALERT_EVENT_TEXT_BYTES)
                text[utf8_cut(text, ALERT_EVENT_TEXT_BYTES - 1)] = '\0';
}

static void cut_pairs(Hw__Label **pairs, size_t *n)
{
        while (*n > ALERT_EVENT_PAIRS)
                hw__label__free_unpacked(pairs[--*n], NULL);
        for (size_t i = 0; i < *n; i++) {
                cut(pairs[i]->name);
                cut(pairs[i]->value);
        }
}

static void cut_all(Hw__Alert *a)
{
        char *const texts[] = { a->rule,       a->group,       a->severity,  a->band_label,
                                a->value_text, a->band_source, a->band_name, a->sentence };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                cut(texts[i]);
        cut_pairs(a->labels, &a->n_labels);
        cut_pairs(a->annotations, &a->n_annotations);
}

static Hw__Alert *copy(const Hw__Alert *alert)
{
        size_t size = hw__alert__get_packed_size(alert);
        uint8_t *packed = malloc(size + 1);
        Hw__Alert *made = NULL;

        if (packed)
                made = hw__alert__unpack(NULL, hw__alert__pack(alert, packed), packed);
        free(packed);
        return made;
}

struct alert_event *alert_event_new(const char *target, const Hw__Alert *alert, bool resolved)
{
        struct alert_event *e = calloc(1, sizeof(*e));

        if (!e)
                return NULL;
        e->refs = 1;
        e->resolved = resolved;
        e->target = strdup(target);
        e->alert = copy(alert);
        if (!e->target || !e->alert) {
                alert_event_unref(&e);
                return NULL;
        }
        e->alert->has_state = true;
        e->alert->state = resolved ? HW__ALERT__STATE__STATE_RESOLVED : HW__ALERT__STATE__STATE_FIRING;
        cut_all(e->alert);
        return e;
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
        hw__alert__free_unpacked(e->alert, NULL);
        free(e->target);
        free(e);
}

/* ---------------------------------------------------------------------- ends */

/* A copy instead of a text of the message. False when out of memory. */
static bool replace(char **text, const char *with)
{
        char *made = strdup(with);

        if (!made)
                return false;
        free(*text);
        *text = made;
        return true;
}

static void end_at(Hw__Alert *a, uint64_t wall_ns)
{
        a->has_resolved_ns = false;
        a->has_resolved_wall_ns = true;
        a->resolved_wall_ns = wall_ns;
}

struct alert_event *alert_event_end(const struct alert_event *firing, const Hw__Alert *last, const char *why,
                                    uint64_t now_wall_ns)
{
        struct alert_event *e;
        Hw__Alert mixed;

        if (!last) {
                e = alert_event_new(firing->target, firing->alert, true);
                if (!e)
                        return NULL;
                end_at(e->alert, now_wall_ns);
                if (why && !replace(&e->alert->sentence, why))
                        alert_event_unref(&e);
                return e;
        }
        mixed = *last; /* borrows from both; alert_event_new copies */
        mixed.severity = firing->alert->severity;
        mixed.labels = firing->alert->labels;
        mixed.n_labels = firing->alert->n_labels;
        return alert_event_new(firing->target, &mixed, true);
}

static bool add_annotation(Hw__Alert *a, const char *name, const char *value)
{
        Hw__Label **more = realloc(a->annotations, (a->n_annotations + 1) * sizeof(*more));
        Hw__Label *label = calloc(1, sizeof(*label));

        if (more)
                a->annotations = more;
        if (label) {
                hw__label__init(label);
                label->name = strdup(name);
                label->value = strdup(value);
        }
        if (!more || !label || !label->name || !label->value) {
                hw__label__free_unpacked(label, NULL);
                return false;
        }
        more[a->n_annotations++] = label;
        return true;
}

struct alert_event *alert_event_resolve_on_silence(const struct alert_event *firing, const Hw__Silence *silence,
                                                   uint64_t now_wall_ns)
{
        struct alert_event *e = alert_event_new(firing->target, firing->alert, true);
        char until[HW_NUMBER_MAX] = "", words[1024];
        const char *why = silence && silence->why ? silence->why : "";

        if (!e)
                return NULL;
        if (silence && silence->has_until_wall_ns)
                (void)hw_time_text(until, sizeof(until), silence->until_wall_ns);
        (void)snprintf(words, sizeof(words), "until %s%s%.900s", until[0] ? until : "it is ended", why[0] ? ": " : "",
                       why);
        end_at(e->alert, now_wall_ns);
        while (e->alert->n_annotations >= ALERT_EVENT_PAIRS)
                hw__label__free_unpacked(e->alert->annotations[--e->alert->n_annotations], NULL);
        if (!add_annotation(e->alert, "silenced", words))
                alert_event_unref(&e);
        return e;
}

/* --------------------------------------------------------------------- times */

uint64_t alert_event_fired_wall_ns(const struct alert_event *e)
{
        return e->alert->has_fired_wall_ns ? e->alert->fired_wall_ns : UNKNOWN_U64;
}

uint64_t alert_event_wall_ns(const struct alert_event *e)
{
        if (!e->resolved)
                return alert_event_fired_wall_ns(e);
        return e->alert->has_resolved_wall_ns ? e->alert->resolved_wall_ns : UNKNOWN_U64;
}

const char *alert_event_state_name(const struct alert_event *e)
{
        return e->resolved ? "resolved" : "firing";
}
