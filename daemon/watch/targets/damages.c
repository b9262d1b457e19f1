/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/targets/pipeline_internal.h"

#include <string.h>

#include "daemon/publish/limits.h"

void damages_add(struct damages *d, const struct hw_eventlog_damage *place)
{
        if (d->n == LIMIT_DAMAGES) {
                memmove(d->places, d->places + 1, (LIMIT_DAMAGES - 1) * sizeof(*d->places));
                d->n--;
        }
        d->places[d->n++] = *place;
        d->all++;
}

uint64_t damages_measure(struct damages *d, const struct hw_eventlog_damage *newest)
{
        struct hw_eventlog_damage *last = d->n ? &d->places[d->n - 1] : NULL;

        if (!last || last->offset != newest->offset || newest->lost_bytes <= last->lost_bytes)
                return 0;
        const uint64_t more = newest->lost_bytes - last->lost_bytes;
        last->lost_bytes = newest->lost_bytes;
        return more;
}
