/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - two searches, breadth first. The first goes from threads and stable pointers through everything, also the
 * closures that do not move and the lists of these that code refers to (SRT): so it finds the CAFs that are alive, as
 * the collector does. The second begins with these CAFs, so that what a top-level value holds is said to be held by it,
 * and leaves other closures that do not move alone. A closure is reached once, by a shortest path; its path of types is
 * a node of a tree, in which repetitions are folded: a list of a million cells is one node, "(:)+".
 */
#include "inspect/ghc/retainers.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/bands.h"
#include "inspect/ghc/census.h"
#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "inspect/ghc/threads.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/text_out.h"

#define PATHS_MOST    (UINT32_C(1) << 21)
#define DEPTH_MOST    32u
#define NAMES_BYTES   ((size_t)64 << 20)
#define STATICS_MOST  ((size_t)1 << 24)
#define STABLE_MOST   (UINT64_C(1) << 24)
#define BITMAP_MOST   (UINT64_C(1) << 20) /* words of a frame or of arguments */
#define WEAK_MOST     (UINT64_C(1) << 24)
#define WEAK_ROUNDS   64u
#define NAMED_FRAMES  8u /* from the top, of which one names a thread */
#define C_STACK_BYTES 65536u

/* ---------------------------------------------------------------------------- names */

static const char *intern(struct retainers *r, const char *text)
{
        const char *interned = strings_intern(&r->names, text, strlen(text));

        r->out_of_memory |= !interned;
        return interned ? interned : "?";
}

static bool make_names(struct retainers *r, uint32_t id)
{
        uint32_t closures = r->names_capacity, frames = r->names_capacity;

        if (id < r->n_names)
                return true;
        if (!ARRAY_RESERVE_ZEROED(r->closure_names, closures, id + 1u) ||
            !ARRAY_RESERVE_ZEROED(r->frame_names, frames, id + 1u)) {
                r->out_of_memory = true;
                return false;
        }
        r->names_capacity = closures;
        r->n_names = id + 1;
        return true;
}

static const char *name_of_closure(struct retainers *r, const struct closure_table *t)
{
        char name[PROGRAM_NAME_BYTES + 64];

        if (!make_names(r, t->id))
                return "?";
        if (!r->closure_names[t->id]) {
                closure_name(r->snapshot->ghc->program, t, false, name, sizeof(name));
                r->closure_names[t->id] = intern(r, name_without_package(name));
        }
        return r->closure_names[t->id];
}

/* Of the program's own frames; "": the runtime's say nothing. */
static const char *name_of_frame(struct retainers *r, const struct closure_table *t)
{
        char name[PROGRAM_NAME_BYTES], text[PROGRAM_NAME_BYTES + 64];

        if (!make_names(r, t->id))
                return "";
        if (!r->frame_names[t->id]) {
                const enum name_kind kind = name_of_code(r->snapshot->ghc->program, t->at, name, sizeof(name));
                const char *own = name_without_package(name);
                (void)text_join(text, sizeof(text), kind == NAME_LOCAL ? "a frame in " : "frame of ", own, NULL);
                r->frame_names[t->id] = intern(r, strncmp(own, "stg_", 4) != 0 ? text : "");
        }
        return r->frame_names[t->id];
}

/* ---------------------------------------------------------------------------- paths */

static uint32_t path_place(const struct retainers *r, const char *name, uint32_t up, uint8_t plus)
{
        uint32_t place = (uint32_t)hash_u64((uint64_t)(uintptr_t)name * 2 + plus, up) & (r->n_path_places - 1);

        for (; r->path_places[place]; place = (place + 1) & (r->n_path_places - 1)) {
                const struct type_path *p = &r->paths[r->path_places[place]];
                if (p->name == name && p->up == up && p->plus == plus)
                        break;
        }
        return place;
}

static bool make_path_room(struct retainers *r)
{
        const uint32_t n = r->n_path_places ? 2 * r->n_path_places : 4096;
        uint32_t *places;

        if (2 * (r->n_paths + 1) < r->n_path_places)
                return true;
        if (r->n_paths >= PATHS_MOST || !(places = calloc(n, sizeof(*places))))
                return false;
        free(r->path_places);
        r->path_places = places;
        r->n_path_places = n;
        for (uint32_t i = 1; i < r->n_paths; i++)
                r->path_places[path_place(r, r->paths[i].name, r->paths[i].up, r->paths[i].plus)] = i;
        return true;
}

