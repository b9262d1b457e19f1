/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - only one thread is stopped: the runtime's ticker. It holds no lock
 * where it waits in a system call, never allocates, and runs no Haskell code; all
 * the program notices is a late tick. In a non-threaded runtime it is the main
 * thread instead, in the select(2) or poll(2) in which it waits: there the agent
 * can begin the log at once, and before 9.2 there is no other thread. A thread is
 * only stopped there: PTRACE_SEIZE, PTRACE_INTERRUPT, and its instruction pointer
 * is after a `syscall` instruction of one of the calls it waits in. With it
 *
 *      1. memory is mapped, by running that same `syscall` instruction again,
 *      2. a few instructions written there call dlopen, dlsym and the agent's
 *         entry, on a stack in that memory, and end in a getpid(2) with a magic
 *         argument, by which we notice their end: no signal is used,
 *      3. the memory is unmapped and all registers are restored; the kernel
 *        then continues the interrupted call as after any signal.
 *
 * Signals for the thread that come meanwhile are delivered to it. Each step has
 * a time limit. If it is exceeded before anything was changed, the thread is
 * released. If it is exceeded in the calls, or we are killed during them, the
 * thread finishes them by itself: the code after the getpid(2) loads the
 * registers and returns, and only the memory stays mapped.
 */
#include "client/attach/inject.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"

#if defined(__x86_64__)

#define QUIET_MS   5000  /* for a thread to wait in a system call */
#define TRY_MS     1000  /* the same, where there is another one to try */
#define CALLS_MS   20000 /* for dlopen and the agent's entry */
#define PAGE_BYTES 131072
#define TEXT_AT    1024 /* offset in the memory: first code, then the texts, then the stack */
#define SAID_AT    8192
#define SAID_BYTES 1024
#define MAGIC      0x48574147u
#define ENTRY      "heapwatch_agent_attach"

struct injection {
        pid_t pid, ticker; /* 0: it has none */
        pid_t tid;         /* the thread that is borrowed */
        bool main_thread;  /* that is the borrowed one */
        bool single;       /* there is no thread besides these two */
        struct user_regs_struct before;
        uint64_t dlopen_at, dlsym_at;
        uint64_t memory; /* 0: none */
        struct error *error;
};

/* --------------------------------------------------------- what is where */

static bool is_named(pid_t pid, const char *task, const char *beginning)
{
        char path[320], name[32] = "";

        snprintf(path, sizeof(path), "/proc/%d/task/%.200s/comm", (int)pid, task);
        FILE *f = fopen(path, "re");
        bool is = f && fgets(name, sizeof(name), f) && !strncmp(name, beginning, strlen(beginning));
        if (f)
                (void)fclose(f);
        return is;
}

static void find_threads(struct injection *j)
{
        char path[64];
        const struct dirent *e;

        snprintf(path, sizeof(path), "/proc/%d/task", (int)j->pid);
        DIR *d = opendir(path);
        j->single = d != NULL;
        while (d && (e = readdir(d)) != NULL) {
                pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
                if (is_named(j->pid, e->d_name, "ghc_ticker"))
                        j->ticker = tid;
                else if (tid > 0 && tid != j->pid)
                        j->single = false;
        }
        if (d)
                (void)closedir(d);
}

/* Where the file of the C library is mapped in the process; its path as seen there. */
static bool find_libc(const struct injection *j, uint64_t *ret_base, char *path, size_t size)
{
        char line[4600], name[64];
        bool found = false;

        snprintf(name, sizeof(name), "/proc/%d/maps", (int)j->pid);
        FILE *f = fopen(name, "re");
        while (f && !found && fgets(line, sizeof(line), f)) {
                unsigned long long from, offset;
                int at = 0;
                if (sscanf(line, "%llx-%*x %*s %llx %*s %*s %n", &from, &offset, &at) != 2 || at == 0 || offset != 0)
                        continue;
                line[strcspn(line, "\n")] = '\0';
                const char *slash = strrchr(line + at, '/');
                if (!slash || (strcmp(slash, "/libc.so.6") != 0 && strncmp(slash, "/libc-2.", 8) != 0))
                        continue;
                *ret_base = from;
                found = (size_t)snprintf(path, size, "%s", line + at) < size;
        }
        if (f)
                (void)fclose(f);
        return found;
}

