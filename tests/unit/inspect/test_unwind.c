/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of C code on the stack of this very program, by its own tables, as they are and as they are not. */
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "inspect/memory/unwind.h"
#include "inspect/process/live.h"
#include "proto/base/array.h"

#define WORDS   4096u
#define CHANGES 3000u

/* A thread as it was: its registers, and its stack. */
static struct registers here;
static uint64_t words[WORDS];
static size_t n_words;

/* Of this process, but for one byte, and up to an address. */
struct changed {
        uint64_t at, end;
        uint8_t byte;
};

static bool read_self(void *ctx, uint64_t at, void *to, size_t n)
{
        const struct changed *c = ctx;

        if (at > c->end || n > c->end - at)
                return false;
        const struct iovec into = { to, n }, from = { (void *)(uintptr_t)at, n }; // NOLINT(performance-no-int-to-ptr)
        if (process_vm_readv(getpid(), &into, 1, &from, 1, 0) != (ssize_t)n)
                return false;
        if (c->at >= at && c->at - at < n)
                ((uint8_t *)to)[c->at - at] = c->byte;
        return true;
}

__attribute__((noinline)) static void copy_stack(void)
{
        ucontext_t c;

        assert_int_equal(getcontext(&c), 0);
#if defined(__x86_64__)
        static const int order[] = { REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX, REG_R11, REG_R10,
                                     REG_R9,  REG_R8,  REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI };
        for (size_t i = 0; i < ARRAY_SIZE(order); i++)
                here.all[i] = (uint64_t)c.uc_mcontext.gregs[order[i]];
        here.n_all = ARRAY_SIZE(order);
        here.pc = (uint64_t)c.uc_mcontext.gregs[REG_RIP];
        here.sp = (uint64_t)c.uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
        memcpy(here.all, c.uc_mcontext.regs, sizeof(here.all));
        here.n_all = 31;
        here.pc = c.uc_mcontext.pc;
        here.sp = c.uc_mcontext.sp;
#endif
        struct live self = { .pid = getpid() };
        self.program.machine = MACHINE_HERE;
        assert_true(live_remap(&self.program, self.pid));
        const struct mapping *m = program_mapping(&self.program, here.sp);
        const uint64_t there = (m->end - here.sp) / 8;
        n_words = there < WORDS ? (size_t)there : WORDS;
        assert_true(read_self(&(struct changed){ .end = UINT64_MAX }, here.sp, words, 8 * n_words));
        program_done(&self.program);
}

/* Called by the C library. */
__attribute__((noinline)) static int compare(const void *a, const void *b)
{
        if (!n_words)
                copy_stack();
        return *(const uint8_t *)a - *(const uint8_t *)b;
}

__attribute__((noinline)) static void sort(void)
{
        uint8_t bytes[] = { 2, 1 };

        qsort(bytes, sizeof(bytes), 1, compare);
        assert_int_equal(bytes[0], 1);
}

static int open_self(void **state)
{
        sort();
        return n_words ? 0 : -1;
}

struct rig {
        struct changed changed;
        struct memory memory;
        struct program program;
        struct unwinder *unwinder;
        struct c_frame frames[UNWIND_FRAMES];
        struct c_caller next;
};

static void rig_open(struct rig *r, uint64_t at, uint8_t byte)
{
        *r = (struct rig){ .changed = { at, UINT64_MAX, byte } };
        r->memory = (struct memory){ .read = read_self, .ctx = &r->changed };
        r->program.memory = &r->memory;
        r->program.machine = MACHINE_HERE;
        assert_true(live_remap(&r->program, getpid()));
        assert_non_null(r->unwinder = unwinder_new(&r->program));
}

static void rig_close(struct rig *r)
{
        unwinder_destroy(&r->unwinder);
        program_done(&r->program);
}

static size_t rig_unwind(struct rig *r, size_t most)
{
        return unwind_stack(r->unwinder, &here, words, most < n_words ? most : n_words, r->frames, &r->next);
}

/* Where a function is among the frames; -1: nowhere. */
static int frame_of(const struct rig *r, size_t n, uint64_t function)
{
        for (size_t i = 0; i < n; i++)
                if (r->frames[i].function == function)
                        return (int)i;
        return -1;
}

