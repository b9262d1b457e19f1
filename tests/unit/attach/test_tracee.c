/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that is attached to, without a Haskell runtime: its first thread waits in poll(2) with known values in all
 * its registers, is borrowed, and has them again when poll returns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "client/launch/attach/inject.h"

#if defined(__x86_64__)

#define PATIENCE_MS 60000

struct registers {
        uint64_t general[8]; /* rbx r8 r9 r10 r12 r13 r14 r15 */
        uint8_t vectors[16][16];
        uint64_t result;
};

/* poll(pollfd, 1, -1) by an instruction of ours, with these registers before and after it. */
__attribute__((noinline)) static void poll_with(struct pollfd *fd, struct registers *r)
{
        register struct registers *values __asm__("rax") = r;

        __asm__ volatile(
                "push %%rbp\n\t"
                "mov %%rax, %%rbp\n\t"
                "mov 0(%%rbp), %%rbx\n\t"
                "mov 8(%%rbp), %%r8\n\t"
                "mov 16(%%rbp), %%r9\n\t"
                "mov 24(%%rbp), %%r10\n\t"
                "mov 32(%%rbp), %%r12\n\t"
                "mov 40(%%rbp), %%r13\n\t"
                "mov 48(%%rbp), %%r14\n\t"
                "mov 56(%%rbp), %%r15\n\t"
                ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
                "movdqu 64+16*\\n(%%rbp), %%xmm\\n\n\t"
                ".endr\n\t"
                "mov %[call], %%eax\n\t"
                "syscall\n\t"
                "mov %%rbx, 0(%%rbp)\n\t"
                "mov %%r8, 8(%%rbp)\n\t"
                "mov %%r9, 16(%%rbp)\n\t"
                "mov %%r10, 24(%%rbp)\n\t"
                "mov %%r12, 32(%%rbp)\n\t"
                "mov %%r13, 40(%%rbp)\n\t"
                "mov %%r14, 48(%%rbp)\n\t"
                "mov %%r15, 56(%%rbp)\n\t"
                ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
                "movdqu %%xmm\\n, 64+16*\\n(%%rbp)\n\t"
                ".endr\n\t"
                "mov %%rax, 320(%%rbp)\n\t"
                "pop %%rbp\n\t"
                : "+r"(values)
                : [call] "i"(SYS_poll), "D"(fd), "S"(1L), "d"(-1L)
                : "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
                  "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
                  "memory");
}

/* Descriptors of the other process: to say that it is ready, and to be told to end. */
enum {
        READY = 200,
        END,
};

static volatile sig_atomic_t signals;

static void count(int signal)
{
        signals++;
}

/* What ends the wait says how many signals came meanwhile. */
static int wait_and_compare(void)
{
        struct registers before = { .result = 1 }, after;
        struct pollfd p = { .fd = END, .events = POLLIN };
        char expected = 0;

        for (size_t i = 0; i < offsetof(struct registers, result); i++)
                ((uint8_t *)&before)[i] = (uint8_t)(i * 37 + 11);
        after = before;
        after.result = 0;
        if (signal(SIGUSR1, count) == SIG_ERR || write(READY, "", 1) != 1)
                return 2;
        do
                poll_with(&p, &after);
        while ((int64_t)after.result == -EINTR);
        if (read(END, &expected, 1) != 1)
                return 2;
        return memcmp(&before, &after, sizeof(before)) == 0 && signals == expected ? 0 : 1;
}

static int compute(void)
{
        volatile unsigned i = 0;

        if (write(READY, "", 1) != 1)
                return 2;
        for (;;)
                i++;
}

static const uint8_t poll_code[] = {
        0xb8, SYS_poll, 0, 0, 0, 0x0f, 0x05, 0xc3
}; /* mov $SYS_poll, %eax; syscall; ret */
static uint8_t *poll_page;
static int faults;

