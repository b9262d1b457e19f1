/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - PTRACE_SEIZE does not stop, PTRACE_INTERRUPT does, and when the tracer dies, be it by SIGKILL, the kernel
 * detaches and its threads continue. What could keep them stopped is a tracer that itself does not run: so SIGTSTP,
 * SIGINT and the like wait until the end of the stop, and SIGALRM releases them from its handler when the time is over,
 * again and again until none is left.
 */
#include "inspect/process/stop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inspect/process/live.h"
#include "proto/base/clock.h"

#define THREADS_MOST 65536
#define LOCK_MS      3000
#define AGAIN_US     5000 /* after the time is over, the timer goes off again */
#define RELEASE_MS   1000 /* a thread that was to stop is waited for, so that it does not stop later on */

/* The handler of SIGALRM may come between any two accesses: a thread is only stopped once its signal is known. */
struct tracee {
        pid_t tid;
        volatile int signal;                   /* that it stopped with: handed on when it continues */
        volatile bool is_stopped, is_released; /* released: or it has ended */
};

/* Read by the handler of SIGALRM. */
static struct tracee tracees[THREADS_MOST];
static volatile sig_atomic_t n_tracees, is_over;
static uint64_t begin_ns, end_ns;
static int lock = -1;
static pid_t lock_pid; /* whose lock it is; 0: none */
static sigset_t signals_before;

/* 1: it has stopped; 0: not yet, or a signal came before; -1: it has ended. */
static int wait_for(struct tracee *t, int flags)
{
        int status;
        const pid_t r = waitpid(t->tid, &status, __WALL | flags);

        if (r == 0 || (r < 0 && errno == EINTR))
                return 0;
        if (r < 0 || !WIFSTOPPED(status)) {
                t->is_released = true;
                return -1;
        }
        if (status >> 16 == 0) /* a stop by a signal: the signal is handed on */
                t->signal = WSTOPSIG(status);
        t->is_stopped = true;
        return 1;
}

/*
 * Each thread once: with thousands of them the timer goes off again while this lasts. One that has not stopped yet
 * cannot be detached from. False: some are still to stop.
 */
static bool release_all(void)
{
        bool all = true;

        for (int i = 0; i < n_tracees; i++) {
                struct tracee *t = &tracees[i];
                if (!t->is_released && (t->is_stopped || wait_for(t, WNOHANG) > 0)) {
                        (void)ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)t->signal);
                        t->is_released = true;
                }
                all &= t->is_released;
        }
        return all;
}

static void on_alarm(int signal)
{
        const int saved = errno;

        (void)release_all();
        is_over = 1;
        errno = saved;
}

/* --------------------------------------------------------------------------- guards */

