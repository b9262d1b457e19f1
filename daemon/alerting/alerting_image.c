/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/alerting/alerting_image.h"

#include "daemon/alerting/internal.h"
#include "daemon/image/containers.h"
#include "daemon/rules/alerts_image.h"

_Static_assert(sizeof(void *) != 8 || sizeof(struct alerting) == 6928, "does alerting_image walk what is new?");

void alerting_image(struct image *im, struct alerting *a)
{
        const struct alerting fresh = *a;

        image_plain(im, a, sizeof(*a));
        if (im->reads) {
                a->model = fresh.model;
                a->tracker = fresh.tracker;
                a->publisher = fresh.publisher;
                a->hooks = fresh.hooks;
                a->alerts = fresh.alerts;
                a->live = fresh.live;
                a->turn_ends_ns = fresh.turn_ends_ns;
                a->hurry = a->judging = false;
                a->end[sizeof(a->end) - 1] = '\0';
                a->pause[0] = '\0';
        }
        for (unsigned i = 0; i < sizeof(a->gauges) / sizeof(a->gauges[0]); i++)
                image_pyramid(im, &a->gauges[i].pyramid, &series_shape, NULL);
        alerts_image(im, a->alerts);
}
