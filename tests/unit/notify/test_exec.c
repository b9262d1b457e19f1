/* SPDX-License-Identifier: BSD-3-Clause */
/* exec: what the program gets, and that hanging, forking, flooding and dying do no harm. */
#include "tests/unit/notify/support.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/out/notify/executor.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

struct seen {
        unsigned done;
        struct exec_result result;
};

static void on_done(void *ctx, const struct exec_result *result)
{
        struct seen *s = ctx;

        s->result = *result;
        s->done++;
}

static struct event_base *base;

static int set_up(void **state)
{
        base = event_base_new();
        return base ? 0 : -1;
}

static int tear_down(void **state)
{
        event_base_free(base);
        return 0;
}

static struct exec_result run(const char *const *argv, uint64_t timeout_ns)
{
        struct alert_event *n = made_up_event(FIRING);
        struct seen seen = { .done = 0 };
        struct error error = { "" };
        struct exec *e = exec_start(base, argv, n, timeout_ns, on_done, &seen, &error);

        alert_event_unref(&n);
        assert_string_equal(error.text, "");
        assert_non_null(e);
        run_until(base, &seen.done, 1);
        assert_int_equal(seen.done, 1);
        return seen.result;
}

static struct exec_result shell(const char *script, uint64_t timeout_ns)
{
        const char *argv[] = { "/bin/sh", "-c", script, NULL };

        return run(argv, timeout_ns);
}

#define LONG  60000000000u
#define SHORT 300000000u

TEST(gives_json_and_fields)
{
        struct exec_result r = shell("cat", LONG);

        assert_true(r.ok);
        assert_string_equal(r.detail, "exit status 0");
        assert_non_null(strstr(r.output, "\"alert\":\"leak\""));
        assert_non_null(strstr(r.output, "\"status\":\"firing\""));
        assert_non_null(strstr(r.output, "\"startsAt\":\"2023-11-14T22:14:50.000Z\""));
        assert_non_null(strstr(r.output, "\\u001B[31m"));

        setenv("SECRET_OF_THE_DAEMON", "x", 1);
        r = shell("env; pwd; echo to-stderr >&2", LONG);
        assert_non_null(strstr(r.output, "HEAPWATCH_ALERT=leak\n"));
        assert_non_null(strstr(r.output, "HEAPWATCH_TARGET=api-1\n"));
        assert_non_null(strstr(r.output, "HEAPWATCH_STATE=firing\n"));
        assert_non_null(strstr(r.output, "HEAPWATCH_VALUE=1048576.5\n"));
        assert_non_null(strstr(r.output, "HEAPWATCH_LABEL_TEAM=db\n"));
        assert_non_null(strstr(r.output, "HEAPWATCH_LABEL_DASH_ED=a\"b\\c\n"));
        assert_non_null(strstr(r.output, "\n/\n"));
        assert_non_null(strstr(r.output, "to-stderr"));
        assert_null(strstr(r.output, "SECRET_OF_THE_DAEMON"));
}

TEST(no_shell_is_involved)
{
        const char *argv[] = { "/bin/echo", "$(id)", ";", "`x`", NULL };
        struct exec_result r = run(argv, LONG);

        assert_string_equal(r.output, "$(id) ; `x`\n");
}

TEST(ends_are_told_apart)
{
        const char *missing[] = { "/nonexistent/program", NULL }, *directory[] = { "/tmp", NULL };
        struct exec_result r = shell("exit 3", LONG);

        assert_false(r.ok);
        assert_string_equal(r.detail, "exit status 3");
        r = shell("kill -SEGV $$", LONG);
        assert_false(r.ok);
        assert_string_equal(r.detail, "ended by signal 11");
        r = run(missing, LONG);
        assert_false(r.ok);
        assert_string_equal(r.detail, "cannot start: No such file or directory");
        r = run(directory, LONG);
        assert_string_equal(r.detail, "cannot start: Permission denied");
        r = shell("kill -KILL $PPID; sleep 60", LONG);
        assert_false(r.ok);
        assert_string_equal(r.detail, "unknown end: its keeper process was killed");
}

