/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/alerting/alerting_image.h"

#include <string.h>

#include "daemon/alerting/internal.h"
#include "daemon/image/containers.h"
#include "daemon/rules/alerts.h"

#include "daemon/alerting/alerting_layouts.inc"

/* The results of the alerts' actions, which are not kept here. */
static void image_results(struct image *im, const struct alerting *a)
{
        uint32_t n = !im->reads && a->hooks.image ? (uint32_t)alerts_count(a->alerts) : 0;

        image_plain(im, &n, sizeof(n));
        if (n && !a->hooks.image)
                image_refuse(im, "it has results of actions");
        for (uint32_t i = 0; a->hooks.image && i < n && image_fine(im); i++)
                a->hooks.image(a->hooks.ctx, im, im->reads ? 0 : alerts_get(a->alerts, i)->fingerprint);
}

static void image_gauges(struct image *im, struct alerting *a, const struct rule_gauge *fresh)
{
        struct image_entries e = image_entries(im, IMAGE_NAMES(rule_series), GAUGES);

        while (image_next(im, &e))
                if (e.lacks)
                        a->gauges[e.i].series = (struct series){ .late = 0 };
                else
                        image_pyramid(im, &a->gauges[e.i].series.pyramid, &series_shape, IMAGE_TYPE(trend_cell), NULL);
        for (uint32_t i = 0; im->reads && i < GAUGES; i++) /* the rules may be others now */
                memcpy(a->gauges[i].cells, fresh[i].cells, sizeof(a->gauges[i].cells));
}

void alerting_image(struct image *im, struct alerting *a)
{
        const struct alerting fresh = *a;

        image_struct(im, a, IMAGE_TYPE(alerting));
        if (im->reads) {
                a->model = fresh.model;
                a->tracker = fresh.tracker;
                a->publisher = fresh.publisher;
                a->hooks = fresh.hooks;
                a->alerts = fresh.alerts;
                a->live = fresh.live;
                a->agent = fresh.agent;
                a->turn_ends_ns = fresh.turn_ends_ns;
                a->hurry = a->judging = false;
                a->end_words[sizeof(a->end_words) - 1] = '\0';
                a->crash_words[sizeof(a->crash_words) - 1] = '\0';
                a->failure_words[sizeof(a->failure_words) - 1] = '\0';
                a->pause[0] = '\0';
                a->pause_first = false;
        }
        image_gauges(im, a, fresh.gauges);
        alerts_image(im, a->alerts);
        image_results(im, a);
}
