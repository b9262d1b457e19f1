/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/rts_counters.h"

#define WORDS_A_BLOCK  (BLOCK_BYTES / 8)
#define BLOCKS_MOST    (UINT64_C(1) << 40) /* more is a lie */
#define FACTOR_DEFAULT 2.0
#define FACTOR_LEAST   1.05
#define FACTOR_MOST    64.0
#define MIN_OLD_BLOCKS 256u /* -o: what the oldest generation may always have, 1 MiB */
#define SLACK_BLOCKS   2u   /* sizes in blocks are rounded */
#define GROWN_MOST     1.25 /* since the collection: more is not believed of the default -F */

static uint64_t words_of(const struct heap_generation *g)
{
        return g->n_words + g->n_large_words + g->n_compact_blocks * WORDS_A_BLOCK;
}

/* As the runtime counts them for max_blocks. */
static uint64_t blocks_of(const struct heap_generation *g)
{
        return (g->n_words + WORDS_A_BLOCK - 1) / WORDS_A_BLOCK + g->n_large_blocks + g->n_compact_blocks;
}

uint64_t live_data_held_bytes(const struct generations *g)
{
        uint64_t words = 0;

        for (unsigned i = 0; i < g->n; i++)
                words += words_of(&g->items[i]);
        return words * 8;
}

static bool is_same(const struct heap_generation *a, const struct heap_generation *b)
{
        return a->collections == b->collections && words_of(a) == words_of(b) && blocks_of(a) == blocks_of(b) &&
               a->max_blocks == b->max_blocks && a->collecting == b->collecting;
}

bool live_data_read(struct generations *g, const struct program *p, bool *ret_readable)
{
        struct generations again = *g;

        *ret_readable = generations_read(g, p) && generations_read(&again, p);
        if (!*ret_readable || generations_collecting(g))
                return false;
        for (unsigned i = 0; i < g->n; i++)
                if (!is_same(&g->items[i], &again.items[i]))
                        return false;
        return true;
}

static uint32_t minor_collections(const struct generations *g)
{
        uint32_t n = 0;

        for (unsigned i = 0; i + 1 < g->n; i++)
                n += g->items[i].collections;
        return n;
}

/* By what the runtime has written down; *ret_words of the oldest generation. */
static bool by_max_blocks(const struct live_data *l, const struct heap_generation *oldest, uint64_t *ret_words)
{
        const uint64_t now = blocks_of(oldest);
        const double factor = l->factor > 0 ? l->factor : FACTOR_DEFAULT;
        const double blocks = (double)oldest->max_blocks / factor;

        if (oldest->max_blocks <= MIN_OLD_BLOCKS || oldest->max_blocks > BLOCKS_MOST ||
            blocks > (double)(now + SLACK_BLOCKS) || (l->factor <= 0 && (double)now > blocks * GROWN_MOST))
                return false;
        /* large objects count with their blocks there */
        const uint64_t unused = oldest->n_large_blocks * WORDS_A_BLOCK - oldest->n_large_words;
        const uint64_t words = (uint64_t)(blocks * BLOCK_BYTES / 8);
        if (oldest->n_large_words > oldest->n_large_blocks * WORDS_A_BLOCK || unused > words)
                return false;
        *ret_words = words - unused < words_of(oldest) ? words - unused : words_of(oldest);
        return true;
}

static bool judge(struct live_data *l, const struct generations *g, uint64_t *ret_bytes)
{
        const struct heap_generation *oldest = &g->items[g->n - 1];
        uint64_t words;

        /* of one generation, that it is being collected cannot be seen, and it is all but empty then */
        if (g->n == 1)
                return false;
        if (l->is_clean) {
                /* Finds -F where nothing was promoted since: the runtime has multiplied what is there. */
                const uint64_t blocks = blocks_of(oldest);

                if (oldest->max_blocks > MIN_OLD_BLOCKS && blocks != 0) {
                        const double factor = (double)oldest->max_blocks / (double)blocks;
                        const double of_default = (double)blocks * FACTOR_DEFAULT - (double)oldest->max_blocks;
                        if (of_default >= -2.0 * SLACK_BLOCKS && of_default <= 2.0 * SLACK_BLOCKS)
                                l->factor = FACTOR_DEFAULT;
                        else if (factor >= FACTOR_LEAST && factor <= FACTOR_MOST)
                                l->factor = factor;
                }
                *ret_bytes = live_data_held_bytes(g);
                return true;
        }
        /* what has been promoted to a generation between the two is not live data of that collection either */
        if (g->n != 2 || !by_max_blocks(l, oldest, &words))
                return false;
        *ret_bytes = live_data_held_bytes(g) - words_of(oldest) * 8 + words * 8;
        return true;
}

bool live_data_update(struct live_data *l, const struct generations *g, uint64_t *ret_bytes)
{
        const struct heap_generation *oldest = &g->items[g->n - 1], *before = &l->last.items[g->n - 1];
        const uint32_t major = l->begun ? oldest->collections - before->collections : 0;
        const bool only_major = l->begun && minor_collections(g) == minor_collections(&l->last);
        bool found = false;

        if (major > 0) {
                l->unknown += l->pending + (major - 1u); /* none of them was seen to its end */
                l->pending = true;
                l->is_clean = only_major;
        } else if (l->pending) {
                l->pending = false;
                /* the first reading was in the last part of the collection if its sizes have changed since */
                l->is_clean &= only_major && live_data_held_bytes(g) == live_data_held_bytes(&l->last);
                found = judge(l, g, ret_bytes);
                l->known += found;
                l->unknown += !found;
        }
        l->last = *g;
        l->begun = true;
        return found;
}
