/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: how stacks are folded, what functions and files get of them, when samples are taken. */
#include "tests/unit/test.h"
#include <zlib.h>

#include "inspect/show/out_file.h"
#include "tests/unit/inspect/pprof.pb-c.h"
#include "inspect/ghc/stack_profile.h"
#include "proto/base/array.h"
#include "proto/base/document.h"
#include "tests/unit/inspect/draft.h"

#define ADD_TO(p, tree, ns, ...)                                                                                       \
        stack_profile_add_names(p, tree, (const char *const[]){ __VA_ARGS__ },                                         \
                                ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })), ns)
#define ADD(p, ns, ...) ADD_TO(p, &(p)->running, ns, __VA_ARGS__)

static struct time_function function_of_tree(const struct stack_profile *p, const struct time_tree *t, const char *name)
{
        struct time_function found = { 0 };
        size_t n;
        struct time_function *functions = stack_profile_functions(p, t, &n);

        for (size_t i = 0; i < n; i++)
                if (!strcmp(stack_profile_name(p, functions[i].name), name))
                        found = functions[i];
        free(functions);
        assert_int_not_equal(found.name, 0);
        return found;
}

static struct time_function function_of(const struct stack_profile *p, const char *name)
{
        return function_of_tree(p, &p->running, name);
}

static struct document written(const struct stack_profile *p,
                               bool (*write)(FILE *to, const struct stack_profile *p, const char *program))
{
        struct document d;

        document_open(&d);
        assert_true(write(d.to, p, "shop"));
        assert_true(document_close(&d));
        return d;
}

/* Unpacked, to be freed. */
static Pprof__Profile *written_pprof(const struct stack_profile *p)
{
        enum { ROOM = 1 << 20 };
        uint8_t *bytes = malloc(ROOM);
        struct document d = written(p, profile_write_pprof);
        z_stream z = { .next_in = (void *)d.text, .avail_in = (unsigned)d.size, .next_out = bytes, .avail_out = ROOM };

        assert_non_null(bytes);
        assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END); /* length and checksum are right */
        assert_int_equal(z.avail_in, 0);
        Pprof__Profile *f = pprof__profile__unpack(NULL, z.total_out, bytes);
        assert_non_null(f);
        (void)inflateEnd(&z);
        document_done(&d);
        free(bytes);
        return f;
}

static struct stack_profile taken;

static int begin_profile(void **state)
{
        stack_profile_init(&taken);
        return 0;
}

static int end_profile(void **state)
{
        stack_profile_done(&taken);
        return 0;
}

TEST_EACH(begin_profile, end_profile)

/* A sample counts once for a function, however often that is in its stack; neighbours of one name are one. */
TEST(test_folding)
{
        ADD(&taken, 70, "heavy", "step", "main");
        ADD(&taken, 20, "light", "step", "main");
        ADD(&taken, 10, "step", "light", "light", "step", "main");
        ADD(&taken, 5, "main");
        stack_profile_sum(&taken);
        assert_int_equal(time_tree_count(&taken.running), 5);
        assert_int_equal(time_tree_samples(&taken.running), 4);
        assert_int_equal(time_tree_weight(&taken.running), 105);
        const struct time_function step = function_of(&taken, "step"), light = function_of(&taken, "light"),
                                   root = function_of(&taken, "main");
        assert_int_equal(step.self_weight, 10);
        assert_int_equal(step.total_weight, 100);
        assert_int_equal(step.total_samples, 3);
        assert_int_equal(light.self_weight, 20);
        assert_int_equal(light.total_weight, 30);
        assert_int_equal(root.self_samples, 1);
        assert_int_equal(root.total_weight, 105);
        assert_int_equal(time_tree_nth(&taken.running, 1)->total_samples, 4);
}

