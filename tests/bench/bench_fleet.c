/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_fleet - a fleet of made-up services, and a subscriber that measures how late their notes are.
 *
 *   bench_fleet DIR SERVICES BANDS SECONDS PUBLISH
 *
 * Serves the eventlog of each service at DIR/0.sock, DIR/1.sock ... as a program with eventlog-socket does, prints
 * "ready", and plays for SECONDS after the last one was connected to. Each service collects four times a second and
 * once in ten seconds all generations, takes a heap census of BANDS bands then, and writes a note every two seconds;
 * it flushes once a second, each at a moment of its own. The sizes of bands fall off as those of real programs do:
 * one in eight has 64 KiB and more.
 *
 * A note holds the time of its flush, so its latency is write(2) to message received, the scheduling of all processes
 * included. What a socket does not take at once waits here, as it would in the program, and is counted. Prints one
 * line of KEY=VALUE.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "heapwatch/wire.h"
#include "tests/bench/made_log.h"

#define SECOND          UINT64_C(1000000000)
#define CENSUS_EVERY    10u /* flushes */
#define NOTE_EVERY      2u  /* flushes */
#define COLLECTIONS     4u  /* in a flush */
#define LARGEST_BAND    4e7 /* bytes */
#define LATENCIES_MAX   4000000u
#define BEGINNING_WAITS 600u /* s, until all are connected */

struct service {
        int listener, fd; /* -1: not connected */
        uint64_t began_ns, next_ns, waits_since_ns;
        uint32_t flushes;
        uint8_t *waiting;
        size_t n_waiting;
};

struct fleet {
        struct service *services;
        uint32_t n, n_connected, bands;
        uint64_t waits, longest_wait_ns, bytes, notes;
};

static atomic_bool over, heard; /* heard: the subscription is in force */
static uint64_t *latencies;
static atomic_size_t n_latencies;
static _Atomic uint64_t counted_from_ns = UINT64_MAX; /* notes flushed from then on are measured */

static uint64_t now_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
        fprintf(stderr, "bench_fleet: %s: %s\n", what, strerror(errno));
        exit(2);
}

/* --------------------------------------------------------------------- logs */

static void put_band(struct eventlog_writer *o, uint64_t time_ns, uint32_t band, uint64_t bytes)
{
        char label[128];

        writer_event(o, 164, time_ns);
        size_t begin = writer_length_begin(o);
        writer_number(o, 0, 1);
        writer_number(o, bytes, 8);
        snprintf(label, sizeof(label), "service:Part%" PRIu32 ".Constructor%" PRIu32, band % 40, band);
        writer_string(o, label);
        writer_length_end(o, begin, 0);
}

/* Of the band of this rank; it goes up and down by a tenth. */
static uint64_t band_bytes(uint32_t band, uint32_t number)
{
        double size = LARGEST_BAND / ((double)(band + 1) * (double)(band + 1));

        return 16 + (uint64_t)(size * (1 + (double)((band * 7919u + number * 104729u) % 1000u) / 10000)) / 8 * 8;
}

static void put_census(struct eventlog_writer *o, uint64_t time_ns, uint32_t bands, uint32_t number)
{
        writer_block_begin(o, time_ns, time_ns, HW_CAP_NONE);
        put_mark(o, 162, time_ns);
        for (uint32_t band = 0; band < bands; band++)
                put_band(o, time_ns, band, band_bytes(band, number));
        put_mark(o, 165, time_ns);
        writer_block_end(o);
}

static void put_note(struct eventlog_writer *o, uint64_t time_ns)
{
        char text[64];

        snprintf(text, sizeof(text), "%" PRIu64 " request handled", now_ns());
        writer_block_begin(o, time_ns, time_ns, 0);
        writer_event(o, 19, time_ns);
        size_t begin = writer_length_begin(o);
        writer_bytes(o, text, strlen(text));
        writer_length_end(o, begin, 0);
        writer_block_end(o);
}

static void put_beginning(struct eventlog_writer *o)
{
        put_header(o);
        writer_block_begin(o, MS, MS, HW_CAP_NONE);
        put_identity(o, (uint64_t)time(NULL));
        put_profile_begin(o, CENSUS_EVERY * SECOND, BREAKDOWN_CLOSURE_TYPE);
        writer_block_end(o);
}

