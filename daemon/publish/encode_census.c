/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: rows as two packed arrays, band[i] holding bytes[i], in the census's own order. */
#include "publish/encode.h"

Hw__Census *encode_census(struct encoder *e, const struct census *census)
{
        Hw__Census *out = encoder_calloc(e, 1, sizeof(*out));

        if (!out)
                return NULL;
        hw__census__init(out);
        out->band = encoder_calloc(e, census->n_rows, sizeof(*out->band));
        out->bytes = encoder_calloc(e, census->n_rows, sizeof(*out->bytes));
        if (!out->band || !out->bytes)
                return NULL;
        for (uint32_t i = 0; i < census->n_rows; i++) {
                out->band[i] = census->rows[i].band;
                out->bytes[i] = census->rows[i].bytes;
        }
        out->n_band = out->n_bytes = census->n_rows;
        PUT(out, number, census->number);
        PUT(out, time_ns, census->time_ns);
        PUT(out, total_bytes, census->total_bytes);
        PUT(out, rows_left_out, census->rows_left_out);
        PUT(out, bytes_left_out, census->bytes_left_out);
        PUT(out, unfinished, census->unfinished);
        return out;
}
