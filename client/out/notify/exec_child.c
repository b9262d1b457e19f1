/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the keeper reads its children from /proc/self/task/TID/children,
 * repeatedly until there are none: orphans of a killed child become children of
 * the keeper and are killed in the next round. The number of rounds is bounded,
 * for programs that fork faster than they are killed; then only the process
 * group was killed, and the notifier counts the action as failed.
 */
#include "client/out/notify/executor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/child.h"
#include "proto/base/descriptors.h"

#define KILL_ROUNDS   500 /* with a pause of ROUND_NS each: two seconds */
#define ROUND_NS      4000000L
#define REPORT_FILENO 3

static void report_end(enum exec_end end, int number)
{
        struct exec_report r = { .end = end, .number = number };
        ssize_t ignored = write(REPORT_FILENO, &r, sizeof(r)); /* the pipe has room; a missing report is noticed */

        (void)ignored;
}

/* Inherits nothing from the notifier: no signal handlers, no descriptors but the three given ones. */
static void leave_daemon(const struct exec_child *c)
{
        struct sigaction action = { .sa_handler = SIG_DFL };

        for (int s = 1; s < NSIG; s++)
                (void)sigaction(s, &action, NULL);
        if (dup2(c->input, STDIN_FILENO) < 0 || dup2(c->output, STDOUT_FILENO) < 0 ||
            dup2(c->output, STDERR_FILENO) < 0 || dup3(c->report, REPORT_FILENO, O_CLOEXEC) < 0)
                _exit(1);
        descriptors_close(REPORT_FILENO + 1);
}

/* ------------------------------------------------------------ the program */

static noreturn void become_program(const struct exec_child *c)
{
        sigset_t none;

        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)setpgid(0, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (chdir("/") == 0)
                (void)execve(c->argv[0], c->argv, c->env);
        report_end(EXEC_NOT_STARTED, errno);
        _exit(127);
}

/* ------------------------------------------------------------- the keeper */

static void put_number(char **at, unsigned number)
{
        char digits[16];
        size_t n = 0;

        do
                digits[n++] = (char)('0' + number % 10);
        while (number /= 10);
        while (n > 0)
                *(*at)++ = digits[--n];
}

static void put_string(char **at, const char *text)
{
        while (*text)
                *(*at)++ = *text++;
}

/* Kills every child that the kernel lists. */
static void kill_children(void)
{
        char path[64], text[4096], *at = path;
        int pid = 0;

        put_string(&at, "/proc/self/task/");
        put_number(&at, (unsigned)getpid());
        put_string(&at, "/children");
        *at = '\0';
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return;
        ssize_t n = read(fd, text, sizeof(text));
        (void)close(fd);
        for (ssize_t i = 0; i < n; i++) {
                if (text[i] >= '0' && text[i] <= '9') {
                        pid = pid * 10 + (text[i] - '0');
                        continue;
                }
                if (pid > 1)
                        (void)kill(pid, SIGKILL);
                pid = 0;
        }
}

/* Reaps all children that have ended. False when none is left. */
static bool reap_program(pid_t program, int *status, bool *ended)
{
        int s;

        for (;;) {
                pid_t pid = waitpid(-1, &s, WNOHANG);

                if (pid == program) {
                        *status = s;
                        *ended = true;
                }
                if (pid == 0)
                        return true;
                if (pid < 0 && errno != EINTR)
                        return false;
        }
}

static void kill_all(pid_t program, int *status, bool *ended)
{
        const struct timespec pause = { .tv_nsec = ROUND_NS };

        for (int i = 0; i < KILL_ROUNDS; i++) {
                if (!*ended || i == 0)
                        (void)kill(-program, SIGKILL);
                kill_children();
                if (!reap_program(program, status, ended))
                        return;
                (void)nanosleep(&pause, NULL);
        }
}

/* Waits until the program ends (it stays a zombie, so that its pid stays ours) or SIGTERM comes. */
static void await_program(pid_t program, const sigset_t *awaited)
{
        do {
                siginfo_t info = { 0 };

                while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
                        if (info.si_pid == program)
                                return;
                        (void)waitpid(info.si_pid, NULL, WNOHANG); /* an adopted orphan */
                        info.si_pid = 0;
                }
        } while (sigwaitinfo(awaited, NULL) != SIGTERM);
}

noreturn void exec_child(const struct exec_child *c)
{
        int status = 0;
        bool ended = false;
        sigset_t awaited;

        leave_daemon(c);
        (void)sigemptyset(&awaited);
        (void)sigaddset(&awaited, SIGCHLD);
        (void)sigaddset(&awaited, SIGTERM);
        (void)sigprocmask(SIG_SETMASK, &awaited, NULL);
        (void)setpgid(0, 0);
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != c->parent)
                _exit(1); /* the notifier has already died */

        pid_t program = _Fork();
        if (program == 0)
                become_program(c);
        if (program < 0) {
                report_end(EXEC_NOT_STARTED, errno);
                _exit(1);
        }
        await_program(program, &awaited);
        kill_all(program, &status, &ended);
        if (ended)
                report_end(WIFSIGNALED(status) ? EXEC_SIGNALLED : EXEC_EXITED,
                           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        _exit(0);
}