/* What happened in the second before a flush. */
static void put_second(struct eventlog_writer *o, const struct fleet *f, const struct service *s, uint32_t index)
{
        uint64_t end_ns = s->next_ns - s->began_ns + SECOND, time_ns = end_ns - SECOND;
        bool census = (s->flushes + index) % CENSUS_EVERY == 0;

        for (uint32_t i = 1; i <= COLLECTIONS; i++) {
                uint64_t number = (uint64_t)s->flushes * COLLECTIONS + i;
                put_collection(o, time_ns + i * SECOND / (COLLECTIONS + 1), census && i == COLLECTIONS, number << 22,
                               (64u << 20) + number % 1000 * 8192);
        }
        if (census)
                put_census(o, end_ns - 2 * MS, f->bands, s->flushes);
        if ((s->flushes + index) % NOTE_EVERY == 0)
                put_note(o, end_ns - MS);
        if (o->failed)
                die("a block is too large");
}

/* ------------------------------------------------------------------ sockets */

static void listen_at(struct service *s, const char *dir, uint32_t i)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };

        if (snprintf(at.sun_path, sizeof(at.sun_path), "%s/%" PRIu32 ".sock", dir, i) >= (int)sizeof(at.sun_path))
                die("the directory's name is too long");
        *s = (struct service){ .listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), .fd = -1 };
        if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(s->listener, 4))
                die(at.sun_path);
}

/* Writes what the socket takes; the rest waits for the next turn. */
static void flush(struct fleet *f, struct service *s, const uint8_t *bytes, size_t n)
{
        ssize_t done = 0;

        if (s->n_waiting == 0 && n > 0) {
                done = write(s->fd, bytes, n);
                if (done < 0 && errno != EAGAIN)
                        die("write to the daemon");
                done = done < 0 ? 0 : done;
                f->bytes += (uint64_t)done;
        }
        if ((size_t)done == n)
                return;
        if (s->n_waiting == 0) {
                f->waits++;
                s->waits_since_ns = now_ns();
        }
        s->waiting = realloc(s->waiting, s->n_waiting + n - (size_t)done);
        if (!s->waiting)
                die("what waits");
        memcpy(s->waiting + s->n_waiting, bytes + done, n - (size_t)done);
        s->n_waiting += n - (size_t)done;
}

static void flush_waiting(struct fleet *f, struct service *s)
{
        ssize_t done = s->n_waiting ? write(s->fd, s->waiting, s->n_waiting) : 0;

        if (done <= 0)
                return;
        f->bytes += (uint64_t)done;
        s->n_waiting -= (size_t)done;
        memmove(s->waiting, s->waiting + done, s->n_waiting);
        uint64_t waited_ns = now_ns() - s->waits_since_ns;
        if (s->n_waiting == 0 && waited_ns > f->longest_wait_ns)
                f->longest_wait_ns = waited_ns;
}

static void accept_one(struct fleet *f, struct service *s, struct eventlog_writer *o)
{
        uint64_t index = (uint64_t)(s - f->services), now = now_ns();

        s->fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (s->fd < 0)
                return;
        f->n_connected++;
        s->next_ns = (now / SECOND + 1) * SECOND + index * SECOND / f->n;
        s->began_ns = now - 2 * MS;
        put_beginning(o);
        flush(f, s, o->data, o->n);
        o->n = 0;
}

static void turn(struct fleet *f, struct eventlog_writer *o)
{
        for (uint32_t i = 0; i < f->n; i++) {
                struct service *s = &f->services[i];
                if (s->fd < 0) {
                        accept_one(f, s, o);
                        continue;
                }
                flush_waiting(f, s);
                if (now_ns() < s->next_ns)
                        continue;
                put_second(o, f, s, i);
                f->notes += (s->flushes + i) % NOTE_EVERY == 0;
                flush(f, s, o->data, o->n);
                o->n = 0;
                s->next_ns += SECOND;
                s->flushes++;
        }
}

/* --------------------------------------------------------------- subscriber */

static void take(const uint8_t *bytes, size_t n, uint64_t now)
{
        const char *reason;
        Hw__Update *u = hw_update_unpack(bytes, n, &reason);

        for (size_t i = 0; u && u->body_case == HW__UPDATE__BODY_NOTES && i < u->notes->n_notes; i++) {
                uint64_t flushed = strtoull(u->notes->notes[i]->text, NULL, 10);
                if (flushed >= counted_from_ns && n_latencies < LATENCIES_MAX)
                        latencies[n_latencies++] = now - flushed;
        }
        if (u)
                hw_update_unref(u);
        heard = true;
}

