/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/resident_parts.h"

#include "heapwatch/text.h"
#include "proto/base/text_out.h"
#include "proto/facts/facts.h"

#define NAMED_MIN_BYTES (UINT64_C(4) << 20)
#define NAMED_PART      10u /* of RSS */

static const enum series_id parts_series[RESIDENT_PARTS_N] = { SERIES_LIVE_RESIDENT, SERIES_RESERVE, SERIES_KEPT,
                                                               SERIES_GIVEN_BACK,    SERIES_FILES,   SERIES_FOREIGN };

const char *resident_part_name(size_t i)
{
        return series_rows[parts_series[i]].label;
}

bool resident_part_bytes(const Hw__Resident *r, size_t i, uint64_t *ret_bytes)
{
        if (!r)
                return false;
        const struct {
                protobuf_c_boolean known;
                uint64_t bytes;
        } parts[RESIDENT_PARTS_N] = {
                { r->has_live_bytes, r->live_bytes },   { r->has_reserve_bytes, r->reserve_bytes },
                { r->has_kept_bytes, r->kept_bytes },   { r->has_given_back_bytes, r->given_back_bytes },
                { r->has_files_bytes, r->files_bytes }, { r->has_foreign_bytes, r->foreign_bytes },
        };

        if (i >= RESIDENT_PARTS_N || !parts[i].known)
                return false;
        *ret_bytes = parts[i].bytes;
        return true;
}

static void put_bytes(struct text_out *t, double bytes)
{
        char text[HW_NUMBER_MAX];

        text_put(t, hw_bytes_text(text, sizeof(text), bytes));
}

/* What is part of each program is not worth a name. */
static bool is_named(const Hw__Resident *r, const Hw__MappedFile *file)
{
        return file->path && file->resident_bytes >= NAMED_MIN_BYTES &&
               file->resident_bytes >= r->rss_bytes / NAMED_PART;
}

/* Those that the kernel can take back, or the others. */
static void put_files(struct text_out *t, const Hw__Resident *r, bool held, const char *between)
{
        for (size_t i = 0; i < r->n_mapped; i++) {
                const Hw__MappedFile *file = r->mapped[i];
                if (!is_named(r, file) || (file->held_bytes > 0) != held)
                        continue;
                text_put(t, between);
                text_put(t, file->path);
                text_put(t, " ");
                put_bytes(t, (double)file->resident_bytes);
                if (file->dirty_bytes) {
                        text_put(t, ", of which ");
                        put_bytes(t, (double)file->dirty_bytes);
                        text_put(t, " are still to be written to it");
                }
                between = ", ";
        }
}

char *resident_files_text(char *out, size_t size, const Hw__Resident *r)
{
        struct text_out t;

        text_out_init(&t, out, size);
        if (!r)
                return out;
        put_files(&t, r, false, "; mapped: ");
        if (r->has_shared_bytes && r->shared_bytes >= NAMED_MIN_BYTES) {
                text_put(&t, "; of foreign memory ");
                put_bytes(&t, (double)r->shared_bytes);
                text_put(&t, " are shared memory or locked");
                put_files(&t, r, true, ": ");
        }
        return out;
}

char *resident_text(char *out, size_t size, const Hw__Resident *r)
{
        struct text_out t;
        uint64_t part;
        const char *between = ": ";
        bool unknown = false;

        text_out_init(&t, out, size);
        if (!r || !r->has_rss_bytes)
                return out;
        text_put(&t, "RSS ");
        put_bytes(&t, (double)r->rss_bytes);
        for (size_t i = 0; i < RESIDENT_PARTS_N; i++) {
                if (!resident_part_bytes(r, i, &part)) {
                        unknown = true;
                        continue;
                }
                text_put(&t, between);
                text_put(&t, resident_part_name(i));
                text_put(&t, " ");
                put_bytes(&t, (double)part);
                between = ", ";
        }
        if (!unknown)
                return out;
        text_put(&t, between);
        text_put(&t, "other ");
        put_bytes(&t, (double)r->unknown_bytes);
        between = " (";
        for (size_t i = 0; i < RESIDENT_PARTS_N; i++) {
                if (resident_part_bytes(r, i, &part))
                        continue;
                text_put(&t, between);
                text_put(&t, resident_part_name(i));
                between = ", ";
        }
        text_put(&t, ": not known separately)");
        return out;
}
