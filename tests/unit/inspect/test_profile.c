/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: how stacks are folded, what functions and files get of them, when samples are taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>

#include "client/convert/pprof.pb-c.h"
#include "inspect/ghc/cpu_profile.h"
#include "inspect/show/profile_file.h"
#include "proto/base/array.h"
#include "proto/base/document.h"
#include "tests/unit/inspect/draft.h"

#define ADD(p, ns, ...)                                                                                                \
        cpu_profile_add_names(p, (const char *const[]){ __VA_ARGS__ },                                                 \
                              ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })), ns)

static struct cpu_profile_function function_of(const struct cpu_profile *p, const char *name)
{
        struct cpu_profile_function found = { 0 };
        size_t n;
        struct cpu_profile_function *functions = cpu_profile_functions(p, &n);

        for (size_t i = 0; i < n; i++)
                if (!strcmp(cpu_profile_name(p, functions[i].name), name))
                        found = functions[i];
        free(functions);
        assert_int_not_equal(found.name, 0);
        return found;
}

static bool never(void *ctx)
{
        (void)ctx;
        return false;
}

static struct document written(const struct cpu_profile *p,
                               bool (*write)(FILE *to, const struct cpu_profile *p, const char *program))
{
        struct document d;

        document_open(&d);
        assert_true(write(d.to, p, "shop"));
        assert_true(document_close(&d));
        return d;
}

/* A sample counts once for a function, however often that is in its stack; neighbours of one name are one. */
static void test_folding(void **state)
{
        struct cpu_profile p;

        (void)state;
        cpu_profile_init(&p);
        ADD(&p, 70, "heavy", "step", "main");
        ADD(&p, 20, "light", "step", "main");
        ADD(&p, 10, "step", "light", "light", "step", "main");
        ADD(&p, 5, "main");
        cpu_profile_sum(&p);
        assert_int_equal(cpu_profile_count(&p), 5);
        assert_int_equal(cpu_profile_samples(&p), 4);
        assert_int_equal(cpu_profile_ns(&p), 105);
        const struct cpu_profile_function step = function_of(&p, "step"), light = function_of(&p, "light"),
                                          root = function_of(&p, "main");
        assert_int_equal(step.self_ns, 10);
        assert_int_equal(step.total_ns, 100);
        assert_int_equal(step.total_samples, 3);
        assert_int_equal(light.self_ns, 20);
        assert_int_equal(light.total_ns, 30);
        assert_int_equal(root.self_samples, 1);
        assert_int_equal(root.total_ns, 105);
        assert_int_equal(cpu_profile_nth(&p, 1)->total_samples, 4);
        cpu_profile_done(&p);
}

static void test_files(void **state)
{
        struct cpu_profile p;

        (void)state;
        cpu_profile_init(&p);
        ADD(&p, 70000, "base:GHC.List.a;b", "main:Main.main");
        ADD(&p, 400, "Main.rare", "main:Main.main");
        ADD(&p, 2600, "main:Main.main");
        cpu_profile_sum(&p);
        struct document d = written(&p, profile_write_collapsed);
        assert_string_equal(d.text, "Main.main 3\nMain.main;GHC.List.a,b 70\n");
        document_done(&d);
        d = written(&p, profile_write_speedscope);
        assert_non_null(strstr(d.text, "\"endValue\":73000"));
        assert_non_null(strstr(d.text, "{\"name\":\"GHC.List.a;b\"}"));
        document_done(&d);
        cpu_profile_done(&p);
        struct error error = { "" };
        assert_true(profile_file_check("x.collapsed", &error));
        assert_false(profile_file_check(".collapsed", &error));
        assert_false(profile_file_check("x.json", &error));
        assert_non_null(strstr(error.text, "x.json"));
}

/* Boxes are as wide as their share, beside each other above their caller. */
static void test_flame_graph(void **state)
{
        struct cpu_profile p;

        (void)state;
        cpu_profile_init(&p);
        ADD(&p, 750, "Main.a", "Main.main");
        ADD(&p, 250, "Main.<&>", "Main.main");
        cpu_profile_sum(&p);
        struct document d = written(&p, profile_write_svg);
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
        cpu_profile_done(&p);
}

