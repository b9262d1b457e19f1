/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/budget.h"

#include <string.h>

static bool all_above_the_one_before(const struct rise *r)
{
        for (unsigned i = 1; i < r->n; i++)
                if (r->spans[i].low <= r->spans[i - 1].high)
                        return false;
        return true;
}

static void close_span(struct rise *r)
{
        if (r->n == RISE_SPANS)
                memmove(r->spans, r->spans + 1, --r->n * sizeof(r->spans[0]));
        r->spans[r->n++] = r->open;
        if (r->open.high > r->record)
                r->record = r->open.high;
        r->open = (struct rise_span){ 0, 0 };
        r->rises = r->n == RISE_SPANS && all_above_the_one_before(r) &&
                   (double)r->spans[r->n - 1].low >= RISE_LEAST * (double)r->spans[0].high;
}

int64_t rise_until(const struct rise *r)
{
        if (r->is_promoting)
                return INT64_MAX;
        if (!r->rises)
                return INT64_MIN;
        const int64_t next_ns = (int64_t)(RISE_NEXT * (double)r->gap_ns);
        return r->last_ns + (next_ns > RISE_SPAN_NS ? next_ns : RISE_SPAN_NS);
}

void rise_promoted(struct rise *r, int64_t now, uint64_t bytes)
{
        const double ns = (double)(now - r->last_ns), more = RISE_PROMOTED * (double)r->live;
        const double kept = (double)bytes - r->garbage_rate * ns / 1e9;

        r->is_promoting = r->live > 0 && kept >= (double)RISE_PROMOTED_LEAST && kept >= more &&
                          kept * (double)RISE_PROMOTED_NS >= more * ns;
}

void rise_add(struct rise *r, int64_t now, uint64_t live, uint64_t promoted)
{
        /* Of a program whose requests outlive the nursery much is promoted, and garbage soon after. */
        const int64_t ns = now - r->last_ns;
        const double kept = live > r->live ? (double)(live - r->live) : 0;

        if (r->live > 0 && ns > 0) {
                const double garbage = (double)promoted > kept ? (double)promoted - kept : 0;
                const double weight = ns < RISE_USUAL_NS ? (double)ns / (double)RISE_USUAL_NS : 1;
                r->garbage_rate += (garbage * 1e9 / (double)ns - r->garbage_rate) * weight;
        }
        r->live = live;
        r->gap_ns = r->last_ns > 0 ? now - r->last_ns : 0;
        r->last_ns = now;
        if (r->open.high > 0 && now - r->open_ns >= RISE_SPAN_NS)
                close_span(r);
        if (r->open.high == 0) {
                r->open_ns = now;
                r->open.low = live;
        }
        if (live < r->open.low)
                r->open.low = live;
        if (live > r->open.high)
                r->open.high = live;
        if (r->record > 0 && (double)live >= RISE_RECORD * (double)r->record)
                r->rises = true; /* until the span is over */
}
