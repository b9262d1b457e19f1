/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the thread sleeps on the queue, not on descriptors: while nothing is
 * written it looks at its sockets ten times a second, or every few milliseconds
 * while a reader lags behind. So no descriptor is needed to wake it. A program
 * may close all descriptors it does not know, and open files in their place:
 * before each use ours are compared with what they were.
 *
 * What the runtime writes is shared by all readers; each has a ring of what
 * waits for it. The first reader's ring exists before the reader comes.
 */
#include "agent/server.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/control.h"
#include "agent/preamble.h"
#include "agent/queue.h"
#include "agent/thread.h"

#define IDLE_NS       INT64_C(100000000) /* from one look at the sockets to the next */
#define BUSY_NS       INT64_C(5000000)   /* the same, while a reader has something to take */
#define BACKLOG       4                  /* connections that wait to be accepted */
#define REQUEST_TURNS 8                  /* reads of one connection; then it is the others' turn */
#define CLAIM_TAIL    ".pid"

struct descriptor {
        int fd; /* -1: none */
        dev_t device;
        ino_t inode;
};

struct reader {
        bool used;
        struct descriptor socket; /* none yet: the first reader, before it comes */
        struct chunk *ring[AGENT_READER_CHUNKS];
        unsigned first, count;
        size_t sent;        /* of ring[first] */
        size_t bytes;       /* in the ring */
        size_t definitions; /* of these, the preamble: it does not count against the limit */
        bool here;          /* counted as connected */
        uint64_t lost_blocks, lost_bytes;
        char line[AGENT_REQUEST_BYTES]; /* of a request that is not whole */
        size_t line_size;
};

static struct {
        struct agent_settings settings;
        char path[AGENT_PATH_MAX], claim[AGENT_PATH_MAX + sizeof(CLAIM_TAIL)];
        struct descriptor listener;
        pthread_mutex_t descriptors; /* held while some are opened or closed: fork waits for that */
        ino_t path_inode;
        pthread_t thread;
        bool running;
        struct reader readers[AGENT_READERS];
        struct preamble preamble;
        bool came; /* there has been a reader */
        _Atomic uint64_t pause_ns, known, taken, reader_count, left_out, definitions_left_out, not_understood;
} s = { .listener = { .fd = -1 }, .descriptors = PTHREAD_MUTEX_INITIALIZER };

/* --------------------------------------------------------------- descriptors */

static bool descriptor_take(struct descriptor *d, int fd)
{
        struct stat st;

        *d = (struct descriptor){ .fd = descriptor_move_high(fd) };
        if (d->fd < 0 || fstat(d->fd, &st) < 0)
                return false;
        d->device = st.st_dev;
        d->inode = st.st_ino;
        return true;
}

/* Whether it is still ours: otherwise it is the program's, and left alone. */
static bool descriptor_ours(struct descriptor *d)
{
        struct stat st;

        if (d->fd >= 0 && (fstat(d->fd, &st) < 0 || st.st_ino != d->inode || st.st_dev != d->device))
                d->fd = -1;
        return d->fd >= 0;
}

static void descriptor_close(struct descriptor *d)
{
        if (descriptor_ours(d))
                (void)close(d->fd);
        d->fd = -1;
}

/* ---------------------------------------------------------------------- path */