/* When there are too many, what is below `up` is counted with it. */
static uint32_t path_of(struct retainers *r, const char *name, uint32_t up, uint8_t plus)
{
        if (!make_path_room(r) || !ARRAY_RESERVE(r->paths, r->paths_capacity, r->n_paths + 2))
                return up;
        if (r->n_paths == 0)
                r->paths[r->n_paths++] = (struct type_path){ "", 0, 0, 0 };
        const uint32_t place = path_place(r, name, up, plus);
        if (!r->path_places[place]) {
                r->path_places[place] = r->n_paths;
                r->paths[r->n_paths++] =
                        (struct type_path){ name, up, (uint8_t)(up ? r->paths[up].depth + 1 : 0), plus };
        }
        return r->path_places[place];
}

static bool is_root(const struct retainers *r, uint32_t path)
{
        return r->paths[path].up == 0;
}

/* A type below a path. One, two or three types that come again and again are there once. */
static uint32_t path_below(struct retainers *r, uint32_t path, const char *name)
{
        uint32_t again = path;

        if (!path)
                return 0;
        for (unsigned period = 1; period <= 3 && again && !is_root(r, again); period++) {
                bool repeats = r->paths[again].name == name;
                /* the types between must have come before, in the same order */
                for (uint32_t a = path, b = r->paths[again].up; repeats && a != again; a = r->paths[a].up) {
                        repeats = b && !is_root(r, b) && r->paths[a].name == r->paths[b].name;
                        b = b ? r->paths[b].up : 0;
                }
                if (repeats)
                        return r->paths[again].plus ? again : path_of(r, name, r->paths[again].up, 1);
                again = r->paths[again].up;
        }
        return r->paths[path].depth >= DEPTH_MOST ? path : path_of(r, name, path, 0);
}

uint32_t retainers_root_of(const struct retainers *r, uint32_t path)
{
        while (path && r->paths[path].up)
                path = r->paths[path].up;
        return path;
}

/* ------------------------------------------------------------------------- searching */

struct search {
        struct retainers *r;
        const struct heap_snapshot *s;
        struct ghc *g;
        bool through_statics;
        uint32_t path; /* of the closure that is gone through */
        size_t n_pending, pending_capacity;
        uint64_t *pending_items; /* statics that are not gone through yet */
};

static uint64_t *mark_of(const struct heap_snapshot *s, uint64_t at, uint64_t *ret_bit)
{
        struct megablock *m = snapshot_megablock(s, at);
        const uint64_t word = at % MEGABLOCK_BYTES / 8;

        if (!m || (!m->marks && !(m->marks = calloc(MEGABLOCK_BYTES / 8 / 64, sizeof(*m->marks)))))
                return NULL;
        *ret_bit = UINT64_C(1) << (word % 64);
        return &m->marks[word / 64];
}

bool retainers_is_reached(const struct retainers *r, uint64_t at)
{
        const struct megablock *m = snapshot_megablock(r->snapshot, at);
        const uint64_t word = at % MEGABLOCK_BYTES / 8;

        return m && m->marks && (m->marks[word / 64] >> (word % 64) & 1);
}

static void clear_marks(const struct heap_snapshot *s)
{
        for (size_t i = 0; i < s->n_megablocks; i++) {
                free(s->megablocks[i].marks);
                s->megablocks[i].marks = NULL;
        }
}

static bool is_static(const struct heap_snapshot *s, uint64_t at)
{
        const struct program *p = s->ghc->program;

        for (size_t i = 0; i < p->n_data; i++)
                if (at >= p->data[i].start && at < p->data[i].end)
                        return true;
        return false;
}