static bool within(uint64_t offset, uint64_t n, size_t size)
{
        return offset <= size && n <= size - offset;
}

/* The value of a function in .dynsym; 0: not there. */
static uint64_t dynamic_symbol(const uint8_t *image, size_t size, const char *wanted)
{
        Elf64_Ehdr header;
        Elf64_Shdr s, names;

        if (size < sizeof(header))
                return 0;
        memcpy(&header, image, sizeof(header));
        if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
            !within(header.e_shoff, (uint64_t)header.e_shnum * sizeof(s), size))
                return 0;
        for (unsigned i = 0; i < header.e_shnum; i++) {
                memcpy(&s, image + header.e_shoff + i * sizeof(s), sizeof(s));
                if (s.sh_type != SHT_DYNSYM || s.sh_link >= header.e_shnum || !within(s.sh_offset, s.sh_size, size))
                        continue;
                memcpy(&names, image + header.e_shoff + s.sh_link * sizeof(s), sizeof(names));
                if (!within(names.sh_offset, names.sh_size, size) || names.sh_size == 0 ||
                    image[names.sh_offset + names.sh_size - 1] != '\0')
                        continue;
                for (uint64_t k = 0; k < s.sh_size / sizeof(Elf64_Sym); k++) {
                        Elf64_Sym symbol;
                        memcpy(&symbol, image + s.sh_offset + k * sizeof(symbol), sizeof(symbol));
                        if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < names.sh_size &&
                            !strcmp((const char *)image + names.sh_offset + symbol.st_name, wanted))
                                return symbol.st_value;
                }
        }
        return 0;
}

/* Finds dlopen and dlsym in the process, from its own C library's file. */
static bool find_functions(struct injection *j)
{
        char path[4400], inside[4096];
        uint64_t base = 0;
        struct stat st;
        int fd = -1;

        if (find_libc(j, &base, inside, sizeof(inside))) {
                snprintf(path, sizeof(path), "/proc/%d/root%s", (int)j->pid, inside);
                fd = open(path, O_RDONLY | O_CLOEXEC);
                if (fd < 0) /* for a chroot the kernel shows us the full path */
                        fd = open(inside, O_RDONLY | O_CLOEXEC);
        }
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
                uint8_t *image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
                if (image != MAP_FAILED) {
                        uint64_t open_value = dynamic_symbol(image, (size_t)st.st_size, "dlopen");
                        uint64_t sym_value = dynamic_symbol(image, (size_t)st.st_size, "dlsym");
                        j->dlopen_at = open_value ? base + open_value : 0;
                        j->dlsym_at = sym_value ? base + sym_value : 0;
                        (void)munmap(image, (size_t)st.st_size);
                }
        }
        if (fd >= 0)
                (void)close(fd);
        return (j->dlopen_at && j->dlsym_at) ||
               error_set(j->error, "its C library has no dlopen (glibc before 2.34, or another one)");
}

/* ------------------------------------------------------------ the borrowed thread */

/* Waits for the next stop; its status in *ret. False on timeout, or when the thread has ended. */
static bool wait_stop(const struct injection *j, uint64_t until_ms, int *ret)
{
        for (;;) {
                pid_t r = waitpid(j->tid, ret, __WALL | WNOHANG);
                if (r == j->tid && WIFSTOPPED(*ret))
                        return true;
                if (r == j->tid)
                        return error_set(j->error, "it has just ended");
                if (r < 0 && errno != EINTR)
                        return error_set(j->error, "cannot wait for it: %s", strerror(errno));
                if (clock_mono_ms() > until_ms)
                        return error_set(j->error, "its thread did not stop in time");
                (void)usleep(500);
        }
}

static bool is_group_or_event(int status)
{
        return status >> 16 != 0;
}

/* The signal that caused the stop, to be delivered to the thread; 0: not a signal of its own. */
static int own_signal(int status)
{
        int s = WSTOPSIG(status);

        return is_group_or_event(status) || s == SIGTRAP || s == (SIGTRAP | 0x80) ? 0 : s;
}

