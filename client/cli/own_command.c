/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/own_command.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/signals.h"
#include "heapwatch/text.h"
#include "proto/base/child.h"
#include "proto/base/clock.h"
#include "proto/base/time.h"

/* False: it is more than is kept. */
static bool store_output(const struct own_command *c, struct own_output *o, const char *piece, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                o->is_cut = o->n == c->bytes_max || (c->lines_max && o->lines == c->lines_max);
                if (o->is_cut)
                        return false;
                o->text[o->n++] = piece[i];
                o->lines += piece[i] == '\n';
        }
        return true;
}

/* Until both pipes end. False: the time is over, or it shall be stopped; or there is more than is kept. */
static bool read_pipes(const struct own_command *c, struct own_output *o, int out, int err, uint64_t until_ns)
{
        struct pollfd fds[] = { { out, POLLIN, 0 }, { err, POLLIN, 0 } };
        size_t n_said = 0;
        char piece[8192];

        while (fds[0].fd >= 0 || fds[1].fd >= 0) {
                if (signals_stop() || (c->stop && atomic_load(c->stop)) || clock_mono_ns() >= until_ns)
                        return false;
                if (poll(fds, 2, 100) <= 0)
                        continue;
                for (size_t k = 0; k < 2; k++) {
                        const ssize_t n = fds[k].fd >= 0 && fds[k].revents ? read(fds[k].fd, piece, sizeof(piece)) : -1;
                        if (n == 0)
                                fds[k].fd = -1;
                        else if (n > 0 && k == 0 && !store_output(c, o, piece, (size_t)n))
                                return false;
                        for (ssize_t i = 0; k == 1 && i < n && n_said < sizeof(o->said) - 1; i++)
                                o->said[n_said++] = piece[i];
                }
        }
        return true;
}

/* Its lines, without those that are empty at the end, each for a terminal. */
static void clean_said(char said[ERROR_TEXT_MAX])
{
        char dirty[ERROR_TEXT_MAX];
        size_t n = 0;

        memcpy(dirty, said, sizeof(dirty));
        said[0] = '\0';
        for (char *at = dirty, *line; (line = strsep(&at, "\n")) && n + 2 < ERROR_TEXT_MAX;) {
                if (!*line)
                        continue;
                if (n > 0)
                        said[n++] = '\n';
                n += hw_terminal_text(said + n, ERROR_TEXT_MAX - n, line);
        }
}

bool own_command_run(const struct own_command *c, struct own_output *o, struct error *error)
{
        int out[2], err[2];
        pid_t pid;

        if (!(o->text = malloc(c->bytes_max)))
                return error_set(error, "out of memory");
        int r = -child_pipes(out, 0, err, 0);
        if (r != 0)
                return error_set(error, "cannot start %s: %s", c->words[0], strerror(r));
        r = child_spawn((char *const *)c->words, (const int[]){ CHILD_NULL, out[1], err[1] }, CHILD_APART, &pid);
        (void)close(out[1]);
        (void)close(err[1]);
        const bool is_ended = r == 0 && read_pipes(c, o, out[0], err[0], clock_mono_ns() + c->most_ns);
        (void)close(out[0]);
        (void)close(err[0]);
        if (r != 0)
                return error_set(error, "cannot start %s: %s", c->words[0], strerror(r));
        if (!is_ended)
                (void)kill(-pid, SIGKILL); /* a program that it has stopped is released by that */
        const int status = child_wait(pid);
        const char *end = o->is_cut ? memrchr(o->text, '\n', o->n) : NULL;
        if (end)
                o->n = (size_t)(end - o->text) + 1;
        clean_said(o->said);
        if (o->is_cut || (is_ended && WIFEXITED(status) && WEXITSTATUS(status) <= c->worst_status))
                return true;
        if (!is_ended)
                return error_set(error, "no answer within %u s: stopped; ask for less",
                                 (unsigned)(c->most_ns / NS_PER_S));
        if (!WIFEXITED(status))
                return error_set(error, "it ended by signal %d: what it reads may be damaged", WTERMSIG(status));
        return error_set(error, "%s", o->said[0] ? o->said : "the command failed without saying why");
}
