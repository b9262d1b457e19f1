/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: three things are watched: a pipe with the program's output, a pidfd
 * that reports the keeper's exit, and a timer. When the keeper has exited, all
 * writers of the pipes are gone, so what is left in them is read and the result
 * is complete. Where the kernel has no pidfd, the report pipe is used: the keeper
 * writes there and exits.
 *
 * On timeout the keeper is told to kill (SIGTERM); a keeper that does not exit
 * within GRACE is killed itself. At most READ_TURN bytes of output are read per
 * turn; a program that prints endlessly soon exceeds EXEC_FLOOD_BYTES.
 */
#include "client/out/notify/executor.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/out/notify/alert_event.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/child.h"
#include "proto/base/descriptors.h"
#include "proto/base/document.h"
#include "proto/base/error.h"
#include "proto/base/event.h"

/* --------------------------------------------------------- its environment */

/*
 * The environment of an exec action: an event's fields, and nothing of the notifier's own environment. A label becomes
 * HEAPWATCH_LABEL_<NAME>: in upper case, with '_' for everything that is not a letter or digit. Pure.
 */

/* Each text ends with its NUL. */
__attribute__((format(printf, 2, 3))) static void append_format(FILE *to, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        (void)vfprintf(to, format, args);
        va_end(args);
        (void)fputc('\0', to);
}

static void add_label(FILE *to, const char *label, const char *value)
{
        char name[128];
        size_t n = 0;

        for (; label[n] && n < sizeof(name) - 1; n++) {
                unsigned char c = (unsigned char)label[n];
                name[n] = c < 0x80 && isalnum(c) ? (char)toupper(c) : '_';
        }
        name[n] = '\0';
        if (value)
                append_format(to, "HEAPWATCH_LABEL_%s=%s", name, value);
}

static void add_all(FILE *to, const struct alert_event *e)
{
        static const char *const texts[][2] = {
                { "ALERT", "alert" },
                { "GROUP", "group" },
                { "TARGET", "target" },
                { "BAND", "band" },
                { "BAND_SOURCE", "bandSource" },
                { "BAND_NAME", "bandName" },
                { "STATE", "status" },
                { "SEVERITY", "severity" },
                { "VALUE_TEXT", "valueText" },
                { "SENTENCE", "sentence" },
                { "ACTIVE_AT", "activeAt" },
                { "STARTS_AT", "startsAt" },
                { "AT", "at" },
                { "FINGERPRINT", "fingerprint" },
        };
        const json_t *run = json_object_get(e->alert, "run"), *value = json_object_get(e->alert, "value");
        json_t *label;
        const char *name;

        append_format(to, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        append_format(to, "LANG=C.UTF-8");
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                const char *text = alert_event_text(e, texts[i][1]);
                if (text)
                        append_format(to, "HEAPWATCH_%s=%s", texts[i][0], text);
        }
        if (run)
                append_format(to, "HEAPWATCH_RUN=%" JSON_INTEGER_FORMAT, json_integer_value(run));
        if (value)
                append_format(to, "HEAPWATCH_VALUE=%.17g", json_number_value(value));
        json_object_foreach(json_object_get(e->alert, "labels"), name, label)
                add_label(to, name, json_string_value(label));
}

/* NULL-terminated, in one block to free(). NULL when out of memory. docs/ACTIONS.md lists the names. */
static char **exec_env(const struct alert_event *event)
{
        struct document texts;
        char **env = NULL;
        size_t n = 0;

        document_open(&texts);
        if (texts.to)
                add_all(texts.to, event);
        if (document_close(&texts)) {
                for (size_t i = 0; i < texts.size; i++)
                        n += texts.text[i] == '\0';
                env = malloc((n + 1) * sizeof(*env) + texts.size);
        }
        if (env) {
                char *at = memcpy(env + n + 1, texts.text, texts.size);
                for (size_t i = 0; i < n; i++, at += strlen(at) + 1)
                        env[i] = at;
                env[n] = NULL;
        }
        document_done(&texts);
        return env;
}

/* -------------------------------------------------------------------- exec */

#define READ_TURN 65536u
#define GRACE_S   4  /* for the keeper to kill everything */
#define LEAST_FD  10 /* the child moves its descriptors to 0 ... 3 */

enum why { WHY_ITSELF, WHY_TIMEOUT, WHY_FLOOD };

