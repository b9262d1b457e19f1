/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/resident.h"

#include <string.h>

#include "proto/base/ckd.h"

static uint64_t min_u64(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

uint64_t resident_held(const struct process_sample *s)
{
        uint64_t held = s->rss_bytes;

        if (held != UNKNOWN_U64 && s->files_bytes != UNKNOWN_U64)
                held = sub_sat(held, s->files_bytes);
        if (held != UNKNOWN_U64 && s->pages.lazy_free_bytes != UNKNOWN_U64)
                held = sub_sat(held, s->pages.lazy_free_bytes);
        return held;
}

void resident_clear(struct resident *r)
{
        memset(r, 0xff, sizeof(*r)); /* all UNKNOWN_U64 */
}

/* Divides the heap's resident pages. */
static void divide_heap(uint64_t pages, const struct resident_heap *heap, struct resident *r)
{
        if (heap->size_bytes == UNKNOWN_U64)
                return;
        r->absent_bytes = sub_sat(heap->size_bytes, pages);
        if (heap->live_bytes == UNKNOWN_U64)
                return;
        const uint64_t live = min_u64(heap->live_bytes, pages);
        const uint64_t needed = heap->needed_bytes == UNKNOWN_U64 ? heap->size_bytes : heap->needed_bytes;
        const uint64_t surplus = sub_sat(heap->size_bytes, needed > heap->live_bytes ? needed : heap->live_bytes);
        const uint64_t kept = min_u64(sub_sat(surplus, r->absent_bytes), pages - live);

        r->parts[RESIDENT_LIVE] = live;
        r->parts[RESIDENT_KEPT] = kept;
        r->parts[RESIDENT_RESERVE] = pages - live - kept;
}

void resident_account(const struct resident_pages *pages, const struct resident_heap *heap, struct resident *ret)
{
        resident_clear(ret);
        if (pages->rss_bytes == UNKNOWN_U64)
                return;
        uint64_t rest = pages->rss_bytes;

        ret->rss_bytes = pages->rss_bytes;
        if (pages->files_bytes != UNKNOWN_U64) {
                ret->parts[RESIDENT_FILES] = min_u64(pages->files_bytes, rest);
                rest -= ret->parts[RESIDENT_FILES];
        }
        if (pages->files_bytes != UNKNOWN_U64 && pages->lazy_free_bytes != UNKNOWN_U64) {
                ret->parts[RESIDENT_GIVEN_BACK] = min_u64(pages->lazy_free_bytes, rest);
                rest -= ret->parts[RESIDENT_GIVEN_BACK];
                uint64_t of_heap = pages->heap_bytes == UNKNOWN_U64 ? heap->size_bytes : pages->heap_bytes;
                if (of_heap != UNKNOWN_U64) {
                        of_heap = min_u64(of_heap, rest);
                        ret->parts[RESIDENT_FOREIGN] = rest - of_heap;
                        divide_heap(of_heap, heap, ret);
                }
        }
        ret->unknown_bytes = ret->rss_bytes;
        for (unsigned i = 0; i < RESIDENT_PARTS; i++)
                if (ret->parts[i] != UNKNOWN_U64)
                        ret->unknown_bytes -= ret->parts[i];
}
