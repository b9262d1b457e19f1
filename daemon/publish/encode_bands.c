/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: a band's definition: a label for people, and the parts it is made of for programs. */
#include "publish/encode.h"
#include "publish/label.h"

static Hw__CostCentre *encode_centre(struct encoder *e, const struct bands *bands, uint32_t id)
{
        struct cost_centre cc = bands_cost_centre(bands, id);
        Hw__CostCentre *out = encoder_calloc(e, 1, sizeof(*out));

        if (!out)
                return NULL;
        hw__cost_centre__init(out);
        PUT(out, id, id);
        if (!cc.label)
                return out; /* never defined: the id is all there is */
        out->label = encoder_text(e, cc.label);
        out->module = encoder_text(e, cc.module);
        out->source = encoder_text(e, cc.source);
        PUT(out, caf, cc.caf);
        return out;
}

Hw__CostCentre **encode_centres(struct encoder *e, const struct bands *bands, const uint32_t *ids, uint32_t n)
{
        Hw__CostCentre **out = n ? encoder_calloc(e, n, sizeof(*out)) : NULL;

        for (uint32_t i = 0; out && i < n; i++) {
                out[i] = encode_centre(e, bands, ids[i]);
                if (!out[i])
                        return NULL;
        }
        return out;
}

static Hw__InfoTable *encode_info_table(struct encoder *e, const struct info_table *it)
{
        Hw__InfoTable *out = encoder_calloc(e, 1, sizeof(*out));

        if (!out)
                return NULL;
        hw__info_table__init(out);
        out->name = encoder_text(e, it->name);
        out->closure_type = encoder_text(e, it->closure_type);
        out->type = encoder_text(e, it->type);
        out->label = encoder_text(e, it->label);
        out->module = encoder_text(e, it->module);
        out->source = encoder_text(e, it->source);
        return out;
}

static char *display_label(struct encoder *e, const struct bands *bands, const struct band *band)
{
        char label[LABEL_MAX];
        size_t size = label_band(label, bands, band);

        if (size)
                return encoder_bytes(e, label, size);
        return encoder_text(e, band->label && *band->label ? band->label : "MAIN"); /* the empty stack */
}

Hw__Band *encode_band(struct encoder *e, const struct bands *bands, const struct band *band)
{
        Hw__Band *out = encoder_calloc(e, 1, sizeof(*out));

        if (!out)
                return NULL;
        hw__band__init(out);
        PUT(out, id, band->id);
        out->label = display_label(e, bands, band);
        out->stack = encode_centres(e, bands, band->stack, band->depth);
        out->n_stack = out->stack ? band->depth : 0;
        if (band->info_table)
                out->info_table = encode_info_table(e, band->info_table);
        PUT_U64(out, first_seen_ns, band->first_seen_ns);
        if (band->key)
                PUT(out, key, band->key);
        return e->failed ? NULL : out;
}