static bool waits_in_call(const struct injection *j)
{
        static const long calls[] = { SYS_select,     SYS_pselect6,   SYS_poll,  SYS_ppoll,
                                      SYS_read,       SYS_nanosleep,  SYS_futex, SYS_clock_nanosleep,
                                      SYS_epoll_wait, SYS_epoll_pwait };
        enum { OF_TICKER = 6 }; /* from here on only for the ticker: a main thread in them may be anywhere */
        uint8_t code[2] = { 0 };
        struct iovec here = { code, sizeof(code) }, there = { (void *)(j->before.rip - 2), sizeof(code) };

        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) - (j->main_thread ? OF_TICKER : 0); i++)
                if ((long)j->before.orig_rax == calls[i])
                        return process_vm_readv(j->pid, &here, 1, &there, 1, 0) == sizeof(code) && code[0] == 0x0f &&
                               code[1] == 0x05;
        return false;
}

static bool seize(const struct injection *j)
{
        if (ptrace(PTRACE_SEIZE, j->tid, 0, PTRACE_O_TRACESYSGOOD) == 0)
                return true;
        if (errno != EPERM)
                return error_set(j->error, "ptrace: %s", strerror(errno));
        return error_set(j->error,
                         "ptrace is not allowed: it must be a process of yours and kernel.yama.ptrace_scope 0, or "
                         "you need CAP_SYS_PTRACE (root; in a container --cap-add SYS_PTRACE)");
}

/* It stops as soon as it can; one that is stopped, as soon as it goes on. */
static bool interrupt(const struct injection *j)
{
        return ptrace(PTRACE_INTERRUPT, j->tid, 0, 0) == 0 || error_set(j->error, "ptrace: %s", strerror(errno));
}

/*
 * Lets the main thread go on to its next call of the runtime's select, also to one that does not wait: a program that
 * computes all the time asks there whether a sleep is over. It is about to stop then; a signal for it in *ret_signal.
 */
static bool run_to_call(struct injection *j, uint64_t until_ms, int *ret_signal)
{
        int status;

        do {
                if (ptrace(PTRACE_SYSCALL, j->tid, 0, *ret_signal) < 0)
                        return error_set(j->error, "ptrace: %s", strerror(errno));
                if (!wait_stop(j, until_ms, &status))
                        return clock_mono_ms() > until_ms && interrupt(j); /* it makes no call at all */
                *ret_signal = own_signal(status);
                if (ptrace(PTRACE_GETREGS, j->tid, 0, &j->before) < 0)
                        return error_set(j->error, "ptrace: %s", strerror(errno));
        } while (WSTOPSIG(status) != (SIGTRAP | 0x80) || !waits_in_call(j));
        return interrupt(j) &&
               (ptrace(PTRACE_CONT, j->tid, 0, 0) == 0 || error_set(j->error, "ptrace: %s", strerror(errno)));
}

static bool run_a_while(struct injection *j, uint64_t until_ms, int *ret_signal)
{
        if (j->main_thread)
                return run_to_call(j, until_ms, ret_signal);
        if (ptrace(PTRACE_CONT, j->tid, 0, *ret_signal) < 0)
                return error_set(j->error, "ptrace: %s", strerror(errno));
        (void)usleep(1000);
        return interrupt(j);
}

/*
 * Waits until the thread waits in a system call. It is stopped then, also on timeout; a signal for it in
 * *ret_signal.
 */
static bool stop_quietly(struct injection *j, uint64_t ms, int *ret_signal)
{
        uint64_t until = clock_mono_ms() + ms;
        int status;

        *ret_signal = 0;
        if (!interrupt(j))
                return false;
        for (;;) {
                if (!wait_stop(j, until + TRY_MS, &status))
                        return error_set(j->error, "its thread cannot be stopped");
                *ret_signal = own_signal(status);
                if (ptrace(PTRACE_GETREGS, j->tid, 0, &j->before) < 0)
                        return error_set(j->error, "ptrace: %s", strerror(errno));
                if (!*ret_signal && waits_in_call(j))
                        return true;
                if (clock_mono_ms() >= until)
                        return error_set(j->error, "it was never quiet enough: its thread did not wait in the runtime");
                if (!run_a_while(j, until, ret_signal))
                        return false;
        }
}

