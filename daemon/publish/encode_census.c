/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: rows as packed arrays, band[i] holding bytes[i] in closures[i], in the census's own order. */
#include "daemon/publish/encode.h"

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