/* As zlib and the format's own definition read it; more than one block of the compressed format. */
static void test_pprof(void **state)
{
        enum { FUNCTIONS = 5000, ROOM = 1 << 20 };
        uint8_t *bytes = malloc(ROOM);
        struct cpu_profile p;
        char name[64];

        (void)state;
        assert_non_null(bytes);
        cpu_profile_init(&p);
        for (unsigned i = 0; i < FUNCTIONS; i++) {
                (void)snprintf(name, sizeof(name), "Main.function%u", i);
                ADD(&p, 1000 + i, name, "Main.main");
        }
        ADD(&p, 7, "Main.main");
        p.elapsed_ns = 99;
        cpu_profile_sum(&p);
        struct document d = written(&p, profile_write_pprof);
        z_stream z = { .next_in = (void *)d.text, .avail_in = (unsigned)d.size, .next_out = bytes, .avail_out = ROOM };
        assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END); /* length and checksum are right */
        assert_int_equal(z.avail_in, 0);
        Pprof__Profile *f = pprof__profile__unpack(NULL, z.total_out, bytes);
        assert_non_null(f);
        assert_int_equal(f->n_sample, FUNCTIONS + 1);
        assert_int_equal(f->n_function, FUNCTIONS + 1);
        assert_int_equal(f->duration_nanos, 99);
        assert_string_equal(f->string_table[f->sample_type[1]->type], "cpu");
        for (size_t i = 0; i < f->n_sample; i++) {
                const Pprof__Sample *sample = f->sample[i];
                assert_int_equal(sample->n_value, 2);
                assert_int_equal(sample->value[0], 1);
                const Pprof__Function *inner = f->function[sample->location_id[0] - 1];
                const char *text = f->string_table[inner->name];
                assert_int_equal(sample->value[1], sample->n_location_id == 1 ? 7 : 1000 + strtol(text + 13, NULL, 10));
        }
        pprof__profile__free_unpacked(f, NULL);
        (void)inflateEnd(&z);
        document_done(&d);
        cpu_profile_done(&p);
        free(bytes);
}

/* Frames of a stack that was copied; what only returns a value is no function; what is missing has a root. */
static void test_stacks(void **state)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t inner = draft_table(d, RET_SMALL, 1, 0, NULL), outer = draft_table(d, RET_SMALL, 0, 0, NULL);
        const uint64_t update = draft_table(d, UPDATE_FRAME, 1, 0, NULL), leaf = draft_table(d, FUN, 1, 1, NULL);
        const uint64_t stack[] = { inner, 7, update, 8, inner, 9, outer };
        struct error error = { "" };
        struct runtime runtime;
        struct threads t = { 0 };
        struct cpu_profile p;
        struct ghc g;

        (void)state;
        const uint64_t tso = draft_thread(d, 0, 0, stack, ARRAY_SIZE(stack));
        const uint64_t top = *(uint64_t *)(void *)draft_at(d, tso + 24, 8) + 24 + 8 * 8;
        draft_symbol(d, inner, 0x10, "Main_inner_info");
        draft_symbol(d, outer, 0x10, "base_GHCziBase_outer_info");
        draft_finish(d);
        assert_true(ghc_find(&g, &d->program, &error));
        cpu_profile_init(&p);
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
        cpu_profile_add(&p, &g, &t, ACTIVITY_COLLECTION, r.pc, 1);
        cpu_profile_add(&p, &g, &t, ACTIVITY_OTHER, DRAFT_C, 2);
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
                cpu_profile_add(&p, &g, &t, ACTIVITY_OTHER, DRAFT_C, 64);
        }
        draft_u64(d, r.sp + 0x40, 0);
        r.hs_sp = top;
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_THREAD, tso);
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100), ACTIVITY_HASKELL);
        assert_int_equal(t.items[0].os_thread, 7);
        assert_int_equal(runtime.n_capabilities, 1);
        cpu_profile_add(&p, &g, &t, ACTIVITY_OTHER, r.pc, 4);
        /* in C, both registers are on its stack */
        draft_u64(d, r.sp + 0x40, r.hs_sp);
        draft_u64(d, r.sp + 0x48, r.base);
        r.hs_sp = r.base = 0;
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100), ACTIVITY_HASKELL);
        cpu_profile_add(&p, &g, &t, ACTIVITY_OTHER, DRAFT_C, 8);
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 4), ACTIVITY_HASKELL);
        cpu_profile_add(&p, &g, &t, ACTIVITY_OTHER, r.pc, 16);
        draft_u64(d, top + 8 * 7, 3); /* a frame that is none */
        assert_int_equal(threads_copy_running(&t, &g, &runtime, &r, 100), ACTIVITY_HASKELL);
        cpu_profile_add(&p, &g, &t, ACTIVITY_OTHER, r.pc, 32);
        cpu_profile_sum(&p);
        assert_int_equal(p.ns[SAMPLE_COLLECTION], 1);
        assert_int_equal(p.ns[SAMPLE_OUTSIDE], 2);
        assert_int_equal(p.ns[SAMPLE_WHOLE], 140);
        assert_int_equal(p.ns[SAMPLE_CUT], 16);
        assert_int_equal(p.ns[SAMPLE_BROKEN], 32);
        assert_int_equal(function_of(&p, "base:GHC.Base.outer").total_ns, 140);
        assert_int_equal(function_of(&p, "Main.inner").total_ns, 156);
        assert_int_equal(function_of(&p, "(garbage collection)").self_ns, 1);
        assert_int_equal(function_of(&p, "(deeper stack)").total_ns, 16);
        assert_int_equal(function_of(&p, "(code in no file)").self_ns, 138);
        /* the leaf is named by its table, wherever in its code it was */
        char name[32];
        (void)snprintf(name, sizeof(name), "0x%lx", (unsigned long)leaf);
        assert_int_equal(function_of(&p, name).total_ns, 52);
        cpu_profile_done(&p);
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}