/* A process that still exists, and is no zombie, has a command line. */
static bool runs(long pid)
{
        char path[64], c;

        snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
        int fd = open(path, O_RDONLY);
        if (fd < 0)
                return false;
        bool yes = read(fd, &c, 1) == 1;
        close(fd);
        return yes;
}

/* None of the numbers that the script printed, one a line, runs any more. */
static void assert_all_gone(const char *numbers, unsigned wanted)
{
        unsigned n = 0;

        for (const char *at = numbers; *at; n++) {
                char *end;
                long pid = strtol(at, &end, 10);
                assert_true(end > at && pid > 1);
                assert_false(runs(pid));
                at = *end ? end + 1 : end;
        }
        assert_int_equal(n, wanted);
}

/* The kernel kills it then, soon. */
TEST(a_program_dies_with_its_keeper)
{
        struct exec_result r = shell("echo $$; kill -KILL $PPID; while :; do sleep 1; done", LONG);
        const long pid = strtol(r.output, NULL, 10);

        assert_string_equal(r.detail, "unknown end: its keeper process was killed");
        assert_true(pid > 1);
        for (unsigned ms = 0; runs(pid); ms++) {
                assert_true(ms < 60000);
                usleep(1000);
        }
}

TEST(descriptors_are_not_inherited)
{
        const int fd = fcntl(STDIN_FILENO, F_DUPFD, 64); /* without FD_CLOEXEC */
        struct exec_result r = shell("for n in /proc/self/fd/*; do echo ${n##*/}; done", LONG);

        assert_true(fd >= 64);
        assert_true(r.ok);
        assert_int_equal(strncmp(r.output, "0\n1\n2\n", 6), 0);
        for (char *at = r.output; *at; at = strchr(at, '\n') + 1)
                assert_true(strtol(at, NULL, 10) < 64);
        close(fd);
}

static unsigned lines(const char *text)
{
        unsigned n = 0;

        for (; *text; text++)
                n += *text == '\n';
        return n;
}

TEST(hanging_is_ended_with_all_children)
{
        /* A child, a child that ignores SIGTERM, one with a session of its own, and one of its children. */
        static const char script[] =
                "trap '' TERM; echo $$; sleep 600 & echo $!;"
                "(trap '' TERM INT HUP; sleep 600) & echo $!;"
                "setsid sh -c 'echo $$; sleep 600 & echo $!; wait' & wait";
        struct exec_result r = shell("sleep 600", SHORT);

        assert_string_equal(r.detail, "killed: no end within 300 ms");
        /* On a busy machine they need longer to begin. */
        for (uint64_t patience = SHORT; lines(r.output) < 5 && patience < LONG; patience *= 2) {
                r = shell(script, patience);
                assert_false(r.ok);
                assert_true(r.timed_out);
        }
        assert_all_gone(r.output, 5);
}

TEST(what_is_left_behind_is_ended_too)
{
        struct exec_result r = shell("sleep 600 & echo $!; setsid sleep 600 & echo $!; exit 0", LONG);

        assert_true(r.ok);
        assert_all_gone(r.output, 2);
}

TEST(forks_without_end_are_ended)
{
        /* Whoever is forked, however deep, holds the FIFO open for writing: its end is the end of them all. */
        char directory[] = "/tmp/hw-exec-XXXXXX", fifo[64], script[512], c;

        assert_non_null(mkdtemp(directory));
        snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
        assert_int_equal(mkfifo(fifo, 0600), 0);
        int fd = open(fifo, O_RDONLY | O_NONBLOCK);
        snprintf(script, sizeof(script),
                 "exec 9>%s; echo x >&9;"
                 "f() { (setsid sleep 600 & sleep 600 & (sleep 600 & sleep 600) & sleep 600) & };"
                 "i=0; while [ $i -lt 30 ]; do f; i=$((i+1)); done; while :; do f; wait -n; done",
                 fifo);
        struct exec_result r = shell(script, SHORT);

        assert_true(r.timed_out);
        assert_string_equal(r.detail, "killed: no end within 300 ms");
        while (read(fd, &c, 1) == 1)
                ;
        assert_int_equal(read(fd, &c, 1), 0);
        close(fd);
        unlink(fifo);
        rmdir(directory);
}

