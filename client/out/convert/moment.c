/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/convert/format.h"

static bool is_better(const struct moment *m, const Hw__Census *c)
{
        if (!m->census)
                return true;
        if (m->at_ns == AT_PEAK)
                return c->total_bytes > m->census->total_bytes;
        if (c->time_ns > m->at_ns)
                return m->census->time_ns > m->at_ns && c->time_ns < m->census->time_ns;
        return m->census->time_ns > m->at_ns || c->time_ns > m->census->time_ns;
}

void moment_add(struct moment *m, const Hw__Census *census)
{
        if (census->unfinished || !is_better(m, census))
                return;
        moment_done(m);
        m->census = hw_message_ref(&census->base);
}

void moment_done(struct moment *m)
{
        if (m->census)
                hw_message_unref(&m->census->base);
        m->census = NULL;
}

enum profile_of profile_choose(const struct format_options *o, uint64_t ticks, bool any_census)
{
        bool wants_heap = o->of == OF_HEAP || (o->of == OF_ANY && o->at_given);

        if (ticks > 0 && !wants_heap)
                return OF_TIME;
        return any_census && o->of != OF_TIME ? OF_HEAP : OF_ANY;
}

const Hw__Band *band_of(const struct world_target *t, uint32_t id)
{
        const struct world_band *b = world_band_of(t, id);

        return b ? b->def : NULL;
}