/* Adds one to the set. False: it is in it already, or there is no memory. */
static bool add_static(struct retainers *r, uint64_t at)
{
        if (2 * (r->n_statics + 1) > r->static_places) {
                const size_t n = r->static_places ? 2 * r->static_places : 4096;
                uint64_t *places = n <= STATICS_MOST ? calloc(n, sizeof(*places)) : NULL;
                if (!places) {
                        r->out_of_memory = true;
                        return false;
                }
                for (size_t i = 0; i < r->static_places; i++) {
                        size_t k = (size_t)hash_u64(r->statics[i], 0) & (n - 1);
                        while (r->statics[i] && places[k])
                                k = (k + 1) & (n - 1);
                        if (r->statics[i])
                                places[k] = r->statics[i];
                }
                free(r->statics);
                r->statics = places;
                r->static_places = n;
        }
        size_t k = (size_t)hash_u64(at, 0) & (r->static_places - 1);
        for (; r->statics[k]; k = (k + 1) & (r->static_places - 1))
                if (r->statics[k] == at)
                        return false;
        r->statics[k] = at;
        r->n_statics++;
        return true;
}

static bool has_static(const struct retainers *r, uint64_t at)
{
        for (size_t k = r->static_places ? (size_t)hash_u64(at, 0) & (r->static_places - 1) : 0;
             r->static_places && r->statics[k]; k = (k + 1) & (r->static_places - 1))
                if (r->statics[k] == at)
                        return true;
        return false;
}

/* A pointer: what it points to is reached. Anything else is passed over. */
static void follow(struct search *c, uint64_t pointer)
{
        const uint64_t at = pointer & ~UINT64_C(7);
        struct retainers *r = c->r;
        uint64_t bit, *mark;

        if (!snapshot_megablock(c->s, at)) {
                if (c->through_statics && at && is_static(c->s, at) && add_static(r, at)) {
                        if (ARRAY_RESERVE(c->pending_items, c->pending_capacity, c->n_pending + 1))
                                c->pending_items[c->n_pending++] = at;
                        else
                                r->out_of_memory = true;
                }
                return;
        }
        const struct closure_table *t = info_tables_find(&c->g->tables, snapshot_word(c->s, at));
        if (!t || closure_is_frame(t->type) || !(mark = mark_of(c->s, at, &bit)) || (*mark & bit))
                return;
        if (!ARRAY_RESERVE(r->reached, r->reached_capacity, r->n_reached + 1)) {
                r->out_of_memory = true;
                return;
        }
        *mark |= bit;
        r->reached[r->n_reached++] = (struct reached){ at, c->path };
}

static void follow_words(struct search *c, uint64_t at, uint64_t n)
{
        for (uint64_t i = 0; i < n; i++)
                follow(c, snapshot_word(c->s, at + 8 * i));
}

/* Closures that the code refers to. */
static void follow_code(struct search *c, const struct closure_table *t)
{
        if (c->through_statics && t->srt)
                follow(c, t->at + (uint64_t)(int64_t)t->srt);
}

/* A bit that is set: no pointer. */
static void follow_large_bitmap(struct search *c, const struct closure_table *t, uint64_t at, uint64_t n)
{
        const uint64_t bitmap = t->at + (uint64_t)(int64_t)(int32_t)(uint32_t)t->layout + 8;
        uint64_t bits = 0;

        for (uint64_t i = 0; i < n; i++) {
                if (i % 64 == 0 && !memory_read_kept(c->g->program->memory, bitmap + i / 8, &bits, sizeof(bits)))
                        return;
                if (!(bits >> (i % 64) & 1))
                        follow(c, snapshot_word(c->s, at + 8 * i));
        }
}

