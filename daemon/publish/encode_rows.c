/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: what there are many of. A band's definition is a label for people, and its parts for programs. Rows of a
 * census are packed arrays, band[i] holding bytes[i] in closures[i], in the census's own order. Of the time profile
 * and the ticky counters send_rows.c decides which rows are sent. Notes may hold anything: published as valid UTF-8,
 * control characters included; displays escape these.
 */
#include "daemon/publish/encode.h"
#include "daemon/publish/sentences.h"

void put_cost_centre(struct encoder *e, Hw__CostCentre *out, const struct bands *bands, uint32_t id)
{
        const struct cost_centre cc = bands_cost_centre(bands, id);

        PUT(out, id, id);
        if (!cc.label)
                return; /* never defined: only the id is known */
        out->label = encoder_text(e, cc.label);
        out->module = encoder_text(e, cc.module);
        out->source = encoder_text(e, cc.source);
        PUT(out, caf, cc.caf);
}

static Hw__InfoTable *encode_info_table(struct encoder *e, const struct info_table *it)
{
        Hw__InfoTable *out = encoder_message(e, &hw__info_table__descriptor);

        if (!out)
                return NULL;
        out->name = encoder_text(e, it->name);
        out->closure_type = encoder_text(e, label_closure_type(it->closure_type));
        out->type = encoder_text(e, it->type);
        out->label = encoder_text(e, it->label);
        out->module = encoder_text(e, it->module);
        out->source = encoder_text(e, it->source);
        return out;
}

static char *display_label(struct encoder *e, const struct bands *bands, const struct band *band)
{
        char label[LABEL_MAX];
        const size_t size = label_band(label, bands, band);

        if (size)
                return encoder_bytes(e, label, size);
        return encoder_text(e, band->stack ? "MAIN" : band->label); /* "MAIN": the empty stack */
}

Hw__Band *encode_band(struct encoder *e, const struct bands *bands, const struct band *band, bool snapshot)
{
        Hw__Band *out = encoder_message(e, &hw__band__descriptor);

        if (!out)
                return NULL;
        PUT(out, id, band->id);
        out->label = display_label(e, bands, band);
        PUT_ROWS(e, out, stack, &hw__cost_centre__descriptor, band->depth);
        for (size_t i = 0; i < out->n_stack; i++)
                put_cost_centre(e, out->stack[i], bands, band->stack[i]);
        if (band->info_table)
                out->info_table = encode_info_table(e, band->info_table);
        PUT_U64(out, first_seen_ns, band->first_seen_ns);
        if (band->key)
                PUT(out, key, band->key);
        if (snapshot && band->sampled)
                PUT(out, first_bytes, band->first_bytes);
        return out;
}

Hw__Census *encode_census(struct encoder *e, const struct census *census)
{
        Hw__Census *out = encoder_message(e, &hw__census__descriptor);

        if (!out)
                return NULL;
        PUT(out, number, census->number);
        PUT(out, time_ns, census->time_ns);
        PUT(out, total_bytes, census->total_bytes);
        PUT(out, rows_left_out, census->rows_left_out);
        PUT(out, bytes_left_out, census->bytes_left_out);
        PUT(out, unfinished, census->unfinished);
        if (census->outside)
                PUT(out, outside, true);
        if (census->spread > 0)
                PUT(out, spread, census->spread);
        if (census->n_rows) {
                const size_t n = census->n_rows;

                out->band = encoder_calloc(e, n, sizeof(*out->band));
                out->bytes = encoder_calloc(e, n, sizeof(*out->bytes));
                out->closures = census_has_closures(census) ? encoder_calloc(e, n, sizeof(*out->closures)) : NULL;
                if (!e->failed) {
                        out->n_band = out->n_bytes = n;
                        out->n_closures = out->closures ? n : 0;
                        for (size_t i = 0; i < n; i++) {
                                out->band[i] = census->rows[i].band;
                                out->bytes[i] = census->rows[i].bytes;
                                if (out->closures)
                                        out->closures[i] = census->rows[i].closures;
                        }
                }
                PUT_ROWS(e, out, contents, &hw__band_contents__descriptor, census->n_contents);
                for (size_t i = 0; i < out->n_contents; i++) {
                        PUT(out->contents[i], band, census->contents[i].band);
                        PUT(out->contents[i], bytes, census->contents[i].bytes);
                        if (census->contents[i].of_bytes)
                                PUT(out->contents[i], of_bytes, census->contents[i].of_bytes);
                        out->contents[i]->name = encoder_text(e, census->contents[i].name);
                }
        }
        return e->failed ? NULL : out;
}

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

Hw__Note *encode_note(struct encoder *e, const struct note *note)
{
        Hw__Note *out = encoder_message(e, &hw__note__descriptor);

        if (!out)
                return NULL;
        PUT(out, number, note->number);
        PUT(out, time_ns, note->time_ns);
        PUT(out, what, (Hw__Note__What)note->what);
        if (note->cap != HW_CAP_NONE)
                PUT(out, capability, note->cap);
        if (note->what == NOTE_THREAD_LABEL)
                PUT(out, thread, note->thread);
        if (note->what != NOTE_BINARY)
                out->text = encoder_sized_text(e, note->text, note->text_size);
        PUT(out, size_bytes, note->size_bytes);
        return out;
}