TEST(test_files)
{
        ADD(&taken, 70000, "base:GHC.List.a;b", "main:Main.main");
        ADD(&taken, 400, "Main.rare", "main:Main.main");
        ADD(&taken, 2600, "main:Main.main");
        stack_profile_sum(&taken);
        struct document d = written(&taken, profile_write_collapsed);
        assert_string_equal(d.text, "Main.main 3\nMain.main;GHC.List.a,b 70\n");
        document_done(&d);
        d = written(&taken, profile_write_speedscope);
        assert_non_null(strstr(d.text, "\"endValue\":73000"));
        assert_non_null(strstr(d.text, "{\"name\":\"GHC.List.a;b\"}"));
        document_done(&d);
        struct error error = { "" };
        assert_true(profile_file_check("x.collapsed", &error));
        assert_false(profile_file_check(".collapsed", &error));
        assert_false(profile_file_check("x.json", &error));
        assert_non_null(strstr(error.text, "x.json"));
}

/* Boxes are as wide as their share, beside each other above their caller. */
TEST(test_flame_graph)
{
        ADD(&taken, 750, "Main.a", "Main.main");
        ADD(&taken, 250, "Main.<&>", "Main.main");
        stack_profile_sum(&taken);
        struct document d = written(&taken, profile_write_svg);
        assert_non_null(strstr(d.text,
                               "<title>Main.main: 100.0 %, 1.00 us, 2 samples</title><rect x=\"10.00\" y=\"66\" "
                               "width=\"1180.00\""));
        assert_non_null(strstr(d.text,
                               "<title>Main.a: 75.0 %, 750 ns, 1 sample</title><rect x=\"10.00\" y=\"50\" "
                               "width=\"885.00\""));
        assert_non_null(strstr(d.text,
                               "<title>Main.&lt;&amp;&gt;: 25.0 %, 250 ns, 1 sample</title>"
                               "<rect x=\"895.00\" y=\"50\" width=\"295.00\""));
        document_done(&d);
}

