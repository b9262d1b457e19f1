/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - all is read from the census' own copy of the heap: the threads that it has counted, what each waits for, and
 * the innermost frame that is none of the runtime's. Of a stack in several chunks the innermost is meant. Groups are
 * found by the frame's table first and by its name at the end: a name costs a search, and threads may be thousands.
 */
#include "inspect/ghc/threads.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "inspect/ghc/roots.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"

#define GROUPS_MOST 256u /* further ones stay in TSO and STACK */
#define FRAMES      8u   /* from the top, of which one is the place */

struct waiting {
        const struct closure_table *place; /* NULL: none of its frames is known */
        enum thread_state state;
        uint64_t threads, tso_bytes, stack_bytes;
};

struct splitting {
        const struct heap_snapshot *snapshot;
        struct waiting groups[GROUPS_MOST];
        size_t n;
        uint64_t threads;    /* all that have not ended */
        uint8_t *of_runtime; /* by the id of a table: NOT_KNOWN, NO, YES */
        uint32_t capacity;
        bool out_of_memory;
};

enum { NOT_KNOWN, NO, YES };

/* Bytes of a closure of this type, if the census has it; else 0. */
static uint64_t counted_bytes(const struct heap_snapshot *s, uint64_t at, unsigned type)
{
        const struct heap_group *g = snapshot_group(s, at);
        const struct closure_table *t = g ? snapshot_table(s, at) : NULL;

        return t && t->type == type && g->kind != GROUP_YOUNG && g->kind != GROUP_OTHER ? closure_bytes(s, t, at, g)
                                                                                        : 0;
}

/* -------------------------------------------------------------------------- places */

static bool is_of_runtime(struct splitting *p, const struct closure_table *t)
{
        char name[PROGRAM_NAME_BYTES];

        if (!ARRAY_RESERVE_ZEROED(p->of_runtime, p->capacity, t->id + 1u)) {
                p->out_of_memory = true;
                return true;
        }
        if (p->of_runtime[t->id] == NOT_KNOWN) {
                (void)name_of_code(p->snapshot->ghc->program, t->at, name, sizeof(name));
                p->of_runtime[t->id] = name_is_of_runtime(name_without_package(name)) ? YES : NO;
        }
        return p->of_runtime[t->id] == YES;
}

/* -------------------------------------------------------------------------- groups */

static void add_thread(struct splitting *p, uint64_t tso)
{
        const struct heap_snapshot *s = p->snapshot;
        const uint64_t stack = snapshot_word(s, tso + s->ghc->shift + THREAD_STACK) & ~UINT64_C(7);
        const struct thread_layout *l = &s->ghc->thread;
        const enum thread_state state =
                thread_state_of(l, snapshot_word(s, tso + s->ghc->shift + thread_state_word_at(l)));
        struct thread_frames frames = heap_thread_frames(s, tso);
        const struct closure_table *place = NULL, *t;
        size_t i = 0;

        if (thread_has_ended((uint16_t)snapshot_word(s, tso + s->ghc->shift + THREAD_WHAT_NEXT)))
                return;
        p->threads++;
        if (!thread_state_is_waiting(state)) /* running and runnable ones are elsewhere at the next census */
                return;
        for (unsigned n = 0; n < FRAMES && !place && thread_frames_next(&frames, &t); n++)
                place = is_of_runtime(p, t) ? NULL : t;
        while (i < p->n && (p->groups[i].place != place || p->groups[i].state != state))
                i++;
        if (i == GROUPS_MOST)
                return;
        if (i == p->n)
                p->groups[p->n++] = (struct waiting){ .place = place, .state = state };
        p->groups[i].threads++;
        p->groups[i].tso_bytes += counted_bytes(s, tso, TSO);
        p->groups[i].stack_bytes += counted_bytes(s, stack, STACK);
}

