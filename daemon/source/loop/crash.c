/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: only what a signal handler may call: write(2), and backtrace() once it has been called before, which loads
 * what it needs. The handler has a stack of its own, for the daemon's may be what is exhausted.
 */
#include "daemon/source/loop/shutdown.h"
#include "proto/base/array.h"

#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/daemon_life.h"
#include "proto/base/log_line.h"

#define STACK_BYTES 65536u
#define FRAMES_MAX  64

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static const struct {
        int number;
        const char *name;
} signals[] = {
        { SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" },   { SIGILL, "SIGILL" },
        { SIGFPE, "SIGFPE" },   { SIGABRT, "SIGABRT" }, { SIGSYS, "SIGSYS" },
};

static int life_fd = -1;
static pid_t daemon_pid;
static bool is_file; /* stderr, whose lines begin with the time */

static void put(const char *text)
{
        ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

        (void)ignored;
}

static void put_decimal(unsigned value, unsigned digits, char after)
{
        char text[16];

        text[digits] = after;
        text[digits + 1] = '\0';
        while (digits-- > 0) {
                text[digits] = (char)('0' + value % 10);
                value /= 10;
        }
        put(text);
}

/*
 * UTC, as other lines of the log have it (proto/base/log_line.c). gmtime_r(3) may wait for a lock. The date is that of
 * the proleptic Gregorian calendar, whose days are counted from 1 March of year 0.
 */
static void put_time(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now);
        const unsigned second = (unsigned)(now.tv_sec % 86400), days = (unsigned)(now.tv_sec / 86400) + 719468;
        const unsigned era = days / 146097, of_era = days % 146097;
        const unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
        const unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
        const unsigned month = (5 * of_year + 2) / 153;

        put_decimal(era * 400 + year + (month >= 10), 4, '-');
        put_decimal(month < 10 ? month + 3 : month - 9, 2, '-');
        put_decimal(of_year - (153 * month + 2) / 5 + 1, 2, 'T');
        put_decimal(second / 3600, 2, ':');
        put_decimal(second / 60 % 60, 2, ':');
        put_decimal(second % 60, 2, '.');
        put_decimal((unsigned)(now.tv_nsec / 1000000), 3, 'Z');
        put(" ");
}

static void on_crash(int number, siginfo_t *info, void *context)
{
        void *frames[FRAMES_MAX];

        if (life_fd >= 0 && getpid() == daemon_pid) /* not a child that it has forked */
                daemon_life_crashed(life_fd, number);
        if (is_file)
                put_time();
        put("error heapwatchd " HEAPWATCH_VERSION " crashed: signal=");
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                if (signals[i].number == number)
                        put(signals[i].name);
        put(" address=");
        uintptr_t address = (uintptr_t)info->si_addr;
        char text[2 + 2 * sizeof(address) + 1] = "0x";

        for (size_t i = 0; i < 2 * sizeof(address); i++)
                text[2 + i] = "0123456789abcdef"[address >> (8 * sizeof(address) - 4 * (i + 1)) & 15];
        text[sizeof(text) - 1] = '\0';
        put(text);
        put("; its stack, for addr2line(1):\n");
        backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), STDERR_FILENO);
        (void)raise(number); /* SA_RESETHAND: ends the process, with a core where one is wanted */
}

void crash_catch(int life)
{
        struct sigaction action = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND };
        stack_t stack = { .ss_sp = SANITIZED ? NULL : malloc(STACK_BYTES), .ss_size = STACK_BYTES };
        void *frame;

        if (!stack.ss_sp)
                return;
        life_fd = life;
        daemon_pid = getpid();
        is_file = log_line_sink() == LOG_SINK_FILE;
        (void)backtrace(&frame, 1);
        if (sigaltstack(&stack, NULL) != 0)
                free(stack.ss_sp);
        sigemptyset(&action.sa_mask);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                (void)sigaction(signals[i].number, &action, NULL);
}
