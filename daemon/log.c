/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one message is one line (proto/base/log_line.h).
 *
 * The loop must not block on the reader of stderr. O_NONBLOCK is a flag of the open file, which the shell and other
 * programs of the terminal share, so it is never set on descriptor 2. Instead
 *
 *   pipe, FIFO, terminal   a second, nonblocking open file of the same object, through /proc/self/fd/2
 *   socket (journald)      cannot be reopened; send(2) has a nonblocking flag
 *   file                   never blocks, but may be on a full disk; with log_bound_file() it is emptied in place,
 *                          because children of the daemon have it open, too
 *   no permission to reopen it (a terminal of another user)
 *                          poll(2), then one byte: on a terminal POLLOUT does not promise room for a line
 *
 * Lines go through a ring, which each message and a timer of the loop write to stderr as far as it accepts them. A line
 * that finds no room is dropped and counted; the count is reported before the next line that fits.
 *
 * Each place that logs has a token bucket (struct log_site): RATE messages a second, BURST at once. Suppressed messages
 * are counted and reported before its next line or, when none comes, by the timer. So one damaged eventlog cannot fill
 * a disk.
 */
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"

#define RATE     20   /* messages a second from one place */
#define BURST    1200 /* enough for a line per target at the maximum of targets */
#define RETRY_MS 100
#define LAST_MS  200 /* how long log_detach() waits for stderr */

enum sink { SINK_UNKNOWN, SINK_PLAIN, SINK_SOCKET, SINK_POLLED };

enum log_level log_most_verbose = LOG_INFO;

static struct log_levels wanted;
static bool chosen; /* false: LOG_INFO everywhere */

/* Folders that log; scripts/check-layers compares them with the tree. 0: not determined yet. */
static const char *const rooms[LOG_ROOMS] = { "",     "alerting", "checkpoint", "config",  "control",  "daemon",
                                              "loop", "record",   "source",     "targets", "transport" };

/* Guards what follows. Held only during writes that do not block. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum sink sink;
static int sink_fd = -1;
static enum log_sink line_sink;
static char ring[LOG_BUFFER_BYTES];
static size_t ring_start, ring_size;
static unsigned long n_dropped;
static struct log_site *suppressing; /* places with suppressed messages */
static struct event *timer;
static char older_file[LOG_PATH_MAX]; /* "": stderr is not bounded */

/* ------------------------------------------------------------------ levels */

static int room_by_name(const char *name, size_t size)
{
        for (int i = 1; i < LOG_ROOMS; i++)
                if (strlen(rooms[i]) == size && !memcmp(rooms[i], name, size))
                        return i;
        return 0;
}

/* daemon/source/tail.c: source; daemon/watch/control/reload.c: control; daemon/main.c: daemon. */
static int room_of(const char *file)
{
        const char *end = strrchr(file, '/'), *name = end;

        while (name && name > file && name[-1] != '/')
                name--;
        const int room = end ? room_by_name(name, (size_t)(end - name)) : 0;

        return room ? room : room_by_name("daemon", strlen("daemon"));
}

const char *log_room_names(void)
{
        static char text[LOG_LEVELS_TEXT];
        size_t n = 0;

        for (int i = 1; i < LOG_ROOMS && n < sizeof(text); i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i > 1 ? ", " : "", rooms[i]);
        return text;
}

struct log_levels log_level_everywhere(enum log_level level)
{
        struct log_levels levels = { .common = level };

        for (int i = 0; i < LOG_ROOMS; i++)
                levels.room[i] = level;
        return levels;
}

static bool parse_name(const char *name, size_t size, enum log_level *ret_level)
{
        for (size_t i = 0; i < LOG_LEVELS; i++) {
                if (strlen(log_level_names[i]) == size && !memcmp(name, log_level_names[i], size)) {
                        *ret_level = (enum log_level)i;
                        return true;
                }
        }
        return false;
}

bool log_parse_level(const char *text, struct log_levels *ret_levels)
{
        struct log_levels levels = log_level_everywhere(LOG_INFO);

        for (const char *part = text;; part++) {
                size_t size = strcspn(part, ",");
                const char *equals = memchr(part, '=', size);
                enum log_level level;

                if (!equals) {
                        if (part != text || !parse_name(part, size, &level)) /* for all rooms: only first */
                                return false;
                        levels = log_level_everywhere(level);
                } else {
                        int room = room_by_name(part, (size_t)(equals - part));
                        if (!room || !parse_name(equals + 1, size - (size_t)(equals + 1 - part), &level))
                                return false;
                        levels.room[room] = level;
                }
                part += size;
                if (!*part)
                        break;
        }
        *ret_levels = levels;
        return true;
}

