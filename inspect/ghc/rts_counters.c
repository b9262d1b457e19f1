/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the counters are static variables of the runtime, which begin as zero: they are in the .bss of the file that
 * has the runtime. A search through these is done when something has been collected, and again some times, then more
 * and more seldom, until places are found, but not too many. Each further number of collections leaves out those
 * that do not follow. A copy that the program itself keeps (GHC.Stats) falls behind, and is left out; one that never
 * does cannot be distinguished from the original: two places are none.
 */
#include "inspect/ghc/rts_counters.h"

#include <string.h>

#define PROOFS_NEEDED 2u   /* of a place that was searched for */
#define MISFITS_MOST  500u /* readings in turn, then it is another place */
#define AHEAD_MOST    64u  /* collections since the generations were read */
#define SEARCHES      16u  /* at any number of collections; then when it has doubled */
#define SEARCHED_MOST (UINT64_C(64) << 20)
#define CHUNK         UINT64_C(65536)
#define MIB           (UINT64_C(1) << 20)

/* Offsets in struct RTSStats of rts/include/RtsAPI.h, by offsetof in 9.0.2, 9.6.6 and 9.10.3; GC: of the newest one. */
enum {
        AT_COLLECTIONS = 0,
        AT_MAJOR = 4,
        AT_ALLOCATED = 8,
        AT_MAX_LIVE = 16,
        AT_MAX_MEMORY = 48,
        AT_LIVE_SUM = 56,
        AT_COPIED = 64,
        AT_ELAPSED = 136,
        AT_GC_GENERATION = 160,
        AT_GC_ALLOCATED = 168,
        AT_GC_LIVE = 176,
        AT_GC_MEMORY = 208,
        AT_GC_COPIED = 216,
        BYTES_READ = 224,
};

/* ------------------------------------------------------------------------- one place */

static bool is_memory(uint64_t bytes)
{
        return bytes > 0 && bytes % MIB == 0;
}

/* Whether it agrees with itself. */
static bool is_plausible(const uint8_t *b, const struct generations *g)
{
        const uint64_t major = u32_at(b, AT_MAJOR), most = u64_at(b, AT_MAX_LIVE), sum = u64_at(b, AT_LIVE_SUM);

        return u64_at(b, AT_ALLOCATED) > 0 && is_memory(u64_at(b, AT_MAX_MEMORY)) &&
               is_memory(u64_at(b, AT_GC_MEMORY)) && u64_at(b, AT_GC_MEMORY) <= u64_at(b, AT_MAX_MEMORY) &&
               most <= u64_at(b, AT_MAX_MEMORY) &&
               (major ? sum >= most && (sum - 1) / major < most : sum == 0 && most == 0) &&
               u32_at(b, AT_GC_GENERATION) < g->n && u64_at(b, AT_GC_ALLOCATED) <= u64_at(b, AT_ALLOCATED) &&
               u64_at(b, AT_GC_COPIED) <= u64_at(b, AT_COPIED);
}

static bool has_counts(const uint8_t *b, const struct generations *g, uint64_t collections)
{
        return u32_at(b, AT_COLLECTIONS) == (uint32_t)collections &&
               u32_at(b, AT_MAJOR) == g->items[g->n - 1].collections;
}

enum fit { FITS, FITS_LATER, FITS_NOT };

/* FITS_LATER: it is being changed. */
static enum fit fit_of(const struct program *p, const struct generations *g, uint64_t place, uint8_t ret[BYTES_READ])
{
        const uint64_t collections = generations_collections(g);
        uint8_t again[BYTES_READ];

        if (!memory_read(p->memory, place, ret, BYTES_READ) || !memory_read(p->memory, place, again, BYTES_READ))
                return FITS_NOT;
        if (memcmp(ret, again, BYTES_READ) != 0)
                return FITS_LATER;
        if (has_counts(ret, g, collections))
                return is_plausible(ret, g) ? FITS : FITS_NOT;
        /* the generations are counted first, so that of a collection that ends it has yet to count one */
        const uint32_t ahead = u32_at(ret, AT_COLLECTIONS) - (uint32_t)collections;
        return ahead == UINT32_MAX || ahead <= AHEAD_MOST ? FITS_LATER : FITS_NOT;
}

/* --------------------------------------------------------------------------- search */

