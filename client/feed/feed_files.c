/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * feed_files.c - updates from finished logs, by starting `heapwatchd --once`.
 *
 * DESIGN: clients never decode eventlogs. We make a directory that only we can
 * enter, bind a PULL socket in it, and start the daemon with its path; the
 * daemon connects, pushes everything without loss and exits. The socket comes
 * first: to the daemon, a refused connection means that the client has exited.
 * posix_spawn copies neither memory nor threads, so ZeroMQ's threads do no harm.
 *
 * The end is DaemonState.finished followed by the child's exit. It names the
 * files that could not be read: a failure, reported after the data of all the
 * others. A child that exits without it is a failure, too: its last messages may
 * still be in the socket, so we read on for a while.
 *
 * A pidfd becomes readable when the child exits; an epoll descriptor joins it
 * with the socket's for feed_fd. Kernels before 5.3, and valgrind, have no
 * pidfd: there we poll.
 */
#include "client/feed/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "client/feed/locate.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/sibling.h"
#include "proto/recording/stretch.h"

#define DRAIN_MS 1000  /* how long we wait for messages of a child that has exited */
#define LOOK_MS  50    /* how often we check on the child where there is no pidfd */
#define EXIT_MS  10000 /* how long a child may take to exit after its last message */

enum stage {
        READING,  /* the child runs and sends */
        DRAINING, /* it has exited; what is left in the socket is read */
        FINISHED, /* its last message came; it has yet to exit */
        OVER
};

struct feed_files {
        struct feed feed;
        enum stage stage;
        char directory[64];
        char endpoint[96];
        pid_t child; /* 0 when there is none to wait for */
        int child_fd;
        int status;           /* of waitpid, once the child is reaped */
        uint64_t deadline_ms; /* of DRAINING and FINISHED */
        char *failed;         /* which files could not be read, and why */
        void *context, *socket;
        int wait_fd;        /* epoll: socket and child */
        Hw__Update *update; /* lent out */
};

static struct feed_files *files(const struct feed *feed)
{
        return (struct feed_files *)feed;
}

/* --------------------------------------------------------------- the child */

static size_t count(const char *const *list)
{
        size_t n = 0;

        while (list && list[n])
                n++;
        return n;
}

/*
 * The path of an existing file with '=' in it must not be read as NAME=URI, so it gets a "file:"
 * in front. NULL with an error message.
 */
static char *file_argument(const char *path, struct error *error)
{
        char *text = NULL;

        if (stretch_is(path))
                return locate_log(path, error);
        if (strchr(path, '=') && access(path, F_OK) == 0)
                return asprintf(&text, "file:%s", path) < 0 ? NULL : text;
        return strdup(path);
}

/* heapwatchd --once --push ENDPOINT [ARGS...] -- FILE... ; every string is owned. NULL when out of memory. */
static char **child_arguments(const char *endpoint, const char *const *paths, size_t n, const char *const *more,
                              struct error *error)
{
        size_t n_more = count(more), at = 0;

        error_set(error, "out of memory");
        char **argv = calloc(n + n_more + 6, sizeof(*argv));

        if (!argv)
                return NULL;
        argv[at++] = strdup("heapwatchd");
        argv[at++] = strdup("--once");
        argv[at++] = strdup("--push");
        argv[at++] = strdup(endpoint);
        for (size_t i = 0; i < n_more; i++)
                argv[at++] = strdup(more[i]);
        argv[at++] = strdup("--");
        for (size_t i = 0; i < n; i++)
                argv[at++] = file_argument(paths[i], error);
        bool whole = true;
        for (size_t i = 0; i < at; i++)
                whole &= argv[i] != NULL;
        if (whole)
                return argv;
        for (size_t i = 0; i < at; i++)
                free(argv[i]);
        free(argv);
        return NULL;
}

static void free_arguments(char **argv)
{
        for (size_t i = 0; argv && argv[i]; i++)
                free(argv[i]);
        free(argv);
}

