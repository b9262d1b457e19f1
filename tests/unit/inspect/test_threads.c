/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of made-up programs: layouts of each release, stacks, what is damaged. */
#include "tests/unit/test.h"

#include "inspect/ghc/names.h"
#include "inspect/ghc/threads.h"
#include "proto/base/array.h"
#include "tests/unit/inspect/draft.h"

static const struct draft_layout *const layouts[] = { &draft_9_0, &draft_9_6, &draft_9_10, &draft_profiled };
static const char *const releases[] = { "9.0 to 9.4", "9.6", "9.8 to 9.10", "9.0 to 9.4" };

static bool at_once(void *ctx)
{
        return true;
}

static struct ghc found(struct draft *d)
{
        struct error error = { "" };
        struct ghc g;

        draft_finish(d);
        if (!ghc_find(&g, &d->program, &error))
                fail_msg("%s", error.text);
        return g;
}

static struct threads copied(struct ghc *g)
{
        struct threads t = { 0 };

        threads_copy(&t, g, NULL, NULL);
        threads_walk(&t, g);
        return t;
}

static const struct haskell_thread *of_id(const struct threads *t, uint64_t id)
{
        for (size_t i = 0; i < t->n; i++)
                if (t->items[i].id == id)
                        return &t->items[i];
        fail_msg("no thread %d", (int)id);
        return NULL;
}

/* Each release is recognised by its threads alone, and what a thread waits for is read where it is there. */
TEST(test_releases)
{
        for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
                struct draft *d = draft_new(layouts[i]);
                const uint64_t frame = draft_table(d, RET_SMALL, 2, 0, NULL);
                const uint64_t label = draft_table(d, ARR_WORDS, 0, 0, NULL);
                static const char text[8] = "worker-7";

                (void)draft_thread(d, 1, 0x1234560, (uint64_t[]){ frame, 1, 2 }, 3);
                const uint64_t named = draft_thread(d, 5, 0, (uint64_t[]){ frame, 1, 2, frame, 3, 4 }, 6);
                (void)draft_thread(d, 10, 0, NULL, 0);
                if (d->layout.label) {
                        uint64_t words[] = { label, sizeof(text), 0 };
                        memcpy(&words[2], text, sizeof(text));
                        draft_u64(d, named + d->layout.label, draft_object(d, 1, words, 3));
                }
                struct ghc g = found(d);
                assert_string_equal(g.thread.releases, releases[i]);
                assert_int_equal(g.profiled, d->layout.header == 3);
                struct threads t = copied(&g);
                assert_int_equal(t.n, 3);
                assert_false(t.list_cut);
                assert_int_equal(of_id(&t, 1)->state, THREAD_MVAR);
                assert_int_equal(of_id(&t, 1)->waits_for, 0x1234560);
                assert_int_equal(of_id(&t, 1)->allocated, 4096);
                assert_int_equal(of_id(&t, 2)->state, THREAD_DELAY);
                assert_int_equal(of_id(&t, 2)->n_frames, 3);
                assert_int_equal(of_id(&t, 2)->stack_words, 7);
                assert_int_equal(of_id(&t, 2)->frames[0], frame);
                assert_true(of_id(&t, 2)->whole);
                assert_string_equal(of_id(&t, 2)->label, d->layout.label ? "worker-7" : "");
                assert_int_equal(of_id(&t, 3)->state, THREAD_FOREIGN);
                assert_int_equal(of_id(&t, 3)->n_frames, 1);
                threads_done(&t);
                ghc_done(&g);
                draft_destroy(d);
        }
}

