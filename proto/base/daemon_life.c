/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: lines of text. The end is appended, with one write(2), so that a signal handler can do it. A lock of fcntl()
 * belongs to the process alone: children that the daemon forks do not prolong it, and the kernel names its holder.
 */
#include "proto/base/daemon_life.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heapwatch/text.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/kernel_file.h"
#include "proto/base/run_life.h"
#include "proto/base/time.h"

#define SHORT_NS   (60 * NS_PER_S)
#define PAUSE_MAX  300u /* seconds */
#define FILE_BYTES 1024
#define BOOT_BYTES 37 /* with its NUL */
#define PATH_BYTES 4200

int daemon_life_lock(int fd, pid_t *ret_holder)
{
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        *ret_holder = 0;
        if (fcntl(fd, F_SETLK, &lock) == 0)
                return 0;
        if (errno != EACCES && errno != EAGAIN)
                return -errno;
        if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
                *ret_holder = lock.l_pid;
        return -EBUSY;
}

static bool is_locked(int fd)
{
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* A number that the kernel draws at each start of the machine; "" when not known. */
static void read_boot(char out[BOOT_BYTES])
{
        if (kernel_file_read(out, BOOT_BYTES, "/proc/sys/kernel/random/boot_id") < 0)
                out[0] = '\0';
}

/* ----------------------------------------------------------------- reading */

static void parse_life(struct daemon_life *l, char *text)
{
        char boot[BOOT_BYTES], then[BOOT_BYTES] = "", *rest = NULL;

        *l = (struct daemon_life){ .end = LIFE_KILLED };
        for (char *line = strtok_r(text, "\n", &rest); line && l->ended_ns == 0; line = strtok_r(NULL, "\n", &rest)) {
                unsigned long long at = 0;
                int number = 0;

                if (sscanf(line, "pid %d", &number) == 1)
                        l->pid = number;
                else if (sscanf(line, "boot %36s", then) == 1)
                        continue;
                else if (sscanf(line, "began %llu", &at) == 1)
                        l->began_ns = at;
                else if (sscanf(line, "short-lives %d", &number) == 1)
                        l->short_lives = number > 0 ? (uint32_t)number : 0;
                else if (sscanf(line, "records %d", &number) == 1)
                        l->records = number != 0;
                else if (sscanf(line, "stopped %llu", &at) == 1)
                        l->end = LIFE_STOPPED;
                else if (sscanf(line, "signal %d %llu", &number, &at) == 2)
                        l->end = LIFE_SIGNAL;
                if (l->end == LIFE_STOPPED || l->end == LIFE_SIGNAL)
                        l->ended_ns = at;
                if (l->end == LIFE_SIGNAL)
                        l->signal = number;
        }
        read_boot(boot);
        if (l->began_ns == 0)
                l->end = LIFE_NONE;
        else if (l->end == LIFE_KILLED && strcmp(boot, then) != 0)
                l->end = LIFE_REBOOT;
}

static void read_file(int fd, struct daemon_life *ret)
{
        char text[FILE_BYTES];
        ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

        text[n > 0 ? n : 0] = '\0';
        parse_life(ret, text);
}

void daemon_life_read(const char *directory, struct daemon_life *ret)
{
        char path[PATH_BYTES];
        int fd;

        *ret = (struct daemon_life){ .end = LIFE_NONE };
        (void)snprintf(path, sizeof(path), "%s/life", directory);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
                return;
        read_file(fd, ret);
        if (is_locked(fd))
                ret->end = LIFE_RUNS;
        (void)close(fd);
}

bool daemon_life_died(const struct daemon_life *life)
{
        return life->end == LIFE_SIGNAL || life->end == LIFE_KILLED;
}

/* ------------------------------------------------------------ what follows */

uint32_t daemon_life_failures(const struct daemon_life *life)
{
        const uint64_t ended_ns = life->ended_ns ? life->ended_ns : clock_wall_ns();

        if (!daemon_life_died(life) || sub_sat(ended_ns, life->began_ns) >= SHORT_NS)
                return 0;
        return life->short_lives + 1;
}

uint64_t daemon_life_next_ns(const struct daemon_life *life)
{
        uint64_t pause = 1;

        for (uint32_t i = 0; i < life->short_lives && pause < PAUSE_MAX; i++)
                pause *= 2;
        return life->began_ns + (pause < PAUSE_MAX ? pause : PAUSE_MAX) * NS_PER_S;
}

char *daemon_life_text(char out[DAEMON_LIFE_TEXT_MAX], const struct daemon_life *life)
{
        char when[HW_NUMBER_MAX];
        const char *name = signal_name(life->signal);

        if (life->end == LIFE_SIGNAL)
                (void)snprintf(out, DAEMON_LIFE_TEXT_MAX, "ended by SIG%s at %s", name ? name : "?",
                               hw_time_text(when, sizeof(when), life->ended_ns));
        else if (life->end == LIFE_KILLED)
                (void)snprintf(out, DAEMON_LIFE_TEXT_MAX, "was killed (SIGKILL, by a user or for want of memory)");
        else
                (void)snprintf(out, DAEMON_LIFE_TEXT_MAX, "ended with the machine");
        return out;
}

/* ----------------------------------------------------------------- writing */

int daemon_life_begin(const char *directory, bool records, struct daemon_life *ret_before, struct error *error)
{
        char path[PATH_BYTES], text[FILE_BYTES], boot[BOOT_BYTES];
        pid_t holder;
        int r;

        (void)snprintf(path, sizeof(path), "%s/life", directory);
        int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return error_code(error, -errno, "%s cannot be opened: %s", path, strerror(errno));
        if ((r = daemon_life_lock(fd, &holder)) != 0) {
                (void)close(fd);
                if (r == -EBUSY)
                        return error_code(error, r, "%s is used by another daemon, process %ld", directory,
                                          (long)holder);
                return error_code(error, r, "%s/life cannot be locked: %s", directory, strerror(-r));
        }
        read_file(fd, ret_before);
        read_boot(boot);
        int n = snprintf(text, sizeof(text),
                         "pid %ld\nboot %s\nbegan %" PRIu64 "\nshort-lives %" PRIu32 "\nrecords %d\n", (long)getpid(),
                         boot, clock_wall_ns(), daemon_life_failures(ret_before), records);
        if (ftruncate(fd, 0) != 0 || write(fd, text, (size_t)n) != n) {
                r = error_code(error, -errno, "%s cannot be written: %s", path, strerror(errno));
                (void)close(fd);
                return r;
        }
        return fd;
}

/* As decimals, without stdio, which signal handlers cannot use. Returns the text's end. */
static char *put_number(char *out, uint64_t n)
{
        char digits[20];
        size_t size = 0;

        do
                digits[size++] = (char)('0' + n % 10);
        while ((n /= 10) > 0);
        while (size > 0)
                *out++ = digits[--size];
        return out;
}

static void append_word(int fd, const char *word, int number)
{
        char line[64], *end = stpcpy(line, word);
        ssize_t ignored;

        if (number > 0) {
                end = put_number(end, (uint64_t)number);
                *end++ = ' ';
        }
        end = put_number(end, clock_wall_ns());
        *end++ = '\n';
        ignored = write(fd, line, (size_t)(end - line)); /* if it fails, the end counts as unknown */
        (void)ignored;
}

void daemon_life_stopped(int fd)
{
        append_word(fd, "stopped ", 0);
        (void)close(fd);
}

void daemon_life_crashed(int fd, int signal_number)
{
        append_word(fd, "signal ", signal_number);
}
