/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the stack pointer of a thread that runs is in a register, not in its stack: rbp. r13 leads to the capability
 * and so to the thread. Where the thread has called C in between, rbp may have been saved on the C stack: the innermost
 * word there that points into the Haskell stack is tried. What is right is known by its frames: they must follow one
 * another.
 *
 * Threads and their stacks are many small closures beside each other. They are read by pages, which are kept for one
 * copy: ten thousand threads are a thousand reads.
 */
#include "inspect/ghc/threads.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "proto/base/array.h"

#define STACK_WORDS_MOST (UINT32_C(1) << 27) /* of one chunk: 1 GiB */
#define COPY_WORDS_MOST  (UINT64_C(1) << 26) /* of all stacks: 512 MiB */
#define CHUNKS_MOST      (UINT32_C(1) << 16) /* of one thread */
#define C_STACK_BYTES    65536u
#define ARGUMENTS_MOST   64u /* words above the first frame of a thread that runs */
#define FRAMES_SURE      12u /* that follow one another: then it is a stack */

/* Values of what_next and why_blocked in rts/Constants.h. */
enum { NEXT_KILLED = 3, NEXT_COMPLETE = 4 };

static enum thread_state state_of(uint32_t why_blocked)
{
        static const uint8_t states[] = {
                [0] = THREAD_RUNNABLE,  [1] = THREAD_MVAR,       [2] = THREAD_BLACK_HOLE,
                [3] = THREAD_READ,      [4] = THREAD_WRITE,      [5] = THREAD_DELAY,
                [6] = THREAD_STM,       [7] = THREAD_UNKNOWN,    [8] = THREAD_UNKNOWN,
                [9] = THREAD_UNKNOWN,   [10] = THREAD_FOREIGN,   [11] = THREAD_FOREIGN_INTERRUPTIBLE,
                [12] = THREAD_THROW_TO, [13] = THREAD_MIGRATING, [14] = THREAD_MVAR_READ,
                [15] = THREAD_IO,
        };

        return why_blocked < ARRAY_SIZE(states) ? (enum thread_state)states[why_blocked] : THREAD_UNKNOWN;
}

static const char *const states[THREAD_STATES][2] = {
        [THREAD_RUNNABLE] = { "runnable", "runnable" },
        [THREAD_RUNNING] = { "running", "running" },
        [THREAD_IN_C] = { "running_c", "running, in C" },
        [THREAD_MVAR] = { "mvar", "blocked on an MVar" },
        [THREAD_MVAR_READ] = { "mvar_read", "blocked on readMVar" },
        [THREAD_BLACK_HOLE] = { "black_hole", "blocked on a value that another thread computes" },
        [THREAD_READ] = { "read", "waiting to read" },
        [THREAD_WRITE] = { "write", "waiting to write" },
        [THREAD_DELAY] = { "delay", "in threadDelay" },
        [THREAD_STM] = { "stm", "blocked in STM" },
        [THREAD_FOREIGN] = { "foreign", "in a foreign call" },
        [THREAD_FOREIGN_INTERRUPTIBLE] = { "foreign_interruptible", "in an interruptible foreign call" },
        [THREAD_THROW_TO] = { "throw_to", "blocked in throwTo" },
        [THREAD_MIGRATING] = { "migrating", "moving to another capability" },
        [THREAD_IO] = { "io", "waiting for I/O" },
        [THREAD_UNKNOWN] = { "unknown", "in an unknown state" },
};

const char *thread_state_word(enum thread_state s)
{
        return states[s][0];
}

const char *thread_state_text(enum thread_state s)
{
        return states[s][1];
}

/* -------------------------------------------------------------------------- frames */

/* The size in front of a large bitmap, which lies beside the code. */
static bool read_bitmap_size(struct ghc *g, const struct closure_table *i, uint64_t *ret)
{
        const int32_t offset = (int32_t)(uint32_t)i->layout;

        return memory_read_kept(g->program->memory, i->at + (uint64_t)(int64_t)offset, ret, sizeof(*ret));
}

size_t frame_words(struct ghc *g, const uint64_t *words, size_t n, const struct closure_table **ret)
{
        const struct closure_table *i = n ? info_tables_find(&g->tables, words[0]) : NULL;
        uint64_t size = 0;

        if (!i || !closure_is_frame(i->type))
                return 0;
        switch (i->type) {
        case RET_BIG:
                if (!read_bitmap_size(g, i, &size))
                        return 0;
                size += size < n ? 1 : 0;
                break;
        case RET_FUN:
                size = n > 1 && words[1] < n ? 3 + words[1] : 0;
                break;
        case RET_BCO:
                if (n < 2 || !memory_read(g->program->memory, (words[1] & ~UINT64_C(7)) + 8 * (g->header_words + 4),
                                          &size, sizeof(size)))
                        return 0;
                size += size < n ? 2 : 0;
                break;
        default:
                size = 1 + (i->layout & 63);
                break;
        }
        *ret = i;
        return size > 0 && size <= n ? (size_t)size : 0;
}

