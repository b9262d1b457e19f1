/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench_server - requests at fixed moments, whether or not the ones before were answered (an open loop), and how long
 * each takes from the moment that it was scheduled for to its answer: a server that stands still for 200 ms makes all
 * requests of that time wait, as users do. Prints one line of KEY=VALUE, in ns.
 *
 *   bench_server PORT REQUESTS_PER_S SECONDS
 */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define CONNECTIONS 16
#define BYTES       16
#define LAST_NS     UINT64_C(10000000000) /* for the answers that are still to come */

static uint64_t now_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
        fprintf(stderr, "bench_server: %s: %s\n", what, strerror(errno));
        exit(2);
}

static int connect_to(int port)
{
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_port = htons((uint16_t)port),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
                die("cannot connect");
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        return fd;
}

struct load {
        struct pollfd peers[CONNECTIONS];
        uint64_t begin_ns, step_ns;
        uint32_t n, sent, answered;
        uint64_t *took_ns;
};

static uint64_t due_ns(const struct load *l, uint32_t i)
{
        return l->begin_ns + (uint64_t)i * l->step_ns;
}

static void send_due(struct load *l)
{
        for (; l->sent < l->n && due_ns(l, l->sent) <= now_ns(); l->sent++) {
                unsigned char request[BYTES] = { 0 };

                memcpy(request, &l->sent, sizeof(l->sent));
                if (send(l->peers[l->sent % CONNECTIONS].fd, request, BYTES, MSG_NOSIGNAL) != BYTES)
                        die("cannot send");
        }
}

static void take_answers(struct load *l)
{
        for (unsigned i = 0; i < CONNECTIONS; i++) {
                unsigned char answer[BYTES];
                uint32_t number;

                if (!(l->peers[i].revents & (POLLIN | POLLHUP | POLLERR)))
                        continue;
                if (recv(l->peers[i].fd, answer, BYTES, MSG_WAITALL) != BYTES)
                        die("the server has ended");
                memcpy(&number, answer, sizeof(number));
                if (number >= l->sent)
                        die("an answer to nothing");
                l->took_ns[l->answered++] = now_ns() - due_ns(l, number);
        }
}

static void wait_for_events(struct load *l, uint64_t until)
{
        uint64_t now = now_ns(), ns = until > now ? until - now : 0;
        struct timespec most = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

        for (unsigned i = 0; i < CONNECTIONS; i++)
                l->peers[i].revents = 0;
        if (ppoll(l->peers, CONNECTIONS, &most, NULL) < 0 && errno != EINTR)
                die("cannot wait");
}

static int by_size(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

static uint64_t quantile(const struct load *l, double q)
{
        uint32_t i = (uint32_t)(q * (double)l->answered);

        return l->took_ns[i < l->answered ? i : l->answered - 1];
}

int main(int argc, char **argv)
{
        if (argc != 4) {
                fprintf(stderr, "usage: bench_server PORT REQUESTS_PER_S SECONDS\n");
                return 2;
        }
        unsigned rate = (unsigned)strtoul(argv[2], NULL, 10), seconds = (unsigned)strtoul(argv[3], NULL, 10);
        struct load l = { .step_ns = rate ? 1000000000u / rate : 0, .n = rate * seconds };

        if (l.n == 0 || (l.took_ns = calloc(l.n, sizeof(*l.took_ns))) == NULL)
                die("nothing to measure");
        for (unsigned i = 0; i < CONNECTIONS; i++)
                l.peers[i] = (struct pollfd){ .fd = connect_to((int)strtol(argv[1], NULL, 10)), .events = POLLIN };
        l.begin_ns = now_ns() + 100000000u;
        uint64_t end = due_ns(&l, l.n) + LAST_NS;
        while (l.answered < l.n) {
                wait_for_events(&l, l.sent < l.n ? due_ns(&l, l.sent) : end);
                take_answers(&l);
                send_due(&l);
                if (now_ns() > end)
                        die("answers are missing");
        }
        qsort(l.took_ns, l.answered, sizeof(*l.took_ns), by_size);
        printf("p50_ns=%" PRIu64 " p99_ns=%" PRIu64 " p999_ns=%" PRIu64 " max_ns=%" PRIu64 "\n", quantile(&l, 0.5),
               quantile(&l, 0.99), quantile(&l, 0.999), quantile(&l, 1));
        free(l.took_ns);
        return 0;
}
