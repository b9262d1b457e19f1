/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - of a thread that runs, arguments may be above the first frame of its stack. Where that is is known by the
 * frames: they must follow one another.
 *
 * Threads and their stacks are many small closures beside each other. They are read by pages, which are kept for one
 * copy: ten thousand threads are a thousand reads.
 */
#include "inspect/ghc/threads.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"

#define STACK_WORDS_MOST (UINT32_C(1) << 27) /* of one chunk: 1 GiB */
#define COPY_WORDS_MOST  (UINT64_C(1) << 26) /* of all stacks: 512 MiB */
#define CALLS_MOST       8192u               /* `safe` ones that go on */
#define CHUNKS_MOST      (UINT32_C(1) << 16) /* of one thread */
#define ARGUMENTS_MOST   64u                 /* words above the first frame of a thread that runs */
#define LIST_TRIES       3u
#define TSO_MOST         (15u * 8u + HEADER_BYTES_MORE) /* ... when it is compared */
#define FRAMES_SURE      12u                            /* that follow one another: then it is a stack */

/* Values of what_next and why_blocked in rts/Constants.h. */
enum { NEXT_KILLED = 3, NEXT_COMPLETE = 4 };

enum thread_state thread_state_of(const struct thread_layout *l, uint64_t word)
{
        static const uint8_t states[] = {
                [0] = THREAD_RUNNABLE,  [1] = THREAD_MVAR,       [2] = THREAD_BLACK_HOLE,
                [3] = THREAD_READ,      [4] = THREAD_WRITE,      [5] = THREAD_DELAY,
                [6] = THREAD_STM,       [7] = THREAD_UNKNOWN,    [8] = THREAD_UNKNOWN,
                [9] = THREAD_UNKNOWN,   [10] = THREAD_FOREIGN,   [11] = THREAD_FOREIGN_INTERRUPTIBLE,
                [12] = THREAD_THROW_TO, [13] = THREAD_MIGRATING, [14] = THREAD_MVAR_READ,
                [15] = THREAD_IO,
        };

        const uint64_t why = word >> l->why_blocked % 8u * 8u;
        const uint32_t why_blocked = l->why_blocked_bytes == 4 ? (uint32_t)why : (uint16_t)why;

        return why_blocked < ARRAY_SIZE(states) ? (enum thread_state)states[why_blocked] : THREAD_UNKNOWN;
}

bool thread_state_is_waiting(enum thread_state s)
{
        return s != THREAD_RUNNABLE && s != THREAD_RUNNING && s != THREAD_IN_C && s != THREAD_MIGRATING &&
               s != THREAD_UNKNOWN;
}

bool thread_state_is_in_c(enum thread_state s)
{
        return s == THREAD_IN_C || s == THREAD_FOREIGN || s == THREAD_FOREIGN_INTERRUPTIBLE;
}

bool thread_has_ended(uint16_t what_next)
{
        return what_next == NEXT_KILLED || what_next == NEXT_COMPLETE;
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
        [THREAD_DELAY] = { "delay", "sleeping (threadDelay)" },
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

size_t frame_words(struct ghc *g, const uint64_t *words, size_t n, const struct closure_table **ret)
{
        const struct closure_table *i = n ? info_tables_find(&g->tables, words[0]) : NULL;
        uint64_t size = 0;

        if (!i || !closure_is_frame(i->type))
                return 0;
        switch (i->type) {
        case RET_BIG: /* the size in front of a large bitmap, which lies beside the code */
                if (!memory_read_kept(g->program->memory, i->at + (uint64_t)(int64_t)(int32_t)(uint32_t)i->layout,
                                      &size, sizeof(size)))
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

void thread_walk(const struct threads *t, struct ghc *g, struct haskell_thread *h,
                 void (*each)(void *ctx, const struct closure_table *frame), void *ctx)
{
        const struct closure_table *i = NULL;
        bool good = !h->cut;

        h->n_frames = h->stack_words = 0;
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
                                h->n_frames++;
                                each(ctx, i);
                        }
                        words += size;
                        n -= size;
                }
        }
        h->whole = good && i && i->type == STOP_FRAME;
}

/* -------------------------------------------------------------------------- copying */

