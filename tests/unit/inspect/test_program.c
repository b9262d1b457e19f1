/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a program's mappings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "inspect/memory/program.h"

#define FILES 40u

/* Of a program that is watched for days, mappings are read again each second. */
static void test_files_are_the_same_when_mappings_are_read_again(void **state)
{
        struct program p = { .memory = NULL };
        char path[32];

        (void)state;
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_files_are_the_same_when_mappings_are_read_again),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
