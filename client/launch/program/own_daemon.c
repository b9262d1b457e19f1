/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the daemon belongs to the user and not to the command: it is started detached (in its own session, so that
 * the terminal's signals and hangup do not reach it; forked twice, so that no process has to wait for it) and keeps
 * running for the next command. Where its state cannot be kept, for want of a directory or of rights, it runs
 * without.
 */
#include "client/launch/program/own_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/launch/program/inquire.h"
#include "heapwatch/requester.h"
#include "proto/base/child.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/daemon_life.h"
#include "proto/base/private_directory.h"
#include "proto/base/sibling.h"
#include "proto/base/whole_file.h"
#include "proto/wire/endpoints.h"

#define PATH_BYTES      1024
#define RESTART_STEP_MS 20

/* What the daemon is given. */
struct arguments {
        char program[PATH_BYTES];
        char state[PATH_BYTES]; /* "": it has no directory */
        char checkpoints[PATH_BYTES + 16], recordings[PATH_BYTES + 16];
        bool records;
        struct daemon_life before;
};

/* ------------------------------------------------------------------- state */

static void life_of(const char *publish, struct daemon_life *ret)
{
        char directory[PATH_BYTES];

        *ret = (struct daemon_life){ .end = LIFE_NONE };
        if (state_directory(directory, sizeof(directory), publish) == 0)
                daemon_life_read(directory, ret);
}

bool own_daemon_is_alive(const char *publish)
{
        struct daemon_life life;

        life_of(publish, &life);
        return life.end == LIFE_RUNS;
}

bool own_daemon_is_due(const char *publish)
{
        struct daemon_life life;

        life_of(publish, &life);
        return daemon_life_died(&life) && clock_wall_ns() >= daemon_life_next_ns(&life);
}

static bool own_directory(const char *path, struct error *error)
{
        int fd = private_directory_open(path, false, error);

        if (fd < 0)
                return false;
        bool writable = faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
        int e = errno;
        (void)close(fd);
        return writable || error_set(error, "%s: %s", path, strerror(e));
}

/* Finds the places of what is kept. False with the reason why nothing can be: arguments->state is "" then. */
static bool find_places(struct arguments *a, const char *publish, struct error *error)
{
        int r = state_directory(a->state, sizeof(a->state), publish);

        if (r != 0) {
                a->state[0] = '\0';
                return error_set(error, r == -ENOENT ? "there is no directory for it; set XDG_STATE_HOME"
                                                     : "the path of its directory is too long");
        }
        snprintf(a->checkpoints, sizeof(a->checkpoints), "%s/checkpoints", a->state);
        snprintf(a->recordings, sizeof(a->recordings), "%s/recordings", a->state);
        r = whole_file_directories(a->state);
        bool good = r == 0 ? own_directory(a->state, error)
                           : error_set(error, "%s: cannot make the directories above: %s", a->state, strerror(-r));
        if (good) {
                daemon_life_read(a->state, &a->before);
                good = a->before.end != LIFE_RUNS ||
                       error_set(error, "%s is used by another daemon, process %ld, which does not listen at %s",
                                 a->state, (long)a->before.pid, publish);
        }
        good = good && (!a->records || (own_directory(a->checkpoints, error) && own_directory(a->recordings, error)));
        if (!good)
                a->state[0] = '\0';
        return good;
}

/* ------------------------------------------------------------------- start */

/* In the grandchild: becomes the daemon. */
static _Noreturn void become_daemon(const struct arguments *a, int null, int log)
{
        /* without a directory, or where nothing is kept, it ends sooner */
        const char *const argv[] = { a->program,     a->state[0] ? "--state" : NULL,
                                     a->state,       a->records ? "--checkpoint" : NULL,
                                     a->checkpoints, "--checkpoint-every",
                                     "2s",           "--record",
                                     a->recordings,  "--record-budget",
                                     "256MiB",       NULL };
        sigset_t none;

        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        descriptors_close_at_exec(3); /* a socket that the program was given, say: its port would stay taken */
        if (dup2(null, 0) >= 0 && dup2(log, 1) >= 0 && dup2(log, 2) >= 0)
                execv(a->program, (char *const *)argv);
        _exit(127);
}

static bool spawn_daemon(const struct arguments *a, int null, int log, struct error *error)
{
        pid_t pid = null >= 0 && log >= 0 ? fork() : -1;

        if (pid == 0) {
                if (setsid() < 0 || (pid = fork()) < 0)
                        _exit(126);
                if (pid > 0)
                        _exit(0);
                become_daemon(a, null, log);
        }
        if (pid < 0)
                return error_set(error, "cannot start %s: %s", a->program, strerror(errno));
        (void)child_wait(pid);
        return true;
}

static void describe_failure(const struct arguments *a, const struct error *why_not, struct own_daemon *ret)
{
        char ended[DAEMON_LIFE_TEXT_MAX], why[DAEMON_LIFE_TEXT_MAX + 64] = "";

        if (daemon_life_died(&a->before))
                snprintf(why, sizeof(why), " again, because the one before it %s", daemon_life_text(ended, &a->before));
        if (why_not->text[0])
                snprintf(ret->text, sizeof(ret->text),
                         "heapwatchd was started%s; it keeps neither checkpoints nor recordings: %.700s", why,
                         why_not->text);
        else if (!a->records)
                snprintf(ret->text, sizeof(ret->text),
                         "heapwatchd was started%s; it keeps no checkpoints and no recordings", why);
        else
                snprintf(ret->text, sizeof(ret->text),
                         "heapwatchd was started%s; it keeps checkpoints, and at most 256 MiB of "
                         "recordings, in %.700s (--no-record: none)",
                         why, a->state);
}

bool own_daemon_start(const char *publish, const char *directory, bool records, struct own_daemon *ret,
                      struct error *error)
{
        struct arguments a = { .records = records };
        struct error why_not = { "" };

        *ret = (struct own_daemon){ .text = "" };
        sibling_program("heapwatchd", a.program, sizeof(a.program)); /* beside this program, or else in PATH */
        if (!strchr(a.program, '/') && !inquire_find("heapwatchd", a.program, sizeof(a.program)))
                return error_set(error, "no daemon answers and heapwatchd is not beside this program or in PATH");
        (void)find_places(&a, publish, &why_not);
        snprintf(ret->log, sizeof(ret->log), "%s/daemon.log", a.state[0] ? a.state : directory);
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        int log = open(ret->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        bool started = spawn_daemon(&a, null, log, error);
        if (started)
                describe_failure(&a, &why_not, ret);
        close_fd(&null);
        close_fd(&log);
        return started;
}

bool own_daemon_restart(int wait_ms, struct own_daemon *ret)
{
        char directory[256], publish[300], request[300];
        const char *path = request + strlen("ipc://");
        struct daemon_life before;
        struct error error;

        *ret = (struct own_daemon){ .text = "" };
        if (hw_default_directory(directory, sizeof(directory)) < 0 ||
            hw_default_endpoints(publish, request, sizeof(publish)) < 0)
                return false;
        life_of(publish, &before);
        if (!daemon_life_died(&before) || !unix_nobody_listens(path) ||
            !own_daemon_start(publish, directory, before.records, ret, &error))
                return false;
        for (int waited = 0; waited < wait_ms && unix_nobody_listens(path); waited += RESTART_STEP_MS)
                (void)poll(NULL, 0, RESTART_STEP_MS);
        return true;
}