/* What the frames from `at` to `end` hold; the path of each has the frame in it. */
static void follow_frames(struct search *c, uint64_t at, uint64_t end)
{
        const uint32_t above = c->path;

        while (at < end) {
                const uint64_t words[2] = { snapshot_word(c->s, at), snapshot_word(c->s, at + 8) };
                const struct closure_table *t;
                const size_t size = frame_words(c->g, words, (size_t)((end - at) / 8), &t);

                if (size == 0) { /* an argument on top of a stack that runs, or what is not understood */
                        c->path = above;
                        follow(c, words[0]);
                        at += 8;
                        continue;
                }
                const char *name = name_of_frame(c->r, t);
                c->path = name[0] && !c->through_statics ? path_below(c->r, above, name) : above;
                switch (t->type) {
                case RET_BIG:
                        follow_large_bitmap(c, t, at + 8, size - 1);
                        break;
                case RET_FUN:
                        follow_words(c, at + 16, size - 2);
                        break;
                case RET_BCO:
                        follow_words(c, at + 8, size - 1);
                        break;
                default:
                        for (size_t i = 0; i + 1 < size; i++)
                                if (!(t->layout >> (6 + i) & 1))
                                        follow(c, snapshot_word(c->s, at + 8 + 8 * i));
                        break;
                }
                if (t->type == RET_SMALL || t->type == RET_BIG)
                        follow_code(c, t);
                at += 8 * size;
        }
        c->path = above;
}

static void follow_stack(struct search *c, uint64_t at)
{
        const uint64_t base = at + c->g->shift, begin = base + STACK_WORDS;
        const uint64_t end = begin + 8 * (uint64_t)(uint32_t)snapshot_word(c->s, base + STACK_SIZE);
        uint64_t pointer = snapshot_word(c->s, base + STACK_POINTER);

        for (size_t i = 0; i < c->r->n_running; i++)
                if (c->r->running[i].stack == at)
                        pointer = c->r->running[i].pointer;
        if (pointer >= begin && pointer <= end && !(pointer & 7) && end - begin <= (UINT64_C(1) << 30))
                follow_frames(c, pointer, end);
}

/* Not the next thread of the list, nor the capability. */
static void follow_thread(struct search *c, uint64_t at)
{
        const struct thread_layout *l = &c->g->thread;
        const uint16_t fields[] = { THREAD_STACK,      l->block_info,     l->blocked_exceptions,
                                    l->blocking_queue, l->capability + 8, l->label ? l->label : l->blocking_queue };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                follow(c, snapshot_word(c->s, at + c->g->shift + fields[i]));
}

static uint64_t bounded(uint64_t n)
{
        return n < BITMAP_MOST ? n : BITMAP_MOST;
}

/* What a closure of the heap holds. A weak pointer holds nothing: follow_weak_pointers(). */
static void go_through(struct search *c, uint64_t at, const struct closure_table *t)
{
        const uint64_t h = 8 * (uint64_t)c->g->header_words, payload = at + h, thunk = payload + 8;

        switch (t->type) {
        case ARR_WORDS:
        case WEAK:
        case COMPACT_NFDATA:
                return;
        case TSO:
                follow_thread(c, at);
                return;
        case STACK:
                follow_stack(c, at);
                return;
        case IND:
        case BLACKHOLE:
        case BLOCKING_QUEUE:
                follow_words(c, payload, t->type == BLOCKING_QUEUE ? 4 : 1);
                return;
        case THUNK_SELECTOR:
                follow(c, snapshot_word(c->s, thunk));
                return;
        case AP:
                follow_words(c, thunk + 8, 1 + bounded(snapshot_word(c->s, thunk) >> 32));
                return;
        case PAP:
                follow_words(c, payload + 8, 1 + bounded(snapshot_word(c->s, payload) >> 32));
                return;
        case AP_STACK:
                follow(c, snapshot_word(c->s, thunk + 8));
                follow_frames(c, thunk + 16, thunk + 16 + 8 * bounded(snapshot_word(c->s, thunk)));
                return;
        case CONTINUATION:
                follow_frames(c, payload + 24, payload + 24 + 8 * bounded(snapshot_word(c->s, payload + 16)));
                return;
        case BCO:
                follow_words(c, payload, 3);
                return;
        case TREC_CHUNK:
                follow(c, snapshot_word(c->s, payload));
                /* those that are used; others have what was there before */
                for (uint64_t i = 0; i < TREC_ENTRIES && i < snapshot_word(c->s, payload + 8); i++)
                        follow_words(c, payload + 16 + 8 * i * c->g->trec_entry_words, 3);
                return;
        default:
                break;
        }
        if (t->type >= MUT_ARR_PTRS_CLEAN && t->type <= MUT_ARR_PTRS_FROZEN_CLEAN)
                follow_words(c, payload + 16,
                             snapshot_word(c->s, payload) < (UINT64_C(1) << 40) ? snapshot_word(c->s, payload) : 0);
        else if (t->type >= SMALL_MUT_ARR_PTRS_CLEAN && t->type <= SMALL_MUT_ARR_PTRS_FROZEN_CLEAN)
                follow_words(c, payload + 8, bounded(snapshot_word(c->s, payload)));
        else
                follow_words(c, closure_is_thunk(t->type) ? thunk : payload, t->pointers);
        if (closure_is_function(t->type) || closure_is_thunk(t->type))
                follow_code(c, t);
}