void log_print_levels(char *text, const struct log_levels *levels)
{
        size_t n = (size_t)snprintf(text, LOG_LEVELS_TEXT, "%s", log_level_names[levels->common]);

        for (int i = 1; i < LOG_ROOMS; i++)
                if (levels->room[i] != levels->common && n < LOG_LEVELS_TEXT)
                        n += (size_t)snprintf(text + n, LOG_LEVELS_TEXT - n, ",%s=%s", rooms[i],
                                              log_level_names[levels->room[i]]);
}

void log_set_levels(const struct log_levels *levels)
{
        wanted = *levels;
        chosen = true;
        log_most_verbose = levels->common;
        for (int i = 1; i < LOG_ROOMS; i++)
                if (levels->room[i] > log_most_verbose)
                        log_most_verbose = levels->room[i];
}

void log_set_level(enum log_level everywhere)
{
        struct log_levels levels = log_level_everywhere(everywhere);

        log_set_levels(&levels);
}

/* ------------------------------------------------------------------ stderr */

static void open_sink(void)
{
        struct stat s;

        if (sink_fd > STDERR_FILENO)
                close(sink_fd);
        sink_fd = STDERR_FILENO;
        sink = SINK_PLAIN;
        line_sink = LOG_SINK_OTHER;
        if (fstat(STDERR_FILENO, &s) != 0)
                return;
        line_sink = log_line_sink();
        if (S_ISSOCK(s.st_mode)) {
                sink = SINK_SOCKET;
        } else if (S_ISFIFO(s.st_mode) || S_ISCHR(s.st_mode)) {
                int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
                if (fd > STDERR_FILENO)
                        sink_fd = fd;
                else
                        sink = SINK_POLLED;
        }
}

void log_open(void)
{
        pthread_mutex_lock(&lock);
        open_sink();
        pthread_mutex_unlock(&lock);
}

void log_bound_file(const char *older)
{
        pthread_mutex_lock(&lock);
        if (strlen(older) < sizeof(older_file))
                memcpy(older_file, older, strlen(older) + 1);
        pthread_mutex_unlock(&lock);
}

/* Copies stderr, a file of `size` bytes, to the older file. On failure its lines are lost: the bound is what counts. */
static void copy_to_older(off_t size)
{
        int from = open("/proc/self/fd/2", O_RDONLY | O_CLOEXEC);
        int to = open(older_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

        while (from >= 0 && to >= 0 && size > 0) {
                ssize_t n = sendfile(to, from, NULL, (size_t)size);
                if (n <= 0)
                        break;
                size -= n;
        }
        close_fd(&from);
        close_fd(&to);
}

static void bound_file(void)
{
        struct stat s;

        if (!older_file[0] || sink != SINK_PLAIN || fstat(STDERR_FILENO, &s) != 0 || !S_ISREG(s.st_mode) ||
            s.st_size < (off_t)LOG_FILE_BYTES)
                return;
        copy_to_older(s.st_size);
        (void)!ftruncate(STDERR_FILENO, 0);
}

/* Not for ever: of a reader that does not read, or a disk that is full. */
static bool is_temporary(int error)
{
        return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOSPC || error == EDQUOT ||
               error == EFBIG;
}

/* Bytes that stderr accepted; 0: none now. After a permanent failure (its reader is gone) all count as written. */
static size_t write_bytes(const char *bytes, size_t size)
{
        struct pollfd p = { .fd = sink_fd, .events = POLLOUT };
        ssize_t n = 0;

        switch (sink) {
        case SINK_SOCKET:
                n = send(sink_fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
                break;
        case SINK_POLLED:
                if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT))
                        return p.revents & (POLLERR | POLLHUP) ? size : 0;
                n = write(sink_fd, bytes, 1);
                break;
        default:
                n = write(sink_fd, bytes, size);
                break;
        }
        if (n < 0)
                return is_temporary(errno) ? 0 : size;
        return (size_t)n;
}

static void flush_lines(void)
{
        while (ring_size > 0) {
                size_t straight = LOG_BUFFER_BYTES - ring_start;
                size_t n = write_bytes(ring + ring_start, straight < ring_size ? straight : ring_size);
                if (n == 0)
                        return;
                ring_start = (ring_start + n) % LOG_BUFFER_BYTES;
                ring_size -= n;
        }
}

static bool put_line(const char *line, size_t size)
{
        size_t end = (ring_start + ring_size) % LOG_BUFFER_BYTES, straight = LOG_BUFFER_BYTES - end;

        if (size > LOG_BUFFER_BYTES - ring_size)
                return false;
        if (straight > size)
                straight = size;
        memcpy(ring + end, line, straight);
        memcpy(ring, line + straight, size - straight);
        ring_size += size;
        return true;
}

static size_t finish_line(char *line, int printed)
{
        return log_line_end(line, printed < 0 ? 0 : (size_t)printed);
}

