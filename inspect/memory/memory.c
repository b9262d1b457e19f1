/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define QUARTER (MEMORY_PAGE_BYTES / 4)

bool memory_read(const struct memory *m, uint64_t at, void *to, size_t n)
{
        return n == 0 || (at + n > at && m->read(m->ctx, at, to, n));
}

uint64_t memory_u64(const struct memory *m, uint64_t at)
{
        uint64_t value;

        return memory_read(m, at, &value, sizeof(value)) ? value : 0;
}

uint32_t memory_u32(const struct memory *m, uint64_t at)
{
        uint32_t value;

        return memory_read(m, at, &value, sizeof(value)) ? value : 0;
}

/* --------------------------------------------------------- pages that are kept */

/* One place for each page: what had it before is read again when it is wanted. */
static const struct memory_page *page_of(struct memory *m, uint64_t number)
{
        if (!m->pages && !(m->pages = calloc(MEMORY_PAGES, sizeof(*m->pages))))
                return NULL;
        struct memory_page *p = &m->pages[(number * UINT64_C(0x9e3779b97f4a7c15) >> 40) % MEMORY_PAGES];
        if (!p->bytes && !(p->bytes = malloc(MEMORY_PAGE_BYTES)))
                return NULL;
        if (p->number == number + 1)
                return p;
        const uint64_t at = number * MEMORY_PAGE_BYTES;
        p->number = number + 1;
        p->valid = memory_read(m, at, p->bytes, MEMORY_PAGE_BYTES) ? 15 : 0;
        for (unsigned i = 0; i < 4 && p->valid != 15; i++) /* a mapping may begin or end within a page */
                p->valid |= (uint32_t)memory_read(m, at + i * QUARTER, p->bytes + (size_t)i * QUARTER, QUARTER) << i;
        return p;
}

bool memory_find_touched(const struct memory *m, uint64_t *start, uint64_t *end)
{
        return !m->find_touched || m->find_touched(m->ctx, start, end);
}

bool memory_read_kept(struct memory *m, uint64_t at, void *to, size_t n)
{
        uint8_t *out = to;

        if (at + n < at)
                return false;
        while (n > 0) {
                const struct memory_page *p = page_of(m, at / MEMORY_PAGE_BYTES);
                const size_t from = at % MEMORY_PAGE_BYTES, rest = QUARTER - from % QUARTER, k = n < rest ? n : rest;

                if (!p || !(p->valid >> (from / QUARTER) & 1))
                        return false;
                memcpy(out, p->bytes + from, k);
                out += k;
                at += k;
                n -= k;
        }
        return true;
}

bool memory_text_kept(struct memory *m, uint64_t at, char *ret, size_t size)
{
        for (size_t i = 0; i < size; i++) {
                if (!memory_read_kept(m, at + i, &ret[i], 1))
                        return false;
                if (ret[i] == '\0')
                        return true;
                if ((unsigned char)ret[i] <= ' ' || (unsigned char)ret[i] == 0x7f)
                        return false;
        }
        return false;
}

void memory_expire(struct memory *m)
{
        for (size_t i = 0; m->pages && i < MEMORY_PAGES; i++)
                m->pages[i].number = 0;
}

void memory_forget(struct memory *m)
{
        for (size_t i = 0; m->pages && i < MEMORY_PAGES; i++)
                free(m->pages[i].bytes);
        free(m->pages);
        m->pages = NULL;
}
