/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/recording/run_end.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heapwatch/text.h"
#include "proto/base/agent_socket.h"
#include "proto/base/descriptors.h"

#define NEW          RUN_END ".new"
#define STEP_MOST_NS UINT64_C(86400000000000)

static const char *const names[] = {
        [RUN_END_UNKNOWN] = "",      [RUN_END_LOST] = "lost",       [RUN_END_ENDED] = "ended",
        [RUN_END_FAILED] = "failed", [RUN_END_CRASHED] = "crashed",
};

const char *run_end_name(enum run_end_state state)
{
        return names[state];
}

bool run_end_is(const char *name)
{
        return !strcmp(name, RUN_END) || !strcmp(name, NEW);
}

/* ----------------------------------------------------------------- writing */

/* The words are one line: what ends it becomes a space. */
size_t run_end_print(const struct run_end *end, char ret[RUN_END_TEXT_BYTES])
{
        char exit[32] = "", step[32] = "";

        if (end->exit_known)
                (void)snprintf(exit, sizeof(exit), "%s %" PRIu32 "\n", end->signal ? "signal" : "status",
                               end->signal ? end->signal : end->status);
        if (end->step_ns)
                (void)snprintf(step, sizeof(step), "step %" PRIu64 "\n", end->step_ns);
        int n = snprintf(ret, RUN_END_TEXT_BYTES, RUN_END_MESSAGE "state %s\n%s%s%sdetail ", names[end->state], exit,
                         end->oom_killed ? "out-of-memory\n" : "", step);
        for (const char *detail = end->detail; *detail; detail++)
                ret[n++] = *detail == '\n' ? ' ' : *detail;
        ret[n++] = '\n';
        return (size_t)n;
}

int run_end_write(int directory, const struct run_end *end)
{
        const int fd = openat(directory, NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        char text[RUN_END_TEXT_BYTES];
        const size_t size = run_end_print(end, text);

        if (fd < 0)
                return -errno;
        const ssize_t n = write(fd, text, size);
        int r = n < 0 ? -errno : (size_t)n < size ? -ENOSPC : 0;
        if (close(fd) != 0 && r == 0)
                r = -errno;
        if (r == 0 && renameat(directory, NEW, directory, RUN_END) != 0)
                r = -errno;
        if (r != 0)
                (void)unlinkat(directory, NEW, 0);
        return r;
}

/* ----------------------------------------------------------------- reading */

static enum run_end_state state_of(const char *name)
{
        for (unsigned i = RUN_END_LOST; i <= RUN_END_CRASHED; i++)
                if (!strcmp(name, names[i]))
                        return (enum run_end_state)i;
        return RUN_END_UNKNOWN;
}

/* False: it is no number up to `most`. */
static bool read_number(const char *text, uint64_t most, uint64_t *ret)
{
        char *end;

        errno = 0;
        *ret = strtoull(text, &end, 10);
        return errno == 0 && end != text && !*end && *text >= '0' && *text <= '9' && *ret <= most;
}

/* False: the file is damaged. What a later version adds is skipped. */
static bool read_line(const char *line, struct run_end *ret)
{
        uint64_t number;

        if (!strncmp(line, "state ", 6))
                return (ret->state = state_of(line + 6)) != RUN_END_UNKNOWN;
        if (!strncmp(line, "signal ", 7) || !strncmp(line, "status ", 7)) {
                if (!read_number(line + 7, UINT32_MAX, &number))
                        return false;
                ret->exit_known = true;
                *(line[1] == 'i' ? &ret->signal : &ret->status) = (uint32_t)number;
        }
        if (!strncmp(line, "step ", 5) && !read_number(line + 5, STEP_MOST_NS, &ret->step_ns))
                return false;
        if (!strcmp(line, "out-of-memory"))
                ret->oom_killed = true;
        if (!strncmp(line, "detail ", 7))
                (void)hw_utf8_clean(ret->detail, sizeof(ret->detail), line + 7, strlen(line + 7));
        return true;
}

/* Of lines, the first of which was seen. */
static bool read_lines(char *text, struct run_end *ret)
{
        char *rest = text, *line;

        while ((line = strsep(&rest, "\n")))
                if (!read_line(line, ret))
                        return false;
        return ret->state != RUN_END_UNKNOWN;
}

bool run_end_parse(const char *text, size_t size, struct run_end *ret)
{
        const size_t first = strlen(RUN_END_MESSAGE);
        char lines[RUN_END_TEXT_BYTES];

        *ret = (struct run_end){ .state = RUN_END_UNKNOWN };
        if (size < first || size - first >= sizeof(lines) || memcmp(text, RUN_END_MESSAGE, first) != 0)
                return false;
        memcpy(lines, text + first, size - first);
        lines[size - first] = '\0';
        if (read_lines(lines, ret))
                return true;
        *ret = (struct run_end){ .state = RUN_END_UNKNOWN };
        return false;
}

void run_end_read(int directory, struct run_end *ret)
{
        int fd = openat(directory, RUN_END, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        char text[RUN_END_TEXT_BYTES];
        const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

        close_fd(&fd);
        (void)run_end_parse(text, n > 0 ? (size_t)n : 0, ret);
}
