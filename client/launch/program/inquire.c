/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - only the program itself knows what it was linked with, so it is asked.
 * The flag is given twice, as GHCRTS=--info and as `+RTS --info`, because each
 * link mode accepts a different one (measured with GHC 9.0.2):
 *
 *      -rtsopts, some (default)    both work
 *      -rtsopts=ignore             GHCRTS only; +RTS would be an ordinary argument
 *      -rtsopts=none               neither; refuses +RTS with a message and ends
 *      -rtsopts=ignoreAll          neither; the program itself would run
 *
 * The last case cannot be known beforehand; the sandbox (sandbox.c) ends such a
 * program where its runtime would go on to main. If it prints something before
 * that, it is killed at the first byte that cannot be part of a list of pairs, or
 * after INQUIRE_MS. So that nothing else is started by mistake, the file must be
 * an ELF program that has the RTS's own text in it or names the RTS as a library.
 *
 * `accepts` tries flags in the same way: the RTS reads them in order and --info
 * comes last, so it reports those it does not know on stderr, or exits before it
 * prints. Nothing is opened or written in that mode.
 */
#include "client/launch/program/inquire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/launch/program/agent_fit.h"
#include "proto/base/child.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"

#define INQUIRE_MS    5000  /* then it is killed: FAILED or IGNORED */
#define INQUIRE_BYTES 16384 /* of each stream: then it is killed */

struct answer {
        char out[INQUIRE_BYTES + 1], err[INQUIRE_BYTES + 1]; /* and a NUL */
        size_t out_size, err_size;
        int status; /* of waitpid */
        bool killed;
};

/* ------------------------------------------------------------ the file */

static bool is_runnable(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool inquire_find(const char *command, char *ret_path, size_t size)
{
        if (strchr(command, '/') != NULL)
                return (size_t)snprintf(ret_path, size, "%s", command) < size && is_runnable(command);
        const char *path = getenv("PATH");
        for (const char *p = path != NULL ? path : "/usr/bin:/bin"; *p != '\0';) {
                size_t n = strcspn(p, ":");
                int need = snprintf(ret_path, size, "%.*s/%s", n > 0 ? (int)n : 1, n > 0 ? p : ".", command);
                if (need > 0 && (size_t)need < size && is_runnable(ret_path))
                        return true;
                p += n + (p[n] == ':');
        }
        return false;
}

/* ----------------------------------------------------------- the request */

static bool has_succeeded(const struct answer *a)
{
        return !a->killed && WIFEXITED(a->status) && WEXITSTATUS(a->status) == 0;
}

/* In the new process: becomes the program. */
static _Noreturn void execute_program(const char *path, const char *ghcrts, int out, int err)
{
        int null = open("/dev/null", O_RDONLY);
        sigset_t none;

        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)setpgid(0, 0);
        if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || setenv("GHCRTS", ghcrts, 1) < 0 ||
            unsetenv("LD_PRELOAD") < 0 || !sandbox_enter())
                _exit(126);
        execv(path, (char *const[]){ (char *)path, "+RTS", "--info", NULL });
        dprintf(2, "%s%s\n", strerror(errno), errno == ENOENT ? " (its dynamic loader)" : "");
        _exit(127);
}

/* Reads what is there; false at the end of the stream. */
static bool read_output(int fd, char *buffer, size_t *size, bool *ret_full)
{
        ssize_t n = read(fd, buffer + *size, INQUIRE_BYTES - *size);

        if (n > 0)
                *size += (size_t)n;
        *ret_full = *size == INQUIRE_BYTES;
        return n > 0 || (n < 0 && errno == EINTR);
}

/* Whether what came so far can still become the list of pairs. */
static bool is_plausible(const struct answer *a)
{
        static const char start[] = " [(\"GHC ";
        size_t n = a->out_size < sizeof(start) - 1 ? a->out_size : sizeof(start) - 1;

        return !memcmp(a->out, start, n);
}

static void listen_to(struct answer *a, int out, int err, pid_t pid)
{
        struct pollfd p[2] = { { out, POLLIN, 0 }, { err, POLLIN, 0 } };
        long long end = (long long)clock_mono_ms() + INQUIRE_MS;
        bool full = false;

        while ((p[0].fd >= 0 || p[1].fd >= 0) && !a->killed) {
                long long left = end - (long long)clock_mono_ms();
                int n = left > 0 ? poll(p, 2, (int)left) : 0;
                if (n < 0 && errno == EINTR)
                        continue;
                if (n > 0 && p[0].revents != 0 && !read_output(out, a->out, &a->out_size, &full))
                        p[0].fd = -1;
                if (n > 0 && p[1].revents != 0 && !read_output(err, a->err, &a->err_size, &full))
                        p[1].fd = -1;
                a->killed = n <= 0 || full || !is_plausible(a);
        }
        if (a->killed)
                (void)kill(-pid, SIGKILL); /* it may be gone already */
}

