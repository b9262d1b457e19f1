/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the daemon may listen: what is refused and why, stale sockets, living daemons, unsafe directories. */
#include "tests/unit/publish/support.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "daemon/publish/transport/endpoint.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

static char dir[64];
static struct error error;

static int set_up(void **state)
{
        make_dir(dir);
        error.text[0] = '\0';
        return 0;
}

static int tear_down(void **state)
{
        return rmdir(dir); /* each test leaves it empty */
}

static const char *in_dir(const char *format)
{
        static char text[128];

        (void)snprintf(text, sizeof(text), "%s%s%s", format[0] == '/' ? "" : "ipc://", dir, strchr(format, '/'));
        return text;
}

/* A Unix socket that listens (or, when `dead`, has stopped) at the path. Its descriptor, or -1 when dead. */
static int listen_at(const char *path, bool dead)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        (void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
        assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
        if (!dead) {
                assert_int_equal(listen(fd, 1), 0);
                return fd;
        }
        close(fd);
        return -1;
}

static void expect(const char *text, int status, const char *sentence)
{
        struct endpoint e;

        assert_int_equal(endpoint_prepare(&e, text, &error), status);
        if (status)
                assert_non_null(strstr(error.text, sentence));
        endpoint_bound(&e, false);
}

TEST_WITH(test_refused, set_up, tear_down)
{
        static const struct {
                const char *text;
                int status;
                const char *sentence;
        } cases[] = {
                { "tcp://0.0.0.0:5000", -EACCES, "only loopback" },
                { "tcp://*:5000", -EACCES, "only loopback" },
                { "tcp://192.168.1.2:5000", -EACCES, "only loopback" },
                { "tcp://128.0.0.1:5000", -EACCES, "only loopback" },
                { "tcp://127.0.0.1.example.org:5000", -EACCES, "only loopback" },
                { "tcp://[::]:5000", -EACCES, "only loopback" },
                { "tcp://[::ffff:10.0.0.1]:5000", -EACCES, "only loopback" },
                { "tcp://eth0:5000", -EACCES, "only loopback" },
                { "tcp://:5000", -EACCES, "only loopback" },
                { "tcp://127.0.0.1", -EINVAL, "expected tcp://HOST:PORT" },
                { "tcp://127.0.0.1:", -EINVAL, "expected tcp://HOST:PORT" },
                { "tcp://127.0.0.1:0", -EINVAL, "expected tcp://HOST:PORT" },
                { "tcp://127.0.0.1:65536", -EINVAL, "expected tcp://HOST:PORT" },
                { "tcp://127.0.0.1:99999999999999999999999", -EINVAL, "expected tcp://HOST:PORT" },
                { "tcp://127.0.0.1:5000x", -EINVAL, "expected tcp://HOST:PORT" },
                { "ipc://relative/path", -EINVAL, "absolute path" },
                { "ipc://@abstract", -EINVAL, "absolute path" },
                { "ipc://*", -EINVAL, "absolute path" },
                { "ipc:///name", -EINVAL, "absolute path" },
                { "ipc:///tmp/", -EINVAL, "absolute path" },
                { "ipc:///tmp/name", -EACCES, "/tmp: " },
                { "ipc:///no-such-directory/deeper/name", -ENOENT, "cannot make this directory" },
                { "inproc://x", -EINVAL, "expected ipc://" },
                { "udp://127.0.0.1:5000", -EINVAL, "expected ipc://" },
                { "", -EINVAL, "expected ipc://" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                expect(cases[i].text, cases[i].status, cases[i].sentence);
}

TEST_WITH(test_tcp_allowed, set_up, tear_down)
{
        static const char *const cases[][2] = {
                { "tcp://127.0.0.1:5000", "tcp://127.0.0.1:5000" },
                { "tcp://127.9.8.7:1", "tcp://127.9.8.7:1" },
                { "tcp://localhost:65535", "tcp://127.0.0.1:65535" },
                { "tcp://[::1]:5000", "tcp://[::1]:5000" },
        };
        struct endpoint e;

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                assert_int_equal(endpoint_prepare(&e, cases[i][0], &error), 0);
                assert_string_equal(e.address, cases[i][1]);
                assert_null(e.path);
                endpoint_bound(&e, true);
                endpoint_remove(&e);
        }
}

TEST_WITH(test_path_too_long, set_up, tear_down)
{
        char text[300] = "ipc:///tmp/";
        const size_t start = strlen("ipc://"), longest = 107;

        memset(text + strlen(text), 'x', longest - strlen("/tmp/"));
        assert_int_equal(strlen(text + start), longest);
        expect(text, -EACCES, "/tmp: "); /* not too long: refused for another reason */
        text[start + longest] = 'x';
        expect(text, -EINVAL, "at most 107 bytes");
        memset(text + start + longest, 'x', 180);
        expect(text, -EINVAL, "at most 107 bytes");
}

TEST_WITH(test_makes_directory, set_up, tear_down)
{
        struct endpoint e;
        struct stat st;

        assert_int_equal(endpoint_prepare(&e, in_dir("ipc/sub/s"), &error), 0);
        endpoint_bound(&e, false);
        assert_int_equal(stat(in_dir("/sub"), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_int_equal(rmdir(in_dir("/sub")), 0);
}

TEST_WITH(test_open_directory, set_up, tear_down)
{
        assert_int_equal(chmod(dir, 0750), 0);
        expect(in_dir("ipc/s"), -EACCES, "can be entered by others");
        assert_int_equal(chmod(dir, 0701), 0);
        expect(in_dir("ipc/s"), -EACCES, "can be entered by others");
        assert_int_equal(chmod(dir, 0700), 0);
        expect(in_dir("ipc/s"), 0, NULL);
}

TEST_WITH(test_link_instead_of_directory, set_up, tear_down)
{
        char link[96];

        (void)snprintf(link, sizeof(link), "%s/link", dir);
        assert_int_equal(symlink(dir, link), 0);
        expect(in_dir("ipc/link/s"), -EACCES, "not a link or a file");
        assert_int_equal(unlink(link), 0);
}

TEST_WITH(test_directory_that_others_may_rename, set_up, tear_down)
{
        assert_int_equal(mkdir(in_dir("/sub"), 0700), 0);
        assert_int_equal(chmod(dir, 0777), 0);
        expect(in_dir("ipc/sub/s"), -EACCES, "anyone may rename it");
        assert_int_equal(chmod(dir, 01777), 0);
        expect(in_dir("ipc/sub/s"), 0, NULL);
        assert_int_equal(rmdir(in_dir("/sub")), 0);
}

TEST_WITH(test_other_owner, set_up, tear_down)
{
        if (geteuid() != 0)
                skip();
        assert_int_equal(chown(dir, 12345, (gid_t)-1), 0);
        expect(in_dir("ipc/s"), -EACCES, "belongs to another user");
        assert_int_equal(chown(dir, 0, (gid_t)-1), 0);
}

TEST_WITH(test_stale_socket_is_replaced, set_up, tear_down)
{
        listen_at(in_dir("/s"), true);
        expect(in_dir("ipc/s"), 0, NULL);
        assert_int_equal(access(in_dir("/s"), F_OK), -1);
}

TEST_WITH(test_living_socket_is_left, set_up, tear_down)
{
        int fd = listen_at(in_dir("/s"), false);

        for (int i = 0; i < 5; i++) /* more than its backlog: full is not dead */
                expect(in_dir("ipc/s"), -EADDRINUSE, "another daemon listens there");
        assert_int_equal(unlink(in_dir("/s")), 0);
        close(fd);
}

TEST_WITH(test_file_is_left, set_up, tear_down)
{
        FILE *f = fopen(in_dir("/s"), "w");

        fclose(f);
        expect(in_dir("ipc/s"), -EACCES, "is not a socket");
        assert_int_equal(unlink(in_dir("/s")), 0);
}

/* Only the file that was bound is removed at the end. */
TEST_WITH(test_remove_only_ours, set_up, tear_down)
{
        struct endpoint e;
        char moved[96];

        (void)snprintf(moved, sizeof(moved), "%s/moved", dir);
        assert_int_equal(endpoint_prepare(&e, in_dir("ipc/s"), &error), 0);
        int fd = listen_at(in_dir("/s"), false);
        endpoint_bound(&e, true);
        assert_int_equal(rename(in_dir("/s"), moved), 0);
        int other = listen_at(in_dir("/s"), false);
        endpoint_remove(&e);
        assert_int_equal(access(in_dir("/s"), F_OK), 0);
        assert_int_equal(rename(moved, in_dir("/s")), 0);
        endpoint_remove(&e); /* forgot it the first time */
        assert_int_equal(access(in_dir("/s"), F_OK), 0);
        assert_int_equal(unlink(in_dir("/s")), 0);
        close(fd);
        close(other);
}

/* A second daemon that starts in the same directory waits for the first one's bind, and then sees it alive. */
TEST_WITH(test_directory_is_locked_until_bound, set_up, tear_down)
{
        struct endpoint first;

        assert_int_equal(endpoint_prepare(&first, in_dir("ipc/s"), &error), 0);
        expect(in_dir("ipc/s"), -EWOULDBLOCK, "another daemon is starting there");
        endpoint_bound(&first, false);
        expect(in_dir("ipc/s"), 0, NULL);
}

/* Whoever holds the directory's lock is no daemon that listens in our place: this process, which would end, goes on. */
TEST_WITH(test_a_lost_socket_waits_for_the_lock, set_up, tear_down)
{
        struct endpoint ours, other;

        int fd = endpoint_open(&ours, in_dir("ipc/s"), &error);
        assert_true(fd >= 0);
        assert_int_equal(endpoint_restore(&ours), -1);
        assert_int_equal(unlink(ours.path), 0);
        assert_int_equal(endpoint_prepare(&other, in_dir("ipc/t"), &error), 0);
        assert_int_equal(endpoint_restore(&ours), -1);
        endpoint_bound(&other, false);
        assert_int_equal(close(fd), 0);
        fd = endpoint_restore(&ours);
        assert_true(fd >= 0);
        endpoint_remove(&ours);
        assert_int_equal(close(fd), 0);
}