/* Whether frames follow one another from here to the end, or FRAMES_SURE of them. */
static bool is_stack(struct ghc *g, const uint64_t *words, size_t n)
{
        const struct closure_table *i;

        for (unsigned frames = 0; frames < FRAMES_SURE && n > 0; frames++) {
                const size_t size = frame_words(g, words, n, &i);
                if (size == 0)
                        return false;
                words += size;
                n -= size;
        }
        return true;
}

static void walk(struct threads *t, struct ghc *g, struct haskell_thread *h)
{
        const struct closure_table *i = NULL;
        bool good = !h->cut;

        h->n_frames = h->stack_words = 0;
        h->n_kept = 0;
        h->whole = false;
        for (uint32_t c = 0; c < h->n_chunks; c++) {
                const struct stack_chunk *chunk = &t->chunks[h->first_chunk + c];
                const uint64_t *words = t->words + chunk->first;
                size_t n = chunk->n, skipped = 0;

                h->stack_words += n;
                while (skipped < chunk->n_before && skipped < n && !is_stack(g, words + skipped, n - skipped))
                        skipped++;
                words += skipped;
                n -= skipped;
                while (n > 0) {
                        const size_t size = frame_words(g, words, n, &i);
                        if (size == 0) {
                                good = false;
                                break;
                        }
                        if (i->type != UNDERFLOW_FRAME) {
                                if (h->n_kept < THREAD_FRAMES)
                                        h->frames[h->n_kept++] = i->at;
                                h->n_frames++;
                        }
                        words += size;
                        n -= size;
                }
        }
        h->whole = good && i && i->type == STOP_FRAME;
}

void threads_walk(struct threads *t, struct ghc *g)
{
        for (size_t i = 0; i < t->n; i++)
                walk(t, g, &t->items[i]);
}

/* -------------------------------------------------------------------------- copying */

struct copying {
        struct threads *to;
        struct ghc *ghc;
        bool (*expired)(void *ctx);
        void *ctx;
};

static uint64_t follow(struct ghc *g, uint64_t closure)
{
        const uint64_t first = memory_u64(g->program->memory, closure & ~UINT64_C(7));

        return first & 1 ? first & ~UINT64_C(7) : closure & ~UINT64_C(7);
}

/* The stack of a chunk: its used words, and whether another chunk is below. */
static bool copy_chunk(struct copying *c, struct haskell_thread *h, uint64_t stack, uint64_t running_pointer,
                       uint64_t *ret_next)
{
        struct threads *t = c->to;
        const struct memory *m = c->ghc->program->memory;
        uint8_t head[16];
        uint32_t size;
        uint64_t pointer;

        *ret_next = 0;
        if (!memory_read(m, stack + c->ghc->shift + STACK_SIZE, head, sizeof(head)))
                return false;
        memcpy(&size, head, sizeof(size));
        memcpy(&pointer, head + 8, sizeof(pointer));
        const uint64_t begin = stack + c->ghc->shift + STACK_WORDS, end = begin + (uint64_t)size * 8;
        if (running_pointer >= begin && running_pointer < end)
                pointer = running_pointer;
        if (size > STACK_WORDS_MOST || pointer < begin || pointer > end || (pointer & 7))
                return false;
        const uint32_t n = (uint32_t)((end - pointer) / 8);
        if (t->n_words + n > COPY_WORDS_MOST || !ARRAY_RESERVE(t->words, t->words_capacity, t->n_words + n) ||
            !ARRAY_RESERVE(t->chunks, t->chunks_capacity, t->n_chunks + 1)) {
                t->out_of_memory = true;
                return false;
        }
        if (!memory_read(m, pointer, t->words + t->n_words, (size_t)n * 8))
                return false;
        t->chunks[t->n_chunks++] =
                (struct stack_chunk){ t->n_words, n, pointer == running_pointer ? ARGUMENTS_MOST : 0 };
        h->n_chunks++;
        const struct closure_table *last =
                n >= 2 ? info_tables_find(&c->ghc->tables, t->words[t->n_words + n - 2]) : NULL;
        if (last && last->type == UNDERFLOW_FRAME)
                *ret_next = follow(c->ghc, t->words[t->n_words + n - 1]);
        t->n_words += n;
        return true;
}

