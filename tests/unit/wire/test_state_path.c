/* SPDX-License-Identifier: BSD-3-Clause */
/* Where state is kept: by XDG_STATE_HOME, below the home, and of root in the directory of the system. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "proto/wire/endpoints.h"

static void path_is(const char *expected)
{
        char path[STATE_PATH_MAX];

        assert_int_equal(state_path(path, sizeof(path), "archive", NULL), 0);
        assert_string_equal(path, expected);
}

TEST(state_is_kept_below_the_home)
{
        assert_int_equal(unsetenv("XDG_STATE_HOME"), 0);
        assert_int_equal(setenv("HOME", "/tmp/another", 1), 0);
        path_is("/tmp/another/.local/state/heapwatch/archive.json");
        assert_int_equal(setenv("XDG_STATE_HOME", "/tmp/state", 1), 0);
        path_is("/tmp/state/heapwatch/archive.json");
}

TEST(root_shares_the_systems_directory)
{
        const char *home = "/root";
        char below_home[STATE_PATH_MAX];

        assert_int_equal(unsetenv("XDG_STATE_HOME"), 0);
        assert_int_equal(setenv("HOME", home, 1), 0);
        (void)snprintf(below_home, sizeof(below_home), "%s/.local/state/heapwatch/archive.json", home);
        path_is(geteuid() == 0 ? "/var/lib/heapwatch/archive.json" : below_home);
}
