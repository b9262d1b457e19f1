/* SPDX-License-Identifier: BSD-3-Clause */
/* another_user.h - a child of a test that root runs becomes a user who is nobody here. */
#pragma once

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_USER 54321

static inline bool become_another_user(void)
{
        return setresgid(OTHER_USER, OTHER_USER, OTHER_USER) == 0 && setresuid(OTHER_USER, OTHER_USER, OTHER_USER) == 0;
}

/* Whether that user comes to files at all: not where the root directory is closed to others. */
static inline bool another_user_is_possible(void)
{
        int status = 1;
        const pid_t pid = fork();

        if (pid == 0)
                _exit(become_another_user() && access("/tmp", X_OK) == 0 ? 0 : 1);
        return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}