TEST(test_frames_through_a_library)
{
        struct rig r;

        rig_open(&r, 0, 0);
        unwinder_load(r.unwinder);
        const size_t n = rig_unwind(&r, WORDS);
        assert_int_equal(frame_of(&r, n, (uintptr_t)copy_stack), 0);
        assert_int_equal(frame_of(&r, n, (uintptr_t)compare), 1);
        const int sorted = frame_of(&r, n, (uintptr_t)sort), opened = frame_of(&r, n, (uintptr_t)open_self);
        assert_true(sorted > 2 && opened == sorted + 1); /* functions of the C library are between */
        assert_int_equal(r.next.at, 0);                  /* it goes on to where the program begins */
        assert_true(unwinder_covers(r.unwinder, (uintptr_t)sort + 1));
        rig_close(&r);
}

TEST(test_what_ends_a_stack)
{
        struct rig r;

        rig_open(&r, 0, 0);
        const size_t n = rig_unwind(&r, WORDS), less = rig_unwind(&r, 64);
        assert_true(less > 0 && less < n);
        assert_int_equal(r.next.at, 0);
        /* to code without a table: that of GHC */
        const uint64_t pc = here.pc, word = words[0], sp = here.sp;
        here.pc = (uintptr_t)words;
        assert_false(unwinder_covers(r.unwinder, here.pc));
        assert_int_equal(rig_unwind(&r, WORDS), 0);
        assert_int_equal(r.next.at, here.pc);
        /* which the code at the beginning of a function has called */
        here.pc = (uintptr_t)sort;
#if defined(__x86_64__)
        words[0] = (uintptr_t)words;
        assert_int_equal(rig_unwind(&r, WORDS), 1);
        assert_int_equal(r.next.at, (uintptr_t)words);
#endif
        /* its registers are not known */
        here.pc = pc;
        here.n_all = 0;
        assert_int_equal(rig_unwind(&r, WORDS), 0);
        here.n_all = MACHINE_HERE == EM_AARCH64 ? 31 : 15;
        /* a stack that is elsewhere */
        here.sp = UINT64_MAX - 7;
        assert_true(rig_unwind(&r, WORDS) <= 1);
        here.sp = sp;
        words[0] = word;
        assert_int_equal(rig_unwind(&r, WORDS), n);
        rig_close(&r);
}

TEST(test_tables_that_cannot_be_read)
{
        struct rig r;

        rig_open(&r, 0, 0);
        r.changed.end = 0;
        unwinder_load(r.unwinder);
        assert_false(unwinder_covers(r.unwinder, here.pc));
        rig_close(&r);
        /* of a file whose first part is not mapped */
        rig_open(&r, 0, 0);
        for (size_t i = 0; i < r.program.n_mappings; i++)
                r.program.mappings[i].offset += 0x1000;
        assert_false(unwinder_covers(r.unwinder, here.pc));
        rig_close(&r);
}

/* The table of this program: where it is. */
static int find_own_table(struct dl_phdr_info *info, size_t size, void *ctx)
{
        struct range *ret = ctx;

        for (size_t i = 0; i < info->dlpi_phnum && !ret->end; i++)
                if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
                        *ret = (struct range){ info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                                               info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
                                                       info->dlpi_phdr[i].p_memsz };
        return 1;
}

/* Whatever a byte of it is: frames are in code, further and further out, and it ends. */
TEST(test_tables_that_lie)
{
        struct range index = { 0, 0 };
        uint64_t random = 7;
        size_t most = 0, least = SIZE_MAX;
        struct rig r;

        (void)dl_iterate_phdr(find_own_table, &index);
        assert_true(index.end > index.start);
        for (unsigned i = 0; i < CHANGES; i++) {
                random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                /* the header, the index, or the entries behind it */
                const uint64_t at = index.start + (i < 32 ? i : (random >> 33) % (2 * (index.end - index.start)));
                rig_open(&r, at, (uint8_t)(random >> 20));
                const size_t n = rig_unwind(&r, WORDS);
                for (size_t k = 0; k < n; k++)
                        assert_true(program_mapping(&r.program, r.frames[k].at)->executable &&
                                    r.frames[k].function <= r.frames[k].at);
                most = n > most ? n : most;
                least = n < least ? n : least;
                rig_close(&r);
        }
        assert_true(most > 4 && least == 0);
}

TEST_GROUP(open_self, NULL)