TEST(floods_are_cut)
{
        struct exec_result r = shell("yes flood", LONG);

        assert_false(r.ok);
        assert_false(r.timed_out);
        assert_string_equal(r.detail, "killed: it printed more than 1.00 MiB");
        assert_int_equal(r.output_size, EXEC_OUTPUT_BYTES);
        assert_int_equal(strlen(r.output), EXEC_OUTPUT_BYTES);
        assert_true(r.output_total < 2 * EXEC_FLOOD_BYTES);

        r = shell("head -c 100000 /dev/zero | tr '\\0' x", LONG);
        assert_true(r.ok);
        assert_int_equal(r.output_size, EXEC_OUTPUT_BYTES);
        assert_int_equal(r.output_total, 100000);
}

TEST(closed_output_is_no_busy_loop)
{
        struct exec_result r = shell("exec >&- 2>&-; sleep 0.2", LONG);

        assert_true(r.ok);
        assert_int_equal(r.output_total, 0);
}

/* For this process and its children: the system call that the kernel does not know. */
static bool deny(unsigned number)
{
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = sizeof(filter) / sizeof(*filter), .filter = filter };

        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* On an old kernel: 0 when all is as on a new one. */
static int without_pidfd(void)
{
        if (!deny(SYS_pidfd_open))
                return 77;
        event_reinit(base);
        struct exec_result r = shell("echo here", LONG);
        if (!r.ok || strcmp(r.output, "here\n") != 0 || strcmp(r.detail, "exit status 0") != 0)
                return 1;
        r = shell("setsid sleep 600 & sleep 600", SHORT);
        return r.timed_out && !strcmp(r.detail, "killed: no end within 300 ms") ? 0 : 2;
}

TEST(old_kernels_have_no_pidfd)
{
        int status;
        pid_t child = fork();

        if (child == 0)
                _exit(without_pidfd());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
                skip(); /* no filters here */
        assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(cancel_kills)
{
        char path[] = "/tmp/hw-exec-XXXXXX", script[128], text[32] = "";
        const char *argv[] = { "/bin/sh", "-c", script, NULL };
        struct alert_event *n = made_up_event(FIRING);
        struct seen seen = { .done = 0 };
        struct error error;
        int fd = mkstemp(path);

        snprintf(script, sizeof(script), "setsid sleep 600 & echo $! > %s; wait", path);
        struct exec *e = exec_start(base, argv, n, LONG, on_done, &seen, &error);
        for (uint64_t end = clock_mono_ns() + 120000000000u; !strchr(text, '\n');) {
                assert_true(clock_mono_ns() < end);
                event_base_loop(base, EVLOOP_NONBLOCK);
                assert_true(pread(fd, text, sizeof(text) - 1, 0) >= 0);
        }
        for (uint64_t end = clock_mono_ns() + 120000000000u; !runs(strtol(text, NULL, 10));)
                assert_true(clock_mono_ns() < end); /* between fork and exec it has no command line for a moment */
        exec_cancel(&e);
        assert_null(e);
        assert_int_equal(seen.done, 0);
        assert_all_gone(text, 1);
        close(fd);
        unlink(path);
        alert_event_unref(&n);
}

TEST(leaks_no_descriptors)
{
        int before = dup(0);

        close(before);
        for (int i = 0; i < 20; i++)
                (void)shell("true", LONG);
        int after = dup(0);
        close(after);
        assert_int_equal(before, after);
}

static int begin_tests(void **state)
{
        signal(SIGPIPE, SIG_IGN);
        return set_up(state);
}

TEST_GROUP(begin_tests, tear_down)