static void copy_stack(struct copying *c, struct haskell_thread *h, uint64_t running_pointer)
{
        uint64_t stack = follow(c->ghc, memory_u64(c->ghc->program->memory, h->tso + c->ghc->shift + THREAD_STACK));

        h->first_chunk = c->to->n_chunks;
        while (stack && !h->cut) {
                const struct closure_table *i = info_tables_of_closure(&c->ghc->tables, stack);
                h->cut = !i || i->type != STACK || h->n_chunks >= CHUNKS_MOST || c->expired(c->ctx) ||
                         !copy_chunk(c, h, stack, h->n_chunks == 0 ? running_pointer : 0, &stack);
        }
}

static void copy_label(struct copying *c, struct haskell_thread *h)
{
        const struct memory *m = c->ghc->program->memory;
        const uint16_t at = c->ghc->thread.label;
        const uint64_t label = at ? follow(c->ghc, memory_u64(m, h->tso + c->ghc->shift + at)) : 0;
        const struct closure_table *i = label ? info_tables_of_closure(&c->ghc->tables, label) : NULL;

        if (!i || i->type != ARR_WORDS)
                return;
        const uint64_t bytes = memory_u64(m, label + 8 * (uint64_t)c->ghc->header_words);
        const size_t n = bytes < sizeof(h->label) ? (size_t)bytes : sizeof(h->label) - 1;
        if (!memory_read(m, label + 8 * (uint64_t)(c->ghc->header_words + 1), h->label, n))
                h->label[0] = '\0';
}

/* The message of a thread that waits has the value; the value has its thread, or a queue that has it. */
static void find_owner(struct copying *c, struct haskell_thread *h)
{
        const struct memory *m = c->ghc->program->memory;
        const uint64_t header = 8 * (uint64_t)c->ghc->header_words;
        const uint64_t value = memory_u64(m, h->waits_for + header + 16) & ~UINT64_C(7);
        uint64_t owner = value ? memory_u64(m, value + header) & ~UINT64_C(7) : 0;
        const struct closure_table *i = info_tables_of_closure(&c->ghc->tables, owner);

        if (i && i->type == BLOCKING_QUEUE) {
                owner = memory_u64(m, owner + header + 16);
                i = info_tables_of_closure(&c->ghc->tables, owner);
        }
        h->waits_for = value;
        if (i && i->type == TSO)
                h->owner = memory_u64(m, owner + c->ghc->shift + c->ghc->thread.id);
}

static bool copy_thread(void *ctx, uint64_t tso)
{
        struct copying *c = ctx;
        struct threads *t = c->to;
        const struct thread_layout *l = &c->ghc->thread;
        const struct memory *m = c->ghc->program->memory;
        const uint64_t at = tso + c->ghc->shift;
        uint16_t next = 0, why16 = 0;
        uint32_t why = 0;

        if (c->expired(c->ctx)) {
                t->out_of_time = true;
                return false;
        }
        (void)memory_read(m, at + THREAD_WHAT_NEXT, &next, sizeof(next));
        if (next == NEXT_KILLED || next == NEXT_COMPLETE) {
                t->finished++;
                return true;
        }
        if (!ARRAY_RESERVE_ZEROED(t->items, t->capacity, t->n + 1)) {
                t->out_of_memory = true;
                return false;
        }
        struct haskell_thread *h = &t->items[t->n++];
        if (l->why_blocked_bytes == 4)
                (void)memory_read(m, at + l->why_blocked, &why, sizeof(why));
        else if (memory_read(m, at + l->why_blocked, &why16, sizeof(why16)))
                why = why16;
        *h = (struct haskell_thread){
                .tso = tso,
                .id = memory_u64(m, at + l->id),
                .state = state_of(why),
                .allocated = 0 - memory_u64(m, at + l->allocation_limit), /* it counts down from 0 */
        };
        if (h->allocated > INT64_MAX)
                h->allocated = 0; /* the program has set a limit */
        if (h->state != THREAD_RUNNABLE && h->state != THREAD_STM && h->state != THREAD_FOREIGN &&
            h->state != THREAD_FOREIGN_INTERRUPTIBLE && h->state != THREAD_UNKNOWN)
                h->waits_for = memory_u64(m, at + l->block_info);
        if (h->state == THREAD_BLACK_HOLE)
                find_owner(c, h);
        copy_label(c, h);
        return true;
}

/* --------------------------------------------------------------------- what runs */

struct running {
        uint64_t capability, tso;
        uint64_t pointer; /* to its stack; 0: not found */
        int os_thread;
        bool in_c;
};