/* Indirections, threads and their stacks are no steps of a path. */
static bool is_step(unsigned type)
{
        return type != IND && type != BLACKHOLE && type != TSO && type != STACK && type != BLOCKING_QUEUE;
}

static uint64_t static_word(const struct search *c, uint64_t at)
{
        uint64_t value;

        return snapshot_read(c->s, at, &value) ? value : 0;
}

/* A closure that does not move: it may hold others, and its code may refer to others. */
static void go_through_static(struct search *c, uint64_t at)
{
        const struct closure_table *t = info_tables_find(&c->g->tables, static_word(c, at));
        const uint64_t payload = at + 8 * (uint64_t)c->g->header_words;

        if (!t || t->type == CONSTR_NOCAF)
                return;
        if (t->type == IND_STATIC)
                follow(c, static_word(c, payload));
        else if (t->type == THUNK_STATIC)
                follow_code(c, t);
        else if (t->type == FUN_STATIC || closure_is_constructor(t->type)) {
                for (uint32_t i = 0; i < t->pointers; i++)
                        follow(c, static_word(c, payload + 8 * (uint64_t)i));
                if (t->type == FUN_STATIC)
                        follow_code(c, t);
        }
}

static void continue_search(struct search *c, size_t *done)
{
        struct retainers *r = c->r;

        while ((*done < r->n_reached || c->n_pending > 0) && !r->out_of_memory) {
                if (c->n_pending > 0) {
                        go_through_static(c, c->pending_items[--c->n_pending]);
                        continue;
                }
                const size_t i = (*done)++;
                const uint64_t at = r->reached[i].at;
                const struct closure_table *t = info_tables_find(&c->g->tables, snapshot_word(c->s, at));
                if (!t)
                        continue;
                if (!c->through_statics && is_step(t->type))
                        r->reached[i].path = path_below(r, r->reached[i].path, name_of_closure(r, t));
                c->path = r->reached[i].path;
                go_through(c, at, t);
        }
}

/* ---------------------------------------------------------------------------- roots */

static void add_root(struct retainers *r, enum root_kind kind, const char *name, uint64_t closure)
{
        const char *interned = intern(r, name);

        if (!ARRAY_RESERVE(r->roots, r->roots_capacity, r->n_roots + 1)) {
                r->out_of_memory = true;
                return;
        }
        r->roots[r->n_roots++] = (struct root){ interned, closure, path_of(r, interned, 0, 0), (uint8_t)kind };
}

/* The topmost function of the program in its stack. */
static const char *thread_place(struct retainers *r, uint64_t tso)
{
        const struct heap_snapshot *s = r->snapshot;
        const uint64_t base = (snapshot_word(s, tso + s->ghc->shift + THREAD_STACK) & ~UINT64_C(7)) + s->ghc->shift;
        const uint64_t end = base + STACK_WORDS + 8 * (uint64_t)(uint32_t)snapshot_word(s, base + STACK_SIZE);
        uint64_t at = snapshot_word(s, base + STACK_POINTER);

        for (unsigned n = 0; n < NAMED_FRAMES && at >= base + STACK_WORDS && at < end; n++) {
                const uint64_t words[2] = { snapshot_word(s, at), snapshot_word(s, at + 8) };
                const struct closure_table *t;
                const size_t size = frame_words(s->ghc, words, (size_t)((end - at) / 8), &t);
                if (size == 0)
                        break;
                if (name_of_frame(r, t)[0])
                        return name_of_frame(r, t);
                at += 8 * size;
        }
        return "";
}

