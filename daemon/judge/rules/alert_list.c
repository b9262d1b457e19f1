/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: an array of pointers; alerts are few and change rarely, so that moving them costs nothing. */
#include "daemon/judge/rules/alerts_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/hash.h"
#include "proto/base/process.h"
#include "proto/base/text_out.h"
#include "proto/base/array.h"

static void result_done(struct alert_result *r)
{
        free(r->kind);
        free(r->detail);
}

struct alert_deeds *alert_deeds(struct alert *alert)
{
        if (!alert->deeds)
                alert->deeds = calloc(1, sizeof(*alert->deeds));
        return alert->deeds;
}

bool alert_set_result(struct alert *alert, const struct alert_result *result)
{
        struct alert_deeds *d = result->step < ALERT_RESULTS_MAX ? alert_deeds(alert) : NULL;
        struct alert_result own = *result;
        size_t i = 0;

        own.kind = strdup(result->kind);
        own.detail = result->detail && result->detail[0] ? strdup(result->detail) : NULL;
        if (!d || !own.kind) {
                result_done(&own);
                return false;
        }
        while (i < d->n && d->results[i].step < own.step)
                i++;
        if (i < d->n && d->results[i].step == own.step) {
                result_done(&d->results[i]);
        } else {
                memmove(d->results + i + 1, d->results + i, (d->n - i) * sizeof(*d->results));
                d->n++;
        }
        d->results[i] = own;
        return true;
}

void alert_forget_results(struct alert *alert)
{
        while (alert->deeds && alert->deeds->n > 0)
                result_done(&alert->deeds->results[--alert->deeds->n]);
}

void alert_free(struct alert *alert)
{
        if (!alert)
                return;
        free((char *)alert->band_label);
        free((char *)alert->band_source);
        free((char *)alert->band_name);
        alert_forget_results(alert);
        free(alert->deeds);
        free(alert->memory);
        free(alert);
}

/* -------------------------------------------------------------------- identity */

uint64_t alert_fingerprint(const char *group, const char *rule, const char *target, const char *band,
                           const char *band_name)
{
        const char *const texts[] = { group, rule, target, band, band_name };
        uint64_t hash = 0;

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                hash = hash_text(texts[i], hash);
        return hash;
}

static uint64_t fingerprint_of(const struct alert *alert, const char *target)
{
        return alert_fingerprint(alert->rule->group, alert->rule->name, target, alert->band_label, alert->band_name);
}

static bool is_listed(const struct alert_list *l, const struct alert *alert)
{
        for (size_t i = 0; i < l->n; i++)
                if (l->items[i]->fingerprint == alert->fingerprint && l->items[i]->run == alert->run)
                        return true;
        return false;
}

/* "NAME #NUMBER", or "#NUMBER". False when out of memory. */
static bool number_it(struct alert *alert, const char *target)
{
        char numbered[BAND_TEXT_MAX + 16], *own;
        struct text_out o;

        text_out_init(&o, numbered, sizeof(numbered));
        if (alert->band_name) {
                text_put(&o, alert->band_name);
                text_put(&o, " ");
        }
        text_put(&o, "#");
        text_put_u64(&o, alert->band);
        own = strdup(numbered);
        if (!own)
                return false;
        free((char *)alert->band_name);
        alert->band_name = own;
        alert->fingerprint = fingerprint_of(alert, target);
        return true;
}

static bool name_band(struct alert *alert, const struct rule_data *data)
{
        struct alert_band texts;

        alert_text_band(data, alert->band, &texts);
        alert->band_label = strdup(texts.label);
        alert->band_source = text_copy(texts.source[0] ? texts.source : NULL);
        alert->band_name = text_copy(texts.name[0] ? texts.name : NULL);
        return alert->band_label && !alert->band_source == !texts.source[0] && !alert->band_name == !texts.name[0];
}

static struct alert *new_alert(const struct alerts *a, const struct rule *rule, uint32_t band)
{
        static const struct stamp never = { UNKNOWN_U64, UNKNOWN_U64 };
        struct alert *alert = calloc(1, sizeof(*alert));
        bool good;

        if (!alert)
                return NULL;
        *alert = (struct alert){ .rule = rule,
                                 .band = band,
                                 .run = a->run,
                                 .active = never,
                                 .fired = never,
                                 .resolved = never,
                                 .judged = never,
                                 .value = (double)NAN };
        state_init(&alert->state);
        good = !band || name_band(alert, &a->data);
        if (good)
                alert->fingerprint = fingerprint_of(alert, a->target);
        if (good && band && is_listed(&a->list, alert))
                good = number_it(alert, a->target);
        if (good)
                return alert;
        alert_free(alert);
        return NULL;
}

/* -------------------------------------------------------------------- the list */

static bool make_room(struct alert_list *l)
{
        return l->n < LIMIT_ALERTS && ARRAY_RESERVE(l->items, l->room, l->n + 1);
}

struct alert *alerts_insert(struct alerts *a, size_t i, const struct rule *rule, uint32_t band)
{
        struct alert_list *l = &a->list;
        struct alert *alert = make_room(l) ? new_alert(a, rule, band) : NULL;

        if (!alert)
                return NULL;
        memmove(l->items + i + 1, l->items + i, (l->n - i) * sizeof(*l->items));
        l->items[i] = alert;
        l->n++;
        return alert;
}

bool alert_list_append(struct alert_list *l, struct alert *alert)
{
        if (!make_room(l))
                return false;
        l->items[l->n++] = alert;
        return true;
}

void alert_list_remove(struct alert_list *l, size_t i)
{
        alert_free(l->items[i]);
        memmove(l->items + i, l->items + i + 1, (l->n - i - 1) * sizeof(*l->items));
        l->n--;
}

void alert_list_done(struct alert_list *l)
{
        while (l->n > 0)
                alert_free(l->items[--l->n]);
        free(l->items);
        *l = (struct alert_list){ .n = 0 };
}

static size_t rule_index(const struct ruleset *rules, const struct rule *rule)
{
        size_t i = 0;

        while (i < rules->n && rules->rules[i] != rule)
                i++;
        return i;
}

/* Insertion sort by the rule's place. */
void alert_list_sort(struct alert_list *l, const struct ruleset *rules)
{
        for (size_t i = 1; i < l->n; i++) {
                struct alert *alert = l->items[i];
                size_t key = rule_index(rules, alert->rule), j = i;

                while (j > 0 && rule_index(rules, l->items[j - 1]->rule) > key) {
                        l->items[j] = l->items[j - 1];
                        j--;
                }
                l->items[j] = alert;
        }
}
