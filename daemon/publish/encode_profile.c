/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: one row of the time profile, one ticky counter; send_rows.c decides which rows are sent. */
#include "daemon/publish/encode.h"

Hw__Stack *encode_stack(struct encoder *e, const struct bands *bands, const struct profile_stack *stack)
{
        Hw__Stack *out = encoder_message(e, &hw__stack__descriptor);

        if (!out)
                return NULL;
        PUT(out, id, stack->id);
        PUT(out, ticks, stack->ticks);
        if (stack->thread)
                PUT(out, thread, stack->thread);
        PUT_ROWS(e, out, centres, &hw__cost_centre__descriptor, stack->depth);
        out->n_centres = 0;
        for (uint32_t i = 0; i < stack->depth && out->centres; i++)
                if (i == 0 || !bands_is_same_frame(bands, stack->centres[i], stack->centres[i - 1]))
                        put_cost_centre(e, out->centres[out->n_centres++], bands, stack->centres[i]);
        return out;
}

Hw__TickyCounter *encode_ticky(struct encoder *e, const struct ticky_counter *counter)
{
        Hw__TickyCounter *out = encoder_message(e, &hw__ticky_counter__descriptor);

        if (!out)
                return NULL;
        PUT(out, id, counter->id);
        if (counter->name) { /* defined at exit; until then only its numbers are known */
                out->name = encoder_text(e, counter->name);
                out->argument_kinds = encoder_text(e, counter->argument_kinds);
                PUT(out, arity, counter->arity);
        }
        PUT(out, entries, counter->entries);
        PUT(out, allocs, counter->allocs);
        if (!counter->allocd_unknown)
                PUT(out, allocd, counter->allocd);
        return out;
}