struct exec {
        exec_done_fn *done;
        void *ctx;
        pid_t keeper;
        int pidfd, output, report; /* -1: not open */
        struct event *on_end, *on_output, *on_time;
        uint64_t timeout_ns;
        enum why why; /* why it is being killed */
        struct exec_result result;
};

/* ------------------------------------------------------------- descriptors */

/* Moves a descriptor above those that the child uses; -1 stays. */
static int move_up(int fd)
{
        if (fd < 0 || fd >= LEAST_FD)
                return fd;
        int moved = fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD);
        (void)close(fd);
        return moved;
}

static int open_pipe(int ret_ends[2])
{
        if (pipe2(ret_ends, O_CLOEXEC) < 0)
                return -errno;
        ret_ends[0] = move_up(ret_ends[0]);
        ret_ends[1] = move_up(ret_ends[1]);
        if (ret_ends[0] >= 0 && ret_ends[1] >= 0 && fcntl(ret_ends[0], F_SETFL, O_NONBLOCK) == 0)
                return 0;
        int err = errno;
        close_fd(&ret_ends[0]);
        close_fd(&ret_ends[1]);
        return -err;
}

/* A memory file with the event as JSON and a newline, positioned at its beginning. */
static int open_input(const struct alert_event *event)
{
        char *text = json_event(event);
        int fd = text ? move_up(memfd_create("heapwatch-alert", MFD_CLOEXEC)) : -1;
        size_t size = text ? strlen(text) : 0;

        if (fd >= 0 &&
            (write(fd, text, size) != (ssize_t)size || write(fd, "\n", 1) != 1 || lseek(fd, 0, SEEK_SET) != 0))
                close_fd(&fd);
        free(text);
        return fd;
}

/* ---------------------------------------------------------------- the end */

static void release_exec(struct exec *e)
{
        free_event(&e->on_end);
        free_event(&e->on_output);
        free_event(&e->on_time);
        close_fd(&e->pidfd);
        close_fd(&e->output);
        close_fd(&e->report);
        free(e);
}

static void describe_end(struct exec *e, const struct exec_report *r)
{
        char *out = e->result.detail, text[HW_NUMBER_MAX];
        size_t size = sizeof(e->result.detail);

        if (r && r->end == EXEC_NOT_STARTED)
                snprintf(out, size, "cannot start: %s", strerror(r->number));
        else if (e->why == WHY_TIMEOUT)
                snprintf(out, size, "killed: no end within %s",
                         hw_duration_text(text, sizeof(text), (double)e->timeout_ns));
        else if (e->why == WHY_FLOOD)
                snprintf(out, size, "killed: it printed more than %s",
                         hw_bytes_text(text, sizeof(text), EXEC_FLOOD_BYTES));
        else if (!r)
                snprintf(out, size, "unknown end: its keeper process was killed");
        else if (r->end == EXEC_SIGNALLED)
                snprintf(out, size, "ended by signal %d", r->number);
        else
                snprintf(out, size, "exit status %d", r->number);
        e->result.ok = r && r->end == EXEC_EXITED && r->number == 0 && e->why == WHY_ITSELF;
        e->result.timed_out = e->why == WHY_TIMEOUT;
}

static void kill_keeper(struct exec *e, int sig)
{
        (void)kill(e->keeper, sig); /* not reaped yet, so the pid is still its own */
}

static void begin_kill(struct exec *e, enum why why)
{
        struct timeval grace = { .tv_sec = GRACE_S };

        e->why = why;
        kill_keeper(e, SIGTERM);
        (void)event_add(e->on_time, &grace); /* cannot fail: it replaces a timer that was there */
}

/* Takes a turn's worth of output in. Returns bytes, 0 at its end, or -errno. */
static ssize_t read_output(struct exec *e)
{
        char buffer[READ_TURN];
        ssize_t n = read(e->output, buffer, sizeof(buffer));

        if (n <= 0)
                return n < 0 ? -errno : 0;
        size_t room = EXEC_OUTPUT_BYTES - e->result.output_size;
        size_t take = (size_t)n < room ? (size_t)n : room;
        memcpy(e->result.output + e->result.output_size, buffer, take);
        e->result.output_size += take;
        e->result.output_total += (uint64_t)n;
        return n;
}

