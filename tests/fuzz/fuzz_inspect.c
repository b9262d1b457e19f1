/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_inspect.c - libFuzzer target: byte 0 is what the rest is. 0 to 3: changes of the memory of a made-up program of
 * that release, which has places in the source, before and after it is recognised; 4: an ELF file that is the program's
 * own; 8: a graph, which is compressed first; 12: a mapped file with unwind tables of C code. What must hold: no read
 * outside, no endless loop.
 */
#include <stdint.h>
#include <stdio.h>
#include <zstd.h>

#include "inspect/ghc/names.h"
#include "inspect/ghc/reach.h"
#include "inspect/ghc/rts_counters.h"
#include "inspect/ghc/threads.h"
#include "inspect/ghc/graph/graph.h"
#include "inspect/show/out_file.h"
#include "inspect/show/request.h"
#include "inspect/show/show.h"
#include "proto/base/array.h"
#include "tests/unit/inspect/draft.h"

#define CHANGE_BYTES 12u
#define SAMPLES      8u

static FILE *nowhere;

/* region and width u8, offset u24, value u64: a byte, two, eight, or the address at that offset of the region */
static void change(struct draft *d, const uint8_t *c)
{
        struct draft_region *const regions[] = { &d->text, &d->data, &d->c, &d->heap };
        static const uint8_t widths[] = { 1, 2, 8, 8 };
        const struct draft_region *r = regions[c[0] & 3];
        const size_t at = ((size_t)c[1] << 16 | (size_t)c[2] << 8 | c[3]) % r->n;
        uint64_t value;

        memcpy(&value, c + 4, 8);
        if ((c[0] >> 2 & 3) == 3)
                value = regions[c[0] >> 4 & 3]->start + value % regions[c[0] >> 4 & 3]->n;
        if (at + widths[c[0] >> 2 & 3] <= r->n)
                memcpy(r->bytes + at, &value, widths[c[0] >> 2 & 3]);
}

static size_t change_all(struct draft *d, const uint8_t *data, size_t size)
{
        size_t at = 0;

        for (; size - at >= CHANGE_BYTES; at += CHANGE_BYTES)
                change(d, data + at);
        return at;
}

static void put_containers(struct draft *d, uint64_t value)
{
        const uint64_t cons = draft_table(d, CONSTR, 2, 0, "ghc-prim:GHC.Types.:");
        const uint64_t branch = draft_table(d, CONSTR, 2, 2, "containers-0.6:Data.IntMap.Internal.Bin");
        const uint64_t array = draft_table(d, SMALL_MUT_ARR_PTRS_CLEAN, 0, 0, NULL);
        const uint64_t list = draft_object(d, 1, (uint64_t[]){ cons, value, d->end_of_queue }, 3);

        (void)draft_object(d, 1, (uint64_t[]){ branch, list, value, 1, 2 }, 5);
        (void)draft_object(d, 1, (uint64_t[]){ array, 2, list, value }, 4);
}

static struct draft *made_up(uint8_t release)
{
        static const struct draft_layout *const layouts[] = { &draft_9_0, &draft_9_6, &draft_9_10, &draft_profiled };
        struct draft *d = draft_new(layouts[release & 3]);
        const uint64_t frame = draft_table(d, RET_SMALL, 2, 0, NULL), fun = draft_table(d, RET_FUN, 0, 0, NULL);
        const uint64_t big = draft_table(d, RET_BIG, 0, 0, NULL), bco = draft_table(d, RET_BCO, 0, 0, NULL);
        const uint64_t underflow = draft_table(d, UNDERFLOW_FRAME, 1, 0, NULL);
        const uint64_t just = draft_table(d, CONSTR, 1, 0, "base:GHC.Maybe.Just");
        const uint64_t hole = draft_table(d, BLACKHOLE, 1, 0, NULL);