static bool own_directory(const char *path, struct error *error)
{
        char directory[AGENT_PATH_MAX];
        const char *slash = strrchr(path, '/');
        struct stat st;

        snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
        if (lstat(directory, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0) {
                return error_set(error, "%s must be a directory that belongs to you and that nobody else can write to",
                                 directory);
        }
        return true;
}

/* Found as heapwatch's own directory is, so that `heapwatch ps` and `attach` find the socket. */
static bool default_path(char *out, size_t size, struct error *error)
{
        const char *own = getenv("HEAPWATCH_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
        char directory[AGENT_PATH_MAX];
        int n;

        if (own && *own)
                n = snprintf(directory, sizeof(directory), "%s", own);
        else if (runtime && *runtime)
                n = snprintf(directory, sizeof(directory), "%s/heapwatch", runtime);
        else if (geteuid() == 0)
                n = snprintf(directory, sizeof(directory), "/run/heapwatch");
        else
                n = snprintf(directory, sizeof(directory), "/tmp/heapwatch-%lu", (unsigned long)geteuid());
        if ((size_t)n >= sizeof(directory) ||
            (size_t)snprintf(out, size, "%s/agent-%ld.sock", directory, (long)getpid()) >= size) {
                return error_set(error, "the path of the socket's directory is too long");
        }
        (void)mkdir(directory, 0700); /* it is checked in any case */
        return true;
}

/* Only the first program that claims this socket gets it, even after it has ended. */
static bool claim(struct error *error)
{
        char pid[32];
        int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
        int fd;

        error->text[0] = '\0';
        snprintf(s.claim, sizeof(s.claim), "%s" CLAIM_TAIL, s.path);
        fd = open(s.claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
                if (errno != EEXIST) /* otherwise another program has it: not an error */
                        error_set(error, "cannot make %s: %s", s.claim, strerror(errno));
                s.claim[0] = '\0';
                return false;
        }
        bool written = write(fd, pid, (size_t)n) == n;
        (void)close(fd);
        if (!written)
                error_set(error, "cannot write %s", s.claim);
        return written;
}

/* The path is another program's: uses one beside it. */
static bool path_beside(struct error *error)
{
        size_t n = strlen(s.path);

        return (size_t)snprintf(s.path + n, sizeof(s.path) - n, "-%ld", (long)getpid()) < sizeof(s.path) - n ||
               error_set(error, "the path of the socket's directory is too long");
}

static bool take_path(struct error *error)
{
        if (!s.settings.once || claim(error))
                return true;
        return s.settings.follow && !error->text[0] && path_beside(error);
}

static bool somebody_listens(const struct sockaddr_un *address)
{
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        bool yes = fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN);

        if (fd >= 0)
                (void)close(fd);
        return yes;
}

static bool listen_there(int fd, const struct sockaddr_un *address)
{
        bool bound = bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

        if (!bound && errno == EADDRINUSE && !somebody_listens(address) && unlink(address->sun_path) == 0)
                bound = bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
        /* The mode is set before anybody can connect; umask would be the whole program's. */
        return bound && chmod(address->sun_path, 0600) == 0 && listen(fd, BACKLOG) == 0;
}

static bool open_socket(struct error *error)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        struct stat st;
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        memcpy(address.sun_path, s.path, sizeof(address.sun_path));
        if (fd < 0 || !listen_there(fd, &address) || stat(s.path, &st) < 0 || !descriptor_take(&s.listener, fd)) {
                error_set(error, "cannot listen on %s: %s", s.path, strerror(errno));
                if (fd >= 0)
                        (void)close(fd);
                return false;
        }
        s.path_inode = st.st_ino;
        return true;
}

bool server_open(const struct agent_settings *settings, struct error *error)
{
        s.settings = *settings;
        memcpy(s.path, settings->socket, sizeof(s.path));
        if (s.path[0] == '\0' && !default_path(s.path, sizeof(s.path), error))
                return false;
        if (!own_directory(s.path, error) || !take_path(error))
                return false;
        if (!open_socket(error)) {
                if (s.claim[0])
                        (void)unlink(s.claim);
                return false;
        }
        preamble_reset(&s.preamble);
        s.readers[0] = (struct reader){ .used = true, .socket = { .fd = -1 } };
        return true;
}

static void remove_path(void)
{
        struct stat st;

        if (s.path[0] && stat(s.path, &st) == 0 && st.st_ino == s.path_inode)
                (void)unlink(s.path);
}

void server_abandon(void)
{
        remove_path();
        descriptor_close(&s.listener);
        if (s.claim[0])
                (void)unlink(s.claim);
}

/* ------------------------------------------------------------------- readers */

static void ring_add(struct reader *r, struct chunk *c)
{
        c->holders++;
        r->ring[(r->first + r->count++) % AGENT_READER_CHUNKS] = c;
        r->bytes += c->size;
}

static void ring_drop_first(struct reader *r)
{
        r->bytes -= r->ring[r->first]->size;
        chunk_release(r->ring[r->first]);
        r->first = (r->first + 1) % AGENT_READER_CHUNKS;
        r->count--;
        r->sent = 0;
}

static void reader_drop(struct reader *r)
{
        while (r->count > 0)
                ring_drop_first(r);
        descriptor_close(&r->socket);
        if (r->here)
                s.reader_count--;
        *r = (struct reader){ .socket = { .fd = -1 } };
}

static void reader_gone(struct reader *r)
{
        pthread_mutex_lock(&s.descriptors);
        reader_drop(r);
        pthread_mutex_unlock(&s.descriptors);
}

static bool has_room(const struct reader *r, size_t size)
{
        return r->count < AGENT_READER_CHUNKS - 1 && r->bytes + size <= s.settings.queue_bytes + r->definitions;
}