static void on_output(evutil_socket_t fd, short what, void *ctx)
{
        struct exec *e = ctx;
        ssize_t n = read_output(e);

        if (n == 0 || (n < 0 && n != -EAGAIN && n != -EINTR))
                (void)event_del(e->on_output);
        if (e->result.output_total > EXEC_FLOOD_BYTES && e->why == WHY_ITSELF) {
                (void)event_del(e->on_output);
                begin_kill(e, WHY_FLOOD);
        }
}

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
        struct exec *e = ctx;
        struct timeval again = { .tv_sec = GRACE_S };

        if (e->why == WHY_ITSELF) {
                begin_kill(e, WHY_TIMEOUT);
                return;
        }
        kill_keeper(e, SIGKILL); /* its program dies with it; a process that the kernel does not let go is waited for */
        (void)event_add(e->on_time, &again);
}

static void on_end(evutil_socket_t fd, short what, void *ctx)
{
        struct exec *e = ctx;
        struct exec_report report;
        exec_done_fn *done = e->done;
        void *done_ctx = e->ctx;

        if (waitpid(e->keeper, NULL, WNOHANG) == 0)
                return; /* a hint that came too early: it stays readable when it is true */
        while (e->result.output_total <= EXEC_FLOOD_BYTES && read_output(e) > 0)
                ;
        bool reported = read(e->report, &report, sizeof(report)) == sizeof(report);
        describe_end(e, reported ? &report : NULL);
        e->result.output[e->result.output_size] = '\0';
        struct exec_result result = e->result;
        release_exec(e);
        done(done_ctx, &result);
}

/* -------------------------------------------------------------- the start */

static pid_t fork_keeper(const struct exec_child *child)
{
        sigset_t all, before;

        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of ours may run in the child */
        pid_t pid = _Fork();
        if (pid == 0)
                exec_child(child);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        return pid;
}

static int watch_program(struct exec *e, struct event_base *base)
{
        const struct timeval timeout = timeval_of_ns(e->timeout_ns);

        e->on_end = event_new(base, e->pidfd >= 0 ? e->pidfd : e->report, EV_READ | EV_PERSIST, on_end, e);
        e->on_output = event_new(base, e->output, EV_READ | EV_PERSIST, on_output, e);
        e->on_time = evtimer_new(base, on_time, e);
        if (!e->on_end || !e->on_output || !e->on_time || event_add(e->on_end, NULL) != 0 ||
            event_add(e->on_output, NULL) != 0 || event_add(e->on_time, &timeout) != 0)
                return -ENOMEM;
        return 0;
}

static int start_program(struct exec *e, struct event_base *base, const char *const *argv,
                         const struct alert_event *event)
{
        int output[2] = { -1, -1 }, report[2] = { -1, -1 }, input = -1, err = -ENOMEM;
        char **env = exec_env(event);

        if (!env)
                goto out;
        input = open_input(event);
        if (input < 0 || (err = open_pipe(output)) < 0 || (err = open_pipe(report)) < 0)
                goto out;
        struct exec_child child = { .argv = (char *const *)argv,
                                    .env = env,
                                    .input = input,
                                    .output = output[1],
                                    .report = report[1],
                                    .parent = getpid() };
        e->output = output[0];
        e->report = report[0];
        e->keeper = fork_keeper(&child);
        err = e->keeper < 0 ? -errno : 0;
        if (err < 0)
                goto out;
        e->pidfd = (int)syscall(SYS_pidfd_open, e->keeper, 0);
        err = e->pidfd < 0 && errno != ENOSYS ? -errno : watch_program(e, base);
out:
        close_fd(&input);
        close_fd(&output[1]);
        close_fd(&report[1]);
        if (e->output < 0)
                close_fd(&output[0]);
        free(env);
        return err;
}

struct exec *exec_start(struct event_base *base, const char *const *argv, const struct alert_event *event,
                        uint64_t timeout_ns, exec_done_fn *done, void *ctx, struct error *error)
{
        struct exec *e = calloc(1, sizeof(*e));
        int err = -ENOMEM;

        if (e) {
                e->done = done;
                e->ctx = ctx;
                e->timeout_ns = timeout_ns;
                e->keeper = e->pidfd = e->output = e->report = -1;
                err = start_program(e, base, argv, event);
        }
        if (err < 0) {
                error_set(error, "cannot make a process: %s", strerror(-err));
                exec_cancel(&e);
        }
        return e;
}

void exec_cancel(struct exec **ep)
{
        struct exec *e = *ep;

        *ep = NULL;
        if (!e)
                return;
        if (e->keeper > 0) {
                (void)kill(e->keeper, SIGTERM);    /* not reaped yet, so the pid is still its own */
                (void)waitpid(e->keeper, NULL, 0); /* at most two seconds: the keeper's rounds are bounded */
        }
        release_exec(e);
}
