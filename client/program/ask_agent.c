/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the answer comes within the log, after definitions of any size: only
 * as much is kept as an answer can have.
 */
#include "client/program/ask_agent.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/agent_peer.h"
#include "proto/base/agent_socket.h"
#include "proto/base/clock.h"

#define ANSWER     AGENT_ANSWER "1 "
#define ANSWER_MAX 600
#define READ_BYTES 65536

struct reading {
        char bytes[ANSWER_MAX + READ_BYTES];
        size_t size;
};

/*
 * What follows ANSWER, to its end; NULL: not yet. The answer is last in its block, so it is complete once it is
 * there.
 */
static const char *find_answer(struct reading *r)
{
        char *at = memmem(r->bytes, r->size, ANSWER, sizeof(ANSWER) - 1);

        if (!at || (size_t)(r->bytes + r->size - at) < sizeof(ANSWER) + 1)
                return NULL;
        char *end = at += sizeof(ANSWER) - 1;
        while (end < r->bytes + r->size && *end >= ' ' && *end <= '~')
                end++;
        *end = '\0';
        return at;
}

/* NULL with an error message. */
static const char *read_answer(int fd, struct reading *r, struct error *error)
{
        uint64_t until = clock_mono_ms() + ASK_MS, now;
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
                if (n <= 0) {
                        (void)error_set(error, "the agent hung up; it serves its own user and root");
                        return NULL;
                }
                r->size += (size_t)n;
                if ((answer = find_answer(r)) != NULL)
                        return answer;
        }
        (void)error_set(error,
                        "the agent did not answer in time; a program without -threaded does so at its next "
                        "collection");
        return NULL;
}

/* A connection to the agent there; -1 with an error message. */
static int reach(const char *path, struct error *error)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd;

        if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >= sizeof(address.sun_path))
                return error_code(error, -1, "the path %s is too long", path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
                (void)error_set(error, "no agent answers on %s: %s", path, strerror(errno));
        else if (!agent_peer_listens(path, fd))
                (void)error_set(error, "it is not process %ld that listens on %s", (long)agent_peer_process(path),
                                path);
        else
                return fd;
        if (fd >= 0)
                (void)close(fd);
        return -1;
}

bool ask_agent(const char *path, const char *request, char *ret_said, size_t size, struct error *error)
{
        static struct reading r;
        char line[128];
        int n = snprintf(line, sizeof(line), "1 %s\n", request), fd = reach(path, error);

        if (fd < 0)
                return false;
        r.size = 0;
        (void)send(fd, line, (size_t)n, MSG_NOSIGNAL); /* where it fails, so does reading the answer */
        const char *answer = read_answer(fd, &r, error);
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
