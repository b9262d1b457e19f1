/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/convert/format.h"

static bool is_better(const struct conversion *c, const Hw__Census *new)
{
        const uint64_t at_ns = c->options->at_ns;

        if (!c->census)
                return true;
        if (at_ns == AT_PEAK)
                return new->total_bytes > c->census->total_bytes;
        if (new->time_ns > at_ns)
                return c->census->time_ns > at_ns && new->time_ns < c->census->time_ns;
        return c->census->time_ns > at_ns || new->time_ns > c->census->time_ns;
}

void moment_add(struct conversion *c, const Hw__Census *census)
{
        if (census->unfinished || !is_better(c, census))
                return;
        if (c->census)
                hw_message_unref(&c->census->base);
        c->census = hw_message_ref(&census->base);
}

enum profile_of profile_choose(const struct conversion *c)
{
        const struct format_options *o = c->options;
        bool wants_heap = o->of == OF_HEAP || (o->of == OF_ANY && o->at_given);

        if (c->t->ticks > 0 && !wants_heap)
                return OF_TIME;
        return c->census && o->of != OF_TIME ? OF_HEAP : OF_ANY;
}

const Hw__Band *band_of(const struct world_target *t, uint32_t id)
{
        const struct world_band *b = world_band_of(t, id);

        return b ? b->def : NULL;
}
