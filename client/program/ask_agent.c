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

static const char *read_answer(int fd, struct reading *r)
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
                if (n <= 0)
                        return NULL;
                r->size += (size_t)n;
                if ((answer = find_answer(r)) != NULL)
                        return answer;
        }
        return NULL;
}

bool ask_agent(const char *path, const char *request, char *ret_said, size_t size, struct error *error)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        static struct reading r;
        char line[128];
        int n = snprintf(line, sizeof(line), "1 %s\n", request), fd;

        if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >= sizeof(address.sun_path))
                return error_set(error, "the path %s is too long", path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
                (void)error_set(error, "no agent answers on %s: %s", path, strerror(errno));
                if (fd >= 0)
                        (void)close(fd);
                return false;
        }
        r.size = 0;
        const char *answer = send(fd, line, (size_t)n, MSG_NOSIGNAL) == n ? read_answer(fd, &r) : NULL;
        (void)close(fd);
        if (!answer)
                return error_set(error,
                                 "the agent did not answer in time; a program without -threaded does so at its next "
                                 "collection");
        const char *said = answer + strcspn(answer, " ");
        said += *said == ' ';
        if (strncmp(answer, "ok", 2) != 0)
                return error_set(error, "the agent says: %s", said);
        if (ret_said)
                snprintf(ret_said, size, "%s", said);
        return true;
}
