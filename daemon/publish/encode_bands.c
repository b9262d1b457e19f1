/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a band's definition: a label for people, and its parts for programs. A first census may bring 10,000 of them
 * at once: they are packed by hand (packer.h), in descending order of the fields.
 */
#include "daemon/publish/label.h"
#include "daemon/publish/packer.h"

/* Numbers of fields in heapwatch.proto. */
enum {
        BAND_ID = 1,
        BAND_LABEL,
        BAND_STACK_CENTRES,
        BAND_INFO_TABLE,
        BAND_FIRST_SEEN_NS,
        BAND_TABLE_KEY,
        BAND_FIRST_BYTES
};
enum { CENTRE_ID = 1, CENTRE_LABEL, CENTRE_MODULE, CENTRE_SOURCE, CENTRE_CAF };
enum { TABLE_NAME = 1, TABLE_CLOSURE_TYPE, TABLE_TYPE, TABLE_LABEL, TABLE_MODULE, TABLE_SOURCE };

static void pack_centre(struct packer *p, const struct bands *bands, uint32_t id)
{
        struct cost_centre cc = bands_cost_centre(bands, id);
        size_t since = packer_used(p);

        if (cc.label) { /* else never defined: only the id is known */
                packer_u64(p, CENTRE_CAF, cc.caf);
                packer_interned(p, CENTRE_SOURCE, cc.source);
                packer_interned(p, CENTRE_MODULE, cc.module);
                packer_interned(p, CENTRE_LABEL, cc.label);
        }
        packer_u64(p, CENTRE_ID, id);
        packer_message(p, BAND_STACK_CENTRES, since);
}

static void pack_info_table(struct packer *p, const struct info_table *it)
{
        size_t since = packer_used(p);

        packer_interned(p, TABLE_SOURCE, it->source);
        packer_interned(p, TABLE_MODULE, it->module);
        packer_interned(p, TABLE_LABEL, it->label);
        packer_interned(p, TABLE_TYPE, it->type);
        packer_text(p, TABLE_CLOSURE_TYPE, label_closure_type(it->closure_type));
        packer_interned(p, TABLE_NAME, it->name);
        packer_message(p, BAND_INFO_TABLE, since);
}

static void pack_display_label(struct packer *p, const struct bands *bands, const struct band *band)
{
        char label[LABEL_MAX];
        size_t size = label_band(label, bands, band);

        if (size)
                packer_sized_text(p, BAND_LABEL, label, size);
        else
                packer_text(p, BAND_LABEL, band->stack ? "MAIN" : band->label); /* "MAIN": the empty stack */
}

/* The texts that are different in every table, and the second half of the longest: they are spread over megabytes. */
void prefetch_band(const struct band *band)
{
        const struct info_table *it = band ? band->info_table : NULL;

        if (!it)
                return;
        __builtin_prefetch(it->name - sizeof(struct strings_head));
        __builtin_prefetch(it->label - sizeof(struct strings_head));
        __builtin_prefetch(it->source - sizeof(struct strings_head));
        __builtin_prefetch(it->source + 32);
}

void pack_band(struct packer *p, const struct bands *bands, const struct band *band, bool snapshot)
{
        size_t since = packer_used(p);

        if (snapshot && band->sampled)
                packer_u64(p, BAND_FIRST_BYTES, band->first_bytes);
        if (band->key)
                packer_u64(p, BAND_TABLE_KEY, band->key);
        packer_known_u64(p, BAND_FIRST_SEEN_NS, band->first_seen_ns);
        if (band->info_table)
                pack_info_table(p, band->info_table);
        for (uint32_t i = band->depth; i-- > 0;)
                pack_centre(p, bands, band->stack[i]);
        pack_display_label(p, bands, band);
        packer_u64(p, BAND_ID, band->id);
        packer_message(p, BANDS_BANDS, since);
}
