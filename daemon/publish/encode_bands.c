/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: a band's definition: a label for people, and its parts for programs. */
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