/* Of both trees, each apart from the other: in one number a line says of what, pprof has values of both. */
TEST(test_files_with_waiting)
{
        taken.with_waiting = true;
        ADD(&taken, 70000, "Main.a", "Main.main");
        ADD_TO(&taken, &taken.waiting, 900000, "Main.rest", "Main.main", "(in threadDelay)");
        ADD_TO(&taken, &taken.waiting, 100000, "Main.a", "Main.main", "(in threadDelay)");
        stack_profile_sum(&taken);
        assert_int_equal(function_of(&taken, "Main.main").total_weight, 70000);
        assert_int_equal(function_of_tree(&taken, &taken.waiting, "Main.main").total_weight, 1000000);
        size_t n;
        free(stack_profile_functions(&taken, &taken.running, &n));
        assert_int_equal(n, 2); /* none of the other tree */
        struct document d = written(&taken, profile_write_collapsed);
        assert_string_equal(d.text,
                            "running;Main.main;Main.a 70\nwaiting;(in threadDelay);Main.main;Main.rest 900\n"
                            "waiting;(in threadDelay);Main.main;Main.a 100\n");
        document_done(&d);
        d = written(&taken, profile_write_speedscope);
        assert_non_null(
                strstr(d.text, "\"name\":\"CPU time\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":70000"));
        assert_non_null(strstr(d.text, "\"endValue\":1000000"));
        document_done(&d);
        d = written(&taken, profile_write_svg);
        assert_non_null(strstr(d.text, "<title>Main.a: 100.0 %, 70.0 us, 1 sample</title><rect x=\"10.00\""));
        assert_non_null(strstr(d.text, "<title>Main.rest: 90.0 %, 900 us, 1 sample</title><rect x=\"10.00\""));
        document_done(&d);
        Pprof__Profile *f = written_pprof(&taken);
        assert_int_equal(f->n_sample_type, 4);
        assert_string_equal(f->string_table[f->sample_type[3]->type], "waiting");
        assert_int_equal(f->n_sample, 3);
        static const int64_t values[3][4] = { { 1, 70000, 0, 0 }, { 0, 0, 1, 900000 }, { 0, 0, 1, 100000 } };
        for (size_t i = 0; i < 3; i++) {
                assert_int_equal(f->sample[i]->n_value, 4);
                assert_memory_equal(f->sample[i]->value, values[i], sizeof(values[i]));
        }
        pprof__profile__free_unpacked(f, NULL);
}

/* Weights are bytes in all files, and what has no weight is in none that has weights alone. */
TEST(test_files_by_allocation)
{
        taken.by_allocation = true;
        ADD(&taken, 3072, "Main.a", "Main.main");
        ADD(&taken, 1024, "Main.b", "Main.main");
        ADD(&taken, 0, "(garbage collection)");
        stack_profile_sum(&taken);
        struct document d = written(&taken, profile_write_collapsed);
        assert_string_equal(d.text, "Main.main;Main.a 3072\nMain.main;Main.b 1024\n");
        document_done(&d);
        d = written(&taken, profile_write_speedscope);
        assert_non_null(
                strstr(d.text, "\"name\":\"allocation\",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":4096"));
        document_done(&d);
        d = written(&taken, profile_write_svg);
        assert_non_null(strstr(d.text, "<title>Main.a: 75.0 %, 3.00 KiB, 1 sample</title>"));
        assert_non_null(strstr(d.text, "allocation, 3 samples"));
        document_done(&d);
        Pprof__Profile *f = written_pprof(&taken);
        assert_int_equal(f->n_sample_type, 2);
        assert_string_equal(f->string_table[f->sample_type[1]->type], "alloc_space");
        assert_string_equal(f->string_table[f->sample_type[1]->unit], "bytes");
        assert_string_equal(f->string_table[f->period_type->type], "alloc_space");
        assert_int_equal(f->sample[0]->value[1], 3072);
        pprof__profile__free_unpacked(f, NULL);
}

/* The counter counts down; of the block that a thread fills what lies before Hp is not in it yet. */
static void check_allocated(const struct draft_layout *layout)
{
        struct draft *d = draft_new(layout);
        const unsigned shift = (layout->header - 1) * 8;
        const uint64_t block = DRAFT_C + 0x9000, start = DRAFT_HEAP + 0x5000;
        struct registers r = { .hs_hp = start + 0x100 - 8 };
        struct error error = { "" };
        struct ghc g;
        uint64_t n;

        const uint64_t tso = draft_thread(d, 0, 0, NULL, 0);
        draft_finish(d);
        assert_true(ghc_find(&g, &d->program, &error));
        struct haskell_thread h = { .tso = tso, .id = *(uint64_t *)(void *)draft_at(d, tso + shift + layout->id, 8) };
        draft_u64(d, tso + shift + layout->limit, 0 - UINT64_C(8192));
        draft_u64(d, block, start);
        draft_u64(d, block + 8, start);
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_NURSERY, block);
        assert_true(thread_allocated(&g, &h, &r, &n)); /* another thread fills the block */
        assert_int_equal(n, 8192);
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_THREAD, tso);
        assert_true(thread_allocated(&g, &h, &r, &n));
        assert_int_equal(n, 8192 + 0x100);
        assert_true(thread_allocated(&g, &h, NULL, &n));
        assert_int_equal(n, 8192);
        draft_u64(d, block + 8, start + 0x100); /* it has left the block, and counted that */
        assert_true(thread_allocated(&g, &h, &r, &n));
        assert_int_equal(n, 8192);
        draft_u64(d, block + 8, start);
        r.hs_hp = start + BLOCK_BYTES; /* of C code: it is anything */
        assert_true(thread_allocated(&g, &h, &r, &n));
        assert_int_equal(n, 8192);
        h.id++; /* there is another thread now */
        assert_false(thread_allocated(&g, &h, &r, &n));
        ghc_done(&g);
        draft_destroy(d);
}

TEST(test_allocated)
{
        check_allocated(&draft_9_0);
        check_allocated(&draft_9_6);
        check_allocated(&draft_9_10);
        check_allocated(&draft_profiled);
}

/* As zlib and the format's own definition read it; more than one block of the compressed format. */
TEST(test_pprof)
{
        enum { FUNCTIONS = 5000 };
        char name[64];

        for (unsigned i = 0; i < FUNCTIONS; i++) {
                (void)snprintf(name, sizeof(name), "Main.function%u", i);
                ADD(&taken, 1000 + i, name, "Main.main");
        }
        ADD(&taken, 7, "Main.main");
        taken.began_wall_ns = UINT64_C(1700000000000000000);
        taken.elapsed_ns = 99;
        stack_profile_sum(&taken);
        Pprof__Profile *f = written_pprof(&taken);
        assert_int_equal(f->n_sample, FUNCTIONS + 1);
        assert_int_equal(f->n_function, FUNCTIONS + 1);
        assert_int_equal(f->time_nanos, 1700000000000000000);
        assert_int_equal(f->duration_nanos, 99);
        assert_string_equal(f->string_table[f->sample_type[1]->type], "cpu");
        for (size_t i = 0; i < f->n_sample; i++) {
                const Pprof__Sample *sample = f->sample[i];
                assert_int_equal(sample->n_value, 2);
                assert_int_equal(sample->value[0], 1);
                const Pprof__Function *inner = f->function[sample->location_id[0] - 1];
                const char *text = f->string_table[inner->name];
                assert_false(inner->has_system_name);
                assert_int_equal(sample->value[1], sample->n_location_id == 1 ? 7 : 1000 + strtol(text + 13, NULL, 10));
        }
        pprof__profile__free_unpacked(f, NULL);
}

/*
 * By allocation samples of a stack stand for their CPU time at the rate of the moments that end in it, where these are
 * most, and else of all; what is known after more of them is of the earlier ones, too.
 */
static void check_rates(struct ghc *g, struct threads *t, uint64_t leaf)
{
        const struct allocated slow = { 100, 10 }, fast = { 9000, 10 };
        struct stack_profile p;

        stack_profile_init(&p);
        p.by_allocation = true;
        stack_profile_add_allocating(&p, g, t, leaf, 1000, &fast, NULL, 0);
        stack_profile_sum(&p);
        assert_int_equal(time_tree_weight(&p.running), 900000);
        stack_profile_add_allocating(&p, g, t, leaf, 1000, &fast, t, DRAFT_C); /* it has ended elsewhere */
        stack_profile_add_allocating(&p, g, t, leaf, 500, &slow, t, leaf);
        stack_profile_sum(&p);
        assert_int_equal(time_tree_weight(&p.running), 2500 * (9000 + 9000 + 100) / (10 + 10 + 10));
        stack_profile_add_allocating(&p, g, t, leaf, 500, &slow, t, leaf);
        stack_profile_add_allocating(&p, g, t, leaf, 0, &slow, t, leaf);
        stack_profile_add_allocating(&p, g, t, DRAFT_C, 10, &slow, t, leaf);
        stack_profile_add(&p, g, t, ACTIVITY_HASKELL, DRAFT_C, 0);
        for (unsigned again = 0; again < 2; again++) {
                stack_profile_sum(&p);
                assert_int_equal(time_tree_weight(&p.running), 30000 + 100);
                assert_int_equal(function_of(&p, "base:GHC.Base.outer").total_weight, 30000 + 100);
                assert_int_equal(function_of(&p, "base:GHC.Base.outer").total_samples, 7);
        }
        stack_profile_done(&p);
}

/* Frames of a stack that was copied; what only returns a value is no function; what is missing has a root. */
TEST(test_stacks)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t inner = draft_table(d, RET_SMALL, 1, 0, NULL), outer = draft_table(d, RET_SMALL, 0, 0, NULL);
        const uint64_t update = draft_table(d, UPDATE_FRAME, 1, 0, NULL), leaf = draft_table(d, FUN, 1, 1, NULL);
        const uint64_t stack[] = { inner, 7, update, 8, inner, 9, outer };
        struct error error = { "" };
        struct runtime runtime;
        struct threads t = { 0 };
        struct ghc g;

        const uint64_t tso = draft_thread(d, 0, 0, stack, ARRAY_SIZE(stack));
        const uint64_t top = *(uint64_t *)(void *)draft_at(d, tso + 24, 8) + 24 + 8 * 8;
        draft_symbol(d, inner, 0x10, "Main_inner_info");
        draft_symbol(d, outer, 0x10, "base_GHCziBase_outer_info");
        draft_finish(d);
        assert_true(ghc_find(&g, &d->program, &error));
        struct registers r = { .tid = 7,
                               .pc = leaf + 24,
                               .hs_sp = top,
                               .sp = DRAFT_C + 0x8000,
                               .base = DRAFT_CAPABILITY + CAPABILITY_REGISTERS };
        /* no current thread, and nothing leads to the stack of one that is suspended: it is elsewhere */
        runtime_find(&runtime, &g);
        assert_int_equal(runtime.n_capabilities, 1);
        r.hs_sp = top + 8;
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100), ACTIVITY_OTHER);
        stack_profile_add(&taken, &g, &t, ACTIVITY_COLLECTION, r.pc, 1);
        stack_profile_add(&taken, &g, &t, ACTIVITY_OTHER, DRAFT_C, 2);
        /* it has called the collector */
        draft_symbol(d, leaf, 0x40, "GarbageCollect");
        runtime_find(&runtime, &g);
        draft_u64(d, r.sp + 0x20, leaf + 0x18);
        r.base = 0;
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100), ACTIVITY_COLLECTION);
        draft_u64(d, r.sp + 0x20, 0);
        d->program.symbols.n = 0; /* it was for this only */
        draft_symbol(d, inner, 0x10, "Main_inner_info");
        draft_symbol(d, outer, 0x10, "base_GHCziBase_outer_info");
        r.base = DRAFT_CAPABILITY + CAPABILITY_REGISTERS;
        /* in a `safe` call the pointer is that with which the stack was left */
        for (unsigned saved = 0; saved < 2; saved++) {
                r.hs_sp = saved ? 0 : top;
                draft_u64(d, r.sp + 0x40, saved ? top : 0);
                assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100), ACTIVITY_FOREIGN);
                assert_int_equal(t.items[0].state, THREAD_FOREIGN);
                stack_profile_add(&taken, &g, &t, ACTIVITY_OTHER, DRAFT_C, 64);
        }
        draft_u64(d, r.sp + 0x40, 0);
        /* its stack has been moved: then the runtime's list has it */
        const uint64_t call = DRAFT_C + 0x9000;
        draft_u64(d, DRAFT_CAPABILITY + 0x400, call);
        draft_u64(d, call + 8, tso);
        draft_u64(d, call + 16, DRAFT_CAPABILITY);
        draft_u64(d, call + 40, call + 0x100);
        draft_u64(d, call + 0x100, 0x1000);
        for (unsigned own = 0; own < 2; own++) {
                r.tls = own ? 0x1000 : 0x2000;
                assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100),
                                 own ? ACTIVITY_FOREIGN : ACTIVITY_OTHER);
                assert_int_equal(t.n, own);
        }
        assert_true(t.items[0].n_chunks == 1 && !t.items[0].cut);
        draft_u64(d, DRAFT_CAPABILITY + 0x400, 0);
        r.hs_sp = top;
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_THREAD, tso);
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100), ACTIVITY_HASKELL);
        assert_int_equal(t.items[0].os_thread, 7);
        assert_int_equal(runtime.n_capabilities, 1);
        stack_profile_add(&taken, &g, &t, ACTIVITY_OTHER, r.pc, 4);
        check_rates(&g, &t, r.pc);
        /* in C, both registers are on its stack */
        draft_u64(d, r.sp + 0x40, r.hs_sp);
        draft_u64(d, r.sp + 0x48, r.base);
        r.hs_sp = r.base = 0;
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100), ACTIVITY_HASKELL);
        stack_profile_add(&taken, &g, &t, ACTIVITY_OTHER, DRAFT_C, 8);
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 4), ACTIVITY_HASKELL);
        stack_profile_add(&taken, &g, &t, ACTIVITY_OTHER, r.pc, 16);
        draft_u64(d, top + 8 * 7, 3); /* a frame that is none */
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100), ACTIVITY_HASKELL);
        stack_profile_add(&taken, &g, &t, ACTIVITY_OTHER, r.pc, 32);
        stack_profile_sum(&taken);
        assert_int_equal(taken.running.weights[SAMPLE_COLLECTION], 1);
        assert_int_equal(taken.running.weights[SAMPLE_OUTSIDE], 2);
        assert_int_equal(taken.running.weights[SAMPLE_WHOLE], 140);
        assert_int_equal(taken.running.weights[SAMPLE_CUT], 16);
        assert_int_equal(taken.running.weights[SAMPLE_BROKEN], 32);
        assert_int_equal(function_of(&taken, "base:GHC.Base.outer").total_weight, 140);
        assert_int_equal(function_of(&taken, "Main.inner").total_weight, 156);
        assert_int_equal(function_of(&taken, "(garbage collection)").self_weight, 1);
        assert_int_equal(function_of(&taken, "(deeper stack)").total_weight, 16);
        assert_int_equal(function_of(&taken, "(code in no file)").self_weight, 138);
        /* the leaf is named by its table, wherever in its code it was */
        char name[32];
        (void)snprintf(name, sizeof(name), "0x%lx", (unsigned long)leaf);
        assert_int_equal(function_of(&taken, name).total_weight, 52);
        runtime_done(&runtime);
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}