static void map_page(int flags)
{
        const int all = PROT_READ | PROT_WRITE | PROT_EXEC;

        poll_page = mmap(poll_page, sizeof(poll_code), all, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static bool waits_in_poll(void)
{
        char path[64], call[8] = "";

        (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)getpid(), (int)getpid());
        FILE *f = fopen(path, "re");
        const bool waits = f && fgets(call, sizeof(call), f) && !strncmp(call, "7 ", 2);
        if (f)
                (void)fclose(f);
        return waits;
}

/* In place of the page in which the first thread waits, one that is never filled. */
static void *withhold_page(void *ctx)
{
        struct uffdio_register r = { .range = { (uintptr_t)poll_page, (uint64_t)sysconf(_SC_PAGESIZE) },
                                     .mode = UFFDIO_REGISTER_MODE_MISSING };

        while (!waits_in_poll())
                (void)sched_yield();
        map_page(MAP_FIXED);
        if (ioctl(faults, UFFDIO_REGISTER, &r) < 0 || write(READY, "", 1) != 1)
                _exit(2);
        return ctx;
}

static int hold_readers(void)
{
        struct uffdio_api api = { .api = UFFD_API };
        long (*wait_there)(void *, long, long);
        pthread_t other;

        faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
        map_page(0);
        if (poll_page == MAP_FAILED || ioctl(faults, UFFDIO_API, &api) < 0)
                return 2;
        memcpy(poll_page, poll_code, sizeof(poll_code));
        memcpy(&wait_there, &poll_page, sizeof(poll_page));
        if (pthread_create(&other, NULL, withhold_page, NULL) != 0)
                return 2;
        return (int)wait_there(NULL, 0, -1);
}

struct other {
        pid_t pid;
        int fd; /* written to, its wait ends */
};

/* This program again, started anew: valgrind does not follow. Returns when it is ready. */
static struct other start(const char *what)
{
        int end[2], ready[2];
        char byte, self[4096];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

        assert_true(n > 0);
        self[n] = '\0';
        assert_int_equal(pipe(end), 0);
        assert_int_equal(pipe(ready), 0);
        struct other o = { .pid = fork(), .fd = end[1] };
        if (o.pid == 0) {
                close(end[1]);
                alarm(300);
                if (dup2(end[0], END) == END && dup2(ready[1], READY) == READY)
                        execl(self, self, what, (char *)NULL);
                _exit(2);
        }
        close(end[0]);
        close(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        return o;
}

/* 0: all its registers were as before, and it has had this many signals. */
static int finish(struct other *w, char signals_expected)
{
        int status = 0;

        assert_int_equal(write(w->fd, &signals_expected, 1), 1);
        close(w->fd);
        assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool maps_have(pid_t pid, const char *text)
{
        char path[64], line[4600];
        bool found = false;

        snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
        FILE *f = fopen(path, "re");
        assert_non_null(f);
        while (!found && fgets(line, sizeof(line), f))
                found = strstr(line, text) != NULL;
        fclose(f);
        return found;
}

static void test_its_registers_are_its_own(void **state)
{
        struct other w = start("wait");
        assert_int_equal(finish(&w, 0), 0);
        w = start("wait");
        assert_int_equal(finish(&w, 1), 1); /* and a difference is seen */
}

static void test_a_library_is_loaded_and_nothing_else_stays(void **state)
{
        struct other w = start("wait");
        struct error error = { "" };
        char said[64];
        int outcome = AGENT_NOT_YET;

        assert_false(maps_have(w.pid, "/libanl.so"));
        for (int times = 0; times < 20; times++)
                if (!inject_library(w.pid, false, "libanl.so.1", "", PATIENCE_MS, &outcome, said, sizeof(said), &error))
                        fail_msg("%s", error.text);
        assert_true(maps_have(w.pid, "/libanl.so"));
        assert_false(maps_have(w.pid, "rwxp"));
        assert_int_equal(finish(&w, 0), 0);
}

static void test_a_library_that_is_not_there(void **state)
{
        struct other w = start("wait");
        struct error error = { "" };
        char said[64];
        int outcome = AGENT_NOT_YET;

        assert_false(inject_library(w.pid, false, "/does/not/exist.so", "", PATIENCE_MS, &outcome, said, sizeof(said),
                                    &error));
        assert_non_null(strstr(error.text, "could not load"));
        assert_false(maps_have(w.pid, "rwxp"));
        assert_int_equal(finish(&w, 0), 0);
}

static void test_signals_that_come_meanwhile_are_its_own(void **state)
{
        struct other w = start("wait");
        struct error error = { "" };
        struct tracee t = { .pid = w.pid, .error = &error };
        int64_t result = 0;

        assert_true(tracee_stop(&t, w.pid, PATIENCE_MS));
        assert_true(tracee_is_stopped(&t));
        assert_int_equal(kill(w.pid, SIGUSR1), 0);
        for (int times = 0; times < 3; times++) {
                assert_true(tracee_system_call(&t, SYS_getpid, (uint64_t[6]){ 0 }, &result));
                assert_int_equal(result, w.pid);
        }
        tracee_release(&t);
        assert_false(tracee_is_stopped(&t));
        assert_int_equal(finish(&w, 1), 0);
}

/* It computes: there is no moment at which it could be borrowed, and it goes on. */
static void test_one_that_never_waits(void **state)
{
        struct error error = { "" };
        struct other o = start("compute");
        struct tracee t = { .pid = o.pid, .error = &error };
        int status;

        assert_false(tracee_stop(&t, o.pid, 50));
        assert_non_null(strstr(error.text, "never quiet enough"));
        assert_int_equal(kill(o.pid, SIGTERM), 0);
        assert_int_equal(waitpid(o.pid, &status, 0), o.pid);
        close(o.fd);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* Whoever reads where it waits does so until it fills that page. */
static void test_one_that_holds_up_its_reader(void **state)
{
        struct error error = { "" };
        char said[64];
        int outcome = AGENT_NOT_YET, status;
        int permitted = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

        if (permitted < 0)
                skip();
        (void)close(permitted);
        struct other o = start("hold");
        assert_false(inject_library(o.pid, false, "libanl.so.1", "", 300, &outcome, said, sizeof(said), &error));
        assert_non_null(strstr(error.text, "given up"));
        assert_int_equal(kill(o.pid, SIGTERM), 0);
        assert_int_equal(waitpid(o.pid, &status, 0), o.pid);
        close(o.fd);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void test_one_that_has_ended(void **state)
{
        struct error error = { "" };
        struct other w = start("wait");
        struct tracee t = { .pid = w.pid, .error = &error };

        (void)finish(&w, 0);
        assert_false(tracee_stop(&t, w.pid, PATIENCE_MS));
        assert_string_equal(error.text, "ptrace: No such process");
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_its_registers_are_its_own),
                cmocka_unit_test(test_a_library_is_loaded_and_nothing_else_stays),
                cmocka_unit_test(test_a_library_that_is_not_there),
                cmocka_unit_test(test_signals_that_come_meanwhile_are_its_own),
                cmocka_unit_test(test_one_that_never_waits),
                cmocka_unit_test(test_one_that_holds_up_its_reader),
                cmocka_unit_test(test_one_that_has_ended),
        };

        if (argc == 2)
                return !strcmp(argv[1], "wait")   ? wait_and_compare()
                       : !strcmp(argv[1], "hold") ? hold_readers()
                                                  : compute();
        return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
        return 0;
}

#endif