/* Starts the program and reads its answer to the end. 0 or -errno. */
static int query_program(const char *path, const char *ghcrts, struct answer *a)
{
        int out[2], err[2], r;
        pid_t pid;

        *a = (struct answer){ 0 };
        if ((r = child_pipes(out, 0, err, 0)) < 0)
                return r;
        if ((pid = fork()) < 0) {
                r = -errno;
                goto done;
        }
        if (pid == 0)
                execute_program(path, ghcrts, out[1], err[1]);
        (void)setpgid(pid, pid); /* parent and child both do it: either may run first */
        (void)close(out[1]);
        (void)close(err[1]);
        out[1] = err[1] = -1;
        listen_to(a, out[0], err[0], pid);
        a->status = child_wait(pid);
done:
        for (int i = 0; i < 2; i++) {
                close_fd(&out[i]);
                close_fd(&err[i]);
        }
        return r;
}

/* It exited by itself without an answer: its own first line says best why. */
static void report_failure(const char *path, const struct answer *a, struct error *error)
{
        char line[256];

        snprintf(line, sizeof(line), "%.*s", (int)strcspn(a->err, "\n"), a->err);
        if (line[0])
                error_set(error, "%s does not start: %s", path, line);
        else if (WIFEXITED(a->status) && WEXITSTATUS(a->status) == 126)
                error_set(error, "%s was not asked: this kernel cannot keep it from going on to its own work", path);
        else if (WIFEXITED(a->status))
                error_set(error, "%s ended with status %d when asked for +RTS --info", path, WEXITSTATUS(a->status));
        else
                error_set(error, "%s was ended by signal %d when asked for +RTS --info", path, WTERMSIG(a->status));
}

enum inquiry inquire_program(const char *path, struct rtsinfo *ret_info, struct error *error)
{
        struct agent_fit fit;
        struct answer a;

        if (!is_runnable(path)) {
                error_set(error, "there is no executable program %s", path);
                return INQUIRY_NOT_FOUND;
        }
        if (!agent_fit_check(path, &fit, NULL) || !fit.ghc) {
                error_set(error,
                          "%s is not a GHC-compiled program; if it is a script that starts one, "
                          "give the program itself",
                          path);
                return INQUIRY_NOT_HASKELL;
        }
        int r = query_program(path, "--info", &a);
        if (r < 0) {
                error_set(error, "%s cannot be started: %s", path, strerror(-r));
                return INQUIRY_FAILED;
        }
        if (has_succeeded(&a) && rtsinfo_parse(a.out, a.out_size, ret_info))
                return INQUIRY_OK;
        if (strstr(a.err, "RTS options are disabled")) {
                error_set(error,
                          "%s was linked with -rtsopts=none and takes no RTS flags; link it with "
                          "-rtsopts",
                          path);
                return INQUIRY_NO_RTSOPTS;
        }
        /* its runtime printed nothing and went on: the sandbox ended it */
        const bool is_fenced = WIFSIGNALED(a.status) && WTERMSIG(a.status) == SIGSYS;
        if (is_fenced || !is_plausible(&a) || has_succeeded(&a)) {
                error_set(error,
                          "%s does not answer to +RTS --info, so it was linked with "
                          "-rtsopts=ignoreAll; link it with -rtsopts",
                          path);
                return INQUIRY_IGNORED;
        }
        if (a.killed)
                error_set(error, "%s did not answer to +RTS --info within %d s", path, INQUIRE_MS / 1000);
        else
                report_failure(path, &a, error);
        return INQUIRY_FAILED;
}

bool inquire_accepts_arguments(const char *path)
{
        struct answer a;
        struct rtsinfo info;

        return query_program(path, "", &a) == 0 && has_succeeded(&a) && rtsinfo_parse(a.out, a.out_size, &info);
}

bool inquire_accepts(const char *path, const char *flags, char *reason, size_t reason_size)
{
        struct answer a;
        struct rtsinfo info;
        char *ghcrts = NULL;

        if (asprintf(&ghcrts, "%s --info", flags) < 0) {
                snprintf(reason, reason_size, "out of memory");
                return false;
        }
        int r = query_program(path, ghcrts, &a);
        free(ghcrts);
        if (r < 0) {
                snprintf(reason, reason_size, "%s", strerror(-r));
                return false;
        }
        if (has_succeeded(&a) && a.err_size == 0 && rtsinfo_parse(a.out, a.out_size, &info))
                return true;
        /* the first line of its diagnostic, without the "PROGRAM: " prefix */
        const size_t n = strcspn(a.err, "\n");
        const char *colon = memmem(a.err, n, ": ", 2);
        const size_t skip = colon ? (size_t)(colon + 2 - a.err) : 0;
        snprintf(reason, reason_size, "%.*s", (int)(n - skip), a.err + skip);
        return false;
}
