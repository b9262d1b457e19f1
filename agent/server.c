/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the thread sleeps on the queue, not on descriptors: while nothing is
 * written it looks at its sockets ten times a second, or every few milliseconds
 * while a reader lags behind. So no descriptor is needed to wake it. The first
 * reader's place exists before the reader comes.
 */
#include "agent/server.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/control.h"
#include "agent/descriptor.h"
#include "agent/listener.h"
#include "agent/logging.h"
#include "agent/preamble.h"
#include "agent/queue.h"
#include "agent/reader.h"
#include "agent/runtime.h"
#include "agent/symbols.h"
#include "agent/syscall_filter.h"
#include "agent/thread.h"

#define IDLE_NS INT64_C(100000000) /* from one look at the sockets to the next */
#define BUSY_NS INT64_C(5000000)   /* the same, while a reader has something to take */

/*
 * When a forked process is served: after that long, if it has had that much processor time, which suffices to fork
 * another one and end; and at last also one that has only slept.
 */
#define FORKED_NS      INT64_C(200000000)
#define FORKED_CPU_NS  INT64_C(15000000)
#define FORKED_LAST_NS INT64_C(1000000000)

#define REOPEN_NS INT64_C(200000000) /* from when the program has closed our socket to when it is there again */

static struct {
        struct agent_settings settings;
        struct listener listener;
        pthread_mutex_t descriptors; /* held while some are opened or closed: fork waits for that */
        struct thread thread;
        bool running;
        struct reader readers[AGENT_READERS];
        struct preamble preamble;
        bool came;     /* there has been a reader */
        bool filtered; /* the program's filter of system calls forbids to serve anybody */
        int64_t filter_checked_ns;
        int64_t open_at_ns;     /* when to listen; 0: it does */
        int64_t open_at_cpu_ns; /* after how much processor time of the process */
        int64_t closed_at_ns;   /* when the socket was seen closed by the program; 0: it is open */
        uint64_t losses_reported;
        bool unnamed_reported; /* that info tables have no names */
        _Atomic uint64_t pause_ns, known, live_bytes, promoted_bytes, promoted_before_bytes, lives, taken, given,
                reader_count, left_out, definitions_left_out, not_understood, load_percent, resident_bytes;
        long processors;
} s = { .listener = { .socket.fd = -1, .lock.fd = -1 }, .descriptors = PTHREAD_MUTEX_INITIALIZER };

bool server_prepare(const struct agent_settings *settings, struct error *error)
{
        s.settings = *settings;
        s.processors = sysconf(_SC_NPROCESSORS_ONLN);
        s.processors = s.processors > 0 ? s.processors : 1;
        s.open_at_ns = thread_now_ns() + FORKED_NS;
        s.open_at_cpu_ns = thread_process_cpu_ns() + FORKED_CPU_NS;
        if (!listener_choose_path(&s.listener, settings, error))
                return false;
        preamble_reset(&s.preamble);
        reader_begin(&s.readers[0], settings->queue_bytes, NULL);
        return true;
}

bool server_open(const struct agent_settings *settings, struct error *error)
{
        if (!server_prepare(settings, error))
                return false;
        s.open_at_ns = 0;
        return listener_open(&s.listener, error);
}

/* If that fails no reader comes, and after `queue` bytes what the program logs is dropped. */
static void open_if_due(void)
{
        struct error unused;
        const int64_t late_ns = s.open_at_ns && !s.filtered ? thread_now_ns() - s.open_at_ns : -1;

        if (late_ns < 0 || (late_ns < FORKED_LAST_NS - FORKED_NS && thread_process_cpu_ns() < s.open_at_cpu_ns))
                return;
        s.open_at_ns = 0;
        pthread_mutex_lock(&s.descriptors);
        (void)listener_open(&s.listener, &unused);
        pthread_mutex_unlock(&s.descriptors);
}