/* The stack pointer of a thread that runs: in Sp, or where C that it called has saved that: innermost on its stack. */
static uint64_t find_pointer(const struct heap_snapshot *s, uint64_t begin, uint64_t end)
{
        const struct program *p = s->ghc->program;
        uint64_t word;

        for (size_t i = 0; i < p->n_registers; i++)
                if (p->registers[i].hs_sp >= begin && p->registers[i].hs_sp < end)
                        return p->registers[i].hs_sp;
        for (size_t i = 0; i < p->n_registers; i++) {
                const uint64_t from = p->registers[i].sp & ~UINT64_C(7);
                for (uint64_t at = from; at - from < C_STACK_BYTES && snapshot_read(s, at, &word); at += 8)
                        if (word >= begin && word < end && !(word & 7))
                                return word;
        }
        return 0;
}

static void see_running(struct retainers *r, uint64_t tso)
{
        const struct heap_snapshot *s = r->snapshot;
        const uint64_t capability = snapshot_word(s, tso + s->ghc->shift + s->ghc->thread.capability);
        const uint64_t stack = snapshot_word(s, tso + s->ghc->shift + THREAD_STACK) & ~UINT64_C(7);
        const uint64_t base = stack + s->ghc->shift, begin = base + STACK_WORDS;
        const uint64_t end = begin + 8 * (uint64_t)(uint32_t)snapshot_word(s, base + STACK_SIZE);
        uint64_t current, pointer;

        if (r->n_running == RUNNING_MOST || !snapshot_read(s, capability + CAPABILITY_CURRENT_THREAD, &current) ||
            current != tso || !(pointer = find_pointer(s, begin, end)))
                return;
        r->running[r->n_running++] = (struct running_stack){ stack, pointer };
}

/* By its label without its number, and where it is: threads of one kind are one root. */
static bool add_thread(void *ctx, uint64_t tso)
{
        struct retainers *r = ctx;
        const struct heap_snapshot *s = r->snapshot;
        const struct ghc *g = s->ghc;
        const uint16_t next = (uint16_t)snapshot_word(s, tso + g->shift + THREAD_WHAT_NEXT);
        const uint64_t label = g->thread.label ? snapshot_word(s, tso + g->shift + g->thread.label) & ~UINT64_C(7) : 0;
        const uint64_t n = label ? snapshot_word(s, label + 8 * (uint64_t)g->header_words) : 0;
        const char *place = thread_place(r, tso);
        char text[PROGRAM_NAME_BYTES + 96];
        struct text_out out;

        if (next == 3 || next == 4)
                return true; /* it has ended */
        see_running(r, tso);
        text_out_init(&out, text, sizeof(text));
        text_put(&out, "thread");
        for (uint64_t i = 0; i < n && i < THREAD_LABEL_BYTES; i++) {
                const uint64_t at = label + 8 * ((uint64_t)g->header_words + 1) + i;
                const char byte = (char)(snapshot_word(s, at & ~UINT64_C(7)) >> (at % 8 * 8));
                if (i == 0)
                        text_put(&out, " ");
                if ((unsigned char)byte >= ' ' && (byte < '0' || byte > '9'))
                        text_put_n(&out, &byte, 1);
        }
        if (place[0]) {
                text_put(&out, " in ");
                text_put(&out, strstr(place, " of ") ? strstr(place, " of ") + 4 : strstr(place, " in ") + 4);
        }
        add_root(r, ROOT_THREAD, text, tso);
        return true;
}

static void add_registers(struct retainers *r)
{
        const struct program *p = r->snapshot->ghc->program;

        for (size_t i = 0; i < p->n_registers; i++)
                for (size_t k = 0; k < p->registers[i].n_all; k++)
                        if (snapshot_megablock(r->snapshot, p->registers[i].all[k]))
                                add_root(r, ROOT_REGISTER, "registers of a thread that runs", p->registers[i].all[k]);
}