/* `level `, or `debug source: `, after what the sink needs (proto/base/log_line.h). */
static int put_head(char *line, const struct log_site *site)
{
        size_t size = log_line_begin(line, site->level, line_sink);

        if (site->level != LOG_DEBUG)
                return (int)size;
        return (int)size + snprintf(line + size, LOG_LINE_BYTES - size, "%s: ", rooms[site->room]);
}

/* One line about the log itself, with level and room of `site`. */
__attribute__((format(printf, 2, 3))) static bool put_own(const struct log_site *site, const char *format, ...)
{
        char line[LOG_LINE_BYTES];
        va_list args;

        va_start(args, format);
        int head = put_head(line, site);
        int body = vsnprintf(line + head, sizeof(line) - (size_t)head, format, args);
        va_end(args);
        return put_line(line, finish_line(line, head + body));
}

static bool report_dropped(void)
{
        static const struct log_site own = { .file = __FILE__, .level = LOG_WARNING };

        if (n_dropped && !put_own(&own, "stderr was blocked or full; lines lost=%lu", n_dropped))
                return false;
        n_dropped = 0;
        return true;
}

/* ----------------------------------------------------------------- limits */

static bool may_write(struct log_site *site, uint64_t now)
{
        if (!site->last_ns)
                site->tokens = BURST;
        else
                site->tokens += (double)(now - site->last_ns) / 1e9 * RATE;
        if (site->tokens > BURST)
                site->tokens = BURST;
        site->last_ns = now;
        if (site->tokens < 1)
                return false;
        site->tokens -= 1;
        return true;
}

/* Reports how many messages each place has suppressed. */
static void report_suppressed(void)
{
        while (suppressing) {
                struct log_site *site = suppressing;
                if (!put_own(site, "%lu more like the previous one were left out: %s:%d", site->n_suppressed,
                             site->file, site->line))
                        return;
                site->n_suppressed = 0;
                suppressing = site->next;
        }
}

/* ------------------------------------------------------------------- lines */

static void retry_later(uint64_t ms)
{
        struct timeval pause = { .tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000) * 1000 };

        if (timer && !evtimer_pending(timer, NULL))
                evtimer_add(timer, &pause);
}

static void write_line(struct log_site *site, const char *line, size_t size)
{
        flush_lines();
        bound_file();
        if (!may_write(site, clock_mono_ns())) {
                if (site->n_suppressed++ == 0) {
                        site->next = suppressing;
                        suppressing = site;
                }
        } else {
                if (site->n_suppressed)
                        report_suppressed();
                if (n_dropped && ring_size > LOG_BUFFER_BYTES / 2) /* one gap, not one per line */
                        n_dropped++;
                else if (!report_dropped() || !put_line(line, size))
                        n_dropped++;
                flush_lines();
        }
        if (ring_size > 0 && sink != SINK_PLAIN)
                retry_later(RETRY_MS);
        else if (ring_size > 0 || suppressing)
                retry_later(1000);
}

void log_write(struct log_site *site, const char *format, ...)
{
        char line[LOG_LINE_BYTES];
        int error = errno;
        va_list args;

        pthread_mutex_lock(&lock);
        if (!site->room)
                site->room = room_of(site->file);
        if (site->level <= (chosen ? wanted.room[site->room] : LOG_INFO)) {
                if (sink == SINK_UNKNOWN)
                        open_sink();
                int head = put_head(line, site);
                va_start(args, format);
                int body = vsnprintf(line + head, sizeof(line) - (size_t)head, format, args);
                va_end(args);
                write_line(site, line, finish_line(line, body < 0 ? head : head + body));
        }
        pthread_mutex_unlock(&lock);
        errno = error;
}

/* -------------------------------------------------------------- event loop */

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
        pthread_mutex_lock(&lock);
        flush_lines();
        report_suppressed();
        (void)report_dropped();
        flush_lines();
        if (ring_size > 0 || suppressing)
                retry_later(sink != SINK_PLAIN ? RETRY_MS : 1000);
        pthread_mutex_unlock(&lock);
}

void log_attach(struct event_base *base)
{
        timer = evtimer_new(base, on_timer, NULL); /* if NULL, lines wait for the next message */
}

void log_detach(void)
{
        struct pollfd p = { .fd = sink_fd, .events = POLLOUT };

        free_event(&timer);
        pthread_mutex_lock(&lock);
        report_suppressed();
        (void)report_dropped();
        flush_lines();
        if (ring_size > 0 && poll(&p, 1, LAST_MS) == 1)
                flush_lines();
        pthread_mutex_unlock(&lock);
}

static void from_libevent(int severity, const char *message)
{
        switch (severity) {
        case EVENT_LOG_ERR:
                log_error("libevent: %s", message);
                break;
        case EVENT_LOG_WARN:
                log_warning("libevent: %s", message);
                break;
        default:
                log_debug("libevent: %s", message);
                break;
        }
}

void log_adopt_libevent(void)
{
        event_set_log_callback(from_libevent);
}