/* Reports in the stream what was left out before this. */
static void report_losses(struct reader *r)
{
        char text[AGENT_MESSAGE_BYTES];
        int n = snprintf(text, sizeof(text), AGENT_SAYS "left out %llu blocks, %llu bytes: the reader was too slow",
                         (unsigned long long)r->lost_blocks, (unsigned long long)r->lost_bytes);
        struct chunk *c = preamble_message(&s.preamble, text, (size_t)n);

        if (c && has_room(r, c->size)) {
                ring_add(r, c);
                r->lost_blocks = r->lost_bytes = 0;
        }
        chunk_release(c);
}

static void give(struct reader *r, struct chunk *c)
{
        bool waits = r->socket.fd < 0;

        if (!has_room(r, c->size) && waits && !s.came) {
                reader_gone(r); /* nobody came: the first reader will get what a later one gets */
                return;
        }
        if (r->lost_blocks > 0 && has_room(r, c->size))
                report_losses(r);
        if (has_room(r, c->size)) {
                ring_add(r, c);
                return;
        }
        r->lost_blocks++;
        r->lost_bytes += c->size;
        s.left_out += c->size;
}

static void give_all(struct chunk *c)
{
        for (unsigned i = 0; i < AGENT_READERS; i++)
                if (s.readers[i].used)
                        give(&s.readers[i], c);
}

/* Reports to all readers what the queue dropped. */
static void report_queue_losses(void)
{
        static uint64_t reported;
        struct queue_losses l = queue_losses();
        char text[AGENT_MESSAGE_BYTES];

        if (l.blocks == reported || !s.preamble.header)
                return;
        int n = snprintf(text, sizeof(text), AGENT_SAYS "left out %llu blocks so far, %llu bytes: too much at once",
                         (unsigned long long)l.blocks, (unsigned long long)l.bytes);
        struct chunk *c = preamble_message(&s.preamble, text, (size_t)n);
        reported = l.blocks;
        if (c)
                give_all(c);
        chunk_release(c);
}

static void take_message(const struct chunk *text)
{
        bool log = s.preamble.header && !s.preamble.ended;
        struct chunk *c = log ? preamble_message(&s.preamble, (const char *)text->bytes, text->size)
                              : preamble_message_log((const char *)text->bytes, text->size);

        if (c)
                give_all(c);
        chunk_release(c);
}

static void publish_facts(void)
{
        s.pause_ns = s.preamble.meter.pause_ns;
        s.known = s.preamble.meter.known;
        s.taken = s.preamble.meter.taken;
        s.definitions_left_out = s.preamble.left_out;
        s.not_understood = s.preamble.not_understood;
}

static void take_chunks(struct chunk *list)
{
        while (list) {
                struct chunk *c = list;
                list = c->next;
                if (c->kind == CHUNK_START)
                        preamble_reset(&s.preamble);
                else if (c->kind == CHUNK_MESSAGE)
                        take_message(c);
                else {
                        preamble_take(&s.preamble, c->bytes, c->size);
                        give_all(c);
                }
                chunk_release(c);
        }
        report_queue_losses();
        publish_facts();
}

/* ------------------------------------------------------------------- sockets */