static void *subscribe(void *publish)
{
        void *context = zmq_ctx_new(), *sub = zmq_socket(context, ZMQ_SUB);
        int wait = 100, many = 0;
        zmq_msg_t topic, body;

        zmq_setsockopt(sub, ZMQ_RCVTIMEO, &wait, sizeof(wait));
        zmq_setsockopt(sub, ZMQ_RCVHWM, &many, sizeof(many));
        zmq_setsockopt(sub, ZMQ_SUBSCRIBE, "hw1/note/", 9);
        if (zmq_connect(sub, publish) != 0)
                die(publish);
        zmq_msg_init(&topic);
        zmq_msg_init(&body);
        while (!over)
                if (zmq_msg_recv(&topic, sub, 0) >= 0 && zmq_msg_recv(&body, sub, 0) >= 0)
                        take(zmq_msg_data(&body), zmq_msg_size(&body), now_ns());
        zmq_msg_close(&topic);
        zmq_msg_close(&body);
        zmq_close(sub);
        zmq_ctx_term(context);
        return NULL;
}

/* --------------------------------------------------------------------- all */

static void play(struct fleet *f, struct eventlog_writer *o, uint64_t seconds)
{
        uint64_t until = UINT64_MAX, give_up = now_ns() + BEGINNING_WAITS * SECOND;
        const struct timespec pause = { .tv_nsec = 2000000 };

        for (uint64_t now = now_ns(); now < until; now = now_ns()) {
                turn(f, o);
                if (until == UINT64_MAX && f->n_connected == f->n && heard) {
                        puts("connected");
                        fflush(stdout);
                        f->waits = f->longest_wait_ns = f->notes = 0;
                        counted_from_ns = now_ns();
                        until = now + seconds * SECOND;
                } else if (until == UINT64_MAX && now > give_up) {
                        die("not all were connected to, or no note came");
                }
                nanosleep(&pause, NULL);
        }
}

static int compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

static void report(const struct fleet *f)
{
        size_t n = n_latencies;

        if (n == 0)
                die("no note came");
        qsort(latencies, n, sizeof(*latencies), compare);
        printf("services=%" PRIu32 " bytes=%" PRIu64 " waits=%" PRIu64 " longest_wait_ns=%" PRIu64 " notes=%" PRIu64
               " received=%zu median_ns=%" PRIu64 " p99_ns=%" PRIu64 " max_ns=%" PRIu64 "\n",
               f->n, f->bytes, f->waits, f->longest_wait_ns, f->notes, n, latencies[n / 2], latencies[n * 99 / 100],
               latencies[n - 1]);
}

int main(int argc, char **argv)
{
        static struct eventlog_writer o;
        struct fleet f = { 0 };
        pthread_t subscriber;

        if (argc != 6) {
                fprintf(stderr, "usage: bench_fleet DIR SERVICES BANDS SECONDS PUBLISH\n");
                return 2;
        }
        f.n = (uint32_t)strtoul(argv[2], NULL, 10);
        f.bands = (uint32_t)strtoul(argv[3], NULL, 10);
        f.services = calloc(f.n + 1, sizeof(*f.services));
        latencies = malloc(LATENCIES_MAX * sizeof(*latencies));
        if (!f.services || !latencies || f.n == 0)
                die("a fleet of that size");
        for (uint32_t i = 0; i < f.n; i++)
                listen_at(&f.services[i], argv[1], i);
        if (pthread_create(&subscriber, NULL, subscribe, argv[5]) != 0)
                die("a thread");
        puts("ready");
        fflush(stdout);
        play(&f, &o, strtoull(argv[4], NULL, 10));
        for (int i = 0; i < 100 && n_latencies < f.notes; i++) /* the last notes */
                nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
        over = true;
        pthread_join(subscriber, NULL);
        report(&f);
        for (uint32_t i = 0; i < f.n; i++) {
                free(f.services[i].waiting);
                close(f.services[i].fd);
                close(f.services[i].listener);
        }
        free(f.services);
        free(latencies);
        return 0;
}