TEST(test_threads_of_one_kind)
{
        static const char *const labels[][2] = {
                { "worker 12", " worker" },
                { "IOManager on cap 3", " IOManager on cap" },
                { "12", "" },
                { "", "" },
                { "db-7: pool\n2", " db: pool" },
                { "phase one", " phase one" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
                char text[64];
                struct text_out out;
                text_out_init(&out, text, sizeof(text));
                assert_int_equal(thread_put_kind(&out, labels[i][0]), labels[i][1][0] != '\0');
                assert_string_equal(text, labels[i][1]);
        }
}

/* A stack may be a chain of chunks. */
TEST(test_chunks)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t frame = draft_table(d, RET_SMALL, 1, 0, NULL);
        const uint64_t underflow = draft_table(d, UNDERFLOW_FRAME, 1, 0, NULL);

        (void)draft_thread(d, 1, 8, (uint64_t[]){ frame, 7, frame, 7, frame, 7 }, 6);
        const uint64_t below = *(uint64_t *)(void *)draft_at(d, d->threads + 24, 8);
        (void)draft_thread(d, 1, 8, (uint64_t[]){ frame, 7, underflow }, 3);
        /* in the place of the frame that ends a stack is the next chunk */
        const uint64_t stack = *(uint64_t *)(void *)draft_at(d, d->threads + 24, 8);
        draft_u64(d, stack + 24 + 8 * (8 + 3), below);
        struct ghc g = found(d);
        struct threads t = copied(&g);
        assert_int_equal(of_id(&t, 2)->n_frames, 5);
        assert_int_equal(of_id(&t, 2)->n_chunks, 2);
        assert_true(of_id(&t, 2)->whole);
        /* a chunk that is its own next one ends at a limit */
        draft_u64(d, stack + 24 + 8 * (8 + 3), stack);
        threads_done(&t);
        t = copied(&g);
        assert_true(of_id(&t, 2)->cut);
        assert_false(of_id(&t, 2)->whole);
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}

/*
 * Its stack pointer is in a register, and arguments may be on top of the first frame; the function that it is in is
 * not on the stack.
 */
TEST(test_running)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t function = draft_table(d, FUN, 0, 0, NULL);
        const uint64_t frame = draft_table(d, RET_SMALL, 1, 0, NULL);

        const uint64_t tso = draft_thread(d, 0, 0, (uint64_t[]){ frame, 7, frame, 7 }, 4);
        const uint64_t stack = *(uint64_t *)(void *)draft_at(d, tso + 24, 8), top = stack + 24 + 8 * 8;
        draft_u64(d, top - 8, 99); /* an argument */
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_THREAD, tso);
        assert_true(program_add_registers(&d->program,
                                          (struct registers){ .tid = 4711,
                                                              .pc = function + 11,
                                                              .hs_sp = top - 8,
                                                              .base = DRAFT_CAPABILITY + CAPABILITY_REGISTERS }));
        struct ghc g = found(d);
        struct threads t = copied(&g);
        assert_int_equal(t.items[0].state, THREAD_RUNNING);
        assert_int_equal(t.items[0].os_thread, 4711);
        assert_int_equal(t.items[0].stack_words, 6);
        assert_int_equal(t.items[0].n_frames, 4);
        assert_int_equal(t.items[0].frames[0], function);
        assert_int_equal(t.items[0].frames[1], frame);
        assert_true(t.items[0].whole);
        threads_done(&t);
        /* without registers its stack is as it was last saved, and that is known */
        d->program.n_registers = 0;
        t = copied(&g);
        assert_int_equal(t.items[0].state, THREAD_IN_C);
        assert_true(t.items[0].stale);
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}

/* The runtime's record of a `safe` call: `outer` is the one around it, `next` the one behind it in the list. */
static void make_call(struct draft *d, uint64_t call, uint64_t tso, uint64_t task, uint64_t outer, uint64_t next)
{
        draft_u64(d, call + 8, tso);
        draft_u64(d, call + 16, DRAFT_CAPABILITY);
        draft_u64(d, call + 40, task);
        draft_u64(d, call + 48, outer);
        draft_u64(d, call + 64, next);
}

/* By which thread of the system each was found in; 0: none. */
static void check_system(struct ghc *g, int first, int second, int third)
{
        struct threads t = copied(g);

        assert_int_equal(of_id(&t, 1)->os_thread, first);
        assert_int_equal(of_id(&t, 2)->os_thread, second);
        assert_int_equal(of_id(&t, 3)->os_thread, third);
        for (size_t i = 0; i < t.n; i++) {
                assert_int_equal(!!t.items[i].in_c, !!t.items[i].os_thread);
                assert_true(t.items[i].whole &&
                            (!t.items[i].in_c || t.items[i].in_c->n == 0)); /* there are no tables */
        }
        threads_done(&t);
}

