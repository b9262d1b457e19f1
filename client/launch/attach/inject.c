/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - only one thread is stopped: the runtime's ticker. It holds no lock
 * where it waits in a system call, never allocates, and runs no Haskell code; all
 * the program notices is a late tick. In a non-threaded runtime it is the main
 * thread instead, in the select(2) or poll(2) in which it waits: there the agent
 * can begin the log at once, and before 9.2 there is no other thread. With it
 * (tracee.c)
 *
 *      1. memory is mapped, by running its `syscall` instruction again,
 *      2. a few instructions written there (code.c) call dlopen, dlsym and the
 *         agent's entry, on a stack in that memory,
 *      3. the memory is unmapped and all registers are restored; the kernel
 *        then continues the interrupted call as after any signal.
 *
 * Each step has a time limit. If it is exceeded before anything was changed, the
 * thread is released. If it is exceeded in the calls, or we are killed during
 * them, the thread finishes them by itself, and only the memory stays mapped.
 *
 * All of it is done by a process of its own. A program can make whoever reads its
 * memory wait for ever, by pages that it fills itself (userfaultfd(2), FUSE), and
 * only SIGKILL ends that; other signals wait there until the thread is released.
 */
#include "client/launch/attach/inject.h"

#include "agent/agent.h"

#if defined(__x86_64__)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/child.h"
#include "proto/base/kernel_file.h"
#include "proto/base/clock.h"

#define QUIET_MS   5000  /* for a thread to wait in a system call */
#define TRY_MS     1000  /* the same, where there is another one to try */
#define CALLS_MS   20000 /* for dlopen and the agent's entry */
#define PAGE_BYTES 131072
#define TEXT_AT    1024 /* offset in the memory: first code, then the texts, then the stack */
#define SAID_AT    12288
#define SAID_BYTES 1024
#define ENTRY      "heapwatch_agent_attach"

struct injection {
        struct tracee tracee; /* the thread that is borrowed */
        pid_t ticker;         /* 0: it has none */
        bool single;          /* there is no thread besides the first one and the ticker */
        struct loader loader;
        uint64_t memory; /* 0: none */
};

static bool is_named(pid_t pid, const char *task, const char *beginning)
{
        char name[32];

        return kernel_file_read(name, sizeof(name), "/proc/%d/task/%s/comm", (int)pid, task) > 0 &&
               !strncmp(name, beginning, strlen(beginning));
}

static void find_threads(struct injection *j)
{
        char path[64];
        const struct dirent *e;

        snprintf(path, sizeof(path), "/proc/%d/task", (int)j->tracee.pid);
        DIR *d = opendir(path);
        j->single = d != NULL;
        while (d && (e = readdir(d)) != NULL) {
                pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
                if (is_named(j->tracee.pid, e->d_name, "ghc_ticker"))
                        j->ticker = tid;
                else if (tid > 0 && tid != j->tracee.pid)
                        j->single = false;
        }
        if (d)
                (void)closedir(d);
}

static bool write_code(const struct injection *j, const char *library, const char *settings)
{
        const uint64_t at = j->memory + TEXT_AT, entry_at = at + strlen(library) + 1;
        const struct code_addresses addresses = { .loader = j->loader,
                                                  .library = at,
                                                  .entry = entry_at,
                                                  .settings = entry_at + sizeof(ENTRY),
                                                  .said = j->memory + SAID_AT,
                                                  .said_bytes = SAID_BYTES };
        const struct user_regs_struct back = tracee_registers_before(&j->tracee);

        if (addresses.settings + strlen(settings) + 1 > addresses.said)
                return error_set(j->tracee.error, "the library's path is too long");
        const struct code code = code_make(&addresses, &back);
        return tracee_write(&j->tracee, addresses.library, library, strlen(library) + 1) &&
               tracee_write(&j->tracee, addresses.entry, ENTRY, sizeof(ENTRY)) &&
               tracee_write(&j->tracee, addresses.settings, settings, strlen(settings) + 1) &&
               tracee_write(&j->tracee, j->memory, code.bytes, code.size);
}

/* Runs the code to its end. */
static bool run_code(struct injection *j, int *ret_outcome)
{
        struct user_regs_struct r = j->tracee.before;
        uint64_t until = clock_mono_ms() + CALLS_MS;

        r.rip = j->memory;
        r.rsp = j->memory + PAGE_BYTES - 256; /* 16-byte aligned, as before a call */
        r.rbp = 0;
        r.rax = 0;
        r.orig_rax = (unsigned long long)-1;
        if (!tracee_set_registers(&j->tracee, &r))
                return false;
        do {
                if (!tracee_next_call(&j->tracee, until, &r))
                        return clock_mono_ms() > until
                                       ? error_set(
                                                 j->tracee.error,
                                                 "loading the agent has not ended after %d s; its thread goes on when "
                                                 "it has, and `heapwatch ps` says then whether the agent is in it",
                                                 CALLS_MS / 1000)
                                       : false;
        } while (r.orig_rax != SYS_getpid || r.rdi != CODE_MAGIC);
        *ret_outcome = (int)r.rsi;
        bool loaded = r.rdx != 0;
        if (!tracee_next_call(&j->tracee, until, &r)) /* out of it */
                return false;
        return loaded ||
               error_set(j->tracee.error,
                         "its dynamic linker could not load the agent: is the library's file there, in the program's "
                         "own file system, and readable for it?");
}

