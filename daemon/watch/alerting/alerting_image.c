/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/alerting/alerting.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/watch/alerting/internal.h"
#include "daemon/model/image/containers.h"
#include "daemon/judge/rules/alerts.h"
#include "daemon/publish/encode.h"
#include "heapwatch/wire.h"

#include "daemon/watch/alerting/alerting_image_layouts.inc"

/* The results of an alert's actions, as its message has them. */
static void write_results(struct image *im, const struct alert *alert)
{
        Hw__ActionResult rows[ALERT_RESULTS_MAX], *list[ALERT_RESULTS_MAX];
        Hw__Alert m = HW__ALERT__INIT;
        uint32_t size = 0;
        uint8_t *packed = NULL;

        PUT(&m, fingerprint, alert->fingerprint);
        PUT(&m, fired_wall_ns, alert->fired.wall_ns);
        m.actions = list;
        for (; alert->deeds && m.n_actions < alert->deeds->n; m.n_actions++) {
                const struct alert_result *r = &alert->deeds->results[m.n_actions];
                Hw__ActionResult *row = list[m.n_actions] = &rows[m.n_actions];
                hw__action_result__init(row);
                row->kind = r->kind;
                row->detail = r->detail;
                if (!r->under_way)
                        PUT(row, ok, r->ok);
                PUT_U64(row, wall_ns, r->wall_ns);
                PUT(row, attempts, r->attempts);
                PUT(row, step, r->step);
        }
        if (m.n_actions && (packed = malloc(hw__alert__get_packed_size(&m))))
                size = (uint32_t)hw__alert__pack(&m, packed);
        image_plain(im, &size, sizeof(size));
        image_block(im, &packed, size, size);
        free(packed);
}

/* What a daemon of 0.9 wrote has another form: it is left out. */
static void read_results(struct image *im, struct alerting *a)
{
        uint32_t size = 0;
        uint8_t *packed = NULL;

        image_plain(im, &size, sizeof(size));
        image_block(im, &packed, size, size);
        Hw__Alert *m = packed && image_fine(im) ? hw__alert__unpack(NULL, size, packed) : NULL;
        struct alert *alert = m ? alerts_find(a->alerts, m->fingerprint, m->fired_wall_ns) : NULL;
        for (size_t i = 0; alert && i < m->n_actions; i++) {
                const Hw__ActionResult *r = m->actions[i];
                const struct alert_result result = { r->kind ? r->kind : "",
                                                     r->detail,
                                                     !r->has_ok,
                                                     r->ok,
                                                     r->has_wall_ns ? r->wall_ns : UNKNOWN_U64,
                                                     r->attempts,
                                                     r->step };
                (void)alert_set_result(alert, &result);
        }
        if (m)
                hw__alert__free_unpacked(m, NULL);
        free(packed);
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
        uint32_t n = (uint32_t)alerts_count(a->alerts);
        image_plain(im, &n, sizeof(n));
        for (uint32_t i = 0; i < n && image_fine(im); i++)
                if (im->reads)
                        read_results(im, a);
                else
                        write_results(im, alerts_get(a->alerts, i));
}
