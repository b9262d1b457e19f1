/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/answers/answers.h"

#include <string.h>

const Hw__Alert *alert_head(const Hw__Alerts *all, const Hw__Alert *a)
{
        for (size_t i = 0; a->part_of && all && i < all->n_alerts; i++) {
                const Hw__Alert *head = all->alerts[i];

                if (head != a && !head->has_band && head->rule && !strcmp(head->rule, a->part_of))
                        return head;
        }
        return NULL;
}

enum severity alert_severity(const Hw__Alert *a)
{
        return severity_of(a->whole_severity ? a->whole_severity : a->severity);
}

static bool counts(const Hw__Alerts *all, const Hw__Alert *a, Hw__Alert__State state)
{
        return a->has_state && a->state == state && !(a->has_silenced && a->silenced) && !alert_head(all, a);
}

bool alert_counts(const Hw__Alerts *all, const Hw__Alert *a)
{
        return counts(all, a, HW__ALERT__STATE__STATE_FIRING);
}

size_t alerts_counted(const Hw__Alerts *all, Hw__Alert__State state)
{
        size_t n = 0;

        for (size_t i = 0; all && i < all->n_alerts; i++)
                n += counts(all, all->alerts[i], state);
        return n;
}

const Hw__Alert *alerts_gravest(const Hw__Alerts *all, Hw__Alert__State state)
{
        const Hw__Alert *worst = NULL;

        for (size_t i = 0; all && i < all->n_alerts; i++) {
                const Hw__Alert *a = all->alerts[i];

                if (counts(all, a, state) && (!worst || alert_severity(a) > alert_severity(worst)))
                        worst = a;
        }
        return worst;
}

size_t alerts_below(const Hw__Alerts *all, const Hw__Alert *head, Hw__Alert__State state)
{
        size_t n = 0;

        for (size_t i = 0; all && i < all->n_alerts; i++)
                n += all->alerts[i]->state == state && alert_head(all, all->alerts[i]) == head;
        return n;
}
