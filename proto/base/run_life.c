/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_life.c - DESIGN: as daemon_life.c, lines of text and a lock of fcntl(), which is the runner's alone. The file
 * gets its name when it is locked, so one without a lock is never one that begins.
 */
#include "proto/base/run_life.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/agent_socket.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/daemon_life.h"
#include "proto/base/descriptors.h"
#include "proto/base/process_stat.h"
#include "proto/base/time.h"

#define PATTERN     "run-[A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9]"
#define FRESH_NS    (60 * NS_PER_S) /* just made and without the file, or just killed and unknown to its daemon */
#define REPORTED_NS (24 * 3600 * NS_PER_S) /* a daemon has read of the end by then, or never will */
#define PATH_BYTES  4200
#define TEXT_BYTES  256

static const char *path_in(char out[PATH_BYTES], const char *directory, const char *name)
{
        return snprintf(out, PATH_BYTES, "%s/%s", directory, name) < PATH_BYTES ? out : "";
}

/* ------------------------------------------------------------- the runner's */

int run_life_begin(const char *directory)
{
        char unnamed[PATH_BYTES], path[PATH_BYTES];
        pid_t holder;
        int fd = open(path_in(unnamed, directory, "life~"), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
        int r = fd < 0 ? -errno : daemon_life_lock(fd, &holder);

        if (r == 0 && rename(unnamed, path_in(path, directory, "life")) != 0)
                r = -errno;
        if (r < 0) {
                (void)unlink(unnamed);
                close_fd(&fd);
        }
        return r < 0 ? r : fd;
}

static void write_line(int fd, const char *word, uint64_t one, uint64_t two)
{
        if (fd >= 0)
                (void)dprintf(fd, "%s %" PRIu64 " %" PRIu64 "\n", word, one, two); /* else it is as if it was killed */
}

void run_life_started(int fd, pid_t program)
{
        uint64_t ticks = 0;

        (void)process_stat_read(program, STAT_START_TICKS, &ticks);
        write_line(fd, "program", (uint64_t)program, ticks);
}

void run_life_ended(int fd, int wait_status)
{
        const bool killed = WIFSIGNALED(wait_status);

        write_line(fd, "ended", killed ? 0 : (uint64_t)WEXITSTATUS(wait_status),
                   killed ? (uint64_t)WTERMSIG(wait_status) : 0);
}

/* ----------------------------------------------------------------- reading */

/* A regular file of ours, whatever has its name by now. */
static int open_regular(const char *directory, const char *name, struct stat *st)
{
        char path[PATH_BYTES];
        int fd = open(path_in(path, directory, name), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

        if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode) || st->st_uid != geteuid()))
                close_fd(&fd);
        return fd;
}

static bool is_held(int fd)
{
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        return fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/* The agent's claim is locked by the program that it is in, and by those that it forks. */
static bool has_claim(const char *directory)
{
        struct stat st;
        int fd = open_regular(directory, AGENT_SOCKET_OF_RUN ".pid", &st);
        const bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

        close_fd(&fd);
        return held;
}

static bool is_process(uint64_t pid, uint64_t ticks)
{
        uint64_t now;

        return pid > 0 && pid <= INT32_MAX && process_stat_read((pid_t)pid, STAT_START_TICKS, &now) && now == ticks &&
               process_has_program((pid_t)pid);
}

static void parse_life(int fd, const char *directory, struct run_life *ret)
{
        char text[TEXT_BYTES], *rest = NULL;
        const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
        uint64_t one, two;
        bool lives = has_claim(directory);

        text[n > 0 ? n : 0] = '\0';
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                if (sscanf(line, "program %" SCNu64 " %" SCNu64, &one, &two) == 2 && one <= INT32_MAX) {
                        lives |= is_process(one, two);
                        ret->pid = (uint32_t)one;
                } else if (sscanf(line, "ended %" SCNu64 " %" SCNu64, &one, &two) == 2 && one < 256 && two < 128) {
                        ret->end = RUN_LIFE_ENDED;
                        ret->status = (uint32_t)one;
                        ret->signal = (uint32_t)two;
                }
        }
        if (ret->end != RUN_LIFE_ENDED)
                ret->end = lives ? RUN_LIFE_RUNS : RUN_LIFE_KILLED;
}

