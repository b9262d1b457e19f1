/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a program's mappings, and registers of its threads. */
#include <stdio.h>
#include <string.h>
#include <sys/user.h>

#include "tests/unit/test.h"

#include "inspect/process/live.h"

#define FILES 40u

/* Of a program that is watched for days, mappings are read again each second. */
TEST(test_files_are_the_same_when_mappings_are_read_again)
{
        struct program p = { .memory = NULL };
        char path[32];

        for (unsigned again = 0; again < 1000; again++) {
                for (unsigned i = 0; i < FILES; i++) {
                        (void)snprintf(path, sizeof(path), "/usr/lib/lib%u.so", i);
                        assert_int_equal(program_file(&p, path), i + 1);
                        assert_int_equal(program_file(&p, path), i + 1);
                }
        }
        assert_int_equal(p.n_files, FILES);
        assert_int_equal(program_file(&p, "/usr/lib/lib3.so"), 4);
        assert_int_equal(program_file(&p, "/usr/lib/lib3.so.1"), FILES + 1);
        program_done(&p);
}

TEST(test_registers_of_both_machines)
{
        uint64_t words[REGISTER_WORDS + 1];
        struct registers r;

        for (unsigned i = 0; i <= REGISTER_WORDS; i++)
                words[i] = 100 + i;
        assert_true(registers_read(&r, EM_AARCH64, 7, words, REGISTER_WORDS));
        assert_int_equal(r.tid, 7);
        assert_int_equal(r.pc, 132);
        assert_int_equal(r.sp, 131);
        assert_int_equal(r.base, 119);
        assert_int_equal(r.hs_sp, 120);
        assert_int_equal(r.hs_hp, 121);
        assert_int_equal(r.n_all, 31);
        assert_int_equal(r.all[30], 130);
        assert_false(registers_read(&r, EM_AARCH64, 7, words, REGISTER_WORDS - 1));
#if defined(__x86_64__)
        struct user_regs_struct here = { .rip = 1, .rsp = 2, .r13 = 3, .rbp = 4, .r12 = 5, .rdi = 6 };
        assert_true(sizeof(here) <= sizeof(words));
        memcpy(words, &here, sizeof(here));
        assert_true(registers_read(&r, MACHINE_HERE, 8, words, sizeof(here) / 8));
        assert_int_equal(r.pc, 1);
        assert_int_equal(r.sp, 2);
        assert_int_equal(r.base, 3);
        assert_int_equal(r.hs_sp, 4);
        assert_int_equal(r.hs_hp, 5);
        assert_int_equal(r.all[r.n_all - 1], 6);
#endif
        assert_false(registers_read(&r, EM_RISCV, 7, words, REGISTER_WORDS));
}
