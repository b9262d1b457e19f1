/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/source/harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/source/backoff.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

static struct heard a, b;

static struct sockaddr_un unix_address(const char *name)
{
        struct sockaddr_un un = { .sun_family = AF_UNIX };

        snprintf(un.sun_path, sizeof(un.sun_path), "%s", in_dir(name));
        return un;
}

static int unix_server(const char *name)
{
        struct sockaddr_un un = unix_address(name);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

        unlink(un.sun_path);
        assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
        assert_int_equal(listen(fd, 8), 0);
        return fd;
}

static int unix_client(const char *name)
{
        struct sockaddr_un un = unix_address(name);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
                return fd;
        close(fd);
        return -1;
}

/* A TCP socket bound to a free port of the loopback. */
static int tcp_bound(uint16_t *ret_port)
{
        struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t size = sizeof(in);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;

        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
        assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &size), 0);
        *ret_port = ntohs(in.sin_port);
        return fd;
}

TEST_WITH(unix_connects_and_connects_again, set_up, tear_down)
{
        int peer = -1;

        hear(&a, "unix:%s/s", dir);
        run_until(a.states);
        assert_int_equal(a.state, SOURCE_WAITING);
        assert_non_null(strstr(a.why, "does not exist yet"));
        run_until(source_stats(a.source)->attempts >= 2);
        int server = unix_server("s");
        run_until(a.state == SOURCE_OPEN);
        run_until((peer = accept(server, NULL, NULL)) >= 0);
        assert_int_equal(write(peer, "one", 3), 3);
        run_until(a.size == 3);
        char c;
        assert_int_equal(recv(peer, &c, 1, MSG_DONTWAIT), -1); /* not half-closed: nothing to read, not the end */
        assert_int_equal(errno, EAGAIN);
        close(peer);
        run_until(a.cuts == 1);
        run_until((peer = accept(server, NULL, NULL)) >= 0);
        assert_int_equal(write(peer, "two!", 4), 4);
        run_until(a.size == 4);
        assert_int_equal(source_stats(a.source)->attaches, 2);
        close(peer);
        close(server);
        run_until(a.state == SOURCE_WAITING && strstr(a.why, "nothing listens"));
        source_close(&a.source);
}

TEST_WITH(unix_wrong_kind_of_file, set_up, tear_down)
{
        put(in_dir("s"), 0, "text");
        hear(&a, "unix:%s/s", dir);
        run_until(a.state == SOURCE_FAILED);
        assert_non_null(strstr(a.why, "is not a socket"));
        source_close(&a.source);
}

/* Root's way to the agent of another user's program: whoever else listens there is not read. */
TEST_WITH(only_the_process_that_the_path_names_is_read, set_up, tear_down)
{
        char path[128], names[2][32];
        int peer = -1, servers[2];
        const pid_t processes[2] = { getpid(), getppid() };

        for (int i = 0; i < 2; i++) {
                snprintf(names[i], sizeof(names[i]), "agent-%ld.sock", (long)processes[i]);
                servers[i] = unix_server(names[i]);
        }
        snprintf(path, sizeof(path), "unix:/proc/%ld/root%s", (long)processes[0], in_dir(names[0]));
        hear(&a, "%s", path);
        run_until((peer = accept(servers[0], NULL, NULL)) >= 0);
        assert_int_equal(write(peer, "one", 3), 3);
        run_until(a.size == 3);
        snprintf(path, sizeof(path), "unix:/proc/%ld/root%s", (long)processes[1], in_dir(names[1]));
        hear(&b, "%s", path);
        run_until(b.state == SOURCE_FAILED);
        assert_non_null(strstr(b.why, "it is not process"));
        assert_int_equal(source_stats(b.source)->attaches, 0);
        source_close(&a.source);
        source_close(&b.source);
        for (int i = 0; i < 2; i++)
                close(servers[i]);
        close(peer);
}