/* Starts the daemon: default signals, its standard output joined to standard error (ours may be a pipe of data). */
static int start_child(struct feed_files *f, char *const *argv)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none, defaults;
        char path[PATH_MAX];
        int r;

        sibling_program("heapwatchd", path, sizeof(path));
        sigemptyset(&none);
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGPIPE);
        if (posix_spawn_file_actions_init(&actions))
                return -ENOMEM;
        if (posix_spawnattr_init(&attributes)) {
                (void)posix_spawn_file_actions_destroy(&actions);
                return -ENOMEM;
        }
        r = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        if (!r)
                r = posix_spawnattr_setsigmask(&attributes, &none);
        if (!r)
                r = posix_spawnattr_setsigdefault(&attributes, &defaults);
        if (!r)
                r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (!r)
                r = posix_spawnp(&f->child, path, &actions, &attributes, argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
        (void)posix_spawn_file_actions_destroy(&actions);
        if (r)
                f->child = 0;
        return -r;
}

/* Reaps the child once it has exited; with `block`, waits for that. */
static bool reap(struct feed_files *f, bool block)
{
        pid_t r;

        if (!f->child)
                return true;
        do
                r = waitpid(f->child, &f->status, block ? 0 : WNOHANG);
        while (r < 0 && errno == EINTR);
        if (r == 0)
                return false;
        f->child = 0;
        if (f->child_fd >= 0 && f->wait_fd >= 0)
                (void)epoll_ctl(f->wait_fd, EPOLL_CTL_DEL, f->child_fd, NULL);
        return true;
}

static enum feed_event child_verdict(struct feed_files *f, bool finished)
{
        f->stage = OVER;
        if (WIFSIGNALED(f->status))
                return feed_fail(&f->feed, "heapwatchd was ended by signal %d (%s)", WTERMSIG(f->status),
                                 strsignal(WTERMSIG(f->status)));
        if (finished && f->failed)
                return feed_fail(&f->feed, "%s", f->failed);
        if (WEXITSTATUS(f->status) == 127 && !finished)
                return feed_fail(&f->feed, "heapwatchd was not found beside heapwatch, nor in PATH");
        if (WEXITSTATUS(f->status))
                return feed_fail(&f->feed, "heapwatchd ended with status %d; its messages above say why",
                                 WEXITSTATUS(f->status));
        if (!finished)
                return feed_fail(&f->feed, "heapwatchd ended before it had delivered everything");
        return FEED_END;
}

/* ------------------------------------------------------------- the messages */

/* Receives one message of two frames. 1 when there was one, 0 when there is none, -1 when it is malformed. */
static int receive(struct feed_files *f)
{
        const char *reason = NULL;
        zmq_msg_t part;
        int frames = 0;

        (void)zmq_msg_init(&part);
        do {
                if (zmq_msg_recv(&part, f->socket, ZMQ_DONTWAIT) < 0) {
                        (void)zmq_msg_close(&part);
                        return 0;
                }
                frames++;
                if (frames == 2)
                        f->update = hw_update_unpack(zmq_msg_data(&part), zmq_msg_size(&part), &reason);
        } while (zmq_msg_more(&part));
        (void)zmq_msg_close(&part);
        if (f->update && frames == 2)
                return 1;
        (void)feed_fail(&f->feed, "heapwatchd sent a message that cannot be read: %s",
                        reason ? reason : "not two frames");
        return -1;
}

static void forget_update(struct feed_files *f)
{
        if (f->update)
                hw_update_unref(f->update);
        f->update = NULL;
}

/* Of several files that cannot be read, the reason is given for the first; the others are counted. */
static void take_failures(struct feed_files *f, const Hw__DaemonState *state)
{
        char more[64] = "";

        if (state->n_failed > 1)
                (void)snprintf(more, sizeof(more), "; %zu other%s could not be read either", state->n_failed - 1,
                               state->n_failed > 2 ? "s" : "");
        if (state->n_failed > 0 && asprintf(&f->failed, "%s%s", state->failed[0], more) < 0)
                f->failed = NULL;
}

static enum feed_event deliver(struct feed_files *f, const Hw__Update **ret_update)
{
        const Hw__Update *u = f->update;

        if (f->stage == DRAINING)
                f->deadline_ms = clock_mono_ms() + DRAIN_MS;
        if (u->body_case == HW__UPDATE__BODY_DAEMON && u->daemon->finished) {
                f->stage = FINISHED;
                take_failures(f, u->daemon);
                f->deadline_ms = clock_mono_ms() + EXIT_MS;
        }
        *ret_update = u;
        return FEED_UPDATE;
}