/* Continues to the next entry into, or return from, a system call, delivering the thread's own signals. */
static bool next_call(const struct injection *j, uint64_t until_ms, struct user_regs_struct *ret)
{
        int status = 0, signal = 0;

        do {
                if (ptrace(PTRACE_SYSCALL, j->tid, 0, signal) < 0)
                        return error_set(j->error, "ptrace: %s", strerror(errno));
                if (!wait_stop(j, until_ms, &status))
                        return false;
                signal = own_signal(status);
                if (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL)
                        return error_set(j->error, "the library could not be loaded: signal %d; nothing was changed",
                                         signal);
        } while (WSTOPSIG(status) != (SIGTRAP | 0x80));
        return ptrace(PTRACE_GETREGS, j->tid, 0, ret) == 0 || error_set(j->error, "ptrace: %s", strerror(errno));
}

/* A system call in the process; its result in *ret. */
static bool call_kernel(struct injection *j, long number, const uint64_t arguments[6], int64_t *ret)
{
        struct user_regs_struct r = j->before;
        uint64_t until = clock_mono_ms() + QUIET_MS;

        r.rip = j->before.rip - 2; /* the `syscall` instruction */
        r.rax = (unsigned long long)number;
        r.orig_rax = (unsigned long long)-1; /* nothing to restart */
        r.rdi = arguments[0];
        r.rsi = arguments[1];
        r.rdx = arguments[2];
        r.r10 = arguments[3];
        r.r8 = arguments[4];
        r.r9 = arguments[5];
        if (ptrace(PTRACE_SETREGS, j->tid, 0, &r) < 0)
                return error_set(j->error, "ptrace: %s", strerror(errno));
        do { /* a signal's handler may come first, with system calls of its own */
                if (!next_call(j, until, &r))
                        return false;
        } while (r.orig_rax != (unsigned long long)number || r.rip != j->before.rip);
        if (!next_call(j, until, &r))
                return false;
        *ret = (int64_t)r.rax;
        return true;
}

/*
 * The registers with which the thread continues. An interrupted system call is restarted explicitly: the kernel does
 * so only when it leaves the stop in which the call was interrupted, which has passed. Its codes for this (-512 to
 * -516) must not reach the program.
 */
static struct user_regs_struct as_before(const struct injection *j)
{
        struct user_regs_struct r = j->before;
        int64_t result = (int64_t)r.rax;

        if (result >= -516 && result <= -512) {
                r.rip -= 2;
                r.rax = r.orig_rax;
                r.orig_rax = (unsigned long long)-1;
        }
        return r;
}

static bool is_stopped(const struct injection *j)
{
        struct user_regs_struct r;

        return ptrace(PTRACE_GETREGS, j->tid, 0, &r) == 0;
}

/* ------------------------------------------------------------------ the code */

struct code {
        uint8_t bytes[512];
        size_t size;
};

static void put(struct code *c, const char *bytes, size_t n)
{
        memcpy(c->bytes + c->size, bytes, n);
        c->size += n;
}

static void put_value(struct code *c, const char *opcode, uint64_t value)
{
        put(c, opcode, 2);
        memcpy(c->bytes + c->size, &value, sizeof(value));
        c->size += sizeof(value);
}

#define PUT(c, text) put(c, text, sizeof(text) - 1)
#define MOV_RAX      "\x48\xb8"
#define MOV_RDI      "\x48\xbf"
#define MOV_RSI      "\x48\xbe"
#define MOV_RDX      "\x48\xba"
#define MOV_R11      "\x49\xbb"
#define CALL_RAX     "\xff\xd0"

/* A jump to the end if rax is 0; returns where to put its distance. */
static size_t jump_if_zero(struct code *c)
{
        PUT(c,
            "\x48\x85\xc0"
            "\x74\x00");
        return c->size - 1;
}