        const uint64_t owner = draft_thread(d, 0, 0, (uint64_t[]){ frame, 1, 2 }, 3);
        const uint64_t value = draft_object(d, 1, (uint64_t[]){ hole, owner }, 2);
        draft_srt(d, frame, d->end_of_queue);
        (void)draft_thread(d, 1, draft_object(d, 1, (uint64_t[]){ just, value }, 2),
                           (uint64_t[]){ fun, 1, 0, 0, frame, 1, 2, big, 0, bco, value }, 11);
        (void)draft_thread(d, 2, value, (uint64_t[]){ underflow, 0 }, 2);
        draft_u64(d, DRAFT_CAPABILITY + CAPABILITY_CURRENT_THREAD, owner);
        const uint64_t call = DRAFT_C + 0x9000;
        draft_u64(d, DRAFT_CAPABILITY + 0x400, call);
        draft_u64(d, call + 8, draft_thread(d, 10, 0, (uint64_t[]){ frame, 1, 2 }, 3));
        draft_u64(d, call + 16, DRAFT_CAPABILITY);
        draft_u64(d, call + 40, call + 0x100);
        draft_u64(d, call + 0x100, 0x1000);
        (void)program_add_registers(&d->program, (struct registers){ .tid = 1,
                                                                     .tls = 0x1000,
                                                                     .pc = DRAFT_TEXT,
                                                                     .sp = DRAFT_C + 0x8000,
                                                                     .hs_sp = DRAFT_HEAP,
                                                                     .base = DRAFT_CAPABILITY + CAPABILITY_REGISTERS });
        draft_symbol(d, DRAFT_TEXT, 0x100, "Main_zdwloop_info");
        put_containers(d, value);
        (void)draft_provenance(d, release % 3, "Main",
                               (struct draft_entry[]){
                                       { frame, "block_c6rN_info", "", "main.loop", "Main.hs", "7:3-19" },
                                       { fun, "go_s5Gz_info", "Int -> Int", "", "", "" },
                                       { just, "Just_Main_0_con_info", "Maybe", "main", "Main.hs", "(8,1)-(9,2)" },
                               },
                               3);
        draft_finish(d);
        return d;
}

static void graph(const struct graph_subject *s)
{
        size_t size;
        struct error error;

        for (int compares = 0; compares < 2; compares++) {
                const struct graph_subject of = { s->request, s->graph, s->inspected, compares ? s->graph : NULL };
                (void)show_graph(&of, &error);
                (void)show_why(&of, &error);
        }
        graph_write_heapsnapshot(nowhere, s->graph);
        free(graph_file_encode(s->graph, &size));
}

static void bands(const struct heap_snapshot *s)
{
        struct heap_census c = { .n = 0 };
        struct heap_bands b = { NULL, 0 };

        heap_census_count(&c, s);
        if (heap_bands_of(&b, &c, s->ghc, true))
                (void)heap_bands_split_threads(&b, &c, s, &(uint64_t){ 0 });
        heap_bands_done(&b);
        (void)heap_bands_of_threads(&b, &c, s, &(uint64_t){ 0 });
        heap_bands_done(&b);
        heap_census_done(&c);
}

static void sample(struct ghc *g, const struct inspect_subject *of)
{
        struct heap_sample x = { .seed = 1 };
        struct inspect_subject subject = *of;
        struct heap_snapshot s;
        struct error error;

        subject.sample = &x;
        if (heap_sample_prepare(&x, &s, g, 8 * PIECE_BYTES, UINT64_C(1) << 30, &error)) {
                if (snapshot_copy(&s, false, NULL, NULL, &error) && heap_sample_copy(&x, &s, NULL, NULL, &error) &&
                    snapshot_index(&s))
                        (void)show_heap_sample(&subject, &s, &x, &error);
                snapshot_done(&s);
        }
        heap_sample_done(&x);
}

