/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one array. A target's list is compared with what is known of that
 * target: the same alert has the same rule, group and band. Lists keep their
 * order from one message to the next, so the search begins after the one found
 * before and usually ends at once.
 */
#include "client/answers/alerts/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/answers/answers.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/text_out.h"

static bool same_alert(const Hw__Alert *a, const Hw__Alert *b)
{
        return text_is_same(a->rule, b->rule) && text_is_same(a->group, b->group) && a->has_band == b->has_band &&
               (!a->has_band || a->band == b->band) && text_is_same(a->band_label, b->band_label);
}

/* Whether it is in the state that it was in before, since then: of the next run of a program event time begins anew. */
static bool same_firing(const Hw__Alert *a, const Hw__Alert *b)
{
        return a->state == b->state &&
               (a->has_fired_wall_ns && b->has_fired_wall_ns ? a->fired_wall_ns == b->fired_wall_ns
                                                             : a->fired_ns == b->fired_ns);
}

static bool is_of(const struct known_alert *a, size_t daemon, const char *target)
{
        return a->daemon == daemon && (!target || !strcmp(a->target, target));
}

static void free_alert(struct known_alert *a)
{
        hw_message_unref(&a->alert->base);
        free(a->target);
        free(a);
}

void known_done(struct known *k)
{
        while (k->n > 0)
                free_alert(k->alerts[--k->n]);
        free(k->alerts);
        k->alerts = NULL;
        k->capacity = 0;
}

/* ------------------------------------------------------------------ lists */

static struct known_alert *find_alert(const struct known *k, size_t daemon, const char *target, const Hw__Alert *alert,
                                      size_t *from)
{
        for (size_t i = 0; i < k->n; i++) {
                size_t at = (*from + i) % k->n;
                struct known_alert *a = k->alerts[at];

                if (is_of(a, daemon, target) && same_alert(a->alert, alert)) {
                        *from = at + 1;
                        return a;
                }
        }
        return NULL;
}

static struct known_alert *append_alert(struct known *k, size_t daemon, const char *target, const Hw__Alert *alert)
{
        struct known_alert *a;

        if (!ARRAY_RESERVE(k->alerts, k->capacity, k->n + 1))
                return NULL;
        a = calloc(1, sizeof(*a));
        if (a)
                a->target = strdup(target);
        if (!a || !a->target) {
                free(a);
                return NULL;
        }
        a->daemon = daemon;
        a->alert = hw_message_ref(&alert->base);
        k->alerts[k->n++] = a;
        return a;
}

static int add_alert(struct known *k, size_t daemon, const char *target, const Hw__Alert *alert, size_t *from)
{
        struct known_alert *a = find_alert(k, daemon, target, alert, from);
        const bool news = !a || !same_firing(a->alert, alert);

        if (!a && k->n == KNOWN_MAX) {
                k->left_out++;
                return 0;
        }
        if (!a)
                a = append_alert(k, daemon, target, alert);
        if (!a)
                return -ENOMEM;
        if (a->alert != alert) {
                hw_message_unref(&a->alert->base);
                a->alert = hw_message_ref(&alert->base);
        }
        a->listed = true;
        a->removed_ns = 0;
        a->fired |= known_fires(alert) || alert->has_fired_ns;
        if (news && k->changed)
                k->changed(k->ctx, a);
        return 0;
}

static bool was_removed_long_ago(const struct known_alert *a, uint64_t now_ns)
{
        return a->removed_ns > 0 && sub_sat(now_ns, a->removed_ns) > KNOWN_AFTER_NS;
}

/* Drops those of a target (NULL: of a daemon) that are not listed, and those of targets that are gone for long. */
static void remove_outdated(struct known *k, size_t daemon, const char *target, uint64_t now_ns)
{
        size_t n = 0;

        for (size_t i = 0; i < k->n; i++) {
                struct known_alert *a = k->alerts[i];
                if ((was_removed_long_ago(a, now_ns) || (is_of(a, daemon, target) && !a->listed)) &&
                    !(k->keep && a->fired))
                        free_alert(a);
                else
                        k->alerts[n++] = a;
        }
        k->n = n;
}

/* Of a target (NULL: of a daemon). */
static void remove_target(struct known *k, size_t daemon, const char *target)
{
        for (size_t i = 0; i < k->n; i++)
                if (is_of(k->alerts[i], daemon, target))
                        k->alerts[i]->listed = false;
}

int known_add(struct known *k, size_t daemon, const char *target, const Hw__Alerts *list, uint64_t now_ns)
{
        size_t from = 0;

        remove_target(k, daemon, target);
        if (list->has_left_out && list->left_out > k->left_out)
                k->left_out = list->left_out;
        for (size_t i = 0; i < list->n_alerts; i++)
                if (add_alert(k, daemon, target, list->alerts[i], &from) < 0)
                        return -ENOMEM;
        remove_outdated(k, daemon, target, now_ns);
        return 0;
}

void known_remove_target(struct known *k, size_t daemon, const char *target, uint64_t now_ns)
{
        remove_target(k, daemon, target);
        for (size_t i = 0; i < k->n; i++)
                if (is_of(k->alerts[i], daemon, target))
                        k->alerts[i]->removed_ns = now_ns;
}

void known_begin_resync(struct known *k, size_t daemon)
{
        remove_target(k, daemon, NULL);
}

void known_end_resync(struct known *k, size_t daemon)
{
        remove_outdated(k, daemon, NULL, 0);
}

/* ------------------------------------------------------------------- order */

bool known_fires(const Hw__Alert *alert)
{
        return alert->has_state && alert->state == HW__ALERT__STATE__STATE_FIRING;
}

bool known_is_part_of(const struct known_alert *part, const struct known_alert *whole)
{
        return part != whole && part->daemon == whole->daemon && !strcmp(part->target, whole->target) &&
               part->alert->part_of && !whole->alert->has_band && whole->alert->rule &&
               !strcmp(part->alert->part_of, whole->alert->rule);
}

bool known_is_part(const struct known *k, const struct known_alert *part)
{
        for (size_t i = 0; part->alert->part_of && i < k->n; i++)
                if (known_is_part_of(part, k->alerts[i]))
                        return true;
        return false;
}

const char *known_state_name(const Hw__Alert *alert)
{
        static const char *const names[] = { "inactive", "pending", "firing", "resolved" };

        if (!alert->has_state || alert->state < 0 || (size_t)alert->state >= ARRAY_SIZE(names))
                return "unknown";
        return names[alert->state];
}

static int severity_rank(const Hw__Alert *a)
{
        return known_fires(a) ? 2 : a->has_state && a->state == HW__ALERT__STATE__STATE_PENDING;
}

static int compare_texts(const char *a, const char *b)
{
        return strcmp(a ? a : "", b ? b : "");
}

static int compare_alerts(const void *pa, const void *pb)
{
        const struct known_alert *a = *(struct known_alert *const *)pa, *b = *(struct known_alert *const *)pb;
        int by = severity_rank(b->alert) - severity_rank(a->alert);

        if (!by)
                by = (int)alert_severity(b->alert) - (int)alert_severity(a->alert);
        if (!by)
                by = strcmp(a->target, b->target);
        if (!by)
                by = compare_texts(a->alert->rule, b->alert->rule);
        return by ? by : compare_texts(a->alert->band_label, b->alert->band_label);
}

void known_sort(struct known *k)
{
        ARRAY_SORT(k->alerts, k->n, compare_alerts);
}