TEST_WITH(tcp_connects, set_up, tear_down)
{
        uint16_t port;
        int server = tcp_bound(&port), peer = -1;

        hear(&a, "tcp:localhost:%u", port);
        run_until(source_stats(a.source)->attempts >= 1);
        assert_int_equal(a.state, SOURCE_WAITING);
        assert_non_null(strstr(a.why, "nothing listens"));
        assert_int_equal(listen(server, 8), 0);
        run_until((peer = accept(server, NULL, NULL)) >= 0);
        assert_int_equal(write(peer, "one", 3), 3);
        run_until(a.size == 3);
        assert_true(source_is_local(a.source));
        struct linger reset = { 1, 0 };
        setsockopt(peer, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(peer); /* a reset, not an end */
        run_until(a.cuts == 1);
        assert_non_null(strstr(a.cut_why, "reset"));
        run_until((peer = accept(server, NULL, NULL)) >= 0);
        source_close(&a.source);
        close(peer);
        close(server);
}

/* Nobody there: the backoff grows, so that attempts stay few. */
TEST_WITH(backs_off, set_up, tear_down)
{
        struct backoff back = { 0 };
        uint32_t ceiling = BACKOFF_FIRST_MS;

        for (int i = 0; i < 40; i++) {
                uint32_t low = backoff_next_ms(&back, ceiling / 2);
                struct backoff same = { back.attempts - 1 };
                assert_int_equal(low, ceiling - ceiling / 2);
                assert_int_equal(backoff_next_ms(&same, 0), ceiling);
                for (uint32_t r = 1; r < 100; r++) {
                        struct backoff any = { back.attempts - 1 };
                        uint32_t ms = backoff_next_ms(&any, r * 2654435761u);
                        assert_in_range(ms, ceiling - ceiling / 2, ceiling);
                }
                ceiling = ceiling * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : ceiling * 2;
        }
        backoff_reset(&back);
        assert_int_equal(backoff_next_ms(&back, 0), BACKOFF_FIRST_MS);
        hear(&a, "unix:%s/none", dir);
        double before = now_s();
        run_until(source_stats(a.source)->attempts >= 5);
        assert_true(now_s() - before > 0.37); /* 50 100 200 400 ms, at least half of each */
        source_close(&a.source);
}

TEST_WITH(listens_to_one_writer_at_a_time, set_up, tear_down)
{
        struct stat st;
        char c;

        hear(&a, "unix-listen:%s/l", dir);
        run_until(a.states);
        assert_int_equal(a.state, SOURCE_WAITING);
        assert_int_equal(stat(in_dir("l"), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        int first = unix_client("l");
        assert_int_equal(write(first, "one", 3), 3);
        run_until(a.size == 3);
        int second = unix_client("l");
        assert_true(second >= 0);
        run_until(recv(second, &c, 1, MSG_DONTWAIT) == 0); /* refused */
        close(first);
        close(second);
        run_until(a.cuts == 1 && a.state == SOURCE_WAITING);
        int third = unix_client("l");
        assert_int_equal(write(third, "three", 5), 5);
        run_until(a.size == 5);
        assert_int_equal(source_stats(a.source)->attaches, 2);
        close(third);
        source_close(&a.source);
        assert_int_equal(stat(in_dir("l"), &st), -1); /* cleaned up */
}

/* Somebody connects and sends nothing: the program's connection is taken all the same, a second later. */
TEST_WITH(a_silent_writer_gives_way, set_up, tear_down)
{
        char c;

        hear(&a, "unix-listen:%s/l", dir);
        run_until(a.states);
        int silent = unix_client("l");
        run_until(a.state == SOURCE_OPEN);
        double before = now_s();
        for (int program = -1; a.size < 3; close(program)) {
                program = unix_client("l"); /* again and again, as a program does that is turned away */
                (void)send(program, "log", 3, MSG_NOSIGNAL);
                run_until(a.size == 3 || recv(program, &c, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET);
        }
        assert_true(now_s() - before > 0.9);
        assert_int_equal(recv(silent, &c, 1, 0), 0);
        close(silent);
        source_close(&a.source);
}

TEST_WITH(stale_socket_is_removed_a_live_one_is_not, set_up, tear_down)
{
        int server = unix_server("l");
        hear(&a, "unix-listen:%s/l", dir);
        run_until(a.state == SOURCE_FAILED);
        assert_non_null(strstr(a.why, "another program listens"));
        close(server); /* its file stays: stale */
        run_until(a.state == SOURCE_WAITING);
        int client = unix_client("l");
        assert_int_equal(write(client, "x", 1), 1);
        run_until(a.size == 1);
        close(client);
        source_close(&a.source);
}

TEST_WITH(never_removes_a_file, set_up, tear_down)
{
        struct stat st;

        put(in_dir("l"), 0, "precious");
        hear(&a, "unix-listen:%s/l", dir);
        run_until(a.state == SOURCE_FAILED);
        assert_non_null(strstr(a.why, "is not a socket"));
        source_close(&a.source);
        assert_int_equal(stat(in_dir("l"), &st), 0);
        assert_int_equal(st.st_size, 8);
}

TEST_WITH(removed_socket_file_is_made_again, set_up, tear_down)
{
        int client;

        hear(&a, "unix-listen:%s/l", dir);
        run_until(a.states);
        assert_int_equal(unlink(in_dir("l")), 0);
        run_until((client = unix_client("l")) >= 0);
        run_until(a.state == SOURCE_OPEN);
        close(client);
        source_close(&a.source);
}

TEST_WITH(tcp_listens_on_loopback, set_up, tear_down)
{
        uint16_t port;

        close(tcp_bound(&port));
        hear(&a, "tcp-listen:127.0.0.1:%u", port);
        run_until(a.states);
        assert_int_equal(a.state, SOURCE_WAITING);
        hear(&b, "tcp:127.0.0.1:%u", port);
        run_until(a.state == SOURCE_OPEN && b.state == SOURCE_OPEN);
        source_close(&b.source);
        run_until(a.state == SOURCE_WAITING);
        source_close(&a.source);
}

/* Even a URI that did not come from the parser. */
TEST_WITH(refuses_other_addresses, set_up, tear_down)
{
        struct source_uri uri = { .kind = SOURCE_TCP_LISTEN, .host = "0.0.0.0", .port = 4242 };
        struct source_sink sink = { &a, on_bytes, on_more, on_cut, on_state, NULL };
        struct error error = { "" };

        assert_null(source_open(base, &uri, &sink, NULL, &error));
        assert_non_null(strstr(error.text, "loopback"));
}
