/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bands_add_census.c - takes a finished census into its bands: their bytes now, their
 * sums and their histories.
 *
 * DESIGN: hundreds of rows come with every census, so a row costs a handful of
 * additions and one division, in the cache lines of its band and of its
 * history's point, which neighbouring bands share.
 */
#include "daemon/model/bands_private.h"
#include "daemon/model/census.h"

/* Sums of the first sample alone. */
static struct band_sums first_sums(const struct band *band)
{
        double v = (double)band->first_bytes;

        return (struct band_sums){
                .n = 1,
                .min = v,
                .max = v,
                .last = v,
                .last_ns = band->first_ns,
        };
}

/* Most of a band's memory, allocated at its second sample: many bands of the first census never come again. */
static __attribute__((noinline)) struct band_sums *new_sums(struct bands *b, struct band *band)
{
        band->sums = pool_add(&b->sums);
        if (band->sums)
                *band->sums = first_sums(band);
        return band->sums;
}

/*
 * Bands with a row in the previous census, but none now, have 0 bytes; their history gets a 0 too, so that its `last`
 * is what a band held at the last census. Bands at the same place in both censuses are skipped: they get their new
 * bytes anyway.
 */
static void empty(struct pool entries, const struct census *before, const struct census *now)
{
        for (uint32_t i = 0; i < before->n_rows; i++) {
                uint32_t id = before->rows[i].band;
                if (i < now->n_rows && now->rows[i].band == id)
                        continue;
                struct band_entry *entry = pool_at(&entries, id);
                entry->band.bytes = 0;
                if (entry->row_census != (uint32_t)now->number && entry->band.history)
                        band_history_add(&entry->band, now->time_ns, 0);
        }
}

/* False when out of memory: the sample is lost. */
static inline bool add_value(struct bands *b, struct band *band, uint64_t time_ns, uint64_t bytes, uint64_t large_bytes)
{
        band->bytes = bytes;
        if (!band->whole && (!band->history || bytes >= large_bytes))
                bands_fit_history(b, band, bytes >= large_bytes);
        if (band->history)
                band_history_add(band, time_ns, bytes);
        if (!band->sampled) {
                band->sampled = true;
                band->first_ns = time_ns;
                band->first_bytes = bytes;
                return true;
        }
        if (!band->sums && !new_sums(b, band))
                return false;
        const double v = (double)bytes;
        double dt = (double)(int64_t)(time_ns - band->first_ns) * 1e-9, dv = v - (double)band->first_bytes;
        struct band_sums *s = band->sums;
        s->n++;
        s->t += dt;
        s->v += dv;
        s->tt += dt * dt;
        s->tv += dt * dv;
        s->vv += dv * dv;
        s->min = v < s->min ? v : s->min;
        s->max = v > s->max ? v : s->max;
        if (time_ns >= s->last_ns) {
                s->last = v;
                s->last_ns = time_ns;
        }
        return true;
}

uint32_t bands_add_census(struct bands *b, const struct census *before, const struct census *now)
{
        const struct pool entries = b->entries; /* a copy: no store into a band can change it */
        const struct census census = *now;
        uint64_t part = census.total_bytes / BAND_WHOLE_PART, large = part < BAND_WHOLE_BYTES ? part : BAND_WHOLE_BYTES;
        uint32_t lost = 0;

        empty(entries, before, now);
        for (uint32_t i = 0; i < census.n_rows; i++) {
                struct band_entry *entry = pool_at(&entries, census.rows[i].band);

                lost += !add_value(b, &entry->band, census.time_ns, census.rows[i].bytes, large);
        }
        return lost;
}

static double not_negative(double square)
{
        return square > 0 ? square : 0;
}

struct trend_cell band_total(const struct band *band)
{
        if (!band->sampled)
                return (struct trend_cell){ .cell.n = 0 };
        struct band_sums first = first_sums(band);
        const struct band_sums *s = band->sums ? band->sums : &first;
        double n = (double)s->n;

        return (struct trend_cell){
                .cell = { s->n, (double)band->first_bytes + s->v / n, s->min, s->max, s->last, s->last_ns },
                .t_mean = (double)band->first_ns / 1e9 + s->t / n,
                .m_tt = not_negative(s->tt - s->t * s->t / n),
                .m_tv = s->tv - s->t * s->v / n,
                .m_vv = not_negative(s->vv - s->v * s->v / n),
        };
}