/* The runtime's table of them; free entries lead into the table itself. */
static void add_stable_pointers(struct retainers *r)
{
        const struct heap_snapshot *s = r->snapshot;
        const uint64_t table_at = program_variable(s->ghc->program, "stable_ptr_table");
        const uint64_t size_at = program_variable(s->ghc->program, "SPT_size");
        uint64_t table, size, entry;

        if (!table_at || !size_at || !snapshot_read(s, table_at & ~UINT64_C(7), &table) ||
            !snapshot_read(s, size_at & ~UINT64_C(7), &size))
                return;
        size = size_at & 4 ? size >> 32 : (uint32_t)size;
        for (uint64_t i = 0; i < size && i < STABLE_MOST; i++)
                if (snapshot_read(s, table + 8 * i, &entry) &&
                    (snapshot_megablock(s, entry & ~UINT64_C(7)) || is_static(s, entry & ~UINT64_C(7))))
                        add_root(r, ROOT_STABLE, "stable pointer", entry);
}

/* Its own symbol, or the module of the code that computed it, which it keeps behind its value. */
static void name_caf(const struct heap_snapshot *s, uint64_t at, char *text, size_t size)
{
        char name[PROGRAM_NAME_BYTES], code[PROGRAM_NAME_BYTES];
        const enum name_kind kind = name_of_static(s->ghc->program, at, name, sizeof(name));
        uint64_t saved = 0;

        (void)snapshot_read(s, at + 8 * ((uint64_t)s->ghc->header_words + 2), &saved);
        if (kind == NAME_EXACT)
                (void)text_join(text, size, "CAF ", name_without_package(name), NULL);
        else if (program_is_code(s->ghc->program, saved) &&
                 name_of_code(s->ghc->program, saved, code, sizeof(code)) != NAME_NONE)
                (void)text_join(text, size, "a CAF in ", name_without_package(code), " (", name, ")", NULL);
        else
                (void)text_join(text, size, "CAF ", name, NULL);
}

/* Static indirections into the heap, which the first search has reached or not. */
static void add_cafs(struct retainers *r)
{
        const struct heap_snapshot *s = r->snapshot;
        const uint64_t h = 8 * (uint64_t)s->ghc->header_words;
        char text[2 * PROGRAM_NAME_BYTES + 16];

        for (size_t i = 0; i < s->ghc->program->n_data; i++) {
                const struct range *d = &s->ghc->program->data[i];
                for (uint64_t at = (d->start + 7) & ~UINT64_C(7); at + h + 24 <= d->end; at += 8) {
                        uint64_t first, value;
                        const struct closure_table *t;
                        if (!snapshot_read(s, at, &first) || !(t = info_tables_find(&s->ghc->tables, first)) ||
                            t->type != IND_STATIC || !snapshot_read(s, at + h, &value) ||
                            !snapshot_megablock(s, value & ~UINT64_C(7)))
                                continue;
                        if (!has_static(r, at)) {
                                r->dead_cafs++;
                                continue;
                        }
                        r->live_cafs++;
                        name_caf(s, at, text, sizeof(text));
                        add_root(r, ROOT_CAF, text, value);
                }
        }
}

static void follow_roots(struct search *c, const char *without)
{
        for (size_t i = 0; i < c->r->n_roots && !c->r->out_of_memory; i++) {
                const struct root *root = &c->r->roots[i];
                if (without && !strcmp(root->name, without))
                        continue;
                c->path = root->path;
                follow(c, root->closure);
        }
}

/* The closures that C has: what looks like a pointer to one. Statics of Haskell are not among these words. */
static void follow_c_memory(struct search *c)
{
        static const char name[] = "C memory, which may be a stable pointer";

        c->path = path_of(c->r, intern(c->r, name), 0, 0);
        for (size_t i = 0; i < c->s->n_written; i++) {
                const struct written *w = &c->s->written[i];
                for (uint64_t at = w->start; at + 8 <= w->end; at += 8) {
                        uint64_t value;
                        memcpy(&value, w->bytes + (at - w->start), sizeof(value));
                        if (snapshot_megablock(c->s, value) && !is_static(c->s, at))
                                follow(c, value);
                }
        }
}