static bool allowed(int fd)
{
        struct ucred peer;
        socklen_t size = sizeof(peer);

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

/* The ring that waits for the first reader, or a free place. */
static struct reader *place(void)
{
        for (unsigned i = 0; i < AGENT_READERS; i++)
                if (s.readers[i].used && s.readers[i].socket.fd < 0)
                        return &s.readers[i];
        for (unsigned i = 0; i < AGENT_READERS; i++)
                if (!s.readers[i].used)
                        return &s.readers[i];
        return NULL;
}

static void accept_reader(int fd)
{
        struct reader *r = allowed(fd) ? place() : NULL;

        if (!r) {
                (void)close(fd);
                return;
        }
        if (!r->used) {
                struct chunk *c = s.preamble.ended ? NULL : preamble_chunk(&s.preamble);
                *r = (struct reader){ .used = true };
                if (c)
                        ring_add(r, c);
                r->definitions = r->bytes;
                chunk_release(c);
        }
        if (!descriptor_take(&r->socket, fd)) {
                reader_drop(r);
                return;
        }
        s.came = r->here = true;
        s.reader_count++;
}

static void accept_readers(void)
{
        int fd;

        pthread_mutex_lock(&s.descriptors);
        while (descriptor_ours(&s.listener) &&
               (fd = accept4(s.listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
                accept_reader(fd);
        pthread_mutex_unlock(&s.descriptors);
}

/* Lines of a request; false when the connection ends. */
static bool read_requests(struct reader *r)
{
        for (unsigned turn = 0; turn < REQUEST_TURNS; turn++) {
                ssize_t n =
                        recv(r->socket.fd, r->line + r->line_size, sizeof(r->line) - 1 - r->line_size, MSG_DONTWAIT);
                if (n < 0)
                        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
                if (n == 0)
                        return false;
                r->line_size += (size_t)n;
                char *end;
                while ((end = memchr(r->line, '\n', r->line_size)) != NULL) {
                        *end = '\0';
                        control_post(r->line);
                        r->line_size -= (size_t)(end + 1 - r->line);
                        memmove(r->line, end + 1, r->line_size);
                }
                if (r->line_size >= sizeof(r->line) - 1)
                        return false;
        }
        return true;
}

/* Sends as much as the reader takes; false when the connection ends. */
static bool send_some(struct reader *r)
{
        while (r->count > 0) {
                const struct chunk *c = r->ring[r->first];
                ssize_t n = send(r->socket.fd, c->bytes + r->sent, c->size - r->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return errno == EAGAIN || errno == EWOULDBLOCK;
                r->sent += (size_t)n;
                if (r->sent == c->size)
                        ring_drop_first(r);
        }
        return true;
}

/* Serves all readers; returns whether something still waits for one of them. */
static bool serve(void)
{
        bool waiting = false;

        accept_readers();
        for (unsigned i = 0; i < AGENT_READERS; i++) {
                struct reader *r = &s.readers[i];
                if (!r->used || r->socket.fd < 0)
                        continue;
                if (!descriptor_ours(&r->socket) || !read_requests(r) || !send_some(r))
                        reader_gone(r);
                waiting |= r->count > 0;
        }
        return waiting;
}

/* -------------------------------------------------------------------- thread */

/* After the end of the log: whether to go on for readers. */
static bool linger(bool waiting, int64_t since_ns)
{
        if (s.came)
                return waiting && since_ns < s.settings.linger_ns;
        return s.readers[0].used && s.readers[0].count > 0 && since_ns < s.settings.await_ns;
}

static void *run(void *unused)
{
        int64_t closed_ns = 0;
        bool waiting = false;

        (void)unused;
        for (;;) {
                bool closed = queue_closed();
                take_chunks(queue_take(waiting || closed ? BUSY_NS : IDLE_NS));
                waiting = serve();
                if (!closed)
                        continue;
                if (closed_ns == 0)
                        closed_ns = thread_now_ns();
                if (!linger(waiting, thread_now_ns() - closed_ns))
                        break;
                struct timespec pause = { 0, 1000000 };
                nanosleep(&pause, NULL); /* the queue is closed: it does not make us wait any more */
        }
        remove_path();
        for (unsigned i = 0; i < AGENT_READERS; i++)
                reader_gone(&s.readers[i]);
        pthread_mutex_lock(&s.descriptors);
        descriptor_close(&s.listener);
        pthread_mutex_unlock(&s.descriptors);
        return NULL;
}

int server_start(void)
{
        int r = thread_start(&s.thread, "heapwatch-io", run);

        s.running = r == 0;
        return r;
}

void server_finish(void)
{
        if (!s.running)
                return;
        s.running = false;
        queue_close();
        pthread_join(s.thread, NULL);
}

void server_say(const char *format, ...)
{
        char text[AGENT_MESSAGE_BYTES];
        va_list arguments;
        int n, head = snprintf(text, sizeof(text), AGENT_SAYS);

        va_start(arguments, format);
        n = vsnprintf(text + head, sizeof(text) - (size_t)head, format, arguments);
        va_end(arguments);
        if (n < 0)
                return;
        n += head;
        (void)queue_push(CHUNK_MESSAGE, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1, true);
}

void server_fork_prepare(void)
{
        pthread_mutex_lock(&s.descriptors);
}

void server_fork_parent(void)
{
        pthread_mutex_unlock(&s.descriptors);
}

void server_fork_child(void)
{
        pthread_mutex_init(&s.descriptors, NULL);
        s.running = false;
        descriptor_close(&s.listener);
        for (unsigned i = 0; i < AGENT_READERS; i++)
                descriptor_close(&s.readers[i].socket);
        s.path[0] = s.claim[0] = '\0';
}

struct server_facts server_facts(void)
{
        return (struct server_facts){
                .census_pause_ns = s.pause_ns,
                .censuses_known = s.known,
                .censuses_taken = s.taken,
                .readers = s.reader_count,
                .left_out_bytes = s.left_out,
                .definitions_left_out = s.definitions_left_out,
                .not_understood = s.not_understood,
        };
}

const char *server_path(void)
{
        return s.path;
}