void server_abandon(void)
{
        listener_remove_path(&s.listener);
        descriptor_close(&s.listener.socket);
        descriptor_close(&s.listener.lock);
        if (s.listener.claim[0])
                (void)unlink(s.listener.claim);
}

/* ------------------------------------------------------------------- readers */

static void reader_gone(struct reader *r)
{
        pthread_mutex_lock(&s.descriptors);
        if (r->here)
                s.reader_count--;
        reader_end(r);
        pthread_mutex_unlock(&s.descriptors);
}

static void queue_for_reader(struct reader *r, struct chunk *c)
{
        if (r->socket.fd < 0 && !s.came && !reader_has_room(r, c->size))
                reader_gone(r); /* nobody came: the first reader will get what a later one gets */
        else if (!reader_give(r, c, &s.preamble))
                s.left_out += c->size;
}

static void give_all(struct chunk *c)
{
        for (unsigned i = 0; i < AGENT_READERS; i++)
                if (s.readers[i].used)
                        queue_for_reader(&s.readers[i], c);
}

/* Reports to all readers what the queue dropped. */
static void report_queue_losses(void)
{
        struct queue_losses l = queue_losses();
        char text[AGENT_MESSAGE_BYTES];

        if (l.blocks == s.losses_reported || !s.preamble.header)
                return;
        int n = snprintf(text, sizeof(text), AGENT_SAYS "left out %llu blocks so far, %llu bytes: too much at once",
                         (unsigned long long)l.blocks, (unsigned long long)l.bytes);
        struct chunk *c = preamble_message(&s.preamble, text, (size_t)n);
        s.losses_reported = l.blocks;
        if (c)
                give_all(c);
        chunk_release(c);
}

/* Where no log runs a message is one of its own. Whoever only watches would take that for another run. */
static void queue_message(const struct chunk *text)
{
        bool log = s.preamble.header && !s.preamble.ended;
        struct chunk *c = log ? preamble_message(&s.preamble, (const char *)text->bytes, text->size)
                              : preamble_message_log((const char *)text->bytes, text->size);

        for (unsigned i = 0; c && i < AGENT_READERS; i++)
                if (s.readers[i].used && (log || s.readers[i].asks))
                        queue_for_reader(&s.readers[i], c);
        chunk_release(c);
}

static void give_definitions(struct chunk *c)
{
        preamble_add(&s.preamble, c->bytes, c->size);
        give_all(c);
        chunk_release(c);
}

/* Names of info tables that a census has brought come before it, of a time that is over (preamble_message). */
static void name_tables(uint64_t at_ns)
{
        struct error error;

        if (s.filtered || !preamble_has_unnamed(&s.preamble) ||
            table_names_find(&s.preamble.tables, SYMBOLS_OWN_FILE, symbols_bias(), runtime_kind.profiled, at_ns,
                             give_definitions, &error) ||
            s.unnamed_reported)
                return;
        s.unnamed_reported = true;
        server_notify("info tables without a name are shown by their address: %s", error.text);
}

static void queue_chunks(struct chunk *list)
{
        while (list) {
                struct chunk *c = list;
                list = c->next;
                if (c->kind == CHUNK_START)
                        preamble_reset(&s.preamble);
                else if (c->kind == CHUNK_MESSAGE)
                        queue_message(c);
                else {
                        uint64_t before = s.preamble.message_ns;
                        preamble_add(&s.preamble, c->bytes, c->size);
                        name_tables(before);
                        give_all(c);
                }
                chunk_release(c);
        }
        report_queue_losses();
        /* A census that was read from outside is not the program's own: its pause and names are not counted. */
        struct chunk *c = NULL;

        if (logging_profile() != 'T')
                given_refuse("there is no heap profile by closure type");
        else if (preamble_allows_census(&s.preamble))
                c = given_make_block(s.preamble.message_ns);
        if (c) {
                give_all(c);
                chunk_release(c);
                s.given++;
        }
        s.pause_ns = s.preamble.meter.pause_ns;
        s.live_bytes = s.preamble.meter.live_bytes;
        s.promoted_bytes = s.preamble.meter.promoted_bytes;
        s.promoted_before_bytes = s.preamble.meter.promoted_before_bytes;
        s.known = s.preamble.meter.known; /* the counts last, and read first: what they count is there */
        s.lives = s.preamble.meter.lives;
        s.taken = s.preamble.meter.taken;
        s.definitions_left_out = s.preamble.left_out;
        s.not_understood = s.preamble.not_understood;
}

