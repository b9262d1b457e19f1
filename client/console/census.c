/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * census.c - the key C: a heap census now, of the shown target.
 *
 * DESIGN: a census is taken at the program's next step, which may take seconds, and never comes when it is stopped. So
 * the request is a child process, `heapwatch ctl census`, whose one line is shown when it comes: the console is never
 * held up.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/console/console.h"

/* The child's output and errors go to `out`. 0 or an errno. */
static int spawn(struct census_request *r, int out, const char *target, const char *endpoint)
{
        const char *const arguments[] = { "heapwatch", "ctl", "census", target, "--connect", endpoint, NULL };
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, defaults;
        int error = posix_spawn_file_actions_init(&actions);

        if (error)
                return error;
        if ((error = posix_spawnattr_init(&attributes)) != 0) {
                (void)posix_spawn_file_actions_destroy(&actions);
                return error;
        }
        (void)sigemptyset(&none);
        (void)sigemptyset(&defaults);
        (void)sigaddset(&defaults, SIGPIPE);
        if (!(error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) &&
            !(error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO)) &&
            !(error = posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO)) &&
            !(error = posix_spawnattr_setsigmask(&attributes, &none)) &&
            !(error = posix_spawnattr_setsigdefault(&attributes, &defaults)) &&
            !(error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)))
                error = posix_spawn(&r->pid, "/proc/self/exe", &actions, &attributes, (char *const *)arguments,
                                    environ);
        (void)posix_spawnattr_destroy(&attributes);
        (void)posix_spawn_file_actions_destroy(&actions);
        return error;
}

void census_request_begin(struct console *c)
{
        const struct scene *s = &c->scene;
        struct census_request *r = &c->census;
        const char *endpoint =
                s->live && s->target && s->endpoint ? s->endpoint(s->endpoint_ctx, s->target->daemon) : NULL;
        int pipe_fds[2], error;

        if (r->pid || !endpoint) {
                console_say(c, !r->pid,
                            r->pid ? "a census is under way" : "no census: only of a program that a daemon watches");
                return;
        }
        if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
                console_say(c, true, "no census: %s", strerror(errno));
                return;
        }
        error = spawn(r, pipe_fds[1], s->target->name, endpoint);
        (void)close(pipe_fds[1]);
        if (error) {
                r->pid = 0;
                (void)close(pipe_fds[0]);
                console_say(c, true, "no census: %s", strerror(error));
                return;
        }
        (void)fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
        r->fd = pipe_fds[0];
        r->n = 0;
        console_say(c, false, "a census of %s is requested ...", s->target->name);
}

bool census_poll(struct console *c)
{
        static const char prefix[] = "heapwatch ctl: ";
        struct census_request *r = &c->census;
        char rest[256];
        ssize_t n;
        int status;

        if (!r->pid)
                return false;
        while ((n = r->n + 1 < sizeof(r->said) ? read(r->fd, r->said + r->n, sizeof(r->said) - 1 - r->n)
                                               : read(r->fd, rest, sizeof(rest))) > 0)
                if (r->n + 1 < sizeof(r->said))
                        r->n += (size_t)n;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return false;
        (void)close(r->fd); /* the child has ended, or ends now */
        while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
                ;
        r->pid = 0;
        r->said[r->n] = '\0';
        r->said[strcspn(r->said, "\n")] = '\0';
        console_say(c, !WIFEXITED(status) || WEXITSTATUS(status) != 0, "%s",
                    strncmp(r->said, prefix, sizeof(prefix) - 1) ? r->said : r->said + sizeof(prefix) - 1);
        return true;
}

void census_request_done(struct census_request *r)
{
        if (!r->pid)
                return;
        (void)close(r->fd);
        (void)kill(r->pid, SIGTERM);
        (void)waitpid(r->pid, NULL, 0);
        r->pid = 0;
}
