/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_latency - the time from a program's flush to a subscriber.
 *
 * Starts heapwatchd on a FIFO, plays a program that flushes one block with one
 * user message at a time, and follows the notes. The message holds the time of
 * the write, so the difference is write(2) to message received, both
 * processes' scheduling included. Prints one line of KEY=VALUE.
 *
 *   bench_latency HEAPWATCHD [MESSAGES [RECORDINGS]]
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "heapwatch/wire.h"
#include "proto/eventlog/writer.h"

#define PAUSE_NS 7300000 /* between messages; not a multiple of the daemon's intervals */
#define WAIT_MS  5000    /* for one message: then something is wrong */

extern char **environ;

static uint64_t now_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
        fprintf(stderr, "bench_latency: %s: %s\n", what, strerror(errno));
        exit(2);
}

/* ------------------------------------------------- an eventlog, by hand */

static void put_header(struct eventlog_writer *o)
{
        writer_header_begin(o);
        writer_type(o, 18, 14, "Block marker");
        writer_type(o, 19, WRITER_VARIABLE, "User message");
        writer_header_end(o);
}

static void put_message(struct eventlog_writer *o, uint64_t time_ns, const char *text)
{
        writer_block_begin(o, time_ns, time_ns, 0);
        writer_event(o, 19, time_ns);
        size_t begin = writer_length_begin(o);
        writer_bytes(o, text, strlen(text));
        writer_length_end(o, begin, 0);
        writer_block_end(o);
}

/* ------------------------------------------------------------ the daemon */

struct setup {
        char dir[64], fifo[96], publish[128], request[128], spec[128];
        pid_t pid;
        int fd;
        void *context, *sub;
};

static void start(struct setup *s, const char *daemon, const char *record)
{
        snprintf(s->dir, sizeof(s->dir), "/tmp/hw-latency-XXXXXX");
        if (!mkdtemp(s->dir))
                die("mkdtemp");
        snprintf(s->fifo, sizeof(s->fifo), "%s/log", s->dir);
        snprintf(s->publish, sizeof(s->publish), "ipc://%s/publish", s->dir);
        snprintf(s->request, sizeof(s->request), "ipc://%s/request", s->dir);
        snprintf(s->spec, sizeof(s->spec), "bench=fifo:%s", s->fifo);
        if (mkfifo(s->fifo, 0600) != 0)
                die("mkfifo");
        s->fd = open(s->fifo, O_RDWR | O_CLOEXEC);
        char *argv[] = { (char *)daemon, "--log-level", "error",
                         "--publish",    s->publish,    "--request",
                         s->request,     s->spec,       record ? "--record" : NULL,
                         (char *)record, NULL };
        if (s->fd < 0 || posix_spawn(&s->pid, daemon, NULL, NULL, argv, environ) != 0)
                die(daemon);
        s->context = zmq_ctx_new();
        s->sub = zmq_socket(s->context, ZMQ_SUB);
        int wait = WAIT_MS, retry = 20;
        zmq_setsockopt(s->sub, ZMQ_RCVTIMEO, &wait, sizeof(wait));
        zmq_setsockopt(s->sub, ZMQ_RECONNECT_IVL, &retry, sizeof(retry));
        zmq_setsockopt(s->sub, ZMQ_SUBSCRIBE, "hw1/note/bench/", 15);
        if (zmq_connect(s->sub, s->publish) != 0)
                die("connect");
}

static void stop(struct setup *s)
{
        int linger = 0;

        kill(s->pid, SIGTERM);
        waitpid(s->pid, NULL, 0);
        zmq_setsockopt(s->sub, ZMQ_LINGER, &linger, sizeof(linger));
        zmq_close(s->sub);
        zmq_ctx_term(s->context);
        close(s->fd);
        unlink(s->fifo);
        rmdir(s->dir);
}

static void send_now(struct setup *s, struct eventlog_writer *b)
{
        char text[32];

        snprintf(text, sizeof(text), "%" PRIu64, now_ns());
        put_message(b, now_ns(), text);
        if (write(s->fd, b->data, b->n) != (ssize_t)b->n)
                die("write");
        b->n = 0;
}

/* Receives notes until one comes; returns the latency of the newest, UINT64_MAX when none came in time. */
static uint64_t receive(struct setup *s)
{
        zmq_msg_t topic, body;
        uint64_t latency = UINT64_MAX;
        const char *reason;

        zmq_msg_init(&topic);
        zmq_msg_init(&body);
        if (zmq_msg_recv(&topic, s->sub, 0) >= 0 && zmq_msg_recv(&body, s->sub, 0) >= 0) {
                uint64_t now = now_ns();
                Hw__Update *u = hw_update_unpack(zmq_msg_data(&body), zmq_msg_size(&body), &reason);
                if (u && u->body_case == HW__UPDATE__BODY_NOTES && u->notes->n_notes > 0)
                        latency = now - strtoull(u->notes->notes[u->notes->n_notes - 1]->text, NULL, 10);
                if (u)
                        hw_update_unref(u);
        }
        zmq_msg_close(&topic);
        zmq_msg_close(&body);
        return latency;
}

/* The subscription travels in the background: sends until the first note arrives. */
static void warm_up(struct setup *s, struct eventlog_writer *b)
{
        int wait = 50;

        zmq_setsockopt(s->sub, ZMQ_RCVTIMEO, &wait, sizeof(wait));
        for (int i = 0; i < 200; i++) {
                send_now(s, b);
                if (receive(s) != UINT64_MAX)
                        break;
        }
        while (receive(s) != UINT64_MAX)
                ;
        wait = WAIT_MS;
        zmq_setsockopt(s->sub, ZMQ_RCVTIMEO, &wait, sizeof(wait));
}

static int compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
        size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
        uint64_t *latencies = calloc(n + 1, sizeof(*latencies));
        static struct eventlog_writer b;
        struct setup s;

        if (argc < 2 || n == 0 || !latencies) {
                fprintf(stderr, "usage: bench_latency HEAPWATCHD [MESSAGES [RECORDINGS]]\n");
                return 2;
        }
        start(&s, argv[1], argc > 3 ? argv[3] : NULL);
        put_header(&b);
        warm_up(&s, &b);
        for (size_t i = 0; i < n; i++) {
                struct timespec pause = { .tv_nsec = PAUSE_NS };
                nanosleep(&pause, NULL);
                send_now(&s, &b);
                latencies[i] = receive(&s);
        }
        stop(&s);
        qsort(latencies, n, sizeof(*latencies), compare);
        printf("messages=%zu median_ns=%" PRIu64 " p99_ns=%" PRIu64 " max_ns=%" PRIu64 "\n", n, latencies[n / 2],
               latencies[n * 99 / 100], latencies[n - 1]);
        free(latencies);
        return 0;
}