static void hold_signals(void)
{
        static const int held[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
        sigset_t set;

        sigemptyset(&set);
        for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
                sigaddset(&set, held[i]);
        (void)sigprocmask(SIG_BLOCK, &set, &signals_before);
}

static void set_timer(uint64_t ns)
{
        const struct sigaction act = { .sa_handler = on_alarm }; /* interrupts waitpid */
        struct itimerval t = { { 0, 0 }, { 0, 0 } };

        if (ns) {
                t.it_value = (struct timeval){ (time_t)(ns / 1000000000u), (suseconds_t)(ns / 1000u % 1000000u + 1) };
                t.it_interval = (struct timeval){ 0, AGAIN_US };
                (void)sigaction(SIGALRM, &act, NULL);
        }
        (void)setitimer(ITIMER_REAL, &t, NULL);
}

/* The lock goes away with us and with the process, and leaves no file. It stays open for the next stop. */
static bool acquire_lock(pid_t pid, int most_ms, struct error *error)
{
        const struct timespec pause = { 0, 10000000 };
        char path[64];

        if (lock_pid != pid) {
                if (lock >= 0)
                        (void)close(lock);
                (void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
                lock = open(path, O_RDONLY | O_CLOEXEC);
                lock_pid = lock >= 0 ? pid : 0;
        }
        for (int ms = 0; lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0; ms += 10) {
                if (ms >= most_ms)
                        return error_set(error, "process %ld is being inspected by another command", (long)pid);
                (void)nanosleep(&pause, NULL);
        }
        return lock >= 0 || error_set(error, "process %ld has ended", (long)pid);
}

/* ------------------------------------------------------------------------- stopping */

/* A list has threads in the same order each time: the one after `*last` is seen first. */
static bool is_traced(pid_t tid, int *last)
{
        for (int i = 0; i < n_tracees; i++) {
                const int at = (*last + 1 + i) % n_tracees;
                if (tracees[at].tid == tid) {
                        *last = at;
                        return true;
                }
        }
        return false;
}

/* 0, or the errno of what the kernel refused. A thread that has ended meanwhile is none. The first one decides. */
static int seize_thread(pid_t pid, pid_t tid)
{
        int r = ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0 ? errno : 0;

        if (r == EPERM && n_tracees == 0 && tracer_request(pid))
                r = ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0 ? errno : 0;
        if (r)
                return r == ESRCH ? 0 : r;
        tracees[n_tracees] = (struct tracee){ .tid = tid };
        n_tracees++;
        (void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
        return 0;
}

/* New threads appear while others are being stopped: until a list has no new one. */
static int seize_all(pid_t pid, bool *ret_new)
{
        char path[64];
        DIR *d;
        const struct dirent *e;
        int r = 0, last = -1;

        *ret_new = false;
        (void)snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
        if (!(d = opendir(path)))
                return errno;
        while (r == 0 && !is_over && (e = readdir(d))) {
                const pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
                if (tid <= 0 || is_traced(tid, &last))
                        continue;
                r = n_tracees < THREADS_MOST ? seize_thread(pid, tid) : E2BIG;
                *ret_new = true;
        }
        (void)closedir(d);
        return r;
}

static bool read_registers(pid_t tid, struct registers *ret)
{
        uint64_t words[REGISTER_WORDS];
        struct iovec there = { words, sizeof(words) };

        return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &there) == 0 &&
               registers_read(ret, MACHINE_HERE, tid, words, there.iov_len / 8);
}

enum stopped stop_begin(pid_t pid, uint64_t most_ns, struct program *program, struct error *error)
{
        struct registers registers;
        bool more = true;
        int r = 0;

        n_tracees = is_over = 0;
        end_ns = 0;
        if (!acquire_lock(pid, LOCK_MS, error))
                return STOPPED_NOT;
        hold_signals();
        begin_ns = clock_mono_ns();
        set_timer(most_ns);
        while (more && r == 0 && !is_over) {
                r = seize_all(pid, &more);
                for (int i = 0; i < n_tracees && !is_over; i++)
                        while (!tracees[i].is_stopped && !is_over && wait_for(&tracees[i], 0) == 0)
                                ;
        }
        bool good = r == 0 && !is_over && n_tracees > 0;
        program->n_registers = 0;
        for (int i = 0; good && i < n_tracees; i++)
                if (tracees[i].is_stopped && read_registers(tracees[i].tid, &registers))
                        good = program_add_registers(program, registers);
        if (good)
                return STOPPED;
        (void)stop_end();
        if (r == EPERM || r == EACCES)
                (void)error_set(error, "process %ld may not be stopped: %s", (long)pid, strerror(r));
        else if (r == E2BIG)
                (void)error_set(error,
                                "process %ld has more than %d threads of the operating system, too many to be stopped; "
                                "--no-stop reads it while it runs",
                                (long)pid, THREADS_MOST);
        else
                (void)error_set(error, "process %ld cannot be stopped: %s", (long)pid,
                                r ? strerror(r) : "it has ended");
        return r == EPERM || r == EACCES ? STOPPED_REFUSED : STOPPED_NOT;
}

/* A thread that waits for a processor stops when it has one, and not before: it is waited for. */
enum stopped stop_thread(pid_t pid, pid_t tid, uint64_t most_ns, struct registers *ret)
{
        int refused, found = 0;

        n_tracees = is_over = 0;
        if (!acquire_lock(pid, 0, NULL))
                return STOPPED_NOT;
        hold_signals();
        set_timer(most_ns);
        begin_ns = clock_mono_ns();
        refused = seize_thread(pid, tid);
        while (n_tracees > 0 && found == 0)
                found = wait_for(&tracees[0], 0);
        if (found > 0 && clock_mono_ns() - begin_ns > most_ns / 2) { /* it had no processor to stop on: now it begins */
                is_over = 0;
                set_timer(most_ns);
        }
        if (found > 0 && read_registers(tid, ret))
                return STOPPED;
        is_over |= found > 0;
        (void)stop_end();
        return refused == EPERM || refused == EACCES ? STOPPED_REFUSED : STOPPED_NOT;
}

bool stop_is_over(void)
{
        return is_over;
}

uint64_t stop_end(void)
{
        const struct timespec pause = { 0, 1000000 };

        for (int ms = 0; !release_all() && ms < RELEASE_MS; ms++)
                (void)nanosleep(&pause, NULL);
        end_ns = clock_mono_ns();
        set_timer(0);
        n_tracees = 0;
        (void)flock(lock, LOCK_UN);
        (void)sigprocmask(SIG_SETMASK, &signals_before, NULL);
        return end_ns - begin_ns;
}
