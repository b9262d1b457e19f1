/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a command costs, its output thrown away, as one line of KEY=VALUE: wall and CPU time in ns, peak memory in KiB.
 *
 *     bench_command PROGRAM WORD...
 *
 * To the kernel the peak of a process begins with that of the one that started it: of this one, a megabyte. Its status
 * is that of the program.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t time_ns(const struct timeval *t)
{
        return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

int main(int argc, char **argv)
{
        const uint64_t start = clock_ns();
        const pid_t child = argc > 1 ? fork() : -1;
        struct rusage used;
        int status;

        if (child == 0) {
                const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
                for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                        (void)dup2(nothing, fd);
                (void)execv(argv[1], argv + 1);
                _exit(127);
        }
        if (child < 0 || wait4(child, &status, 0, &used) != child) {
                (void)fprintf(stderr, "usage: bench_command PROGRAM WORD...\n");
                return 2;
        }
        printf("wall_ns=%" PRIu64 " cpu_ns=%" PRIu64 " peak_kib=%ld\n", clock_ns() - start,
               time_ns(&used.ru_utime) + time_ns(&used.ru_stime), used.ru_maxrss);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
