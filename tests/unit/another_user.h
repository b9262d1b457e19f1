/* SPDX-License-Identifier: BSD-3-Clause */
/* another_user.h - a child of a test that root runs becomes a user who is nobody here. */
#ifndef HW_TESTS_UNIT_ANOTHER_USER_H
#define HW_TESTS_UNIT_ANOTHER_USER_H

#include <stdbool.h>
#include <unistd.h>

#define OTHER_USER 54321

static inline bool become_another_user(void)
{
        return setresgid(OTHER_USER, OTHER_USER, OTHER_USER) == 0 && setresuid(OTHER_USER, OTHER_USER, OTHER_USER) == 0;
}

#endif
