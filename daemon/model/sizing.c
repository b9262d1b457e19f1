/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/sizing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/model/model.h"
#include "daemon/model/run.h"
#include "heapwatch/text.h"
#include "proto/base/ckd.h"
#include "proto/base/process.h"

#define DEFAULT_F          2.0
#define DEFAULT_LEAST_LIVE (UINT64_C(1) << 20)
#define KEPT_FREE_PERCENT  3     /* -m; half of it, of two generations */
#define FACTOR_MOST        100.0 /* a larger one in a log is damage */

struct flags {
        struct sizing *s;
        double f;
};

static void read_flag(void *ctx, const char *option)
{
        struct flags *flags = ctx;
        uint64_t bytes;
        char *end;

        rts_collector_option(&flags->s->collector, option, strlen(option));
        if (!strcmp(option, "-G1")) {
                flags->s->one_generation = true;
        } else if (!strncmp(option, "-F", 2) && option[2] != 'd') {
                double f = strtod(option + 2, &end);
                if (end != option + 2 && !*end && f >= 0 && f <= FACTOR_MOST)
                        flags->f = f;
        } else if (!strncmp(option, "-O", 2) && hw_parse_bytes(option + 2, &bytes)) {
                flags->s->least_live = bytes;
        } else if (!strncmp(option, "-H", 2) && hw_parse_bytes(option + 2, &bytes)) {
                flags->s->suggested = bytes;
        }
}

static uint64_t areas_of(const struct run *run)
{
        uint64_t each = run->allocation_area_bytes == UNKNOWN_U64 ? 0 : run->allocation_area_bytes, all;
        uint32_t capabilities = run->capabilities ? run->capabilities : 1;

        return ckd_mul(&all, each, (uint64_t)capabilities * 2) ? UINT64_MAX : all;
}

struct sizing sizing_of(const struct run *run, const struct heap *heap)
{
        struct sizing s = {
                .areas = areas_of(run),
                .least_live = DEFAULT_LEAST_LIVE,
                .most = run->max_heap_bytes && run->max_heap_bytes != UNKNOWN_U64 ? run->max_heap_bytes : UNKNOWN_U64,
        };
        struct flags flags = { .s = &s, .f = DEFAULT_F };

        run_each_rts_option(run, read_flag, &flags);
        double unavoidable = (s.collector.compacting || s.collector.nonmoving) && run->ghc_number >= 902 ? 1.2 : 2;
        s.factor = s.one_generation ? 2 * flags.f + 2 : flags.f + unavoidable;
        if (heap->size_factor > s.factor && heap->size_factor <= FACTOR_MOST) {
                s.factor = heap->size_factor;
                s.measured = true;
        }
        return s;
}

bool sizing_copies(const struct sizing *s)
{
        return !s->collector.nonmoving && !s->collector.compacting && !s->collector.mark_region;
}

uint64_t sizing_heap(const struct sizing *s, uint64_t live_bytes)
{
        double live = (double)(live_bytes > s->least_live ? live_bytes : s->least_live);
        double bytes = fmax((double)s->areas + s->factor * live, (double)s->suggested);

        return s->most != UNKNOWN_U64 && bytes > (double)s->most ? s->most
               : bytes < 0x1p63                                  ? (uint64_t)bytes
                                                                 : INT64_MAX;
}

uint64_t sizing_most_live(const struct sizing *s)
{
        if (s->most == UNKNOWN_U64 || s->collector.nonmoving || s->one_generation)
                return UNKNOWN_U64;
        uint64_t kept_free = s->most / 200 * KEPT_FREE_PERCENT, least = s->areas / 2;

        return sub_sat(s->most, kept_free > least ? kept_free : least);
}

uint64_t sizing_beyond(const struct sizing *s, uint64_t live_bytes, uint64_t heap_bytes)
{
        if (live_bytes == UNKNOWN_U64 || heap_bytes == UNKNOWN_U64)
                return UNKNOWN_U64;
        return sub_sat(heap_bytes, sizing_heap(s, live_bytes));
}