/* Loads the registers and jumps where they say; rcx and r11 are free after a system call. */
static void put_return(struct code *c, const struct user_regs_struct *r)
{
        put_value(c, MOV_RAX, r->rax);
        put_value(c, MOV_RDX, r->rdx);
        put_value(c, "\x48\xbb", r->rbx);
        put_value(c, "\x48\xbc", r->rsp);
        put_value(c, "\x48\xbd", r->rbp);
        put_value(c, MOV_RSI, r->rsi);
        put_value(c, MOV_RDI, r->rdi);
        put_value(c, "\x49\xb8", r->r8);
        put_value(c, "\x49\xb9", r->r9);
        put_value(c, "\x49\xba", r->r10);
        put_value(c, "\x49\xbc", r->r12);
        put_value(c, "\x49\xbd", r->r13);
        put_value(c, "\x49\xbe", r->r14);
        put_value(c, "\x49\xbf", r->r15);
        put_value(c, MOV_R11, r->rip);
        PUT(c, "\x41\xff\xe3"); /* jmp r11 */
}

/* dlopen(library); dlsym(it, entry); entry(settings, said, size); getpid(MAGIC, result, library's handle); back */
static struct code make_code(const struct injection *j, uint64_t library, uint64_t entry, uint64_t settings,
                             uint64_t said)
{
        struct code c = { .size = 0 };
        size_t no_library, no_entry;

        PUT(&c, "\x4d\x31\xe4"); /* xor r12, r12 */
        put_value(&c, MOV_RDI, library);
        put_value(&c, MOV_RSI, 2 /* RTLD_NOW */);
        put_value(&c, MOV_RAX, j->dlopen_at);
        PUT(&c, CALL_RAX "\x49\x89\xc4"); /* mov r12, rax */
        no_library = jump_if_zero(&c);
        PUT(&c, "\x48\x89\xc7"); /* mov rdi, rax */
        put_value(&c, MOV_RSI, entry);
        put_value(&c, MOV_RAX, j->dlsym_at);
        PUT(&c, CALL_RAX);
        no_entry = jump_if_zero(&c);
        put_value(&c, MOV_RDI, settings);
        put_value(&c, MOV_RSI, said);
        put_value(&c, MOV_RDX, SAID_BYTES);
        PUT(&c, CALL_RAX);
        c.bytes[no_library] = (uint8_t)(c.size - no_library - 1);
        c.bytes[no_entry] = (uint8_t)(c.size - no_entry - 1);
        PUT(&c, "\x48\x89\xc6"); /* mov rsi, rax */
        PUT(&c, "\x4c\x89\xe2"); /* mov rdx, r12 */
        put_value(&c, MOV_RDI, MAGIC);
        put_value(&c, MOV_RAX, SYS_getpid);
        PUT(&c, "\x0f\x05"); /* syscall; what follows is reached only if nobody takes the thread back there */
        struct user_regs_struct back = as_before(j);
        put_return(&c, &back);
        return c;
}

static bool write_there(const struct injection *j, uint64_t at, const void *bytes, size_t n)
{
        struct iovec here = { (void *)(uintptr_t)bytes, n }, there = { (void *)at, n };

        return process_vm_writev(j->pid, &here, 1, &there, 1, 0) == (ssize_t)n ||
               error_set(j->error, "cannot write into its memory: %s", strerror(errno));
}

static bool put_texts(const struct injection *j, const char *library, const char *settings, struct code *ret)
{
        uint64_t at = j->memory + TEXT_AT, library_at = at, entry_at, settings_at;

        entry_at = library_at + strlen(library) + 1;
        settings_at = entry_at + sizeof(ENTRY);
        if (settings_at + strlen(settings) + 1 > j->memory + SAID_AT)
                return error_set(j->error, "the library's path is too long");
        *ret = make_code(j, library_at, entry_at, settings_at, j->memory + SAID_AT);
        return write_there(j, library_at, library, strlen(library) + 1) &&
               write_there(j, entry_at, ENTRY, sizeof(ENTRY)) &&
               write_there(j, settings_at, settings, strlen(settings) + 1) &&
               write_there(j, j->memory, ret->bytes, ret->size);
}

