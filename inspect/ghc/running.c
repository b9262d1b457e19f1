/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the stack pointer of a Haskell thread that runs is in a register, not in its stack: Sp. BaseReg leads to the
 * capability and so to the thread. Where the thread has called C in between, both may have been saved on the C stack:
 * the innermost word there that points into the Haskell stack is Sp, as far as the frames of C do not say another.
 *
 * A thread in a `safe` call is known by the runtime's list of these, which each capability has, and in which is who
 * makes the call. Sp leads to its stack, too, as long as no collection has moved that: samples try it first, for lists
 * may be long, and a runtime that is not threaded does not say who calls.
 */
#include "inspect/ghc/threads.h"

#include <stdlib.h>

#include "inspect/ghc/closure.h"
#include "proto/base/array.h"

#define SUSPENDED_WORDS  4224u                          /* a chunk of 32 KiB, with its head */
#define SUSPENDED_TRIES  16u                            /* words of a C stack that may lead to a Haskell one */
#define TSO_BYTES        (11u * 8u + HEADER_BYTES_MORE) /* up to the last field of one that is read here */
#define CALLS_DEEP       64u
#define CALLS_SAMPLED    256u  /* more are not read while a thread is stopped for a sample */
#define CAPABILITY_BYTES 4096u /* at most */

/* Where the words of a chunk are. */
static struct range find_words(const struct ghc *g, uint64_t stack)
{
        const uint64_t begin = stack + g->shift + STACK_WORDS;

        return (struct range){ begin,
                               begin + 8 * (uint64_t)memory_u32(g->program->memory, stack + g->shift + STACK_SIZE) };
}

static bool is_within(struct range r, uint64_t address)
{
        return address >= r.start && address < r.end;
}

static void add_capability(struct runtime *rt, uint64_t capability)
{
        for (size_t i = 0; i < rt->n_capabilities; i++)
                if (rt->capabilities[i] == capability)
                        return;
        if (rt->n_capabilities < CAPABILITIES_MOST)
                rt->capabilities[rt->n_capabilities++] = capability;
}

void runtime_add_thread(struct runtime *rt, struct ghc *g, uint64_t tso)
{
        const struct memory *m = g->program->memory;
        const uint64_t table = memory_u64(m, memory_u64(m, tso + g->shift + THREAD_STACK));
        const struct closure_table *i = info_tables_find(&g->tables, table);

        if (i && i->type == STACK)
                rt->stack_table = table;
        add_capability(rt, memory_u64(m, tso + g->shift + g->thread.capability));
}

void runtime_find(struct runtime *ret, struct ghc *g)
{
        static const char *const collectors[COLLECTORS] = { "scheduleDoGC", "GarbageCollect", "gcWorkerThread",
                                                            "nonmovingConcurrentMark" };
        struct thread_cursor threads = { .ghc = g };
        uint64_t tso;

        *ret = (struct runtime){ .n_capabilities = 0 };
        for (unsigned n = 0; n < RUNTIME_THREADS && ghc_next_thread(&threads, &tso); n++)
                runtime_add_thread(ret, g, tso);
        for (size_t i = 0; i < COLLECTORS; i++) {
                const struct elf_symbol *s = program_symbol(g->program, program_variable(g->program, collectors[i]));
                if (s)
                        ret->collector[i] = (struct range){ s->address, s->address + s->size };
        }
}

/* Of a capability, if this is one: what it points to must be a thread that points back. */
static bool find_current_thread(struct ghc *g, uint64_t capability, struct running *ret)
{
        const struct thread_layout *l = &g->thread;
        const uint64_t tso = memory_u64(g->program->memory, capability + CAPABILITY_CURRENT_THREAD);
        uint8_t bytes[TSO_BYTES];

        if (!tso || !memory_read(g->program->memory, tso, bytes, sizeof(bytes)))
                return false;
        const struct closure_table *i = info_tables_find(&g->tables, u64_at(bytes, 0));
        *ret = (struct running){ .tso = tso,
                                 .id = u64_at(bytes, g->shift + l->id),
                                 .stack = u64_at(bytes, g->shift + THREAD_STACK) };
        return i && i->type == TSO && u64_at(bytes, g->shift + l->capability) == capability;
}

/* As much as there is of it: up to the end of its mapping, or by halves where that is not known. Once for a thread. */
static void read_c_stack(struct runtime *rt, const struct program *p, const struct registers *r)
{
        const uint64_t at = r->sp & ~UINT64_C(7);
        const struct mapping *m = program_mapping(p, at);
        const uint64_t there = m ? (m->end - at) / 8 : C_STACK_WORDS;
        struct c_stack *s = &rt->c_stack;

        if (rt->has_c_stack)
                return;
        rt->has_c_stack = true;
        s->n = 0;
        for (size_t n = there < C_STACK_WORDS ? (size_t)there : C_STACK_WORDS; n && !s->n; n /= 2)
                if (memory_read(p->memory, at, s->words, 8 * n))
                        s->n = n;
}

