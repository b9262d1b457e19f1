/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/inspecting.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/signals.h"
#include "heapwatch/text.h"
#include "proto/base/child.h"
#include "proto/base/clock.h"
#include "proto/base/sibling.h"

#define PIECE     8192
#define POLL_MS   100
#define FINISH_NS UINT64_C(5000000000)

struct child {
        pid_t pid;
        int out, err;
        FILE *to;
        char said[ERROR_TEXT_MAX]; /* on standard error */
        size_t n_said;
        unsigned char before; /* the last byte of its output */
};

/* ------------------------------------------------------------------------- its output */

/* Lines stay lines; what else may steer a terminal does not come from a program that read hostile memory. */
static void pass_on(struct child *c, char *piece, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const unsigned char byte = (unsigned char)piece[i];
                if ((byte < ' ' && byte != '\n') || byte == 0x7f || (c->before == 0xc2 && byte < 0xa0)) /* C0, C1 */
                        piece[i] = '?';
                c->before = byte;
        }
        (void)fwrite(piece, 1, n, c->to);
}

/* A note is said at once, to who waits at a terminal; what else comes is why it fails. */
static void append_message(struct child *c, const char *piece, size_t n)
{
        const char *end = memchr(piece, '\n', n);

        if (end && n > sizeof(INSPECT_NOTE) && !memcmp(piece, INSPECT_NOTE, sizeof(INSPECT_NOTE) - 1)) {
                const size_t line = (size_t)(end - piece) + 1;
                if (isatty(STDERR_FILENO))
                        (void)fwrite(piece, 1, line, stderr);
                piece += line;
                n -= line;
        }
        const size_t room = sizeof(c->said) - 1 - c->n_said, k = n < room ? n : room;

        memcpy(c->said + c->n_said, piece, k);
        c->n_said += k;
}

/* False: that was the end. */
static bool read_piece(struct child *c, int fd)
{
        char piece[PIECE];
        const ssize_t n = read(fd, piece, sizeof(piece));

        if (n < 0 && errno == EINTR)
                return true;
        if (n <= 0)
                return false;
        if (fd == c->out)
                pass_on(c, piece, (size_t)n);
        else
                append_message(c, piece, (size_t)n);
        return true;
}

static enum inspector_stop stop_of(const struct inspection *i)
{
        const int stop = i->stop ? atomic_load(i->stop) : INSPECTOR_STOP_NOT;

        if (stop == INSPECTOR_STOP_NOT && signals_stop())
                return i->may_finish ? INSPECTOR_STOP_FINISH : INSPECTOR_STOP_NOW;
        return stop;
}

/* Until both pipes end. False: the time is over, or we end. */
static bool relay_output(struct child *c, const struct inspection *i)
{
        uint64_t until_ns = clock_mono_ns() + i->most_ns;
        struct pollfd fds[] = { { c->out, POLLIN, 0 }, { c->err, POLLIN, 0 } };
        bool is_ending = false;

        while (fds[0].fd >= 0 || fds[1].fd >= 0) {
                const enum inspector_stop stop = stop_of(i);
                if (stop == INSPECTOR_STOP_NOW || clock_mono_ns() >= until_ns)
                        return false;
                if (stop == INSPECTOR_STOP_FINISH && !is_ending) {
                        is_ending = true;
                        (void)kill(c->pid, SIGINT);
                        until_ns = clock_mono_ns() + FINISH_NS;
                }
                if (poll(fds, 2, POLL_MS) < 0)
                        continue;
                for (size_t k = 0; k < 2; k++)
                        if (fds[k].fd >= 0 && fds[k].revents && !read_piece(c, fds[k].fd))
                                fds[k].fd = -1;
        }
        return true;
}

/* ---------------------------------------------------------------------------- its end */

/* `late`: it was killed because it had no more time by the clock. */
static enum inspector_end end_of(const struct child *c, int status, bool late, struct error *error)
{
        char said[ERROR_TEXT_MAX];

        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
                return INSPECTOR_GOOD;
        (void)hw_terminal_text(said, sizeof(said), c->said);
        if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || late))
                (void)error_set(error, "the inspection needed more time than it may (--time): %s",
                                late ? "the machine is busy, or what it reads is large or damaged"
                                     : "what it reads is large, or damaged");
        else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
                (void)error_set(error, "the inspection was killed, most likely for want of memory (--memory)");
        else if (WIFSIGNALED(status))
                (void)error_set(error, "the inspection ended by signal %d; what it reads may be damaged",
                                WTERMSIG(status));
        else
                (void)error_set(error, "%s", said[0] ? said : "the inspection failed without saying why");
        return WIFEXITED(status) && WEXITSTATUS(status) == INSPECT_REFUSED ? INSPECTOR_REFUSED : INSPECTOR_FAILED;
}

enum inspector_end inspector_run(const struct inspection *i, struct error *error)
{
        struct child c = { .to = i->to };
        const char *const name = i->arguments[0];
        int out[2], err[2], r = child_pipes(out, 0, err, 0);

        if (r < 0) {
                (void)error_set(error, "cannot start %s: %s", name, strerror(-r));
                return INSPECTOR_FAILED;
        }
        r = child_spawn((char *const *)i->arguments, (const int[]){ CHILD_NULL, out[1], err[1] }, CHILD_BESIDE, &c.pid);
        (void)close(out[1]);
        (void)close(err[1]);
        c.out = out[0];
        c.err = err[0];
        const bool late = r == 0 && !relay_output(&c, i);
        if (late)
                (void)kill(c.pid, SIGKILL); /* a program that it has stopped is released by that */
        (void)close(out[0]);
        (void)close(err[0]);
        if (r != 0) {
                (void)error_set(error, "cannot start %s: %s; it is installed with heapwatch", name, strerror(r));
                return INSPECTOR_FAILED;
        }
        const int status = child_wait(c.pid);
        while (c.n_said > 0 && c.said[c.n_said - 1] == '\n')
                c.n_said--;
        c.said[c.n_said] = '\0';
        return end_of(&c, status, late, error);
}