/* Runs the code to its end. */
static bool run_code(struct injection *j, int *ret_outcome)
{
        struct user_regs_struct r = j->before;
        uint64_t until = clock_mono_ms() + CALLS_MS;

        r.rip = j->memory;
        r.rsp = j->memory + PAGE_BYTES - 256; /* 16-byte aligned, as before a call */
        r.rbp = 0;
        r.rax = 0;
        r.orig_rax = (unsigned long long)-1;
        if (ptrace(PTRACE_SETREGS, j->tid, 0, &r) < 0)
                return error_set(j->error, "ptrace: %s", strerror(errno));
        do {
                if (!next_call(j, until, &r))
                        return clock_mono_ms() > until
                                       ? error_set(
                                                 j->error,
                                                 "loading the agent has not ended after %d s; its thread goes on when "
                                                 "it has, and `heapwatch ps` says then whether the agent is in it",
                                                 CALLS_MS / 1000)
                                       : false;
        } while (r.orig_rax != SYS_getpid || r.rdi != MAGIC);
        *ret_outcome = (int)r.rsi;
        bool loaded = r.rdx != 0;
        if (!next_call(j, until, &r)) /* out of it */
                return false;
        return loaded ||
               error_set(j->error,
                         "its dynamic linker could not load the agent: is the library's file there, in the program's "
                         "own file system, and readable for it?");
}

static bool borrow(struct injection *j, const char *library, const char *settings, int *ret_outcome, char *said,
                   size_t said_size)
{
        static const uint64_t map[6] = {
                0, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0
        };
        int64_t result;
        struct code code;
        bool good;

        if (!call_kernel(j, SYS_mmap, map, &result))
                return false;
        if (result < 0 && result > -4096)
                return error_set(j->error, "no memory for code can be mapped in it: %s", strerror((int)-result));
        j->memory = (uint64_t)result;
        good = put_texts(j, library, settings, &code) && run_code(j, ret_outcome);
        if (good) {
                struct iovec here = { said, said_size - 1 }, there = { (void *)(j->memory + SAID_AT), said_size - 1 };
                ssize_t n = process_vm_readv(j->pid, &here, 1, &there, 1, 0);
                said[n > 0 ? n : 0] = '\0';
        }
        if (!is_stopped(j)) /* it finishes by itself, using that memory */
                return false;
        const uint64_t unmap[6] = { j->memory, PAGE_BYTES, 0, 0, 0, 0 };
        struct error *error = j->error;
        j->error = NULL; /* only the first error is reported */
        (void)call_kernel(j, SYS_munmap, unmap, &result);
        j->error = error;
        return good;
}

/* Stops a thread where it can be borrowed. */
static bool take_thread(struct injection *j, pid_t tid, uint64_t ms)
{
        int signal;

        j->tid = tid;
        j->main_thread = tid == j->pid;
        if (!seize(j))
                return false;
        if (stop_quietly(j, ms, &signal))
                return true;
        (void)ptrace(PTRACE_DETACH, j->tid, 0, signal);
        return false;
}

static bool take_any_thread(struct injection *j, bool threaded)
{
        bool may_main = !threaded && (j->single || !j->ticker);

        if (may_main && take_thread(j, j->pid, j->ticker ? TRY_MS : QUIET_MS))
                return true;
        if (j->ticker)
                return take_thread(j, j->ticker, QUIET_MS);
        return may_main ? false
                        : error_set(j->error,
                                    "it has no ticker thread (+RTS -V0?), the only one that can be "
                                    "borrowed safely");
}

bool inject(pid_t pid, bool threaded, const char *library, const char *settings, int *ret_outcome, char *said,
            size_t said_size, struct error *error)
{
        struct injection j = { .pid = pid, .error = error };

        if (said_size > SAID_BYTES)
                said_size = SAID_BYTES;
        find_threads(&j);
        if (!find_functions(&j) || !take_any_thread(&j, threaded))
                return false;
        bool good = borrow(&j, library, settings, ret_outcome, said, said_size);
        const struct user_regs_struct back = as_before(&j);
        (void)ptrace(PTRACE_SETREGS, j.tid, 0, &back);
        (void)ptrace(PTRACE_DETACH, j.tid, 0, 0);
        return good;
}

#else

bool inject(pid_t pid, bool threaded, const char *library, const char *settings, int *ret_outcome, char *said,
            size_t said_size, struct error *error)
{
        (void)pid, (void)threaded, (void)library, (void)settings, (void)ret_outcome, (void)said, (void)said_size;
        return error_set(error, "attaching works on x86-64 only; start it with `heapwatch run`");
}

#endif
