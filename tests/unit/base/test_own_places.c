/* SPDX-License-Identifier: BSD-3-Clause */
/* Private directories, sockets whose listener is gone or not the process that it is to be. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "proto/base/agent_peer.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/private_directory.h"

static char root[64], path[128];

static int setup(void **state)
{
        snprintf(root, sizeof(root), "/tmp/own-places-XXXXXX");
        if (!mkdtemp(root))
                return -1;
        snprintf(path, sizeof(path), "%s/it", root);
        return 0;
}

static int teardown(void **state)
{
        if (unlink(path) != 0)
                rmdir(path);
        return rmdir(root);
}

static void opens(bool links)
{
        struct error error = { "" };
        int fd = private_directory_open(path, links, &error);

        assert_string_equal(error.text, "");
        assert_true(fd >= 0);
        close(fd);
}

static void refused(bool links, int code, const char *words)
{
        struct error error = { "" };

        assert_int_equal(private_directory_open(path, links, &error), code);
        assert_ptr_equal(strstr(error.text, path), error.text);
        assert_non_null(strstr(error.text, words));
}

TEST_WITH(a_missing_directory_is_made_private, setup, teardown)
{
        struct stat st;

        opens(false);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        opens(true);
}

TEST_WITH(what_others_may_enter_is_refused, setup, teardown)
{
        assert_int_equal(mkdir(path, 0700), 0);
        for (mode_t bit = 1; bit <= 040; bit <<= 1) {
                assert_int_equal(chmod(path, 0700 | bit), 0);
                refused(true, -EACCES, "chmod 700");
        }
}

TEST_WITH(what_is_no_directory_is_refused, setup, teardown)
{
        int fd = creat(path, 0600);

        assert_true(fd >= 0);
        close(fd);
        refused(true, -EACCES, "must be a directory");
}

TEST_WITH(a_link_only_where_links_may_be, setup, teardown)
{
        assert_int_equal(symlink("/", path), 0);
        refused(false, -EACCES, "not a link");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink(root, path), 0);
        opens(true);
}

TEST_WITH(a_directory_of_another_user_is_refused, setup, teardown)
{
        if (geteuid() != 0)
                skip();
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(chown(path, 1, 1), 0);
        refused(true, -EACCES, "another user");
}

static int listening(void)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
        assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        assert_int_equal(listen(fd, 4), 0);
        return fd;
}

TEST_WITH(a_listener_is_found_and_missed, setup, teardown)
{
        int fd, client;

        assert_true(unix_nobody_listens(path));
        assert_false(unix_is_left_over(path)); /* there is nothing to replace */
        fd = listening();
        assert_false(unix_nobody_listens(path));
        assert_false(unix_is_left_over(path));
        client = unix_connect(path);
        assert_true(client >= 0);
        assert_true(fcntl(client, F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(client, F_GETFD) & FD_CLOEXEC);
        close(client);
        close(fd);
        assert_true(unix_nobody_listens(path));
        assert_true(unix_is_left_over(path));
}

TEST_WITH(a_file_is_not_a_socket_left_over, setup, teardown)
{
        char longest[300];
        int fd = creat(path, 0600);

        assert_true(fd >= 0);
        close(fd);
        assert_false(unix_is_left_over(path));
        memset(longest, 'x', sizeof(longest) - 1);
        longest[sizeof(longest) - 1] = '\0';
        assert_int_equal(unix_connect(longest), -ENAMETOOLONG);
        assert_false(unix_nobody_listens(longest));
}

TEST(root_names_the_process_with_the_path)
{
        static const char *const others[] = {
                "/tmp/x/agent-7.sock",   "/proc/7/root/tmp/x/docker.sock", "/proc/7/cwd/agent-7.sock",
                "/proc/self/root/agent", "/proc/-7/root/tmp/agent",        "/proc/7/root/tmp/../agent",
                "/proc/ 7/root/agent",   "/proc/99999999999/root/agent",
        };
        char named[200], tight[20];

        assert_true(agent_peer_path(7, "/tmp/x/agent-7.sock", named, sizeof(named)));
        assert_string_equal(named, "/proc/7/root/tmp/x/agent-7.sock");
        assert_int_equal(agent_peer_process(named), 7);
        assert_int_equal(agent_peer_process("/proc/7/root/run/user/1/heapwatch/run-x/agent"), 7);
        assert_false(agent_peer_path(7, "/tmp/x/agent-7.sock", tight, sizeof(tight)));
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                assert_int_equal(agent_peer_process(others[i]), 0);
        assert_int_equal(agent_peer_number("unix:/proc/8/root/tmp/x/agent-7.sock"), 8);
        assert_int_equal(agent_peer_number("unix:/tmp/x/agent-7.sock"), 7);
        assert_int_equal(agent_peer_number("unix:/tmp/x/agent-7.sock.old"), 0);
        assert_int_equal(agent_peer_number("unix:/tmp/run-x/agent"), 0);
        assert_int_equal(agent_peer_number("fifo:/tmp/x/agent-7.sock"), 0);
}

TEST_WITH(only_the_process_of_the_path_counts, setup, teardown)
{
        char ours[160], parents[160];

        int fd = listening(), client = unix_connect(path);
        assert_true(client >= 0);
        snprintf(ours, sizeof(ours), "/proc/%ld/root/agent", (long)getpid());
        snprintf(parents, sizeof(parents), "/proc/%ld/root/agent", (long)getppid());
        assert_true(agent_peer_listens(ours, client));
        assert_false(agent_peer_listens(parents, client));
        assert_true(agent_peer_listens(path, client)); /* it names none */
        close(client);
        close(fd);
}

/* Of a program, of one that `run` has started, and of what that has started. */
TEST(an_agents_socket_is_known_by_its_name)
{
        static const char *const agents[] = { "unix:/x/agent", "unix:/x/agent-12.sock", "unix:/x/agent-12" };
        static const char *const others[] = { "unix:/x/agents", "unix:/x/agent-",    "unix:/x/agent-12.socket",
                                              "unix:/agent/x",  "unix:/x/agent-12x", "tcp://x/agent",
                                              "file:/x/agent" };

        for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
                assert_true(agent_peer_is_uri(agents[i]));
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                assert_false(agent_peer_is_uri(others[i]));
}