/* ------------------------------------------------------------------- sockets */

/* As the one that waits for the first reader, or a free one. */
static void accept_reader(int fd)
{
        struct reader *r = NULL;

        for (unsigned i = 0; i < AGENT_READERS && (!r || !r->used); i++)
                if (s.readers[i].used ? s.readers[i].socket.fd < 0 : !r)
                        r = &s.readers[i];
        if (!r) {
                (void)close(fd);
                return;
        }
        if (!r->used) {
                struct chunk *c = s.preamble.ended ? NULL : preamble_chunk(&s.preamble);
                reader_begin(r, s.settings.queue_bytes, c);
                chunk_release(c);
        }
        if (!descriptor_adopt(&r->socket, fd)) {
                reader_end(r);
                return;
        }
        s.came = r->here = true;
        s.reader_count++;
}

/*
 * A program that becomes a daemon may close all descriptors that it does not know. It counts on the numbers that are
 * free then, so ours are opened when it has had time to use them.
 */
static void reopen_listener(void)
{
        const int64_t now_ns = thread_now_ns();

        if (s.closed_at_ns && now_ns - s.closed_at_ns < REOPEN_NS)
                return;
        if (s.closed_at_ns)
                listener_open_again(&s.listener);
        s.closed_at_ns = now_ns;
}