/* Two threads of the system, of which the runtime's lists say what they call C for. */
TEST(test_foreign)
{
        enum { FOREIGN = 10 };
        const uint64_t calls = DRAFT_C + 0x9000, tasks = DRAFT_C + 0xa000, list = DRAFT_CAPABILITY + 0x400;
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t frame = draft_table(d, RET_SMALL, 1, 0, NULL);
        const struct registers r = { .sp = DRAFT_C + 0x8000, .base = DRAFT_CAPABILITY + CAPABILITY_REGISTERS };
        uint64_t tso[3];

        for (size_t i = 0; i < ARRAY_SIZE(tso); i++)
                tso[i] = draft_thread(d, FOREIGN, 0, (uint64_t[]){ frame, 7 + i }, 2);
        for (int i = 0; i < 2; i++) {
                struct registers one = r;
                one.tid = 31 + i;
                one.tls = 0x1000 + 0x100 * (uint64_t)i;
                draft_u64(d, tasks + 0x100 * (uint64_t)i, one.tls);
                assert_true(program_add_registers(&d->program, one));
        }
        struct ghc g = found(d);
        check_system(&g, 0, 0, 0);
        draft_u64(d, list, calls);
        make_call(d, calls, tso[0], tasks, 0, calls + 0x80);
        make_call(d, calls + 0x80, tso[2], tasks + 0x100, 0, 0);
        check_system(&g, 31, 0, 32);
        /* a call back has called, too: the frames of C are of the innermost one, wherever it is in the list */
        make_call(d, calls + 0x100, tso[1], tasks, calls, 0);
        draft_u64(d, calls + 0x80 + 64, calls + 0x100);
        check_system(&g, 0, 31, 32);
        make_call(d, calls, tso[0], tasks, calls + 0x100, calls + 0x80);
        make_call(d, calls + 0x100, tso[1], tasks, 0, 0);
        check_system(&g, 31, 0, 32);
        /* each in the other; a list without an end; one that leads to what is no call */
        make_call(d, calls + 0x100, tso[1], tasks, calls, 0);
        check_system(&g, 0, 0, 32);
        draft_u64(d, calls + 0x100 + 64, calls);
        check_system(&g, 0, 0, 0);
        make_call(d, calls, tso[0], tasks, 0, calls + 0x80);
        draft_u64(d, calls + 0x80 + 64, calls + 0x108);
        check_system(&g, 0, 0, 0);
        draft_u64(d, calls + 0x80 + 64, 0);
        check_system(&g, 31, 0, 32);
        /* what a call back runs is in the same thread of the system; what another one runs is not */
        const uint64_t last = draft_thread(d, 0, 0, (uint64_t[]){ frame, 7, frame, 7 }, 4);
        const uint64_t top = *(uint64_t *)(void *)draft_at(d, last + 24, 8) + 24 + 8 * 8;
        draft_finish(d);
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_THREAD, last);
        draft_u64(d, r.sp + 0x40, top);
        check_system(&g, 31, 0, 32);
        draft_u64(d, last + 64, calls + 0x80); /* it is bound to that */
        check_system(&g, 31, 0, 0);
        struct threads t = copied(&g);
        assert_int_equal(of_id(&t, 4)->os_thread, 32);
        assert_int_equal(of_id(&t, 4)->state, THREAD_IN_C);
        assert_false(of_id(&t, 4)->stale);
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}

/* Where there is no list it is known by the pointer with which the stack was left, as long as it is there. */
TEST(test_foreign_by_stack)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t frame = draft_table(d, RET_SMALL, 1, 0, NULL);
        const uint64_t tso = draft_thread(d, 10, 0, (uint64_t[]){ frame, 7 }, 2);
        const uint64_t top = *(uint64_t *)(void *)draft_at(d, tso + 24, 8) + 24 + 8 * 8;
        const uint64_t sp = DRAFT_C + 0x8000;

        assert_true(program_add_registers(
                &d->program,
                (struct registers){ .tid = 31, .sp = sp, .base = DRAFT_CAPABILITY + CAPABILITY_REGISTERS }));
        struct ghc g = found(d);
        for (unsigned found = 0; found < 2; found++) {
                draft_u64(d, sp + 0x40, found ? top : top + 8);
                struct threads t = copied(&g);
                assert_int_equal(t.items[0].os_thread, found ? 31 : 0);
                assert_int_equal(t.items[0].state, THREAD_FOREIGN);
                threads_done(&t);
        }
        ghc_done(&g);
        draft_destroy(d);
}

