/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections while few descriptors are left, or none. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/loop/descriptors.h"
#include "tests/unit/valgrind.h"

static struct sockaddr_un address = { .sun_family = AF_UNIX };

static int unix_socket(void)
{
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        assert_true(fd >= 0);
        return fd;
}

static int listening(char *directory)
{
        int fd = unix_socket();

        assert_non_null(mkdtemp(directory));
        (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", directory);
        assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        assert_int_equal(listen(fd, 8), 0);
        return fd;
}

static void refused(int listener)
{
        assert_int_equal(descriptors_accept(listener, 0), -1);
}

/* Each is closed at once, also after a call when nobody waited: the spare descriptor is never lost. */
TEST(test_a_full_table)
{
        char directory[] = "/tmp/heapwatch-accept-XXXXXX", byte;
        struct rlimit all, none;
        int clients[3], fill[64], n = 0;

        if (under_valgrind())
                skip();
        log_set_level(LOG_ERROR);
        const int listener = listening(directory);
        for (int i = 0; i < 3; i++)
                clients[i] = unix_socket();
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
        none = all;
        none.rlim_cur = (rlim_t)clients[2] + 8;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
        while (n < 64 && (fill[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
                n++;
        assert_true(n > 0 && n < 64);
        refused(listener);
        for (int i = 0; i < 3; i++) {
                assert_int_equal(connect(clients[i], (struct sockaddr *)&address, sizeof(address)), 0);
                refused(listener);
                assert_int_equal(read(clients[i], &byte, 1), 0);
                refused(listener);
        }
        assert_int_equal(descriptors_refused(), 7);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
        while (n > 0)
                (void)close(fill[--n]);
        for (int i = 0; i < 3; i++)
                (void)close(clients[i]);
        (void)close(listener);
        (void)unlink(address.sun_path);
        (void)rmdir(directory);
}

/* Some are kept for files that are opened briefly. */
TEST(test_a_table_that_is_nearly_full)
{
        char directory[] = "/tmp/heapwatch-accept-XXXXXX", byte;
        struct rlimit all, few;

        log_set_level(LOG_ERROR);
        const int listener = listening(directory), client = unix_socket();
        const unsigned long before = descriptors_refused();
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
        const int next = dup(client); /* the number that the next connection has */
        assert_true(next >= 0 && close(next) == 0);
        few = all;
        few.rlim_cur = (rlim_t)next + DESCRIPTORS_KEPT;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
        refused(listener);
        assert_int_equal(descriptors_refused(), before + 1);
        assert_int_equal(read(client, &byte, 1), 0);
        (void)close(client);
        few.rlim_cur++;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        const int another = unix_socket();
        assert_int_equal(connect(another, (struct sockaddr *)&address, sizeof(address)), 0);
        const int fd = descriptors_accept(listener, 0);
        assert_true(fd >= 0);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
        (void)close(fd);
        (void)close(another);
        (void)close(listener);
        (void)unlink(address.sun_path);
        (void)rmdir(directory);
}
