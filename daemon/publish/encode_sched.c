/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: totals; the stop reasons that occurred; sparks summed over the capabilities that logged them. A log without
 * events of the scheduler, or of collections, still has capabilities: what such events tell is unknown then, not 0.
 */
#include "daemon/publish/encode.h"

static void put_sparks(struct encoder *e, Hw__Sched *out, const struct sched *sched)
{
        uint64_t sum[7] = { 0 };
        bool known = false;

        for (uint32_t cap = 0; cap < sched->n_caps; cap++) {
                known |= sched->caps[cap].sparks_known;
                for (unsigned i = 0; sched->caps[cap].sparks_known && i < 7; i++)
                        sum[i] += sched->caps[cap].sparks[i];
        }
        if (!known || !(out->sparks = encoder_message(e, &hw__sparks__descriptor)))
                return;
        PUT(out->sparks, created, sum[0]);
        PUT(out->sparks, dud, sum[1]);
        PUT(out->sparks, overflowed, sum[2]);
        PUT(out->sparks, converted, sum[3]);
        PUT(out->sparks, collected, sum[4]);
        PUT(out->sparks, fizzled, sum[5]);
        PUT(out->sparks, remaining, sum[6]);
}

static bool has_events(const struct sched *sched)
{
        uint64_t n = sched->created | sched->finished | sched->migrations | sched->wakeups;

        for (uint32_t status = 0; status < SCHED_STATUSES; status++)
                n |= sched->stops[status];
        for (uint32_t cap = 0; cap < sched->n_caps; cap++)
                n |= sched->caps[cap].runs;
        return n > 0;
}

Hw__Sched *encode_sched(struct encoder *e, const struct sched *sched)
{
        Hw__Sched *out = encoder_message(e, &hw__sched__descriptor);
        const bool scheduled = has_events(sched);

        if (!out)
                return NULL;
        if (scheduled) {
                PUT(out, threads_created, sched->created);
                PUT(out, threads_finished, sched->finished);
                PUT(out, migrations, sched->migrations);
                PUT(out, wakeups, sched->wakeups);
        }
        size_t n = 0;
        PUT_ROWS(e, out, stops, &hw__stop_reason__descriptor, SCHED_STATUSES);
        for (uint32_t status = 0; status < out->n_stops; status++) {
                if (!sched->stops[status])
                        continue;
                Hw__StopReason *row = out->stops[n++];
                PUT(row, status, status);
                row->reason = encoder_text(e, sched_stop_reason(status));
                PUT(row, count, sched->stops[status]);
        }
        out->n_stops = n;
        put_sparks(e, out, sched);
        uint64_t gc_ns = 0;

        for (uint32_t i = 0; i < sched->n_caps; i++)
                gc_ns |= sched->caps[i].gc_ns;
        PUT_ROWS(e, out, capabilities, &hw__capability__descriptor, sched->n_caps);
        for (uint32_t i = 0; i < out->n_capabilities; i++) {
                const struct sched_cap *cap = &sched->caps[i];
                PUT(out->capabilities[i], number, i);
                PUT(out->capabilities[i], disabled, cap->disabled);
                if (scheduled) {
                        PUT(out->capabilities[i], run_ns, cap->run_ns);
                        PUT(out->capabilities[i], runs, cap->runs);
                }
                if (gc_ns > 0)
                        PUT(out->capabilities[i], gc_ns, cap->gc_ns);
        }
        return out;
}
