/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: rows as packed arrays, band[i] holding bytes[i] in closures[i], in the census's own order; packed by hand
 * (packer.h).
 */
#include "daemon/publish/packer.h"

/* Numbers of fields in heapwatch.proto. */
#define CENSUS_BAND     4u
#define CENSUS_BYTES    5u
#define CENSUS_CLOSURES 11u
#define CENSUS_CONTENTS 12u
#define CONTENTS_BAND   1u
#define CONTENTS_BYTES  2u
#define CONTENTS_NAME   3u

static inline uint64_t bytes_of(const struct census_row *row)
{
        return row->bytes;
}

static inline uint64_t closures_of(const struct census_row *row)
{
        return row->closures;
}

static inline uint64_t band_of(const struct census_row *row)
{
        return row->band;
}

/* One number of each row; `of` is a constant at each call, so that it is inlined. */
static inline bool put_column(struct packer *p, unsigned field, const struct census *census,
                              uint64_t (*of)(const struct census_row *row))
{
        uint8_t *out = packer_array(p, census->n_rows);

        for (uint32_t i = 0; out && i < census->n_rows; i++)
                out = packer_put(out, of(&census->rows[i]));
        if (out)
                packer_array_end(p, field, out);
        return out;
}

static void put_contents(struct packer *p, const struct census *census)
{
        for (uint32_t i = census->n_contents; i-- > 0;) {
                const struct census_contents *c = &census->contents[i];
                const size_t since = packer_used(p);
                packer_text(p, CONTENTS_NAME, c->name);
                packer_u64(p, CONTENTS_BYTES, c->bytes);
                packer_u64(p, CONTENTS_BAND, c->band);
                packer_message(p, CENSUS_CONTENTS, since);
        }
}

static bool put_rows(struct encoder *e, const struct census *census, Hw__Census *out)
{
        struct packer p;

        packer_init(&p, e, (size_t)census->n_rows * PACKER_INTEGER_MAX * 2 + 64);
        put_contents(&p, census);
        return (!census_has_closures(census) || put_column(&p, CENSUS_CLOSURES, census, closures_of)) &&
               put_column(&p, CENSUS_BYTES, census, bytes_of) && put_column(&p, CENSUS_BAND, census, band_of) &&
               packer_attach(&p, CENSUS_BAND, &out->base);
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
        return census->n_rows == 0 || put_rows(e, census, out) ? out : NULL;
}