/* Of a black hole the thread that computes it is known, also through a queue. */
TEST(test_owner)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t queue = draft_table(d, BLOCKING_QUEUE, 4, 0, NULL), hole = draft_table(d, BLACKHOLE, 1, 0, NULL);
        const uint64_t message = draft_table(d, PRIM, 3, 0, NULL);

        const uint64_t owner = draft_thread(d, 0, 0, NULL, 0);
        const uint64_t q = draft_object(d, 1, (uint64_t[]){ queue, 0, 0, owner, 0 }, 5);
        const uint64_t held[] = { owner, q };
        for (size_t i = 0; i < ARRAY_SIZE(held); i++) {
                const uint64_t value = draft_object(d, 1, (uint64_t[]){ hole, held[i] }, 2);
                const uint64_t m = draft_object(d, 1, (uint64_t[]){ message, 0, 0, value }, 4);
                (void)draft_thread(d, 2, m, NULL, 0);
        }
        struct ghc g = found(d);
        struct threads t = copied(&g);
        assert_int_equal(of_id(&t, 2)->owner, 1);
        assert_int_equal(of_id(&t, 3)->owner, 1);
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}

/* Lists that lead in a circle, or nowhere, end; and it is known that they did not end as they should. */
TEST(test_damaged_lists)
{
        struct draft *d = draft_new(&draft_9_0);

        const uint64_t first = draft_thread(d, 1, 8, NULL, 0);
        (void)draft_thread(d, 1, 8, NULL, 0);
        struct ghc g = found(d);
        draft_u64(d, first + 16, 0xdead0);
        struct threads t = copied(&g);
        assert_int_equal(t.n, 2);
        assert_true(t.list_cut);
        threads_done(&t);
        draft_u64(d, first + 16, d->threads);
        t = copied(&g);
        assert_int_equal(t.n, 2);
        assert_true(t.list_cut);
        threads_done(&t);
        threads_copy(&t, &g, at_once, NULL);
        assert_true(t.out_of_time);
        assert_int_equal(t.n, 0);
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}

/* What does not fit is refused with its reason. */
TEST(test_refused)
{
        struct draft *d = draft_new(&draft_9_0);
        struct error error = { "" };
        struct ghc g;

        draft_finish(d);
        assert_false(ghc_find(&g, &d->program, &error));
        assert_non_null(strstr(error.text, "no Haskell thread"));
        const uint64_t tso = draft_thread(d, 1, 8, NULL, 0);
        draft_finish(d);
        draft_u64(d, tso + 96, 8); /* exceptions and queue are not the same any more */
        assert_false(ghc_find(&g, &d->program, &error));
        assert_non_null(strstr(error.text, "fit no release"));
        draft_u64(d, tso + 24, tso);
        assert_false(ghc_find(&g, &d->program, &error));
        assert_non_null(strstr(error.text, "do not lead to their stacks"));
        draft_u64(d, draft_generation(d, 0) + 120, 0x10);
        assert_false(ghc_find(&g, &d->program, &error));
        assert_non_null(strstr(error.text, "no generations"));
        memset(d->heap.bytes, 0, d->heap.n);
        assert_false(ghc_find(&g, &d->program, &error));
        assert_non_null(strstr(error.text, "no heap of GHC's runtime"));
        draft_destroy(d);
}

/* Names are of symbols: exact, the module alone, or none. */
TEST(test_names)
{
        struct draft *d = draft_new(&draft_9_0);
        char name[PROGRAM_NAME_BYTES];

        assert_int_equal(name_of_code(&d->program, DRAFT_TEXT + 0x900, name, sizeof(name)), NAME_NONE);
        assert_string_equal(name, "0x400900");
        draft_symbol(d, DRAFT_TEXT + 0x1000, 0x100, "base_GHCziBase_zdfMonadIO_info");
        draft_symbol(d, DRAFT_TEXT + 0x2000, 0x10, "Main_zdwloop_info");
        draft_symbol(d, DRAFT_DATA + 0x40, 0x18, "Main_sessions_closure");
        assert_int_equal(name_of_code(&d->program, DRAFT_TEXT + 0x10ff, name, sizeof(name)), NAME_EXACT);
        assert_string_equal(name, "base:GHC.Base.$fMonadIO");
        assert_string_equal(name_without_package(name), "GHC.Base.$fMonadIO");
        assert_int_equal(name_of_code(&d->program, DRAFT_TEXT + 0x1100, name, sizeof(name)), NAME_LOCAL);
        assert_string_equal(name, "Main");
        assert_int_equal(name_of_static(&d->program, DRAFT_DATA + 0x40, name, sizeof(name)), NAME_EXACT);
        assert_string_equal(name, "Main.sessions");
        assert_int_equal(name_of_code(&d->program, DRAFT_TEXT + 0x2010, name, sizeof(name)), NAME_NONE);
        draft_destroy(d);
}