/* As it is read in one stop, whose copy is packed; or twice, while the program runs. */
static void heap(struct program *p, struct ghc *g, const struct inspect_request *request, bool packed)
{
        struct heap_snapshot s;
        struct heap_contents contents = { .snapshot = &s, .wanted = request->band };
        struct heap_census reached = { .n = 0 }, all = { .contents = &contents };
        struct heap_graph held;
        struct error error;
        uint64_t most;

        if (!(packed ? snapshot_prepare_packed : snapshot_prepare)(&s, g, UINT64_C(1) << 30, 5, &error))
                return;
        if (snapshot_copy(&s, true, NULL, NULL, &error) && (packed || snapshot_reread(&s, NULL, NULL)) &&
            snapshot_index(&s)) {
                struct inspect_subject subject = { .request = request, .program = p, .ghc = g };
                (void)show_heap(&subject, &s, &error);
                sample(g, &subject);
                bands(&s);
                heap_graph_init(&held);
                if (reach_all(&held, &s, &all) && heap_bands_of(&held.bands, &all, g, false) &&
                    heap_bands_add_contents(&held.bands, &all, g, false)) {
                        heap_bands_sort_by_name(&held.bands);
                        head_origin(&held.origin, &subject);
                        graph(&(struct graph_subject){ request, &held, &subject, NULL });
                }
                heap_graph_done(&held);
                heap_census_done(&all);
                heap_contents_done(&contents);
                (void)reach_census(&reached, &s, &most);
                heap_census_done(&reached);
        }
        snapshot_done(&s);
}

/* As a program that is watched: read again after each change. */
static void watch_live_data(struct draft *d, struct ghc *g, const uint8_t *more, size_t n)
{
        struct generations generations = g->generations;
        struct live_data live = { .begun = false };
        uint64_t bytes;
        bool readable, nonmoving;

        for (size_t at = 0; n - at >= CHANGE_BYTES; at += CHANGE_BYTES) {
                change(d, more + at);
                if (live_data_read(&generations, &d->program, &readable))
                        (void)live_data_update(&live, &generations, &bytes);
        }
        (void)blocks_megablocks(&d->program, &nonmoving);
}

/* As a program of which samples are taken: after each change, a register has what was changed. */
static void collect_samples(struct draft *d, struct ghc *g, const uint8_t *more, size_t n,
                            struct inspect_request *request)
{
        struct runtime runtime;
        struct waiting_threads waiting = { .most = 20, .words_most = 100, .with_labels = true };
        struct threads t = { 0 };
        struct stack_profile p;

        runtime_find(&runtime, g);
        stack_profile_init(&p);
        for (size_t at = 0; n - at >= CHANGE_BYTES && at < SAMPLES * CHANGE_BYTES; at += CHANGE_BYTES) {
                struct registers r = d->program.registers[0];
                uint64_t *const changed[] = { &r.pc, &r.hs_sp, &r.base, &r.sp };
                change(d, more + at);
                memcpy(changed[more[at] >> 6], more + at + 4, 8);
                const enum activity activity = threads_copy_running(&t, g, &runtime, &r, 1 + more[at + 3]);
                stack_profile_add(&p, g, &t, activity, r.pc, 1 + more[at]);
                if (threads_copy_waiting(&t, g, &waiting))
                        stack_profile_add_waiting(&p, g, &t, 1 + more[at]);
        }
        p.with_waiting = true;
        stack_profile_sum(&p);
        for (int json = 0; json < 2; json++) {
                request->json = json;
                (void)show_profile(&(struct inspect_subject){ .request = request, .program = &d->program, .ghc = g },
                                   &p);
        }
        (void)profile_write_collapsed(nowhere, &p, NULL);
        (void)profile_write_speedscope(nowhere, &p, NULL);
        (void)profile_write_svg(nowhere, &p, NULL);
        (void)profile_write_pprof(nowhere, &p, NULL);
        runtime_done(&runtime);
        stack_profile_done(&p);
        threads_done(&t);
}

static void inspect_all(struct draft *d, const uint8_t *more, size_t n)
{
        struct inspect_request request = { .frames = 64, .top = 100, .to = nowhere };
        struct error error;
        struct ghc g;

        if (!ghc_find(&g, &d->program, &error))
                return;
        watch_live_data(d, &g, more, n); /* it runs meanwhile */
        collect_samples(d, &g, more, n, &request);
        for (int json = 0; json < 2; json++) {
                struct threads t = { 0 };
                request.json = json;
                request.by = json ? BY_NAME : BY_CONTENTS;
                request.band = json ? "[thunk]" : NULL;
                threads_copy(&t, &g, NULL, NULL);
                threads_walk(&t, &g);
                (void)show_threads(&(struct inspect_subject){ .request = &request, .program = &d->program, .ghc = &g },
                                   &t);
                threads_done(&t);
                heap(&d->program, &g, &request, true);
                heap(&d->program, &g, &request, false);
        }
        ghc_done(&g);
}

