/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/layout.h"

#include <string.h>

#include "inspect/ghc/closure.h"
#include "proto/base/array.h"

#define THREADS_MOST          (UINT64_C(1) << 22)
#define THREADS_TRIED         1000u
#define THREADED_STRUCT_LEAST 300u /* bytes of a generation: 232 in the other runtime */

/*
 * By offsetof in the headers of 9.0.2, 9.6.6 and 9.10.3. A label came with 9.6, why_blocked became a u32 of its own
 * after it.
 */
static const struct thread_layout layouts[] = {
        { "9.0 to 9.4", 34, 2, 40, 48, 72, 0, 88, 96, 104, 15 },
        { "9.6", 34, 2, 40, 48, 72, 88, 96, 104, 112, 16 },
        { "9.8 to 9.10", 40, 4, 48, 56, 80, 96, 104, 112, 120, 17 },
};

/* --------------------------------------------------------------- lists of threads */

/* A collector may just have copied it: then the header is where to, and odd. */
static uint64_t forwarded_closure(const struct ghc *g, uint64_t closure)
{
        const uint64_t first = closure & 7 ? 0 : memory_u64(g->program->memory, closure);

        return first & 1 ? first & ~UINT64_C(7) : closure;
}

/*
 * The list ends with a constructor, END_TSO_QUEUE. What a collection has left behind may lead around in a circle: the
 * walk keeps one place, a later one each time its length has doubled, and ends where it comes back to it.
 */
static bool each_of_list(struct ghc *g, uint64_t tso, uint64_t *count, bool (*each)(void *ctx, uint64_t tso), void *ctx,
                         bool *ret_continues)
{
        uint64_t kept = 0, next_kept = *count;

        while (tso && *ret_continues) {
                const struct closure_table *i;

                tso = forwarded_closure(g, tso);
                i = info_tables_of_closure(&g->tables, tso);
                if (!i || i->type != TSO)
                        return i && closure_is_constructor(i->type);
                if (*count == THREADS_MOST || tso == kept)
                        return false;
                if ((*count)++ == next_kept) {
                        kept = tso;
                        next_kept = 2 * *count;
                }
                *ret_continues = each(ctx, tso);
                tso = memory_u64(g->program->memory, tso + g->shift + THREAD_LINK);
        }
        return true;
}

bool ghc_each_thread_of(struct ghc *g, unsigned generation, uint64_t *count, bool (*each)(void *ctx, uint64_t tso),
                        void *ctx, bool *ret_continues)
{
        const struct heap_generation *of = &g->generations.items[generation];
        const bool good = each_of_list(g, of->threads, count, each, ctx, ret_continues);

        return each_of_list(g, of->old_threads, count, each, ctx, ret_continues) && good;
}

bool ghc_each_thread(struct ghc *g, bool (*each)(void *ctx, uint64_t tso), void *ctx)
{
        bool continues = true, good = true;
        uint64_t count = 0;

        for (unsigned i = 0; i < g->generations.n && continues; i++)
                good &= ghc_each_thread_of(g, i, &count, each, ctx, &continues);
        return good;
}

/* ------------------------------------------------------------------------ probing */

static bool is_of_type(struct ghc *g, uint64_t closure, unsigned type)
{
        const struct closure_table *i = info_tables_of_closure(&g->tables, closure);

        return i && i->type == type;
}

static bool see_first(void *ctx, uint64_t tso)
{
        *(uint64_t *)ctx = tso;
        return false;
}

/* A profiled header has three words: known by where the pointer to the stack is. */
static bool find_header(struct ghc *g, struct error *error)
{
        uint64_t tso = 0;

        (void)ghc_each_thread(g, see_first, &tso);
        if (!tso)
                return error_set(error,
                                 "it has no Haskell thread: it has not begun yet, or is laid out in another way "
                                 "than GHC 9.0 to 9.10 does");
        for (unsigned words = 1; words <= 3; words += 2) {
                const uint64_t stack = memory_u64(g->program->memory, tso + THREAD_STACK + (words - 1) * 8);
                if (!is_of_type(g, forwarded_closure(g, stack), STACK))
                        continue;
                g->header_words = words;
                g->shift = (words - 1) * 8;
                g->profiled = words > 1;
                info_tables_done(&g->tables);
                info_tables_init(&g->tables, g->program, words);
                return true;
        }
        return error_set(error, "its threads do not lead to their stacks where those of GHC 9.0 to 9.10 do");
}

struct fit {
        struct ghc *ghc;
        unsigned tried;
        unsigned counts[ARRAY_SIZE(layouts)];
};

/* Most threads have neither: both are then END_TSO_QUEUE, a constructor, and what follows is a number. */
static bool is_fitting(struct ghc *g, uint64_t tso, const struct thread_layout *l)
{
        const uint64_t at = tso + g->shift;
        const uint64_t exceptions = memory_u64(g->program->memory, at + l->blocked_exceptions);
        const uint64_t queue = memory_u64(g->program->memory, at + l->blocking_queue);
        const struct closure_table *i = exceptions == queue ? info_tables_of_closure(&g->tables, queue) : NULL;

        return i && closure_is_constructor(i->type) &&
               !info_tables_of_closure(&g->tables, memory_u64(g->program->memory, at + l->allocation_limit));
}

static bool see_fit(void *ctx, uint64_t tso)
{
        struct fit *f = ctx;

        for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
                f->counts[i] += is_fitting(f->ghc, tso, &layouts[i]);
        return ++f->tried < THREADS_TRIED;
}

static bool find_thread_layout(struct ghc *g, struct error *error)
{
        struct fit f = { .ghc = g };
        size_t best = 0;

        (void)ghc_each_thread(g, see_fit, &f);
        for (size_t i = 1; i < ARRAY_SIZE(layouts); i++)
                if (f.counts[i] > f.counts[best])
                        best = i;
        /* the fields of one release may by chance look like those of another in few threads */
        for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
                if (i != best && f.counts[i] * 2 >= f.counts[best])
                        return error_set(
                                error,
                                "its threads fit no release of GHC from 9.0 to 9.10: of %u tried, %u fit %s, %u "
                                "%s and %u %s",
                                f.tried, f.counts[0], layouts[0].releases, f.counts[1], layouts[1].releases,
                                f.counts[2], layouts[2].releases);
        g->thread = layouts[best];
        return true;
}

bool ghc_find(struct ghc *ret, struct program *program, struct error *error)
{
        struct ghc g = { .program = program };

        info_tables_init(&g.tables, program, 1);
        if (!generations_find(&g.generations, program, error) || !find_header(&g, error) ||
            !find_thread_layout(&g, error)) {
                info_tables_done(&g.tables);
                return false;
        }
        g.trec_entry_words = g.generations.struct_bytes && g.generations.struct_bytes < THREADED_STRUCT_LEAST ? 3 : 4;
        *ret = g;
        return true;
}

void ghc_done(struct ghc *g)
{
        info_tables_done(&g->tables);
}