struct copying {
        struct threads *to;
        struct ghc *ghc;
        size_t words_most; /* of all stacks */
        bool (*expired)(void *ctx);
        void *ctx;
};

static bool is_expired(const struct copying *c)
{
        return c->expired && c->expired(c->ctx);
}

static uint64_t follow_indirection(struct ghc *g, uint64_t closure)
{
        const uint64_t first = memory_u64(g->program->memory, closure & ~UINT64_C(7));

        return first & 1 ? first & ~UINT64_C(7) : closure & ~UINT64_C(7);
}

/* The first words of a STACK. A collector may just have copied it: then its first word leads there. */
static bool read_head(struct ghc *g, uint64_t *stack, uint8_t *head)
{
        const size_t n = g->shift + STACK_WORDS;
        bool good = !(*stack & 7) && memory_read(g->program->memory, *stack, head, n);

        if (good && u64_at(head, 0) & 1) {
                *stack = u64_at(head, 0) & ~UINT64_C(7);
                good = memory_read(g->program->memory, *stack, head, n);
        }
        const struct closure_table *i = good ? info_tables_find(&g->tables, u64_at(head, 0)) : NULL;
        return i && i->type == STACK;
}

/* The stack of a chunk: its used words, and whether another chunk is below. False: not all of it was copied. */
static bool copy_chunk(struct copying *c, struct haskell_thread *h, uint64_t stack, uint64_t running_pointer,
                       uint64_t *ret_next)
{
        struct threads *t = c->to;
        const unsigned shift = c->ghc->shift;
        uint8_t head[STACK_WORDS + HEADER_BYTES_MORE];

        *ret_next = 0;
        if (!read_head(c->ghc, &stack, head))
                return false;
        const uint32_t size = u32_at(head, shift + STACK_SIZE);
        uint64_t pointer = u64_at(head, shift + STACK_POINTER);
        const uint64_t begin = stack + shift + STACK_WORDS, end = begin + (uint64_t)size * 8;
        if (running_pointer >= begin && running_pointer < end)
                pointer = running_pointer;
        if (size > STACK_WORDS_MOST || pointer < begin || pointer > end || (pointer & 7))
                return false;
        const uint64_t used = (end - pointer) / 8, room = c->words_most - t->n_words;
        const uint32_t n = (uint32_t)(used < room ? used : room);
        t->out_of_memory |= n < used;
        if (!ARRAY_RESERVE(t->words, t->words_capacity, t->n_words + n) ||
            !ARRAY_RESERVE(t->chunks, t->chunks_capacity, t->n_chunks + 1)) {
                t->out_of_memory = true;
                return false;
        }
        if (!memory_read(c->ghc->program->memory, pointer, t->words + t->n_words, (size_t)n * 8))
                return false;
        t->chunks[t->n_chunks++] =
                (struct stack_chunk){ t->n_words, n, pointer == running_pointer ? ARGUMENTS_MOST : 0 };
        h->n_chunks++;
        const struct closure_table *last =
                n >= 2 ? info_tables_find(&c->ghc->tables, t->words[t->n_words + n - 2]) : NULL;
        if (last && last->type == UNDERFLOW_FRAME)
                *ret_next = t->words[t->n_words + n - 1];
        t->n_words += n;
        return n == used;
}

static void copy_stack(struct copying *c, struct haskell_thread *h, uint64_t stack, uint64_t running_pointer)
{
        h->first_chunk = c->to->n_chunks;
        while (stack && !h->cut)
                h->cut = h->n_chunks >= CHUNKS_MOST || is_expired(c) ||
                         !copy_chunk(c, h, stack, h->n_chunks == 0 ? running_pointer : 0, &stack);
}