/* On average as often as requested, never closer than half the time. */
TEST(test_delays)
{
        uint64_t random = 1, sum = 0, least = UINT64_MAX, most = 0;

        for (int i = 0; i < 20000; i++) {
                const uint64_t ns = stack_profile_delay_ns(&random, 10000000);
                sum += ns;
                least = ns < least ? ns : least;
                most = ns > most ? ns : most;
        }
        assert_in_range(sum / 20000, 9900000, 10100000);
        assert_in_range(least, 5000000, 5100000);
        assert_in_range(most, 14900000, 15000000);
}

TEST(test_stops)
{
        assert_int_equal(stack_profile_stop_quantile(&taken, 0.5), 0);
        for (uint64_t us = 1; us <= 100; us++)
                stack_profile_add_stop(&taken, us * 1000);
        stack_profile_add_stop(&taken, UINT64_MAX);
        assert_in_range(stack_profile_stop_quantile(&taken, 0.5), 49000, 53000);
        assert_in_range(stack_profile_stop_quantile(&taken, 0.99), 97000, 103000);
        assert_int_equal(taken.longest_stop_ns, UINT64_MAX);
}

/* Threads of one label but for their numbers are one, those without a label are known by their numbers. */
TEST(test_stacks_by_thread)
{
        static const char labels[][8] = { "worker-7", "worker 1", "12" };
        struct draft *d = draft_new(&draft_9_6);
        const uint64_t frame = draft_table(d, RET_SMALL, 1, 0, NULL), label = draft_table(d, ARR_WORDS, 0, 0, NULL);
        struct error error = { "" };
        struct threads t = { 0 };
        struct ghc g;

        for (size_t i = 0; i < 4; i++) {
                const uint64_t tso = draft_thread(d, 0, 0, (uint64_t[]){ frame, 1 }, 2);
                uint64_t words[] = { label, sizeof(labels[0]), 0 };
                if (i == ARRAY_SIZE(labels))
                        continue;
                memcpy(&words[2], labels[i], sizeof(labels[0]));
                draft_u64(d, tso + d->layout.label, draft_object(d, 1, words, 3));
        }
        draft_finish(d);
        assert_true(ghc_find(&g, &d->program, &error));
        threads_copy(&t, &g, NULL, NULL);
        assert_int_equal(t.n, 4);
        taken.by_thread = true;
        for (size_t i = 0; i < t.n; i++) {
                struct threads one = t;
                one.items = &t.items[i];
                stack_profile_add(&taken, &g, &one, ACTIVITY_HASKELL, DRAFT_TEXT, 10);
        }
        stack_profile_sum(&taken);
        assert_int_equal(function_of(&taken, "thread worker").total_weight, 20);
        assert_int_equal(function_of(&taken, "thread 3").total_weight, 10);
        assert_int_equal(function_of(&taken, "thread 4").total_weight, 10);
        assert_int_equal(time_tree_weight(&taken.running), 40);
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}

