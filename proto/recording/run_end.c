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

#define FIRST_LINE "heapwatch end 1"
#define NEW        RUN_END ".new"
#define TEXT_MAX   (RUN_END_DETAIL_BYTES + 128u)

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

/* One line: what ends it in the words becomes a space. */
static void print_detail(FILE *to, const char *detail)
{
        (void)fputs("detail ", to);
        for (; *detail; detail++)
                (void)fputc(*detail == '\n' ? ' ' : *detail, to);
        (void)fputc('\n', to);
}

int run_end_write(int directory, const struct run_end *end)
{
        const int fd = openat(directory, NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
        int r = 0;

        if (!to) {
                r = -errno;
                if (fd >= 0)
                        (void)close(fd);
                return r;
        }
        (void)fprintf(to, FIRST_LINE "\nstate %s\n", names[end->state]);
        if (end->exit_known)
                (void)fprintf(to, "%s %" PRIu32 "\n", end->signal ? "signal" : "status",
                              end->signal ? end->signal : end->status);
        if (end->oom_killed)
                (void)fputs("out-of-memory\n", to);
        print_detail(to, end->detail);
        if (ferror(to))
                r = -EIO;
        if (fclose(to) != 0 && r == 0)
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

/* False: it is no number of 32 bits. */
static bool read_number(const char *text, uint32_t *ret)
{
        char *end;

        errno = 0;
        const unsigned long n = strtoul(text, &end, 10);
        if (errno != 0 || end == text || *end || *text < '0' || *text > '9' || n > UINT32_MAX)
                return false;
        *ret = (uint32_t)n;
        return true;
}

/* False: the file is damaged. What a later version adds is skipped. */
static bool read_line(const char *line, struct run_end *ret)
{
        if (!strncmp(line, "state ", 6))
                return (ret->state = state_of(line + 6)) != RUN_END_UNKNOWN;
        if (!strncmp(line, "signal ", 7) || !strncmp(line, "status ", 7)) {
                ret->exit_known = true;
                return read_number(line + 7, line[1] == 'i' ? &ret->signal : &ret->status);
        }
        if (!strcmp(line, "out-of-memory"))
                ret->oom_killed = true;
        if (!strncmp(line, "detail ", 7))
                (void)hw_utf8_clean(ret->detail, sizeof(ret->detail), line + 7, strlen(line + 7));
        return true;
}

static bool read_text(char *text, struct run_end *ret)
{
        char *rest = text, *line = strsep(&rest, "\n");

        if (!line || strcmp(line, FIRST_LINE) != 0)
                return false;
        while ((line = strsep(&rest, "\n")))
                if (!read_line(line, ret))
                        return false;
        return ret->state != RUN_END_UNKNOWN;
}

void run_end_read(int directory, struct run_end *ret)
{
        const int fd = openat(directory, RUN_END, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        char text[TEXT_MAX + 1];

        *ret = (struct run_end){ .state = RUN_END_UNKNOWN };
        if (fd < 0)
                return;
        const ssize_t n = read(fd, text, TEXT_MAX);
        (void)close(fd);
        text[n > 0 ? n : 0] = '\0';
        if (n <= 0 || !read_text(text, ret))
                *ret = (struct run_end){ .state = RUN_END_UNKNOWN };
}