static uint64_t capability_of(const struct copying *c, const struct haskell_thread *h)
{
        return memory_u64(c->ghc->program->memory, h->tso + c->ghc->shift + c->ghc->thread.capability);
}

/* The innermost word of a C stack that points into the words of a Haskell stack; 0: none. */
static uint64_t find_saved_pointer(const struct memory *m, uint64_t c_stack, uint64_t begin, uint64_t end)
{
        uint64_t words[512];

        for (uint64_t at = c_stack & ~UINT64_C(7); at < c_stack + C_STACK_BYTES; at += sizeof(words)) {
                if (!memory_read(m, at, words, sizeof(words)))
                        return 0;
                for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                        if (words[i] >= begin && words[i] < end && !(words[i] & 7))
                                return words[i];
        }
        return 0;
}

/* Which of the operating system's threads runs it: in Haskell by r13, in C by a pointer into its stack. */
static void find_registers(const struct copying *c, struct running *r)
{
        const struct program *p = c->ghc->program;
        const uint64_t stack = memory_u64(p->memory, r->tso + c->ghc->shift + THREAD_STACK) + c->ghc->shift;
        const uint64_t begin = stack + STACK_WORDS,
                       end = begin + 8 * (uint64_t)memory_u32(p->memory, stack + STACK_SIZE);

        for (size_t i = 0; i < p->n_registers; i++) {
                const struct registers *g = &p->registers[i];
                if (g->r13 != r->capability + CAPABILITY_REGISTERS || g->rbp < begin || g->rbp >= end)
                        continue;
                r->pointer = g->rbp;
                r->os_thread = g->tid;
                r->in_c = !program_is_code(p, g->rip);
                return;
        }
        r->in_c = true;
        for (size_t i = 0; i < p->n_registers && !r->pointer; i++) {
                const struct registers *g = &p->registers[i];
                r->pointer =
                        g->rbp >= begin && g->rbp < end ? g->rbp : find_saved_pointer(p->memory, g->rsp, begin, end);
                if (r->pointer)
                        r->os_thread = g->tid;
        }
}

/* A capability has a current thread while Haskell, or C that it called, runs. */
static void see_running(const struct copying *c, struct haskell_thread *h, uint64_t *ret_pointer)
{
        struct running r = { .capability = capability_of(c, h), .tso = h->tso };

        *ret_pointer = 0;
        if (h->state != THREAD_RUNNABLE || !r.capability ||
            follow(c->ghc, memory_u64(c->ghc->program->memory, r.capability + CAPABILITY_CURRENT_THREAD)) != h->tso)
                return;
        find_registers(c, &r);
        h->state = r.in_c ? THREAD_IN_C : THREAD_RUNNING;
        h->os_thread = r.os_thread;
        h->stale = !r.pointer;
        *ret_pointer = r.pointer;
}

/* Large pieces as they are, small ones by the page that they are in. */
static bool read_by_pages(void *ctx, uint64_t at, void *to, size_t n)
{
        struct memory *m = ctx;

        return n < MEMORY_PAGE_BYTES ? memory_read_kept(m, at, to, n) : memory_read(m, at, to, n);
}

static void copy_all(struct threads *ret, struct ghc *g, bool (*expired)(void *ctx), void *ctx)
{
        struct copying c = { ret, g, expired, ctx };

        if (!generations_read(&g->generations, g->program)) {
                ret->list_cut = true;
                return;
        }
        ret->collecting = generations_collecting(&g->generations);
        ret->list_cut = !ghc_each_thread(g, copy_thread, &c);
        for (size_t i = 0; i < ret->n && !ret->out_of_time; i++) {
                uint64_t pointer;
                see_running(&c, &ret->items[i], &pointer);
                copy_stack(&c, &ret->items[i], pointer);
        }
        ret->out_of_time |= expired(ctx);
}

void threads_copy(struct threads *ret, struct ghc *g, bool (*expired)(void *ctx), void *ctx)
{
        struct memory *const memory = g->program->memory;
        struct memory now = { .read = memory->read, .ctx = memory->ctx };
        struct memory pages = { .read = read_by_pages, .ctx = &now };

        *ret = (struct threads){
                .items = ret->items,
                .capacity = ret->capacity,
                .chunks = ret->chunks,
                .chunks_capacity = ret->chunks_capacity,
                .words = ret->words,
                .words_capacity = ret->words_capacity,
        };
        g->program->memory = &pages;
        copy_all(ret, g, expired, ctx);
        g->program->memory = memory;
        memory_forget(&pages);
        memory_forget(&now);
}

void threads_done(struct threads *t)
{
        free(t->items);
        free(t->chunks);
        free(t->words);
        *t = (struct threads){ 0 };
}