/* A program that runs: this thread has allocated each time when its TSO was read. */
struct restless {
        struct draft *draft;
        uint64_t tso;
};

static bool read_restless(void *ctx, uint64_t at, void *to, size_t n)
{
        const struct restless *r = ctx;
        const bool good = draft_read(r->draft, at, to, n);

        if (at == r->tso && n > 8)
                *draft_at(r->draft, r->tso + r->draft->layout.limit, 1) += 1;
        return good;
}

/* What runs is none of them, what ran meanwhile is left out and counted; of many, each is chosen as often. */
TEST(test_waiting)
{
        enum { TRIES = 400, MVAR = 1, STM = 6, THREADS = 5 };
        struct draft *d = draft_new(&draft_9_6);
        const uint64_t inner = draft_table(d, RET_SMALL, 1, 0, NULL), outer = draft_table(d, RET_SMALL, 0, 0, NULL);
        const uint64_t stack[] = { inner, 7, outer };
        struct waiting_threads w = { .most = 10, .words_most = 100 };
        struct error error = { "" };
        struct threads t = { 0 };
        struct ghc g;

        (void)draft_thread(d, 0, 0, stack, ARRAY_SIZE(stack)); /* runnable */
        (void)draft_thread(d, MVAR, 0, stack, ARRAY_SIZE(stack));
        (void)draft_thread(d, MVAR, 0, &stack[2], 1);
        (void)draft_thread(d, STM, 0, stack, ARRAY_SIZE(stack));
        struct restless restless = { d, draft_thread(d, MVAR, 0, stack, ARRAY_SIZE(stack)) };
        draft_symbol(d, inner, 0x10, "Main_inner_info");
        draft_symbol(d, outer, 0x10, "Main_outer_info");
        draft_finish(d);
        d->memory.read = read_restless;
        d->memory.ctx = &restless;
        assert_true(ghc_find(&g, &d->program, &error));
        assert_true(threads_copy_waiting(&t, &g, &w));
        assert_int_equal(w.listed, THREADS);
        assert_int_equal(w.read, THREADS);
        assert_int_equal(w.changed, 1);
        assert_int_equal(t.n, 3);
        stack_profile_add_waiting(&taken, &g, &t, 100);
        stack_profile_sum(&taken);
        assert_int_equal(taken.waiting.weights[SAMPLE_WHOLE], 300);
        assert_int_equal(time_tree_weight(&taken.running), 0);
        assert_int_equal(function_of_tree(&taken, &taken.waiting, "Main.inner").self_weight, 200);
        assert_int_equal(function_of_tree(&taken, &taken.waiting, "Main.outer").self_weight, 100);
        assert_int_equal(function_of_tree(&taken, &taken.waiting, "(blocked on an MVar)").total_weight, 200);
        assert_int_equal(function_of_tree(&taken, &taken.waiting, "(blocked in STM)").total_weight, 100);
        w.words_most = 2;
        assert_true(threads_copy_waiting(&t, &g, &w));
        stack_profile_add_waiting(&taken, &g, &t, 1);
        assert_int_equal(taken.waiting.weights[SAMPLE_CUT], 2);
        unsigned chosen[THREADS + 1] = { 0 };
        w.most = 2;
        for (w.random = 0; w.random < TRIES; w.random++) {
                assert_true(threads_copy_waiting(&t, &g, &w));
                assert_int_equal(w.listed, THREADS);
                assert_int_equal(w.read, 2);
                for (size_t i = 0; i < t.n; i++)
                        chosen[t.items[i].id]++;
        }
        for (size_t id = 2; id < THREADS; id++)
                assert_in_range(chosen[id], TRIES / 4, TRIES / 2 + TRIES / 20); /* of two in five */
        assert_int_equal(chosen[1] + chosen[THREADS], 0);
        /* garbage is collected whenever they are listed */
        draft_u64(d, draft_generation(d, 1) + d->layout.generation_bytes - 80, 1);
        assert_false(threads_copy_waiting(&t, &g, &w));
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}