/* C code that Haskell called has saved BaseReg: the innermost word that leads to a capability; 0: none. */
static uint64_t find_saved_capability(const struct runtime *rt, const struct registers *r)
{
        const struct c_stack *s = &rt->c_stack;

        for (size_t i = 0; i <= s->n; i++) {
                const uint64_t word = i ? s->words[i - 1] : r->base;
                for (size_t k = 0; k < rt->n_capabilities && !(word & 7); k++)
                        if (word == rt->capabilities[k] + CAPABILITY_REGISTERS)
                                return rt->capabilities[k];
        }
        return 0;
}

/* In Haskell, or in C that it called without leaving its thread. */
static bool find_current(struct ghc *g, struct runtime *rt, const struct registers *r, struct running *ret)
{
        struct c_stack *s = &rt->c_stack;
        const bool is_haskell = find_current_thread(g, r->base - CAPABILITY_REGISTERS, ret);
        struct range words = { 0, 0 };

        if (is_haskell) {
                add_capability(rt, r->base - CAPABILITY_REGISTERS);
                words = find_words(g, ret->stack);
        }
        ret->pointer = r->hs_sp;
        if (is_within(words, r->hs_sp))
                return true;
        read_c_stack(rt, g->program, r);
        if (!is_haskell && !find_current_thread(g, find_saved_capability(rt, r), ret))
                return false;
        words = find_words(g, ret->stack);
        ret->pointer = r->hs_sp;
        for (size_t i = 0; i < s->n && !is_within(words, ret->pointer); i++)
                ret->pointer = s->words[i] & 7 ? 0 : s->words[i];
        return is_within(words, ret->pointer);
}

/*
 * The stack whose saved pointer this is; 0: none. It begins at most a chunk before, in the same megablock: what has the
 * table of a STACK and exactly this pointer is the stack of a thread that has stopped there.
 */
static uint64_t find_stack_by_pointer(struct ghc *g, const struct runtime *rt, uint64_t pointer)
{
        uint64_t words[SUSPENDED_WORDS];
        const size_t before = (size_t)(pointer % MEGABLOCK_BYTES / 8), head = (g->shift + STACK_WORDS) / 8;
        const size_t n = before < SUSPENDED_WORDS ? before : SUSPENDED_WORDS;
        const uint64_t from = pointer - 8 * n;

        if (!memory_read(g->program->memory, from, words, 8 * n))
                return 0;
        for (size_t i = n; i-- > 0;)
                if (words[i] == rt->stack_table && i + head <= n &&
                    words[i + (g->shift + STACK_POINTER) / 8] == pointer)
                        return from + 8 * i;
        return 0;
}

/*
 * In a `safe` call a thread has left its capability, but the code of the call still has the pointer to its stack in
 * Sp, or on the C stack, and beside it BaseReg. 0: none.
 */
static uint64_t find_suspended_stack(struct ghc *g, const struct runtime *rt, const struct registers *r,
                                     uint64_t *ret_pointer)
{
        const struct c_stack *s = &rt->c_stack;
        uint64_t stack = 0;
        unsigned tries = 0;

        if (!rt->stack_table || !find_saved_capability(rt, r))
                return 0;
        for (size_t i = 0; i <= s->n && !stack && tries < SUSPENDED_TRIES; i++) {
                const uint64_t word = i ? s->words[i - 1] : r->hs_sp;
                const struct mapping *m = word & 7 ? NULL : program_mapping(g->program, word);
                if (m && !m->file && !m->named && (r->sp < m->start || r->sp >= m->end)) {
                        tries++;
                        *ret_pointer = word;
                        const struct closure_table *t =
                                info_tables_find(&g->tables, memory_u64(g->program->memory, word));
                        stack = t && closure_is_frame(t->type) ? find_stack_by_pointer(g, rt, word) : 0;
                }
        }
        return stack;
}

/* ---------------------------------------------------------------- lists of `safe` calls */

/* Of InCall in rts/Task.h, the same in all releases. */
enum { CALL_TSO = 8, CALL_CAPABILITY = 16, CALL_TASK = 40, CALL_OUTER = 48, CALL_NEXT = 64, CALL_BYTES = 72 };

static bool read_call(struct ghc *g, uint64_t call, uint64_t capability, uint8_t bytes[CALL_BYTES])
{
        const struct memory *m = g->program->memory;

        if (!call || (call & 7) || !program_mapping(g->program, call) || !memory_read(m, call, bytes, CALL_BYTES) ||
            u64_at(bytes, CALL_CAPABILITY) != capability)
                return false;
        const struct closure_table *i = info_tables_of_closure(&g->tables, u64_at(bytes, CALL_TSO));
        return i && i->type == TSO;
}

