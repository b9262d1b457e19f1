/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the answer comes within the log, after definitions of any size: only
 * as much is kept as an answer can have.
 */
#include "proto/base/agent_peer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "heapwatch/eventlog.h"
#include "proto/base/agent_socket.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"

#define ANSWER_MAX 600
#define READ_BYTES 65536

#define FULL_STEP_MS 20 /* from one attempt to the next while no connection is taken */

struct reading {
        unsigned char bytes[ANSWER_MAX + READ_BYTES];
        size_t size;
        char head[64]; /* of our answer */
        size_t head_size;
};

/* Whether a message event has its text at `at`, `before` bytes into what was read: number, time, size and text. */
static bool is_message(const unsigned char *at, size_t before, size_t *ret_size)
{
        if (before < 12 || at[-12] != 0 || at[-11] != HW_LOG_MSG)
                return false;
        *ret_size = (size_t)at[-2] << 8 | at[-1];
        return true;
}

/* What the agent answered, after our number; NULL: not yet, or not whole. Who else asks has a number of its own. */
static const char *find_answer(struct reading *r)
{
        const unsigned char *end = r->bytes + r->size;
        unsigned char *at = r->bytes;
        size_t size;

        for (; (at = memmem(at, (size_t)(end - at), r->head, r->head_size)) != NULL; at++) {
                if (!is_message(at, (size_t)(at - r->bytes), &size) || size < r->head_size)
                        continue;
                if ((size_t)(end - at) < size)
                        return NULL;
                at[size] = '\0';
                return (const char *)at + r->head_size;
        }
        return NULL;
}

/* NULL with an error message. */
static const char *read_answer(int fd, struct reading *r, uint64_t wait_ms, struct error *error)
{
        uint64_t until = clock_mono_ms() + wait_ms, now;
        const char *answer;
        ssize_t n;

        while ((now = clock_mono_ms()) < until) {
                struct pollfd p = { fd, POLLIN, 0 };
                if (poll(&p, 1, (int)(until - now)) <= 0)
                        continue;
                if (r->size > ANSWER_MAX) {
                        memmove(r->bytes, r->bytes + r->size - ANSWER_MAX, ANSWER_MAX);
                        r->size = ANSWER_MAX;
                }
                n = recv(fd, r->bytes + r->size, READ_BYTES - 1, 0);
                if (n < 0 && (errno == EAGAIN || errno == EINTR))
                        continue;
                if (n <= 0) {
                        (void)error_set(
                                error,
                                "the agent hung up: it serves its own user and root, and a few readers at a time");
                        return NULL;
                }
                r->size += (size_t)n;
                if ((answer = find_answer(r)) != NULL)
                        return answer;
        }
        (void)error_set(
                error,
                "the agent has not answered within %g s; it does what was asked as soon as the program lets it: one "
                "without -threaded at its next collection, one on an overloaded machine later; then try again",
                (double)wait_ms / 1000);
        return NULL;
}

/* A connection to the agent there, nonblocking; -1 with an error message. */
static int connect_agent(const char *path, uint64_t wait_ms, struct error *error)
{
        const uint64_t until = clock_mono_ms() + wait_ms;
        int fd;

        while ((fd = unix_connect(path)) == -EAGAIN && clock_mono_ms() < until)
                (void)poll(NULL, 0, FULL_STEP_MS); /* others wait there, too; its owner may never take them */
        if (fd < 0)
                (void)error_set(error, "no agent answers on %s: %s", path,
                                fd == -EAGAIN ? "too many connections wait there" : strerror(-fd));
        else if (!agent_peer_listens(path, fd))
                (void)error_set(error, "it is not process %ld that listens on %s", (long)agent_peer_process(path),
                                path);
        else
                return fd;
        close_fd(&fd);
        return -1;
}

bool agent_request(const char *path, const char *request, uint64_t wait_ms, char *ret_said, size_t size,
                   struct error *error)
{
        static struct reading r;
        char line[128];
        int n = snprintf(line, sizeof(line), "%ld %s\n", (long)getpid(), request),
            fd = connect_agent(path, wait_ms, error);

        if (fd < 0)
                return false;
        r.size = 0;
        r.head_size = (size_t)snprintf(r.head, sizeof(r.head), AGENT_ANSWER "%ld ", (long)getpid());
        (void)send(fd, line, (size_t)n, MSG_NOSIGNAL); /* where it fails, so does reading the answer */
        const char *answer = read_answer(fd, &r, wait_ms, error);
        (void)close(fd);
        if (!answer)
                return false;
        const char *said = answer + strcspn(answer, " ");
        said += *said == ' ';
        if (strncmp(answer, "ok", 2) != 0)
                return error_set(error, "the agent says: %s", said);
        if (ret_said)
                snprintf(ret_said, size, "%s", said);
        return true;
}