/* Waits for a message or the child's exit, at most until `until_ms`. False when a signal came first. */
static bool wait_for_either(struct feed_files *f, uint64_t until_ms)
{
        zmq_pollitem_t items[2] = {
                { .socket = f->socket, .events = ZMQ_POLLIN },
                { .fd = f->child_fd, .events = ZMQ_POLLIN },
        };
        uint64_t now = clock_mono_ms();

        if (f->child && f->child_fd < 0 && until_ms > now + LOOK_MS)
                until_ms = now + LOOK_MS;
        long wait_ms = until_ms == UINT64_MAX ? -1 : until_ms > now ? (long)(until_ms - now) : 0;
        return zmq_poll(items, f->child && f->child_fd >= 0 ? 2 : 1, wait_ms) >= 0 || errno != EINTR;
}

/* One step: what has come, or what the child's exit means now. FEED_NOTHING: keep waiting. */
static enum feed_event step(struct feed_files *f, const Hw__Update **ret_update)
{
        int r;

        if (f->stage == OVER)
                return f->feed.error.text[0] ? FEED_FAILED : FEED_END;
        if (f->stage != FINISHED) {
                r = receive(f);
                if (r > 0)
                        return deliver(f, ret_update);
                if (r < 0) {
                        f->stage = OVER;
                        return FEED_FAILED;
                }
        }
        if (f->stage == READING && reap(f, false)) {
                f->stage = DRAINING;
                f->deadline_ms = clock_mono_ms() + DRAIN_MS;
        }
        if (f->stage == DRAINING && clock_mono_ms() >= f->deadline_ms)
                return child_verdict(f, false);
        if (f->stage == FINISHED && reap(f, false))
                return child_verdict(f, true);
        if (f->stage == FINISHED && clock_mono_ms() >= f->deadline_ms) {
                f->stage = OVER; /* everything is here; feed_close ends the child */
                return FEED_END;
        }
        return FEED_NOTHING;
}

static enum feed_event files_next(struct feed *feed, int timeout_ms, const Hw__Update **ret_update)
{
        struct feed_files *f = files(feed);
        uint64_t until_ms = timeout_ms < 0 ? UINT64_MAX : clock_mono_ms() + (uint64_t)timeout_ms;
        enum feed_event event;

        forget_update(f);
        while ((event = step(f, ret_update)) == FEED_NOTHING && clock_mono_ms() < until_ms) {
                uint64_t due_ms = f->stage != READING && f->deadline_ms < until_ms ? f->deadline_ms : until_ms;
                if (!wait_for_either(f, due_ms))
                        break;
        }
        return event;
}

/* -------------------------------------------------------------- open, close */

static void files_close(struct feed *feed)
{
        struct feed_files *f = files(feed);

        forget_update(f);
        if (f->child) {
                (void)kill(f->child, SIGKILL); /* it has nothing to clean up */
                (void)reap(f, true);
        }
        if (f->wait_fd >= 0)
                (void)close(f->wait_fd);
        if (f->child_fd >= 0)
                (void)close(f->child_fd);
        if (f->socket)
                (void)zmq_close(f->socket);
        if (f->context)
                (void)zmq_ctx_term(f->context);
        if (f->directory[0]) {
                (void)unlink(f->endpoint + strlen("ipc://"));
                (void)rmdir(f->directory);
        }
        free(f->failed);
        free(f);
}

static size_t files_daemon(const struct feed *feed)
{
        (void)feed;
        return 0;
}

static const char *files_endpoint(const struct feed *feed, size_t daemon)
{
        (void)feed;
        (void)daemon;
        return "files";
}

static int files_fd(const struct feed *feed)
{
        return files(feed)->wait_fd;
}

static const struct feed_ops files_ops = {
        .next = files_next,
        .close = files_close,
        .daemon = files_daemon,
        .endpoint = files_endpoint,
        .fd = files_fd,
        .live = false,
};