static bool borrow_thread(struct injection *j, const char *library, const char *settings, int *ret_outcome, char *said,
                          size_t said_size)
{
        static const uint64_t map[6] = {
                0, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0
        };
        int64_t result;
        bool good;

        if (!tracee_system_call(&j->tracee, SYS_mmap, map, &result))
                return false;
        if (result < 0 && result > -4096)
                return error_set(j->tracee.error, "no memory for code can be mapped in it: %s", strerror((int)-result));
        j->memory = (uint64_t)result;
        good = write_code(j, library, settings) && run_code(j, ret_outcome);
        if (good)
                said[tracee_read(&j->tracee, j->memory + SAID_AT, said, said_size - 1)] = '\0';
        if (!tracee_is_stopped(&j->tracee)) /* it finishes by itself, using that memory */
                return false;
        const uint64_t unmap[6] = { j->memory, PAGE_BYTES, 0, 0, 0, 0 };
        struct error *error = j->tracee.error;
        j->tracee.error = NULL; /* only the first error is reported */
        (void)tracee_system_call(&j->tracee, SYS_munmap, unmap, &result);
        j->tracee.error = error;
        return good;
}

static bool stop_any_thread(struct injection *j, bool threaded)
{
        bool may_main = !threaded && (j->single || !j->ticker);

        if (may_main && tracee_stop(&j->tracee, j->tracee.pid, j->ticker ? TRY_MS : QUIET_MS))
                return true;
        if (j->ticker)
                return tracee_stop(&j->tracee, j->ticker, QUIET_MS);
        return false;
}

struct injected {
        bool good;
        int outcome;
        char said[SAID_BYTES];
        struct error error;
};

static bool inject_here(pid_t pid, bool threaded, const char *library, const char *settings, struct injected *ret)
{
        struct injection j = { .tracee = { .pid = pid, .error = &ret->error } };

        find_threads(&j);
        if (!loader_find(pid, &j.loader, &ret->error))
                return false;
        if (threaded && !j.ticker) {
                (void)snprintf(ret->said, sizeof(ret->said),
                               "it has no ticker thread (+RTS -V0?), the only one that can be borrowed safely");
                ret->outcome = AGENT_NOT_YET; /* a program that has just been started has none either */
                return true;
        }
        if (!stop_any_thread(&j, threaded))
                return false;
        bool good = borrow_thread(&j, library, settings, &ret->outcome, ret->said, sizeof(ret->said));
        tracee_release(&j.tracee);
        return good;
}

/* In a process of its own, which ends before or after it, but not in the middle, unless it is killed. */
static noreturn void inject_apart(pid_t pid, bool threaded, const char *library, const char *settings,
                                  struct injected *result, int to)
{
        sigset_t all;

        sigfillset(&all);
        (void)sigprocmask(SIG_SETMASK, &all, NULL);
        result->good = inject_here(pid, threaded, library, settings, result);
        _exit(write(to, result, sizeof(*result)) != sizeof(*result)); /* at once: it is less than PIPE_BUF */
}

bool inject_library(pid_t pid, bool threaded, const char *library, const char *settings, uint64_t max_ms,
                    int *ret_outcome, char *said, size_t said_size, struct error *error)
{
        struct injected result = { .outcome = *ret_outcome };
        const uint64_t until = clock_mono_ms() + max_ms;
        int ends[2];
        uint64_t now;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return error_set(error, "no pipe can be made: %s", strerror(errno));
        const pid_t child = fork(); /* with the handlers of libraries: it allocates */
        if (child == 0)
                inject_apart(pid, threaded, library, settings, &result, ends[1]);
        (void)close(ends[1]);
        struct pollfd from = { ends[0], POLLIN, 0 };
        while ((now = clock_mono_ms()) < until && poll(&from, 1, (int)(until - now)) < 0 && errno == EINTR)
                ;
        const bool answered = from.revents && read(ends[0], &result, sizeof(result)) == sizeof(result);
        (void)close(ends[0]);
        if (child < 0)
                return error_set(error, "no process can be started");
        (void)kill(child, SIGKILL); /* it has nothing more to do */
        (void)child_wait(child);
        if (!answered)
                return error_set(error,
                                 "bringing the agent in was given up after %g s, since the program holds up what reads "
                                 "its memory, or it was killed; the program's thread continues",
                                 (double)(clock_mono_ms() + max_ms - until) / 1000);
        *error = result.error;
        *ret_outcome = result.outcome;
        (void)snprintf(said, said_size, "%s", result.said);
        return result.good;
}

#else

bool inject_library(pid_t pid, bool threaded, const char *library, const char *settings, uint64_t max_ms,
                    int *ret_outcome, char *said, size_t said_size, struct error *error)
{
        (void)pid, (void)threaded, (void)library, (void)settings, (void)max_ms;
        (void)ret_outcome, (void)said, (void)said_size;
        return error_set(error,
                         "the agent can be loaded into running programs on x86-64 only; start it with `heapwatch run`");
}

#endif