/* Several return points of a function have the same name: the group of the first has them all. */
static void set_name(struct splitting *p, char **names, size_t i)
{
        struct waiting *w = &p->groups[i];
        char place[PROGRAM_NAME_BYTES] = "", name[PROGRAM_NAME_BYTES + 96];
        enum name_kind kind = NAME_NONE;

        if (w->place)
                kind = name_of_code(p->snapshot->ghc->program, w->place->at, place, sizeof(place));
        (void)text_join(name, sizeof(name), THREAD_BANDS_NAME, thread_state_text(w->state), place[0] ? " in " : "",
                        name_without_package(place), kind == NAME_LOCAL ? " (a local function)" : "", NULL);
        for (size_t k = 0; k < i; k++)
                if (names[k] && !strcmp(names[k], name)) {
                        p->groups[k].threads += w->threads;
                        p->groups[k].tso_bytes += w->tso_bytes;
                        p->groups[k].stack_bytes += w->stack_bytes;
                        w->threads = 0;
                        return;
                }
        if (!(names[i] = strdup(name)))
                p->out_of_memory = true;
}

/* --------------------------------------------------------------------------- bands */

static struct heap_band *find_band(struct heap_bands *b, const char *name)
{
        for (size_t i = 0; i < b->n; i++)
                if (!strcmp(b->items[i].name, name))
                        return &b->items[i];
        return NULL;
}

/* Takes what a group has out of these two, if they have as much. */
static bool subtract_group(struct heap_bands *b, const struct waiting *w)
{
        struct heap_band *tso = find_band(b, closure_type_name(TSO)), *stack = find_band(b, closure_type_name(STACK));

        if (!tso || !stack || tso->bytes < w->tso_bytes || stack->bytes < w->stack_bytes || tso->objects < w->threads ||
            stack->objects < w->threads)
                return false;
        tso->bytes -= w->tso_bytes;
        tso->objects -= w->threads;
        stack->bytes -= w->stack_bytes;
        stack->objects -= w->threads;
        return true;
}

static void add_groups(struct splitting *p, struct heap_bands *b, char **names, bool beside)
{
        for (size_t i = 0; i < p->n; i++) {
                const struct waiting *w = &p->groups[i];

                if (!names[i] || w->threads < THREAD_BANDS_LEAST || (!beside && !subtract_group(b, w)))
                        continue;
                b->items[b->n++] = (struct heap_band){ .name = names[i],
                                                       .bytes = w->tso_bytes + w->stack_bytes,
                                                       .objects = 2 * w->threads,
                                                       .threads = w->threads };
                names[i] = NULL;
        }
        heap_bands_sort(b);
        while (b->n && b->items[b->n - 1].bytes == 0)
                free(b->items[--b->n].name);
}

/* `beside`: what they have stays in the bands where it is. */
static bool find_groups(struct heap_bands *bands, const struct heap_census *c, const struct heap_snapshot *s,
                        bool beside, uint64_t *ret_threads)
{
        struct splitting *p = calloc(1, sizeof(*p));
        char **names = calloc(GROUPS_MOST, sizeof(*names));
        struct heap_band *more = realloc(bands->items, (bands->n + GROUPS_MOST) * sizeof(*more));
        bool good = p && names && more;

        if (more)
                bands->items = more;
        if (good) {
                p->snapshot = s;
                for (uint32_t i = 0; i < c->n_threads; i++)
                        add_thread(p, c->threads[i]);
                for (size_t i = 0; i < p->n; i++)
                        set_name(p, names, i);
                good = !p->out_of_memory;
                *ret_threads = p->threads;
                if (good)
                        add_groups(p, bands, names, beside);
        }
        for (size_t i = 0; names && i < GROUPS_MOST; i++)
                free(names[i]);
        free(names);
        if (p)
                free(p->of_runtime);
        free(p);
        return good;
}

bool heap_bands_split_threads(struct heap_bands *bands, const struct heap_census *c, const struct heap_snapshot *s,
                              uint64_t *ret_threads)
{
        return find_groups(bands, c, s, false, ret_threads);
}

bool heap_bands_of_threads(struct heap_bands *ret, const struct heap_census *c, const struct heap_snapshot *s,
                           uint64_t *ret_threads)
{
        *ret = (struct heap_bands){ NULL, 0 };
        return find_groups(ret, c, s, true, ret_threads);
}
