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
 * A list ends with a constructor, END_TSO_QUEUE. What a collection has left behind may lead around in a circle: the
 * walk keeps one place, a later one each time its length has doubled, and ends where it comes back to it.
 */
bool ghc_next_thread(struct thread_cursor *c, uint64_t *ret_tso)
{
        struct ghc *g = c->ghc;
        const unsigned end = c->end ? c->end : g->generations.n;

        for (;;) {
                const uint64_t tso = c->next ? forwarded_closure(g, c->next) : 0;
                const struct closure_table *i = tso ? info_tables_of_closure(&g->tables, tso) : NULL;
                if (i && i->type == TSO && c->count < THREADS_MOST && tso != c->kept) {
                        if (c->count++ == c->next_kept) {
                                c->kept = tso;
                                c->next_kept = 2 * c->count;
                        }
                        c->next = memory_u64(g->program->memory, tso + g->shift + THREAD_LINK);
                        *ret_tso = tso;
                        return true;
                }
                c->is_cut |= c->next && !(i && closure_is_constructor(i->type));
                if (c->generation == end)
                        return false;
                const struct heap_generation *of = &g->generations.items[c->generation];
                c->next = c->is_old ? of->old_threads : of->threads;
                c->generation += c->is_old;
                c->is_old = !c->is_old;
                c->kept = 0;
                c->next_kept = c->count;
        }
}

/* ------------------------------------------------------------------------ probing */

/* A profiled header has three words: known by where the pointer to the stack is. */
static bool find_header(struct ghc *g, struct error *error)
{
        struct thread_cursor threads = { .ghc = g };
        uint64_t tso;

        if (!ghc_next_thread(&threads, &tso))
                return error_set(error,
                                 "it has no Haskell thread: it has not begun yet, or is laid out in another way "
                                 "than GHC 9.0 to 9.10 does");
        for (unsigned words = 1; words <= 3; words += 2) {
                const uint64_t stack = memory_u64(g->program->memory, tso + THREAD_STACK + (words - 1) * 8);
                uint64_t closure = forwarded_closure(g, stack);
                const struct closure_table *i = info_tables_of_closure(&g->tables, closure);

                if (!i || i->type != STACK)
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

static bool find_thread_layout(struct ghc *g, struct error *error)
{
        struct thread_cursor threads = { .ghc = g };
        unsigned tried = 0, fit[ARRAY_SIZE(layouts)] = { 0 };
        size_t best = 0;

        for (uint64_t tso; tried < THREADS_TRIED && ghc_next_thread(&threads, &tso); tried++)
                for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
                        fit[i] += is_fitting(g, tso, &layouts[i]);
        for (size_t i = 1; i < ARRAY_SIZE(layouts); i++)
                if (fit[i] > fit[best])
                        best = i;
        /* the fields of one release may by chance look like those of another in few threads */
        for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
                if (i != best && fit[i] * 2 >= fit[best])
                        return error_set(
                                error,
                                "its threads fit no release of GHC from 9.0 to 9.10: of %u tried, %u fit %s, %u "
                                "%s and %u %s",
                                tried, fit[0], layouts[0].releases, fit[1], layouts[1].releases, fit[2],
                                layouts[2].releases);
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