static int make_directory(struct feed_files *f)
{
        static const char template[] = "/tmp/heapwatch-XXXXXX";

        memcpy(f->directory, template, sizeof(template));
        if (!mkdtemp(f->directory)) {
                int e = errno;

                f->directory[0] = '\0';
                return -e;
        }
        (void)snprintf(f->endpoint, sizeof(f->endpoint), "ipc://%s/push", f->directory);
        return 0;
}

static int open_socket(struct feed_files *f)
{
        f->context = zmq_ctx_new();
        f->socket = f->context ? zmq_socket(f->context, ZMQ_PULL) : NULL;
        if (!f->socket || zmq_bind(f->socket, f->endpoint) < 0)
                return -errno;
        return 0;
}

static int open_wait(struct feed_files *f)
{
        struct epoll_event readable = { .events = EPOLLIN };
        size_t size = sizeof(int);
        int socket_fd;

        f->child_fd = pidfd_open(f->child, 0);
        f->wait_fd = epoll_create1(EPOLL_CLOEXEC);
        if (f->child_fd < 0 && errno != ENOSYS)
                return -errno;
        if (f->wait_fd < 0 || zmq_getsockopt(f->socket, ZMQ_FD, &socket_fd, &size) < 0 ||
            epoll_ctl(f->wait_fd, EPOLL_CTL_ADD, socket_fd, &readable) < 0 ||
            (f->child_fd >= 0 && epoll_ctl(f->wait_fd, EPOLL_CTL_ADD, f->child_fd, &readable) < 0))
                return -errno;
        return 0;
}

/* What may have been meant by a name that is no file: a target, or with ~1, ~2 a run of it before the newest. */
static bool no_such_log(const char *name, struct error *error)
{
        const char *before = strrchr(name, '~');
        int length = before ? (int)(before - name) : (int)strlen(name);
        long runs_ago = before ? strtol(before + 1, NULL, 10) : 0;

        return error_set(error,
                         "%s: %s; for a target: `heapwatch summary %s`, `heapwatch report %s`, or if it is recorded "
                         "recording:%.*s@-%ld",
                         name, strerror(ENOENT), name, name, length, name,
                         (runs_ago > 0 && runs_ago < 1000 ? runs_ago : 0) + 1);
}

/* Whether any file can be read, or why the first cannot. The daemon reports one that is missing among others. */
static bool any_file(const char *const *paths, size_t n, struct error *error)
{
        for (size_t i = n; i-- > 0;)
                if (stretch_is(paths[i]) || access(paths[i], R_OK) == 0)
                        return true;
        if (n == 1 && errno == ENOENT && hw_target_name_valid(paths[0]) && !strchr(paths[0], '.'))
                return no_such_log(paths[0], error);
        return error_set(error, "%s: %s%s", paths[0], strerror(errno),
                         n > 1 ? "; the others cannot be read either" : "");
}

struct feed *feed_files(const char *const *paths, size_t n, const char *const *daemon_args, struct error *error)
{
        struct feed_files *f = calloc(1, sizeof(*f));
        struct feed *feed = f ? &f->feed : NULL;
        const char *what = "no private directory in /tmp";
        char **argv = NULL;
        int r = -ENOMEM;

        if (n && !any_file(paths, n, error)) {
                free(f);
                return NULL;
        }
        if (!f) {
                error_set(error, "out of memory");
                return NULL;
        }
        f->feed.ops = &files_ops;
        f->child_fd = f->wait_fd = -1;
        r = make_directory(f);
        if (r < 0)
                goto fail;
        what = "no socket for heapwatchd";
        r = open_socket(f);
        if (r < 0)
                goto fail;
        what = "heapwatchd cannot be started";
        argv = child_arguments(f->endpoint, paths, n, daemon_args, error);
        if (!argv) { /* `error` says why */
                feed_close(&feed);
                return NULL;
        }
        r = start_child(f, argv);
        if (r < 0)
                goto fail;
        what = "heapwatchd cannot be waited for";
        r = open_wait(f);
        if (r < 0)
                goto fail;
        free_arguments(argv);
        return feed;
fail:
        error_set(error, "%s: %s", what, r == -ENOENT ? "not found beside heapwatch, nor in PATH" : strerror(-r));
        free_arguments(argv);
        feed_close(&feed);
        return NULL;
}