/* Its two innermost frames are the wait and the handler of `takeMVar m `onException` ...`, as in threadDelay. */
static void copy_handler(struct copying *c, struct haskell_thread *h)
{
        struct ghc *g = c->ghc;
        const struct stack_chunk *top = &c->to->chunks[h->first_chunk];
        const uint64_t *words = h->n_chunks ? c->to->words + top->first : NULL;
        const size_t n = h->n_chunks ? top->n : 0;
        const struct closure_table *frame;
        const size_t wait = frame_words(g, words, n, &frame);
        const size_t catch = wait ? frame_words(g, words + wait, n - wait, &frame) : 0;

        if (!catch || frame->type != CATCH_FRAME)
                return;
        const uint64_t handler = words[wait + catch - 1] & ~UINT64_C(7);
        const struct closure_table *i = info_tables_of_closure(&g->tables, handler);
        h->handler = i ? i->at : 0;
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

bool thread_put_kind(struct text_out *out, const char *label)
{
        bool is_empty = true;

        for (const char *c = label; *c; c++)
                if ((unsigned char)*c >= ' ' && !is_digit(*c) && !(strchr(" -#_:", *c) && (!c[1] || is_digit(c[1])))) {
                        text_put(out, is_empty ? " " : "");
                        text_put_n(out, c, 1);
                        is_empty = false;
                }
        return !is_empty;
}

static void copy_label(struct copying *c, struct haskell_thread *h)
{
        const struct memory *m = c->ghc->program->memory;
        const uint16_t at = c->ghc->thread.label;
        const uint64_t label = at ? follow_indirection(c->ghc, memory_u64(m, h->tso + c->ghc->shift + at)) : 0;
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

/* False: no further one is copied. */
static bool copy_thread(struct copying *c, uint64_t tso)
{
        struct threads *t = c->to;
        const struct thread_layout *l = &c->ghc->thread;
        const struct memory *m = c->ghc->program->memory;
        const uint64_t at = tso + c->ghc->shift;
        uint16_t next = 0;

        if (is_expired(c)) {
                t->out_of_time = true;
                return false;
        }
        (void)memory_read(m, at + THREAD_WHAT_NEXT, &next, sizeof(next));
        if (thread_has_ended(next))
                return true;
        if (!ARRAY_RESERVE_ZEROED(t->items, t->capacity, t->n + 1)) {
                t->out_of_memory = true;
                return false;
        }
        struct haskell_thread *h = &t->items[t->n++];
        *h = (struct haskell_thread){
                .tso = tso,
                .id = memory_u64(m, at + l->id),
                .state = thread_state_of(l, memory_u64(m, at + thread_state_word_at(l))),
                .allocated = 0 - memory_u64(m, at + l->allocation_limit), /* it counts down from 0 */
                .is_bound = memory_u64(m, at + l->capability - 8) != 0,
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

/* A thread of the operating system that runs Haskell, or C that it called. */
struct system_thread {
        struct registers registers;
        uint64_t stack, pointer; /* of its Haskell thread */
        size_t first, n;         /* of the words of its C stack in threads.words */
};

/* Where one cannot be kept, it is as one that is not found. */
static void copy_system(struct copying *c)
{
        const struct program *p = c->ghc->program;
        struct threads *t = c->to;
        struct runtime rt = { .n_capabilities = 0 };
        struct running now;

        for (size_t i = 0; p->n_registers && i < t->n && i < RUNTIME_THREADS; i++)
                runtime_add_thread(&rt, c->ghc, t->items[i].tso);
        runtime_find_calls(&rt, c->ghc, CALLS_MOST);
        for (size_t i = 0; i < p->n_registers && !is_expired(c); i++) {
                if (!running_find(&now, c->ghc, &rt, &p->registers[i], true) ||
                    rt.c_stack.n > c->words_most - t->n_words ||
                    !ARRAY_RESERVE(t->words, t->words_capacity, t->n_words + rt.c_stack.n) ||
                    !ARRAY_RESERVE(t->system, t->system_capacity, t->n_system + 1))
                        continue;
                t->system[t->n_system++] =
                        (struct system_thread){ p->registers[i], now.stack, now.pointer, t->n_words, rt.c_stack.n };
                if (rt.c_stack.n)
                        memcpy(t->words + t->n_words, rt.c_stack.words, 8 * rt.c_stack.n);
                t->n_words += rt.c_stack.n;
        }
        runtime_done(&rt);
}

/* A capability has a current thread while Haskell, or C that it called `unsafe`, runs. */
static bool is_current(const struct copying *c, const struct haskell_thread *h)
{
        const struct memory *m = c->ghc->program->memory;
        const uint64_t capability = memory_u64(m, h->tso + c->ghc->shift + c->ghc->thread.capability);

        return h->state == THREAD_RUNNABLE && capability &&
               follow_indirection(c->ghc, memory_u64(m, capability + CAPABILITY_CURRENT_THREAD)) == h->tso;
}

/* Which of the operating system's threads runs it; *ret_pointer to its stack, 0: it is where it was left. */
static void find_system_thread(const struct copying *c, struct haskell_thread *h, uint64_t stack, uint64_t *ret_pointer)
{
        const struct threads *t = c->to;
        const struct system_thread *s = NULL;
        const bool runs = is_current(c, h);

        *ret_pointer = 0;
        if (!runs && !thread_state_is_in_c(h->state))
                return;
        for (size_t i = 0; i < t->n_system; i++)
                if (t->system[i].stack == stack && (!s || t->system[i].pointer == t->system[i].registers.hs_sp)) {
                        s = &t->system[i];
                        h->system_thread = (uint32_t)i + 1;
                        h->os_thread = s->registers.tid;
                }
        if (!runs)
                return;
        h->state = s && s->pointer == s->registers.hs_sp && program_is_code(c->ghc->program, s->registers.pc)
                           ? THREAD_RUNNING
                           : THREAD_IN_C;
        h->stale = !s || !s->pointer;
        *ret_pointer = s ? s->pointer : 0;
}

/* Large pieces as they are, small ones by the page that they are in. */
static bool read_by_pages(void *ctx, uint64_t at, void *to, size_t n)
{
        struct memory *m = ctx;

        return n < MEMORY_PAGE_BYTES ? memory_read_kept(m, at, to, n) : memory_read(m, at, to, n);
}

/* Empty, with the memory that it has. */
static void reuse_threads(struct threads *t)
{
        *t = (struct threads){
                .items = t->items,
                .capacity = t->capacity,
                .chunks = t->chunks,
                .chunks_capacity = t->chunks_capacity,
                .words = t->words,
                .words_capacity = t->words_capacity,
                .system = t->system,
                .system_frames = t->system_frames,
                .system_capacity = t->system_capacity,
                .pages = t->pages,
        };
}

/* A program's memory, as it was when a page of it was first read. */
struct pages {
        struct memory *program; /* its own */
        struct memory by_page;
};

static void pages_begin(struct pages *p, struct threads *t, struct ghc *g)
{
        p->program = g->program->memory;
        t->pages.read = p->program->read;
        t->pages.ctx = p->program->ctx;
        memory_expire(&t->pages);
        p->by_page = (struct memory){ .read = read_by_pages, .ctx = &t->pages };
        g->program->memory = &p->by_page;
}

static void pages_end(struct pages *p, struct ghc *g)
{
        g->program->memory = p->program;
        memory_forget(&p->by_page);
}

void threads_copy(struct threads *ret, struct ghc *g, bool (*expired)(void *ctx), void *ctx)
{
        struct copying c = { ret, g, COPY_WORDS_MOST, expired, ctx };
        struct thread_cursor threads = { .ghc = g };
        struct pages pages;
        uint64_t tso;

        reuse_threads(ret);
        if (!generations_read(&g->generations, g->program)) {
                ret->list_cut = true;
                return;
        }
        pages_begin(&pages, ret, g);
        while (ghc_next_thread(&threads, &tso) && copy_thread(&c, tso))
                ;
        ret->list_cut = threads.is_cut;
        copy_system(&c);
        for (size_t i = 0; i < ret->n && !ret->out_of_time; i++) {
                const uint64_t stack = memory_u64(g->program->memory, ret->items[i].tso + g->shift + THREAD_STACK);
                uint64_t pointer;
                find_system_thread(&c, &ret->items[i], stack, &pointer);
                copy_stack(&c, &ret->items[i], stack, pointer);
                if (ret->items[i].state == THREAD_MVAR)
                        copy_handler(&c, &ret->items[i]);
        }
        ret->out_of_time |= is_expired(&c);
        pages_end(&pages, g);
}

/* -------------------------------------------------------------------------- walking */

static void add_frame(void *ctx, const struct closure_table *frame)
{
        struct haskell_thread *h = ctx;

        if (h->n_kept < THREAD_FRAMES)
                h->frames[h->n_kept++] = frame->at;
}

/* The pointer that was found by trying is the one that the frames lead to; else it has been of an earlier call. */
static void walk_system_thread(const struct threads *t, const struct ghc *g, struct unwinder *u,
                               struct haskell_thread *h)
{
        const struct system_thread *s = &t->system[h->system_thread - 1];
        struct c_frames *in_c = &t->system_frames[h->system_thread - 1];
        const uint64_t pointer = c_frames_find(in_c, u, g->program, &s->registers, t->words + s->first, s->n);

        if (pointer && s->pointer && pointer != s->pointer) {
                h->os_thread = 0;
                h->stale = !thread_state_is_waiting(h->state);
                return;
        }
        h->in_c = in_c;
        if (h->state == THREAD_RUNNING && in_c->n)
                h->state = THREAD_IN_C;
}

/* The function that runs, or that has called C without leaving the thread: it need not have a frame of its own. */
static void add_current_function(const struct threads *t, const struct ghc *g, struct haskell_thread *h)
{
        const uint64_t at = h->state == THREAD_RUNNING           ? t->system[h->system_thread - 1].registers.pc
                            : h->state == THREAD_IN_C && h->in_c ? h->in_c->caller
                                                                 : 0;

        if (!at || h->stale)
                return;
        h->n_kept -= h->n_kept == THREAD_FRAMES;
        memmove(&h->frames[1], &h->frames[0], h->n_kept++ * sizeof(h->frames[0]));
        h->frames[0] = info_tables_before(g->program, at);
        h->n_frames++;
}

/* Code of the module in which the threaded runtime's threads sleep and wait for files. */
static bool is_of_event_manager(const struct program *p, uint64_t table)
{
        char name[PROGRAM_NAME_BYTES];

        (void)name_of_code(p, table, name, sizeof(name));
        const char *module = name_without_package(name);
        return !strncmp(module, "GHC.Event.Thread", strlen("GHC.Event.Thread")) ||
               !strncmp(module, "GHC.Internal.Event.Thread", strlen("GHC.Internal.Event.Thread"));
}

/* threadDelay ends with the wait; what waits for a file goes on in that module when it is over. */
static void find_sleepers(struct threads *t, const struct program *p)
{
        uint64_t handler = 0;
        bool sleeps = false;

        for (size_t i = 0; i < t->n; i++) {
                struct haskell_thread *h = &t->items[i];

                if (!h->handler || h->n_kept < 3)
                        continue;
                if (h->handler != handler)
                        sleeps = is_of_event_manager(p, handler = h->handler);
                if (sleeps && !is_of_event_manager(p, h->frames[2]))
                        h->state = THREAD_DELAY;
        }
}

void threads_walk(struct threads *t, struct ghc *g)
{
        struct unwinder *u = t->n_system ? unwinder_new(g->program) : NULL;

        free(t->system_frames);
        t->system_frames = u ? calloc(t->n_system, sizeof(*t->system_frames)) : NULL;
        for (size_t i = 0; i < t->n; i++) {
                t->items[i].n_kept = 0;
                thread_walk(t, g, &t->items[i], add_frame, &t->items[i]);
                if (t->items[i].system_thread && t->system_frames) {
                        walk_system_thread(t, g, u, &t->items[i]);
                        add_current_function(t, g, &t->items[i]);
                }
        }
        unwinder_destroy(&u);
        find_sleepers(t, g->program);
        /* The first that C code has called for Haskell; with a `main` of its own in C it is any. */
        const struct program *p = g->program;
        struct haskell_thread *first = NULL;

        for (size_t i = 0; i < t->n; i++)
                if (t->items[i].is_bound && (!first || t->items[i].id < first->id))
                        first = &t->items[i];
        if (!first || !program_variable(p, "ZCMain_main_closure"))
                return;
        first->is_main = true;
        if (!first->label[0])
                (void)text_join(first->label, sizeof(first->label), "main", NULL);
}

/* ------------------------------------------------------------------- those that wait */

/* Each is among those that are chosen with the same chance, however many come. False: out of memory. */
static bool list_thread(struct threads *t, struct waiting_threads *w, const struct ghc *g, uint64_t tso)
{
        uint16_t next = 0;

        (void)memory_read(g->program->memory, tso + g->shift + THREAD_WHAT_NEXT, &next, sizeof(next));
        if (thread_has_ended(next))
                return true;
        w->listed++;
        if (t->n < w->most) {
                if (!ARRAY_RESERVE_ZEROED(t->items, t->capacity, t->n + 1))
                        return false;
                t->items[t->n++].tso = tso;
                return true;
        }
        const uint64_t random = hash_u64(w->listed, w->random);
        if (random % w->listed < t->n)
                t->items[random % w->listed].tso = tso;
        return true;
}

/*
 * A collection of a generation moves its threads to other lists, so that some may not be seen, or twice; in the lists
 * of older ones nothing but their beginnings changes then. The youngest are first, and few.
 */
static bool is_listed(const struct generations *before, unsigned generation, const struct generations *after)
{
        for (unsigned i = generation; i < before->n; i++)
                if (before->items[i].collections != after->items[i].collections)
                        return false;
        return !before->items[generation].collecting && !after->items[generation].collecting;
}

/* *count: threads of those before it, too. */
static bool list_generation(struct threads *t, struct ghc *g, struct waiting_threads *w, unsigned generation,
                            uint64_t *count)
{
        struct thread_cursor c = { .ghc = g, .generation = generation, .end = generation + 1, .count = *count };
        struct generations after = g->generations;
        struct pages pages;
        bool good = true;

        pages_begin(&pages, t, g);
        for (uint64_t tso; good && ghc_next_thread(&c, &tso);)
                good = list_thread(t, w, g, tso);
        pages_end(&pages, g);
        *count = c.count;
        return good && !c.is_cut && generations_read(&after, g->program) &&
               is_listed(&g->generations, generation, &after);
}

static bool list_threads(struct threads *t, struct ghc *g, struct waiting_threads *w)
{
        for (unsigned tries = 0; tries < LIST_TRIES; tries++) {
                uint64_t count = 0;
                unsigned i = 0;
                reuse_threads(t);
                w->listed = 0;
                if (!generations_read(&g->generations, g->program))
                        return false;
                while (i < g->generations.n && list_generation(t, g, w, i, &count))
                        i++;
                if (i == g->generations.n)
                        return true;
        }
        return false;
}

/* Returns a hash of all that changes when it runs. 0: it is no thread with a stack, or is being moved. */
static uint64_t read_thread(struct ghc *g, uint64_t tso, uint8_t bytes[TSO_MOST])
{
        const size_t from = g->shift + THREAD_STACK, n = g->shift + g->thread.allocation_limit + 8u;
        uint8_t head[STACK_WORDS + HEADER_BYTES_MORE];
        const struct closure_table *i;

        if (n > TSO_MOST || !memory_read(g->program->memory, tso, bytes, n) ||
            !(i = info_tables_find(&g->tables, u64_at(bytes, 0))) || i->type != TSO)
                return 0;
        uint64_t stack = u64_at(bytes, from);
        if (!read_head(g, &stack, head) || stack != u64_at(bytes, from))
                return 0;
        const uint64_t hash = hash_bytes(bytes + from, n - from, u64_at(head, g->shift + STACK_POINTER));
        return hash ? hash : 1;
}

/* False: it does not wait, or not all the time while it was read. */
static bool copy_waiting(struct copying *c, struct haskell_thread *h, struct waiting_threads *w)
{
        const struct thread_layout *l = &c->ghc->thread;
        uint8_t bytes[TSO_MOST];
        const uint64_t tso = h->tso, rest = read_thread(c->ghc, tso, bytes);

        if (rest) {
                *h = (struct haskell_thread){
                        .tso = tso,
                        .id = u64_at(bytes, c->ghc->shift + l->id),
                        .state = thread_state_of(l, u64_at(bytes, c->ghc->shift + thread_state_word_at(l))),
                };
                if (!thread_state_is_waiting(h->state))
                        return false;
                c->words_most = c->to->n_words + w->words_most;
                copy_stack(c, h, u64_at(bytes, c->ghc->shift + THREAD_STACK), 0);
                if (w->with_labels)
                        copy_label(c, h);
        }
        const bool good = rest && read_thread(c->ghc, tso, bytes) == rest;
        w->changed += !good;
        return good;
}

bool threads_copy_waiting(struct threads *ret, struct ghc *g, struct waiting_threads *w)
{
        struct copying c = { ret, g, 0, NULL, NULL };
        size_t n = 0;

        w->changed = w->read = 0;
        if (!list_threads(ret, g, w))
                return false;
        w->read = ret->n;
        for (size_t i = 0; i < w->read; i++) {
                ret->items[n].tso = ret->items[i].tso;
                n += copy_waiting(&c, &ret->items[n], w);
        }
        ret->n = n;
        return true;
}

/* --------------------------------------------------------- of one thread of the system */

enum activity threads_copy_running(struct threads *ret, struct ghc *g, struct runtime *runtime,
                                   const struct registers *r, size_t words_most)
{
        struct copying c = { ret, g, words_most, NULL, NULL };
        struct running now;

        reuse_threads(ret);
        if (!running_find(&now, g, runtime, r, runtime->unwinder && unwinder_covers(runtime->unwinder, r->pc))) {
                if (runtime_has_called_collector(runtime))
                        return ACTIVITY_COLLECTION;
                if (!running_find_call(&now, g, runtime, r)) /* by its pointer it was not: its stack has been moved */
                        return generations_read(&g->generations, g->program) && generations_collecting(&g->generations)
                                       ? ACTIVITY_COLLECTION
                                       : ACTIVITY_OTHER;
        }
        const enum activity result = now.tso ? ACTIVITY_HASKELL : ACTIVITY_FOREIGN;
        if (!ARRAY_RESERVE_ZEROED(ret->items, ret->capacity, 1))
                return result;
        ret->items[ret->n++] = (struct haskell_thread){
                .tso = now.tso, .id = now.id, .state = now.tso ? THREAD_RUNNING : THREAD_FOREIGN, .os_thread = r->tid
        };
        copy_stack(&c, &ret->items[0], now.stack, now.tso ? now.pointer : 0);
        return result;
}

void threads_unwind(struct threads *t, const struct ghc *g, const struct runtime *rt, const struct registers *r)
{
        (void)c_frames_find(&t->in_c, rt->has_c_stack ? rt->unwinder : NULL, g->program, r, rt->c_stack.words,
                            rt->c_stack.n);
}

/* What lies before Hp in the block that it fills comes into its counter when it leaves the block, or Haskell. */
static uint64_t used_of_block(struct ghc *g, uint64_t tso, uint64_t hp)
{
        const struct memory *m = g->program->memory;
        const uint64_t capability = memory_u64(m, tso + g->shift + g->thread.capability), end = hp + 8;
        uint64_t block[2] = { 0 }; /* where it begins, and what was used when it was entered or left */

        if (!capability || follow_indirection(g, memory_u64(m, capability + CAPABILITY_CURRENT_THREAD)) != tso ||
            !memory_read(m, memory_u64(m, capability + CAPABILITY_CURRENT_NURSERY), block, sizeof(block)))
                return 0;
        return end > block[1] && block[1] >= block[0] && end - block[0] <= BLOCK_BYTES ? end - block[0] : 0;
}

bool thread_allocated(struct ghc *g, const struct haskell_thread *h, const struct registers *r, uint64_t *ret)
{
        const struct memory *m = g->program->memory;
        const uint64_t tso = follow_indirection(g, h->tso); /* a collection moves it */
        const struct closure_table *i = info_tables_of_closure(&g->tables, tso);

        if (!i || i->type != TSO || memory_u64(m, tso + g->shift + g->thread.id) != h->id)
                return false;
        *ret = (r ? used_of_block(g, tso, r->hs_hp) : 0) - memory_u64(m, tso + g->shift + g->thread.allocation_limit);
        return true;
}

void threads_done(struct threads *t)
{
        free(t->items);
        free(t->chunks);
        free(t->words);
        free(t->system);
        free(t->system_frames);
        memory_forget(&t->pages);
        *t = (struct threads){ 0 };
}
