/* SPDX-License-Identifier: BSD-3-Clause */
/* A request to an agent: its answer is taken from the log when it is whole, whatever is before it. */
#include "proto/base/agent_peer.h"

#include <linux/sockios.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "proto/base/agent_socket.h"
#include "proto/base/descriptors.h"

static struct {
        int listener;
        const char *before; /* a message of the program */
        const char *answer; /* after the number */
} agent;

/* On the agent's thread, where cmocka's assertions cannot be used. */
#define MUST(condition) ((condition) ? (void)0 : abort())

static void put(int fd, const void *bytes, size_t n)
{
        MUST(send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n);
}

/* The other side has read all. */
static void wait_taken(int fd)
{
        int left = 1;

        while (left > 0) {
                MUST(ioctl(fd, SIOCOUTQ, &left) == 0);
                (void)sched_yield();
        }
}

/* In pieces of a byte: what is read ends anywhere. */
static void put_message(int fd, const char *text)
{
        const size_t n = strlen(text);
        const unsigned char head[12] = { 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, (unsigned char)(n >> 8), (unsigned char)n };

        put(fd, head, sizeof(head));
        for (size_t i = 0; i < n; i++) {
                put(fd, text + i, 1);
                wait_taken(fd);
        }
}

static void *serve(void *unused)
{
        char line[128] = "", text[512];
        int fd = accept(agent.listener, NULL, NULL);

        MUST(recv(fd, line, sizeof(line) - 1, 0) > 0);
        const int number = (int)strcspn(line, " ");
        snprintf(text, sizeof(text), "%s" AGENT_ANSWER "%.*s ok spoofed", agent.before, number, line);
        put_message(fd, text);
        put_message(fd, AGENT_ANSWER "0 ok of somebody else");
        snprintf(text, sizeof(text), AGENT_ANSWER "%.*s %s", number, line, agent.answer);
        put_message(fd, text);
        char unread;
        (void)recv(fd, &unread, 1, 0);
        (void)close(fd);
        return NULL;
}

static bool ask(const char *answer, char said[128], struct error *error)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        char directory[] = "/tmp/hw-ask-XXXXXX";
        pthread_t thread;

        assert_non_null(mkdtemp(directory));
        snprintf(address.sun_path, sizeof(address.sun_path), "%s/agent", directory);
        agent.before = "a note: ";
        agent.answer = answer;
        agent.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(agent.listener, (struct sockaddr *)&address, sizeof(address)), 0);
        assert_int_equal(listen(agent.listener, 1), 0);
        assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
        bool good = agent_request(address.sun_path, "status", ASK_MS, said, 128, error);
        assert_int_equal(pthread_join(thread, NULL), 0);
        (void)close(agent.listener);
        (void)unlink(address.sun_path);
        (void)rmdir(directory);
        return good;
}

TEST(test_an_answer_that_comes_in_pieces)
{
        char said[128];
        struct error error;

        assert_true(ask("ok ghc=9.10.3 log=off heap=T", said, &error));
        assert_string_equal(said, "ghc=9.10.3 log=off heap=T");
}

TEST(test_a_refusal)
{
        char said[128];
        struct error error;

        assert_false(ask("no it cannot be stopped", said, &error));
        assert_string_equal(error.text, "the agent says: it cannot be stopped");
}

/* Its owner takes no connections, and has filled the queue of those that wait. */
TEST(test_a_full_backlog)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        char said[128], directory[] = "/tmp/hw-test-XXXXXX";
        struct error error;
        int listener = socket(AF_UNIX, SOCK_STREAM, 0), waiting[8], n = 0;

        assert_non_null(mkdtemp(directory));
        (void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/agent", directory);
        assert_int_equal(bind(listener, (const struct sockaddr *)&a, sizeof(a)), 0);
        assert_int_equal(listen(listener, 0), 0);
        while (n < 8 && (waiting[n] = unix_connect(a.sun_path)) >= 0)
                n++;
        assert_in_range(n, 1, 7);
        assert_false(agent_request(a.sun_path, "status", 100, said, sizeof(said), &error));
        assert_non_null(strstr(error.text, "too many connections"));
        while (n > 0)
                (void)close(waiting[--n]);
        (void)close(listener);
        assert_int_equal(unlink(a.sun_path), 0);
        assert_int_equal(rmdir(directory), 0);
}