/* How many threads want to run for each processor, and the memory of the process; what cannot be read is not known. */
static void read_surroundings(void)
{
        char text[128];
        double minute;
        unsigned long running, pages = 0, shared = 0;

        s.load_percent = 0;
        if (read_proc_file("/proc/loadavg", text, sizeof(text)) &&
            sscanf(text, "%lf %*f %*f %lu/", &minute, &running) == 2 && running > 0) {
                const double now = (double)(running - 1); /* without this thread */
                s.load_percent = (uint64_t)(100 * (now > minute ? now : minute) / (double)s.processors);
        }
        if (read_proc_file("/proc/self/statm", text, sizeof(text)) && sscanf(text, "%*u %lu %lu", &pages, &shared) == 2)
                s.resident_bytes = pages > shared ? (pages - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/*
 * A filter of system calls that the program installs for all its threads (SECCOMP_FILTER_FLAG_TSYNC) may end it at the
 * next call of ours. From then on nobody is served, and what is logged is dropped. Between this check and the calls
 * there is a moment that cannot be excluded.
 */
static bool is_filtered(void)
{
        int64_t now = thread_now_ns();

        if (s.filtered || now - s.filter_checked_ns < IDLE_NS)
                return s.filtered;
        s.filter_checked_ns = now;
        s.filtered = syscall_filter_is_new();
        if (!s.filtered)
                read_surroundings();
        for (unsigned i = 0; s.filtered && i < AGENT_READERS; i++)
                reader_gone(&s.readers[i]);
        return s.filtered;
}

/* Serves all readers; returns whether something still waits for one of them. */
static bool serve_once(void)
{
        bool waiting = false;

        if (is_filtered())
                return false;
        int fd;

        pthread_mutex_lock(&s.descriptors);
        while ((fd = listener_accept(&s.listener)) >= 0)
                accept_reader(fd);
        if (s.listener.socket.fd >= 0)
                s.closed_at_ns = 0;
        else if (!s.open_at_ns && s.listener.inode)
                reopen_listener();
        pthread_mutex_unlock(&s.descriptors);
        for (unsigned i = 0; i < AGENT_READERS; i++) {
                struct reader *r = &s.readers[i];
                if (!r->used || r->socket.fd < 0)
                        continue;
                if (!descriptor_ours(&r->socket) || !reader_receive_requests(r) || !reader_send(r))
                        reader_gone(r);
                waiting |= r->count > 0;
        }
        return waiting;
}

/* -------------------------------------------------------------------- thread */

/* After the end of the log: whether to go on for readers. */
static bool linger_for_readers(bool waiting, int64_t since_ns)
{
        if (s.open_at_ns != 0 || s.filtered)
                return false; /* no reader can come */
        if (s.came)
                return waiting && since_ns < s.settings.linger_ns;
        return s.readers[0].used && s.readers[0].count > 0 && since_ns < s.settings.await_ns;
}

static void run_server(void)
{
        int64_t closed_ns = 0;
        bool waiting = false;

        for (;;) {
                bool closed = queue_closed();
                queue_chunks(queue_receive(waiting || closed ? BUSY_NS : IDLE_NS));
                open_if_due();
                waiting = serve_once();
                if (!closed)
                        continue;
                if (closed_ns == 0)
                        closed_ns = thread_now_ns();
                if (!linger_for_readers(waiting, thread_now_ns() - closed_ns))
                        break;
                struct timespec pause = { 0, 1000000 };
                nanosleep(&pause, NULL); /* the queue is closed: it does not make us wait any more */
        }
        if (!s.filtered)
                listener_remove_path(&s.listener);
        for (unsigned i = 0; i < AGENT_READERS; i++)
                reader_gone(&s.readers[i]);
        pthread_mutex_lock(&s.descriptors);
        descriptor_close(&s.listener.socket);
        pthread_mutex_unlock(&s.descriptors);
}

int server_start(void)
{
        read_surroundings(); /* the first census is due soon, and its pause is predicted by them */
        int r = thread_start(&s.thread, "heapwatch-io", run_server);

        s.running = r == 0;
        return r;
}

void server_finish(void)
{
        if (!s.running)
                return;
        s.running = false;
        queue_close();
        pthread_join(s.thread.id, NULL);
}

void server_notify(const char *format, ...)
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

/*
 * What the thread was changing just then is left as it is: it is forgotten, not freed. The claim stays open, and locked
 * by flock(2): that says that a process lives which this program has forked.
 */
void server_fork_child(void)
{
        pthread_mutex_init(&s.descriptors, NULL);
        s.running = s.came = s.filtered = s.unnamed_reported = false;
        table_names_fork_child();
        given_fork_child();
        descriptor_close(&s.listener.socket);
        for (unsigned i = 0; i < AGENT_READERS; i++) {
                descriptor_close(&s.readers[i].socket);
                s.readers[i] = (struct reader){ .socket = { .fd = -1 } };
        }
        s.preamble = (struct preamble){ 0 };
        s.listener.path[0] = s.listener.claim[0] = '\0';
        s.listener.inode = 0;
        s.losses_reported = 0;
        s.pause_ns = 0;
        s.known = 0;
        s.live_bytes = s.promoted_bytes = s.promoted_before_bytes = 0;
        s.lives = 0;
        s.taken = s.given = 0;
        s.reader_count = 0;
        s.left_out = 0;
}

struct server_facts server_facts(void)
{
        struct census_facts census = { .known = s.known, .lives = s.lives };

        census.load = (double)s.load_percent / 100;
        census.resident_bytes = s.resident_bytes;
        census.pause_ns = s.pause_ns;
        census.live_bytes = s.live_bytes;
        census.promoted_bytes = s.promoted_bytes;
        census.promoted_before_bytes = s.promoted_before_bytes;
        return (struct server_facts){
                .census = census,
                .censuses_taken = s.taken,
                .censuses_given = s.given,
                .readers = s.reader_count,
                .left_out_bytes = s.left_out,
                .definitions_left_out = s.definitions_left_out,
                .not_understood = s.not_understood,
        };
}

const char *server_path(void)
{
        return s.listener.path;
}