/* One place more than there is room for is counted: then it is none of them. */
static void search_range(struct rts_counters_search *s, const struct program *p, const struct generations *g,
                         struct range r)
{
        const uint64_t collections = generations_collections(g);
        static uint8_t bytes[CHUNK];
        uint8_t whole[BYTES_READ];

        for (uint64_t at = (r.start + 7) & ~UINT64_C(7); at < r.end; at += CHUNK) {
                const size_t n = (size_t)(r.end - at < CHUNK ? r.end - at : CHUNK);
                if (!memory_read(p->memory, at, bytes, n))
                        continue;
                for (size_t i = 0; i + 8 <= n && s->n <= RTS_COUNTERS_PLACES; i += 8) {
                        if (!has_counts(bytes + i, g, collections) || fit_of(p, g, at + i, whole) != FITS)
                                continue;
                        if (s->n < RTS_COUNTERS_PLACES)
                                s->places[s->n] = at + i;
                        s->n++;
                }
        }
}

static void search_counters(struct rts_counters_search *s, const struct program *p, const struct generations *g)
{
        const uint64_t named = program_variable(p, "stats");
        uint8_t bytes[BYTES_READ];
        uint64_t total = 0;

        s->n = s->proofs = 0;
        s->searches++;
        s->searched = s->collections = generations_collections(g);
        s->has_name = named && fit_of(p, g, named, bytes) == FITS;
        if (s->has_name) {
                s->places[s->n++] = named;
                return;
        }
        for (size_t i = 0; i < p->n_variables && total < SEARCHED_MOST; i++) {
                total += p->variables[i].end - p->variables[i].start;
                if (total <= SEARCHED_MOST)
                        search_range(s, p, g, p->variables[i]);
        }
        if (s->n > RTS_COUNTERS_PLACES || total > SEARCHED_MOST)
                s->n = 0;
}

/* Leaves out what does not fit any more. False: what a place has is being changed. */
static bool compare_counters(struct rts_counters_search *s, const struct program *p, const struct generations *g)
{
        uint64_t kept[RTS_COUNTERS_PLACES];
        unsigned n = 0;

        for (unsigned i = 0; i < s->n; i++) {
                uint8_t bytes[BYTES_READ];
                const enum fit fit = fit_of(p, g, s->places[i], bytes);
                if (fit == FITS_LATER)
                        return false;
                if (fit == FITS)
                        kept[n++] = s->places[i];
        }
        memcpy(s->places, kept, n * sizeof(kept[0]));
        s->n = n;
        return true;
}

/* Whether there is one place, and it is proven. */
static bool find_counters(struct rts_counters_search *s, const struct program *p, const struct generations *g)
{
        const uint64_t collections = generations_collections(g);

        if (s->is_found)
                return true;
        if (s->n == 0 && collections > s->searched && (s->searches < SEARCHES || collections / 2 >= s->searched))
                search_counters(s, p, g);
        else if (s->n > 0 && collections != s->collections && compare_counters(s, p, g)) {
                s->collections = collections;
                s->proofs++;
        }
        s->is_found = s->n == 1 && (s->has_name || s->proofs >= PROOFS_NEEDED);
        return s->is_found;
}

bool rts_counters_read(struct rts_counters_search *s, const struct program *p, const struct generations *g,
                       struct rts_counters *ret)
{
        uint8_t b[BYTES_READ];

        if (!find_counters(s, p, g))
                return false;
        if (fit_of(p, g, s->places[0], b) != FITS) {
                if (++s->misfits > MISFITS_MOST)
                        *s = (struct rts_counters_search){ .searched = s->searched, .searches = s->searches };
                return false;
        }
        s->misfits = 0;
        *ret = (struct rts_counters){
                .allocated_bytes = u64_at(b, AT_ALLOCATED),
                .copied_bytes = u64_at(b, AT_COPIED),
                .collecting_ns = u64_at(b, AT_ELAPSED) ? u64_at(b, AT_ELAPSED) : RTS_COUNTER_UNKNOWN,
                .live_sum_bytes = u64_at(b, AT_LIVE_SUM),
                .newest_live_bytes = u64_at(b, AT_GC_LIVE),
                .newest_is_major = u32_at(b, AT_GC_GENERATION) + 1 == g->n,
        };
        return true;
}