void run_life_read(const char *directory, struct run_life *ret)
{
        struct stat st;
        int fd = open_regular(directory, "life", &st);

        *ret = (struct run_life){ .end = access(directory, F_OK) == 0 ? RUN_LIFE_UNKNOWN : RUN_LIFE_NONE };
        if (fd >= 0 && is_held(fd))
                ret->end = RUN_LIFE_RUNS;
        else if (fd >= 0)
                parse_life(fd, directory, ret);
        close_fd(&fd);
}

bool run_life_directory(const char *socket, char *ret, size_t size)
{
        const char *slash = strrchr(socket, '/');
        const size_t n = slash ? (size_t)(slash - socket) : 0;

        if (n == 0 || n >= size || strncmp(slash + 1, AGENT_SOCKET_OF_RUN, strlen(AGENT_SOCKET_OF_RUN)) != 0)
                return false;
        memcpy(ret, socket, n);
        ret[n] = '\0';
        const char *name = strrchr(ret, '/');
        return name && fnmatch(PATTERN, name + 1, 0) == 0;
}

bool run_life_has_living_socket(const char *socket)
{
        const char *slash = strrchr(socket, '/');
        int pid;

        return sscanf(slash ? slash + 1 : socket, AGENT_SOCKET_OF_RUN "-%d", &pid) == 1 && pid > 0 &&
               process_has_program(pid);
}

/* ---------------------------------------------------------------- removing */

void run_life_remove(const char *directory)
{
        char path[PATH_BYTES];
        struct dirent *e;
        struct stat st;
        DIR *d = opendir(directory);

        while (d && (e = readdir(d))) {
                const bool is_output = !strcmp(e->d_name, "output");

                if (e->d_name[0] != '.' && !run_life_has_living_socket(e->d_name) &&
                    lstat(path_in(path, directory, e->d_name), &st) == 0 && !(is_output && st.st_size > 0))
                        (void)unlink(path);
        }
        if (d)
                (void)closedir(d);
        (void)rmdir(directory); /* fails, as it should, if the program's output or a living socket is in it */
}

static bool is_left(const char *directory)
{
        struct run_life life;
        struct stat st;
        char path[PATH_BYTES];

        run_life_read(directory, &life);
        if (life.end == RUN_LIFE_RUNS || has_claim(directory))
                return false;
        if (stat(life.end == RUN_LIFE_ENDED ? path_in(path, directory, "life") : directory, &st) != 0)
                return false;
        const uint64_t then_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S, now_ns = clock_wall_ns();
        return now_ns > then_ns && now_ns - then_ns > (life.end == RUN_LIFE_ENDED ? REPORTED_NS : FRESH_NS);
}

void run_life_sweep(const char *parent)
{
        char path[PATH_BYTES];
        struct dirent *e;
        struct stat st;
        DIR *d = opendir(parent);

        while (d && (e = readdir(d)))
                if (fnmatch(PATTERN, e->d_name, 0) == 0 && lstat(path_in(path, parent, e->d_name), &st) == 0 &&
                    S_ISDIR(st.st_mode) && st.st_uid == geteuid() && is_left(path))
                        run_life_remove(path);
        if (d)
                (void)closedir(d);
}

const char *signal_name(int signal)
{
#define NAME(of) [SIG##of] = #of
        static const char *const names[] = { NAME(HUP),   NAME(INT),    NAME(QUIT), NAME(ILL),   NAME(TRAP), NAME(ABRT),
                                             NAME(BUS),   NAME(FPE),    NAME(KILL), NAME(USR1),  NAME(SEGV), NAME(USR2),
                                             NAME(PIPE),  NAME(ALRM),   NAME(TERM), NAME(CHLD),  NAME(CONT), NAME(STOP),
                                             NAME(TSTP),  NAME(TTIN),   NAME(TTOU), NAME(URG),   NAME(XCPU), NAME(XFSZ),
                                             NAME(PROF),  NAME(VTALRM), NAME(POLL), NAME(WINCH), NAME(SYS),  NAME(PWR),
                                             NAME(STKFLT) };
#undef NAME
        return signal > 0 && (size_t)signal < ARRAY_SIZE(names) ? names[signal] : NULL;
}
