/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: totals; the stop reasons that occurred; sparks summed over the capabilities that logged them. */
#include "daemon/publish/encode.h"

static bool put_stops(struct encoder *e, Hw__Sched *out, const struct sched *sched)
{
        Hw__StopReason *rows = encoder_calloc(e, SCHED_STATUSES, sizeof(*rows));

        out->stops = encoder_calloc(e, SCHED_STATUSES, sizeof(*out->stops));
        if (!rows || !out->stops)
                return false;
        for (uint32_t status = 0; status < SCHED_STATUSES; status++) {
                if (!sched->stops[status])
                        continue;
                Hw__StopReason *row = &rows[out->n_stops];
                hw__stop_reason__init(row);
                PUT(row, status, status);
                row->reason = encoder_text(e, sched_stop_reason(status));
                PUT(row, count, sched->stops[status]);
                out->stops[out->n_stops++] = row;
        }
        return true;
}

static bool put_sparks(struct encoder *e, Hw__Sched *out, const struct sched *sched)
{
        uint64_t sum[7] = { 0 };
        bool known = false;

        for (uint32_t cap = 0; cap < sched->n_caps; cap++) {
                known |= sched->caps[cap].sparks_known;
                for (unsigned i = 0; sched->caps[cap].sparks_known && i < 7; i++)
                        sum[i] += sched->caps[cap].sparks[i];
        }
        if (!known)
                return true;
        out->sparks = encoder_message(e, &hw__sparks__descriptor);
        if (!out->sparks)
                return false;
        PUT(out->sparks, created, sum[0]);
        PUT(out->sparks, dud, sum[1]);
        PUT(out->sparks, overflowed, sum[2]);
        PUT(out->sparks, converted, sum[3]);
        PUT(out->sparks, collected, sum[4]);
        PUT(out->sparks, fizzled, sum[5]);
        PUT(out->sparks, remaining, sum[6]);
        return true;
}

static bool put_capabilities(struct encoder *e, Hw__Sched *out, const struct sched *sched)
{
        Hw__Capability *rows = encoder_calloc(e, sched->n_caps, sizeof(*rows));

        out->capabilities = encoder_calloc(e, sched->n_caps, sizeof(*out->capabilities));
        if (!rows || !out->capabilities)
                return false;
        for (uint32_t i = 0; i < sched->n_caps; i++) {
                const struct sched_cap *cap = &sched->caps[i];
                hw__capability__init(&rows[i]);
                PUT(&rows[i], number, i);
                PUT(&rows[i], run_ns, cap->run_ns);
                PUT(&rows[i], gc_ns, cap->gc_ns);
                PUT(&rows[i], runs, cap->runs);
                PUT(&rows[i], disabled, cap->disabled);
                out->capabilities[out->n_capabilities++] = &rows[i];
        }
        return true;
}

Hw__Sched *encode_sched(struct encoder *e, const struct sched *sched)
{
        Hw__Sched *out = encoder_message(e, &hw__sched__descriptor);

        if (!out)
                return NULL;
        PUT(out, threads_created, sched->created);
        PUT(out, threads_finished, sched->finished);
        PUT(out, migrations, sched->migrations);
        PUT(out, wakeups, sched->wakeups);
        return put_stops(e, out, sched) && put_sparks(e, out, sched) && put_capabilities(e, out, sched) ? out : NULL;
}
