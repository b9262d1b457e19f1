/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an alert is its struct, the name of its rule and its texts. Which bands a rule selects is determined again,
 * as after a reload.
 */
#include "daemon/judge/rules/alerts.h"

#include <stdlib.h>

#include "daemon/model/image/image.h"
#include "daemon/judge/rules/alerts_private.h"

#include "daemon/judge/rules/alerts_image_layouts.inc"

/* Texts of the rule, by which it is found again, and of the alert. */
struct texts {
        char *group, *name;
        uint64_t digest;
        char *label, *source, *band_name;
        char *filled[TEXTS_MAX];
        uint32_t n; /* of `filled` */
};

static struct texts texts_of(const struct alert *alert)
{
        const struct rule *rule = alert->rule;
        struct texts t = {
                (char *)rule->group,        (char *)rule->name,       rule->digest, (char *)alert->band_label,
                (char *)alert->band_source, (char *)alert->band_name, { NULL },     0
        };

        if (alert->memory)
                t.n = alert_text_list(alert, (const char **)t.filled);
        return t;
}

static void image_texts(struct image *im, struct texts *t)
{
        image_text(im, &t->group);
        image_text(im, &t->name);
        image_plain(im, &t->digest, sizeof(t->digest));
        image_text(im, &t->label);
        image_text(im, &t->source);
        image_text(im, &t->band_name);
        image_plain(im, &t->n, sizeof(t->n));
        if (t->n > TEXTS_MAX || (t->n && (t->n < TEXTS_BEFORE || (t->n - TEXTS_BEFORE) % 2)))
                image_refuse(im, "an alert of it has more texts than there can be");
        for (uint32_t i = 0; i < t->n && i < TEXTS_MAX; i++) {
                image_text(im, &t->filled[i]);
                if (im->reads && !t->filled[i])
                        image_refuse(im, "an alert of it lacks a text");
        }
}

static void write_alert(struct image *im, const struct alert *alert)
{
        struct alert plain = *alert;
        struct texts t = texts_of(alert);

        image_struct(im, &plain, IMAGE_TYPE(alert));
        image_texts(im, &t);
}

/* False: it is left out, or there was an error. */
static bool read_alert(struct image *im, struct alerts *a, struct alert *alert)
{
        struct texts t = { .n = 0 };
        bool good;

        image_struct(im, alert, IMAGE_TYPE(alert));
        alert->memory = NULL;
        alert->value_text = alert->threshold_text = alert->sentence = NULL;
        alert->annotations = NULL;
        alert->n_annotations = 0;
        alert->deeds = NULL;
        image_texts(im, &t);
        alert->band_label = t.label;
        alert->band_source = t.source;
        alert->band_name = t.band_name;
        if (image_fine(im) && (!t.group || !t.name || alert->state.now > ALERT_RESOLVED || (alert->band && !t.label)))
                image_refuse(im, "numbers in its alerts contradict each other");
        alert->rule = image_fine(im) ? ruleset_find_same(a->rules, t.group, t.name, t.digest) : NULL;
        good = alert->rule && (t.n == 0 || alert_text_keep(alert, (const char *const *)t.filled, t.n));
        free(t.group);
        free(t.name);
        for (uint32_t i = 0; i < TEXTS_MAX; i++)
                free(t.filled[i]);
        return good && rule_wants(alert->rule, a->target);
}

void alerts_image(struct image *im, struct alerts *a)
{
        uint32_t n = (uint32_t)a->list.n;

        image_plain(im, &n, sizeof(n));
        image_plain(im, a->left_out, sizeof(a->left_out));
        image_plain(im, &a->run, sizeof(a->run));
        for (uint32_t i = 0; !im->reads && i < n; i++)
                write_alert(im, a->list.items[i]);
        for (uint32_t i = 0; im->reads && i < n && image_fine(im); i++) {
                struct alert *alert = calloc(1, sizeof(*alert));
                if (!alert)
                        image_refuse(im, "out of memory");
                else if (!read_alert(im, a, alert) || !alert_list_append(&a->list, alert))
                        alert_free(alert);
        }
        if (im->reads)
                alert_list_sort(&a->list, a->rules);
}
