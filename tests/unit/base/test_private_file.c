/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files are taken for secrets: who owns them, and who else may read them. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/error.h"
#include "proto/base/private_directory.h"
#include "tests/unit/another_user.h"

static char path[] = "/tmp/hw-secret-XXXXXX";

static int set_up(void **state)
{
        const int fd = mkstemp(path);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, "secret", 6), 6);
        return close(fd);
}

static int tear_down(void **state)
{
        return unlink(path);
}

static bool is_read(void)
{
        struct error error;
        char text[16];

        return private_file_read(path, text, sizeof(text), &error) && !strcmp(text, "secret");
}

TEST(nobody_else_may_read_it)
{
        static const mode_t open_modes[] = { 0640, 0604, 0620, 0440, 0444 };

        assert_int_equal(chmod(path, 0600), 0);
        assert_true(is_read());
        for (size_t i = 0; i < sizeof(open_modes) / sizeof(open_modes[0]); i++) {
                assert_int_equal(chmod(path, open_modes[i]), 0);
                assert_false(is_read());
        }
}

static bool is_read_by_another_user(void)
{
        const pid_t child = fork();
        int status = 0;

        if (child == 0)
                _exit(become_another_user() && is_read() ? 0 : 1);
        assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        return WEXITSTATUS(status) == 0;
}

/* As a container with a group for its volumes gets its secrets. */
TEST(root_may_give_it_to_the_group_of_a_service)
{
        if (!another_user_is_possible()) {
                skip();
                return;
        }
        assert_int_equal(chown(path, 0, OTHER_USER), 0);
        assert_int_equal(chmod(path, 0440), 0);
        assert_true(is_read_by_another_user());
        assert_int_equal(chmod(path, 0460), 0);
        assert_false(is_read_by_another_user());
        assert_int_equal(chmod(path, 0444), 0);
        assert_false(is_read_by_another_user());
        assert_int_equal(chown(path, OTHER_USER + 1, OTHER_USER), 0);
        assert_int_equal(chmod(path, 0440), 0);
        assert_false(is_read_by_another_user());
}

TEST_GROUP(set_up, tear_down)