/* False: not to its end, because of a limit or a change. */
static bool add_calls(struct runtime *rt, struct ghc *g, uint64_t capability, uint64_t call, size_t most)
{
        uint8_t bytes[CALL_BYTES];

        for (; call; call = u64_at(bytes, CALL_NEXT)) {
                if (rt->n_calls >= most || !read_call(g, call, capability, bytes) ||
                    !ARRAY_RESERVE(rt->calls, rt->calls_capacity, rt->n_calls + 1))
                        return false;
                const uint64_t task = u64_at(bytes, CALL_TASK);
                rt->calls[rt->n_calls++] =
                        (struct suspended_call){ .at = call,
                                                 .tso = u64_at(bytes, CALL_TSO),
                                                 .task = task,
                                                 .system_thread = memory_u64(g->program->memory, task),
                                                 .outer = u64_at(bytes, CALL_OUTER) };
        }
        return true;
}

/* Where in a capability its list is: that differs, and is found by the first that has one. 0: it has none. */
static uint64_t find_list(struct ghc *g, uint64_t capability)
{
        uint8_t words[CAPABILITY_BYTES], bytes[CALL_BYTES];
        size_t n = sizeof(words);

        while (n && !memory_read(g->program->memory, capability, words, n)) /* there may be less behind it */
                n /= 2;
        for (size_t k = CAPABILITY_REGISTERS; k + 8 <= n; k += 8)
                if (read_call(g, u64_at(words, k), capability, bytes))
                        return k;
        return 0;
}

void runtime_find_calls(struct runtime *rt, struct ghc *g, size_t most)
{
        bool whole = true;

        rt->n_calls = 0;
        for (size_t i = 0; i < rt->n_capabilities && whole; i++) {
                const uint64_t capability = rt->capabilities[i];
                if (!rt->at_calls)
                        rt->at_calls = find_list(g, capability);
                if (rt->at_calls)
                        whole = add_calls(rt, g, capability, memory_u64(g->program->memory, capability + rt->at_calls),
                                          most);
        }
        if (!whole) /* which one is innermost is not known */
                rt->n_calls = 0;
}

void runtime_done(struct runtime *rt)
{
        free(rt->calls);
        rt->calls = NULL;
        rt->n_calls = rt->calls_capacity = 0;
}

/* The innermost one of a thread of the system; NULL: none, or there is no end to them. */
static const struct suspended_call *find_call(const struct runtime *rt, const struct registers *r)
{
        const struct suspended_call *found = NULL;

        for (unsigned depth = 0; r->tls && depth < CALLS_DEEP; depth++) {
                const struct suspended_call *inner = NULL;
                for (size_t i = 0; i < rt->n_calls; i++)
                        if (rt->calls[i].system_thread == r->tls && (!found || rt->calls[i].outer == found->at))
                                inner = &rt->calls[i];
                if (!inner)
                        return found;
                found = inner;
        }
        return NULL;
}

/* Whether a thread was made by a call back in the same thread of the system. */
static bool is_called_back(const struct ghc *g, uint64_t tso, const struct suspended_call *call)
{
        const struct memory *m = g->program->memory;
        const uint64_t bound = memory_u64(m, tso + g->shift + g->thread.capability - 8);

        return bound && memory_u64(m, bound + CALL_TASK) == call->task;
}

static bool find_by_call(struct running *ret, const struct ghc *g, const struct suspended_call *call)
{
        *ret = (struct running){ .stack = memory_u64(g->program->memory, call->tso + g->shift + THREAD_STACK) };
        return ret->stack != 0;
}

bool running_find(struct running *ret, struct ghc *g, struct runtime *rt, const struct registers *r, bool with_c_stack)
{
        rt->has_c_stack = false;
        if (with_c_stack)
                read_c_stack(rt, g->program, r);
        const struct suspended_call *call = find_call(rt, r);
        if (find_current(g, rt, r, ret) && (!call || is_called_back(g, ret->tso, call)))
                return true;
        if (call)
                return find_by_call(ret, g, call);
        *ret = (struct running){ .tso = 0 };
        ret->stack = find_suspended_stack(g, rt, r, &ret->pointer);
        return ret->stack != 0;
}

bool running_find_call(struct running *ret, struct ghc *g, struct runtime *rt, const struct registers *r)
{
        runtime_find_calls(rt, g, CALLS_SAMPLED);
        const struct suspended_call *call = find_call(rt, r);
        rt->n_calls = 0; /* they are of this moment */
        return call && find_by_call(ret, g, call);
}

bool runtime_has_called_collector(const struct runtime *rt)
{
        const struct c_stack *s = &rt->c_stack;

        for (size_t i = 0; i < s->n; i++)
                for (size_t k = 0; k < COLLECTORS; k++)
                        if (is_within(rt->collector[k], s->words[i]))
                                return true;
        return false;
}

uint64_t c_frames_find(struct c_frames *ret, struct unwinder *u, const struct program *p, const struct registers *r,
                       const uint64_t *words, size_t n)
{
        struct c_caller caller = { 0, 0 };

        ret->n = u ? unwind_stack(u, r, words, n, ret->items, &caller) : 0;
        ret->caller = program_is_code(p, caller.at) ? caller.at : 0;
        return ret->caller ? caller.hs_sp : 0;
}
