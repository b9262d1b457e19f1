/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/resident_parts.h"

#include <stdarg.h>
#include <stdio.h>

#include "heapwatch/text.h"

const struct resident_word resident_words[RESIDENT_PARTS_N] = {
        { "live data", HW__SERIES__SERIES_LIVE_RESIDENT },
        { "slop and copy reserve", HW__SERIES__SERIES_RESERVE },
        { "kept by the runtime", HW__SERIES__SERIES_KEPT },
        { "given back", HW__SERIES__SERIES_GIVEN_BACK },
        { "files", HW__SERIES__SERIES_FILES },
        { "foreign", HW__SERIES__SERIES_FOREIGN },
};

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

uint64_t resident_given_back(const Hw__Resident *r)
{
        return r && r->has_given_back_bytes ? r->given_back_bytes : 0;
}

struct text {
        char *out;
        size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *t, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        int n = vsnprintf(t->out + t->used, t->size - t->used, format, args);
        va_end(args);
        if (n > 0)
                t->used = (size_t)n < t->size - t->used ? t->used + (size_t)n : t->size - 1;
}

char *resident_text(char *out, size_t size, const Hw__Resident *r)
{
        struct text t = { out, size, 0 };
        char bytes[HW_NUMBER_MAX];
        uint64_t part;
        const char *between = ": ";
        bool unknown = false;

        out[0] = '\0';
        if (!r || !r->has_rss_bytes)
                return out;
        append(&t, "RSS %s", hw_bytes_text(bytes, sizeof(bytes), (double)r->rss_bytes));
        for (size_t i = 0; i < RESIDENT_PARTS_N; i++) {
                if (!resident_part_bytes(r, i, &part)) {
                        unknown = true;
                        continue;
                }
                append(&t, "%s%s %s", between, resident_words[i].name,
                       hw_bytes_text(bytes, sizeof(bytes), (double)part));
                between = ", ";
        }
        for (size_t i = 0; unknown && i < RESIDENT_PARTS_N; i++) {
                if (resident_part_bytes(r, i, &part))
                        continue;
                append(&t, "%s%s", between, resident_words[i].name);
                between = " and ";
        }
        if (unknown)
                append(&t, " %s together: not known separately",
                       hw_bytes_text(bytes, sizeof(bytes), (double)r->unknown_bytes));
        return out;
}