/* A weak pointer whose key is alive holds its value and its finalizer; these may make other keys alive. */
static void follow_weak_pointers(struct search *c, size_t *done, const char *without)
{
        static const char name[] = "weak pointer whose key is alive";
        const uint64_t h = 8 * (uint64_t)c->g->header_words;
        size_t before;
        uint64_t alive;
        unsigned rounds = 0;

        if (without && !strcmp(without, name))
                return;
        do {
                before = c->r->n_reached;
                alive = 0;
                c->path = path_of(c->r, intern(c->r, name), 0, 0);
                for (unsigned i = 0; i < c->s->generations.n; i++) {
                        uint64_t at = c->s->generations.items[i].weak_pointers;
                        for (uint64_t n = 0; at && n < WEAK_MOST; n++) {
                                const struct closure_table *t =
                                        info_tables_find(&c->g->tables, snapshot_word(c->s, at));
                                if (!t || t->type != WEAK)
                                        break;
                                const uint64_t key = snapshot_word(c->s, at + h + 8) & ~UINT64_C(7);
                                if (!snapshot_megablock(c->s, key) || retainers_is_reached(c->r, key)) {
                                        alive++;
                                        follow(c, at);
                                        follow_words(c, at + h + 16, 2);
                                        follow(c, snapshot_word(c->s, at + h));
                                }
                                at = snapshot_word(c->s, at + h + 32);
                        }
                }
                continue_search(c, done);
        } while (c->r->n_reached > before && ++rounds < WEAK_ROUNDS && !c->r->out_of_memory);
        if (!without)
                c->r->live_weak_pointers = alive;
}

/* ------------------------------------------------------------------------ the whole */

static void mark(const struct search *c, uint64_t at)
{
        uint64_t bit, *to = mark_of(c->s, at & ~UINT64_C(7), &bit);

        if (to)
                *to |= bit;
}

/* With their stacks: the runtime's own variables may lead to one of them. */
static void mark_threads_of(const struct search *c, const char *name)
{
        for (size_t i = 0; i < c->r->n_roots; i++)
                if (c->r->roots[i].kind == ROOT_THREAD && !strcmp(c->r->roots[i].name, name)) {
                        mark(c, c->r->roots[i].closure);
                        mark(c, snapshot_word(c->s, c->r->roots[i].closure + c->g->shift + THREAD_STACK));
                }
}

static bool search(struct retainers *r, bool through_statics, const char *without)
{
        struct search c = { .r = r, .s = r->snapshot, .g = r->snapshot->ghc, .through_statics = through_statics };
        size_t done = 0;

        clear_marks(r->snapshot);
        r->n_reached = 0;
        if (without)
                mark_threads_of(&c, without);
        follow_roots(&c, without);
        continue_search(&c, &done);
        follow_weak_pointers(&c, &done, without);
        /* what C memory seems to hold may be what it held once: it is no reason that something stays */
        if (!without) {
                follow_c_memory(&c);
                continue_search(&c, &done);
                follow_weak_pointers(&c, &done, NULL);
        }
        free(c.pending_items);
        return !r->out_of_memory;
}

bool retainers_find(struct retainers *r, const struct heap_snapshot *s)
{
        *r = (struct retainers){ .snapshot = s };
        strings_init(&r->names, NAMES_BYTES);
        add_stable_pointers(r);
        snapshot_each_thread(s, add_thread, r);
        add_registers(r);
        if (r->out_of_memory || !search(r, true, NULL))
                return false;
        add_cafs(r);
        /* CAFs first: what is equally far from one and from a thread is the CAF's */
        for (size_t from = r->n_roots - (size_t)r->live_cafs, i = 0; i < r->live_cafs && from > i; i++) {
                const struct root caf = r->roots[from + i];
                r->roots[from + i] = r->roots[i];
                r->roots[i] = caf;
        }
        return search(r, false, NULL);
}

bool retainers_find_without(struct retainers *r, const char *root_name)
{
        return search(r, false, root_name);
}

void retainers_done(struct retainers *r)
{
        if (r->snapshot)
                clear_marks(r->snapshot);
        strings_done(&r->names);
        free(r->closure_names);
        free(r->frame_names);
        free(r->paths);
        free(r->path_places);
        free(r->roots);
        free(r->reached);
        free(r->statics);
        *r = (struct retainers){ .snapshot = NULL };
}