/* ----------------------------------------------------------------------------- files */

struct bytes {
        const uint8_t *at;
        size_t n;
};

static bool read_bytes(void *ctx, uint64_t at, void *to, size_t n)
{
        const struct bytes *b = ctx;

        if (at > b->n || n > b->n - at)
                return false;
        memcpy(to, b->at + at, n);
        return true;
}

struct opened {
        struct memory memory;
        size_t n;
};

static bool open_bytes(void *ctx, const char *path, struct memory **ret, uint64_t *ret_size, struct error *error)
{
        struct opened *o = ctx;

        *ret = &o->memory;
        *ret_size = o->n;
        return true;
}

static void load(const uint8_t *data, size_t size)
{
        struct bytes b = { data, size };
        struct opened o = { { .read = read_bytes, .ctx = &b }, size };
        struct memory memory = { .read = read_bytes, .ctx = &b };
        struct program p = { .memory = &memory, .entry = 0x1000 };
        const struct file_opener opener = { open_bytes, &o };
        char name[PROGRAM_NAME_BYTES];
        struct error error;

        (void)program_add_mapping(
                &p, (struct mapping){
                            .start = 0x1000, .end = 0x9000, .file = program_file(&p, "/program"), .readable = true });
        if (program_load(&p, &opener, &error))
                for (uint64_t at = 0; at < 0x10000; at += 0x311)
                        (void)name_of_code(&p, at, name, sizeof(name));
        program_done(&p);
        memory_forget(&memory);
        memory_forget(&o.memory);
}

/* The stack is the end of the file, where it has all registers. */
static void unwind_all(const uint8_t *data, size_t size)
{
        struct bytes b = { data, size };
        struct memory memory = { .read = read_bytes, .ctx = &b };
        struct program p = { .memory = &memory, .machine = size & 1 ? EM_AARCH64 : EM_X86_64 };
        struct registers r = { .n_all = 31 };
        struct c_frame frames[UNWIND_FRAMES];
        struct unwinder *u = unwinder_new(&p);
        uint64_t words[64] = { 0 };
        struct c_caller caller;

        (void)program_add_mapping(&p, (struct mapping){ .end = size, .readable = true, .executable = true });
        const size_t n = size < sizeof(words) ? size : sizeof(words);
        memcpy(words, data + size - n, n);
        memcpy(r.all, words, sizeof(r.all));
        r.sp = words[31];
        for (uint64_t at = 0; u && at < size; at += 1 + size / 40) {
                r.pc = at;
                (void)unwind_stack(u, &r, words, ARRAY_SIZE(words), frames, &caller);
        }
        unwinder_destroy(&u);
        program_done(&p);
        memory_forget(&memory);
}

static void read_graph(const uint8_t *data, size_t size)
{
        static const char magic[] = "heapwatch graph\n";
        const struct inspect_request request = { .top = 100, .to = nowhere };
        const size_t room = ZSTD_compressBound(size), head = GRAPH_FILE_MAGIC_BYTES;
        uint8_t *bytes = malloc(head + room);
        struct heap_graph g;
        struct error error;

        if (!bytes)
                abort();
        memcpy(bytes, magic, head);
        const size_t n = ZSTD_compress(bytes + head, room, data, size, 1);
        if (graph_file_decode(&g, bytes, head + n, UINT64_C(1) << 26, &error))
                graph(&(struct graph_subject){ &request, &g, NULL, NULL });
        heap_graph_done(&g);
        free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 1)
                return 0;
        if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
                abort();
        if ((data[0] & 12) == 12) {
                unwind_all(data + 1, size - 1);
                return 0;
        }
        if (data[0] & 8) {
                read_graph(data + 1, size - 1);
                return 0;
        }
        if (data[0] & 4) {
                load(data + 1, size - 1);
                return 0;
        }
        const size_t half = (size - 1) / 2 / CHANGE_BYTES * CHANGE_BYTES;
        struct draft *d = made_up(data[0]);
        (void)change_all(d, data + 1, half);
        inspect_all(d, data + 1 + half, size - 1 - half);
        draft_destroy(d);
        return 0;
}