/* On average as often as requested, never closer than half the time. */
static void test_delays(void **state)
{
        uint64_t random = 1, sum = 0, least = UINT64_MAX, most = 0;

        (void)state;
        for (int i = 0; i < 20000; i++) {
                const uint64_t ns = cpu_profile_delay_ns(&random, 100);
                sum += ns;
                least = ns < least ? ns : least;
                most = ns > most ? ns : most;
        }
        assert_in_range(sum / 20000, 9900000, 10100000);
        assert_in_range(least, 5000000, 5100000);
        assert_in_range(most, 14900000, 15000000);
}

static void test_stops(void **state)
{
        struct cpu_profile p;

        (void)state;
        cpu_profile_init(&p);
        assert_int_equal(cpu_profile_stop_quantile(&p, 0.5), 0);
        for (uint64_t us = 1; us <= 100; us++)
                cpu_profile_add_stop(&p, us * 1000);
        cpu_profile_add_stop(&p, UINT64_MAX);
        assert_in_range(cpu_profile_stop_quantile(&p, 0.5), 49000, 53000);
        assert_in_range(cpu_profile_stop_quantile(&p, 0.99), 97000, 103000);
        assert_int_equal(p.longest_stop_ns, UINT64_MAX);
        cpu_profile_done(&p);
}

/* Threads of one label but for their numbers are one, those without a label are known by their numbers. */
static void test_stacks_by_thread(void **state)
{
        static const char labels[][8] = { "worker-7", "worker 1", "12" };
        struct draft *d = draft_new(&draft_9_6);
        const uint64_t frame = draft_table(d, RET_SMALL, 1, 0, NULL), label = draft_table(d, ARR_WORDS, 0, 0, NULL);
        struct error error = { "" };
        struct threads t = { 0 };
        struct cpu_profile p;
        struct ghc g;

        (void)state;
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
        threads_copy(&t, &g, never, NULL);
        assert_int_equal(t.n, 4);
        cpu_profile_init(&p);
        p.by_thread = true;
        for (size_t i = 0; i < t.n; i++) {
                struct threads one = t;
                one.items = &t.items[i];
                cpu_profile_add(&p, &g, &one, ACTIVITY_HASKELL, DRAFT_TEXT, 10);
        }
        cpu_profile_sum(&p);
        assert_int_equal(function_of(&p, "thread worker").total_ns, 20);
        assert_int_equal(function_of(&p, "thread 3").total_ns, 10);
        assert_int_equal(function_of(&p, "thread 4").total_ns, 10);
        assert_int_equal(cpu_profile_ns(&p), 40);
        cpu_profile_done(&p);
        threads_done(&t);
        ghc_done(&g);
        draft_destroy(d);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_stacks_by_thread),
                cmocka_unit_test(test_folding),
                cmocka_unit_test(test_files),
                cmocka_unit_test(test_stacks),
                cmocka_unit_test(test_flame_graph),
                cmocka_unit_test(test_pprof),
                cmocka_unit_test(test_delays),
                cmocka_unit_test(test_stops),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
