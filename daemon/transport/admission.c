/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: four sockets beside the two of the bus (bus.h), all served by the loop.
 *
 * ZAP. libzmq's own thread asks inproc://zeromq.zap.01 about each peer; only that peer waits for the answer, at most
 * ZMQ_HANDSHAKE_IVL. A ROUTER answers, so that many questions can be open at once. It is bound before anything listens:
 * without it libzmq would admit everybody. The user id in the answer is the key itself, which libzmq then attaches to
 * each message of the connection. The role is looked up for each request, so a change of it takes effect at once.
 *
 * Monitors. A peer that does not speak CURVE, or expects another server key, never gets as far as ZAP. Two monitors
 * report it, without key or address; the peer that was accepted last is logged as the probable one.
 *
 * The port. A socket option applies to what is bound after it is set. So the ipc endpoints, bound earlier, are not
 * affected, and a new server key needs another bind. libzmq closes a listener some time after it is asked to; so that
 * the port is never closed we listen ourselves, and give libzmq a duplicate of the descriptor for each bind. Clients
 * that connect in between wait in the backlog.
 */
#include "daemon/transport/admission.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/transport/connections.h"
#include "daemon/transport/endpoint.h"
#include "daemon/transport/limits.h"
#include "daemon/transport/zap.h"
#include "daemon/transport/zloop.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/keys/authorized.h"
#include "proto/yaml/yaml_file.h"

#define ZAP_ENDPOINT "inproc://zeromq.zap.01"
#define DOMAIN       "heapwatch"
#define BACKLOG      128
#define SOCKETS      2u /* publish, request */

static const char *const monitor_endpoints[SOCKETS] = { "inproc://admission-publish", "inproc://admission-request" };

struct tcp_socket {
        struct admission *admission;
        void *socket;
        char address[ENDPOINT_MAX]; /* what was bound, as libzmq names it; "": nothing */
        int listener;
        void *monitor;
        struct zloop *monitor_loop;
        char last[PEER_TEXT]; /* the peer that was accepted last */
};

struct admission {
        char listen[ENDPOINT_MAX];
        char directory[PATH_MAX];
        struct key_pair server;
        struct authorized authorized;
        void *zap;
        struct zloop *zap_loop;
        struct tcp_socket sockets[SOCKETS];
        struct admission_stats stats;
};

/* ---------------------------------------------------------------------- keys */

static void say_into(void *ctx, const char *line)
{
        struct error *error = ctx;

        if (!error->text[0]) /* the first mistake only */
                error_set(error, "%s", line);
}

static bool path_in(char out[PATH_MAX], const struct admission *a, const char *name, struct error *error)
{
        int n = snprintf(out, PATH_MAX, "%s/%s", a->directory, name);

        return (n > 0 && n < PATH_MAX) || error_set(error, "%s: the path is too long", a->directory);
}

/* Whoever can change the list can authorise a key. */
static bool is_ours_alone(const char *path, struct error *error)
{
        struct stat st;

        if (stat(path, &st) != 0)
                return true; /* reading reports why */
        if (st.st_uid != geteuid() && st.st_uid != 0)
                return error_set(error, "%s: it belongs to another user", path);
        return !(st.st_mode & 022) || error_set(error, "%s: others may change it; chmod 600 it", path);
}

static bool read_keys(const struct admission *a, struct key_pair *server, struct authorized *authorized,
                      struct error *error)
{
        char path[PATH_MAX];
        struct error mistake = { .text = "" };
        const struct error_sink says = { .say = say_into, .ctx = &mistake };

        if (!path_in(path, a, KEYS_SERVER, error) || !key_pair_read(server, path, error))
                return false;
        if (!path_in(path, a, KEYS_AUTHORIZED, error) || !is_ours_alone(path, error)) {
                key_pair_wipe(server);
                return false;
        }
        if (authorized_read(authorized, path, &says))
                return true;
        key_pair_wipe(server);
        return error_set(error, "%s", mistake.text);
}

/* --------------------------------------------------------------------- asked */

static void answer(void *zap, zmq_msg_t *identity, const struct zap_request *r, bool welcome)
{
        char key[KEY_TEXT] = "";

        if (welcome)
                key_print(r->public, key);
        /* Fails only if the peer has gone by now. */
        if (zmq_msg_send(identity, zap, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
                return;
        (void)zmq_send(zap, "", 0, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(zap, "1.0", 3, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(zap, r->id, r->n_id, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(zap, welcome ? "200" : "400", 3, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(zap, welcome ? "OK" : "No access", welcome ? 2 : 9, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(zap, key, strlen(key), ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(zap, "", 0, ZMQ_DONTWAIT);
}

static void judge(struct admission *a, zmq_msg_t *identity, const struct zap_frame *frames, size_t n)
{
        struct zap_request r;
        char key[KEY_TEXT];
        const char *wrong = zap_read(frames, n, &r);
        const struct authorized_key *known = wrong ? NULL : authorized_by_key(&a->authorized, r.public);

        if (known) {
                a->stats.admitted++;
                log_debug("admitted=%llu key=%s role=%s from=%s", (unsigned long long)a->stats.admitted, known->name,
                          role_name(known->role), r.address);
        } else {
                a->stats.refused++;
                key_print(r.public, key);
                log_warning("refused=%llu handshake from=%s: %s %s", (unsigned long long)a->stats.refused,
                            r.address[0] ? r.address : "?", wrong ? "the request" : "not authorised: key",
                            wrong ? wrong : key);
        }
        if (r.id)
                answer(a->zap, identity, &r, known);
}

/* One question of libzmq: its identity, an empty frame, and what zap.h says. */
static int receive_question(void *ctx, void *socket)
{
        zmq_msg_t parts[2 + ZAP_FRAMES_MAX];
        struct zap_frame frames[ZAP_FRAMES_MAX];
        size_t n = 0, taken = 0;
        bool more = true;

        while (more) {
                zmq_msg_t part;
                (void)zmq_msg_init(&part);
                if (zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) < 0) {
                        (void)zmq_msg_close(&part);
                        break;
                }
                more = zmq_msg_more(&part);
                taken++;
                if (n < ARRAY_SIZE(parts)) {
                        (void)zmq_msg_init(&parts[n]);
                        (void)zmq_msg_move(&parts[n++], &part);
                }
                (void)zmq_msg_close(&part);
        }
        for (size_t i = 2; i < n; i++)
                frames[i - 2] = (struct zap_frame){ zmq_msg_data(&parts[i]), zmq_msg_size(&parts[i]) };
        if (!more && n >= 2)
                judge(ctx, &parts[0], frames, n - 2);
        for (size_t i = 0; i < n; i++)
                (void)zmq_msg_close(&parts[i]);
        return taken > 0;
}

/* ------------------------------------------------------------------ monitors */

static void take_event(struct tcp_socket *d, uint16_t event, uint32_t value)
{
        struct admission *a = d->admission;

        if (event == ZMQ_EVENT_ACCEPTED) {
                (void)connections_peer((int)value, d->last);
                return;
        }
        a->stats.failed++;
        log_warning("failed=%llu handshake from=%s: %s", (unsigned long long)a->stats.failed,
                    d->last[0] ? d->last : "?",
                    event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL ? "it is not by CURVE, or meant for another server key"
                                                                 : "broken off: no ZeroMQ, or not in time");
}

/* Two frames: event (u16) and value (u32), then the endpoint, which says whether it is of TCP. */
static int receive_event(void *ctx, void *socket)
{
        uint8_t number[6], endpoint[ENDPOINT_MAX];
        uint16_t event;
        uint32_t value;

        int n = zmq_recv(socket, number, sizeof(number), ZMQ_DONTWAIT);
        if (n < 0)
                return 0;
        int size = zmq_recv(socket, endpoint, sizeof(endpoint), ZMQ_DONTWAIT);
        if (n != (int)sizeof(number) || size < 6 || memcmp(endpoint, "tcp://", 6) != 0)
                return 1;
        memcpy(&event, number, sizeof(event));
        memcpy(&value, number + sizeof(event), sizeof(value));
        take_event(ctx, event, value);
        return 1;
}

static bool open_monitor(struct tcp_socket *d, unsigned which, const struct admission_options *o)
{
        const int events =
                ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;

        if (zmq_socket_monitor(d->socket, monitor_endpoints[which], events) != 0)
                return false;
        d->monitor = zmq_socket(o->context, ZMQ_PAIR);
        if (!d->monitor || zmq_connect(d->monitor, monitor_endpoints[which]) != 0)
                return false;
        d->monitor_loop = zloop_new(o->base, d->monitor, receive_event, d);
        return d->monitor_loop != NULL;
}

/* ------------------------------------------------------------------ the port */

/* A listening socket of our own. A descriptor, or -1 with a sentence. */
static int listen_at(const char *host, uint16_t port, struct error *error)
{
        const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
                                        .ai_socktype = SOCK_STREAM };
        struct addrinfo *at = NULL;
        char service[8];
        int yes = 1;

        (void)snprintf(service, sizeof(service), "%u", port);
        if (getaddrinfo(host, service, &hints, &at) != 0) {
                error_set(error,
                          "--listen: '%s' is no address; expected tcp://ADDRESS:PORT, such as tcp://0.0.0.0:7700",
                          host);
                return -1;
        }
        int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd >= 0)
                (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
                error_set(error, "--listen: cannot listen at %s, port %u: %s", host, port, strerror(errno));
                if (fd >= 0)
                        (void)close(fd);
                fd = -1;
        }
        freeaddrinfo(at);
        return fd;
}

static bool set_int(void *socket, int option, int value)
{
        return zmq_setsockopt(socket, option, &value, sizeof(value)) == 0;
}

/* What is bound from now on uses CURVE with this key. */
static bool set_options(void *socket, const struct key_pair *server)
{
        const int64_t longest = LIMIT_KEYED_SUBSCRIPTION;
        int64_t now = 0;
        size_t size = sizeof(now);

        /* The publishing socket's own limit is below the size of a handshake. */
        if (zmq_getsockopt(socket, ZMQ_MAXMSGSIZE, &now, &size) == 0 && now < longest)
                (void)zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &longest, sizeof(longest));
        return set_int(socket, ZMQ_CURVE_SERVER, 1) &&
               zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, server->secret, KEY_BYTES) == 0 &&
               zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, DOMAIN, strlen(DOMAIN)) == 0 &&
               set_int(socket, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS) &&
               set_int(socket, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_LOST_MS);
}

/* Binds again, with this key; existing connections stay. */
static bool open_socket(struct tcp_socket *d, const struct key_pair *server)
{
        char address[ENDPOINT_MAX];
        size_t size = sizeof(d->address);
        int copy = fcntl(d->listener, F_DUPFD_CLOEXEC, 0);

        if (copy < 0)
                return false;
        if (d->address[0])
                (void)zmq_unbind(d->socket, d->address);
        d->address[0] = '\0';
        (void)snprintf(address, sizeof(address), "%s", "tcp://127.0.0.1:1"); /* the address is the descriptor's */
        bool bound = set_options(d->socket, server) && set_int(d->socket, ZMQ_USE_FD, copy) &&
                     zmq_bind(d->socket, address) == 0;
        if (!bound)
                (void)close(copy);
        (void)set_int(d->socket, ZMQ_USE_FD, -1);
        return bound && zmq_getsockopt(d->socket, ZMQ_LAST_ENDPOINT, d->address, &size) == 0;
}

/* "tcp://ADDRESS:PORT": host without brackets, and the port of publishing, with one above it. */
static bool split(const char *listen, char host[64], uint16_t *ret_port, struct error *error)
{
        const char *rest = strncmp(listen, "tcp://", 6) ? NULL : listen + 6, *colon = rest ? strrchr(rest, ':') : NULL;
        char *end = NULL;
        unsigned long port = colon && colon[1] >= '1' && colon[1] <= '9' ? strtoul(colon + 1, &end, 10) : 0;

        if (!colon || port == 0 || *end || port >= 65535 || colon == rest || colon - rest >= 60)
                return error_set(
                        error,
                        "--listen: '%.80s'; expected tcp://ADDRESS:PORT with a port of 1 to 65534 (requests are "
                        "answered at the next one)",
                        listen);
        const bool brackets = *rest == '[' && colon[-1] == ']';
        (void)snprintf(host, 64, "%.*s", (int)(colon - rest) - 2 * brackets, rest + brackets);
        if (!strcmp(host, "*"))
                (void)snprintf(host, 64, "0.0.0.0");
        *ret_port = (uint16_t)port;
        return true;
}

/* ----------------------------------------------------------------------- life */

static bool open_zap(struct admission *a, const struct admission_options *o)
{
        a->zap = zmq_socket(o->context, ZMQ_ROUTER);
        if (!a->zap || !set_int(a->zap, ZMQ_LINGER, 0) || zmq_bind(a->zap, ZAP_ENDPOINT) != 0)
                return false;
        a->zap_loop = zloop_new(o->base, a->zap, receive_question, a);
        return a->zap_loop != NULL;
}

static bool open_sockets(struct admission *a, const struct admission_options *o, struct error *error)
{
        char host[64];
        uint16_t port = 0;

        if (!split(o->listen, host, &port, error))
                return false;
        for (unsigned i = 0; i < SOCKETS; i++) {
                a->sockets[i].listener = listen_at(host, (uint16_t)(port + i), error);
                if (a->sockets[i].listener < 0)
                        return false;
        }
        connections_keyed(port);
        if (!open_zap(a, o))
                return error_set(error, "no memory or descriptors left for keys");
        for (unsigned i = 0; i < SOCKETS; i++)
                if (!open_monitor(&a->sockets[i], i, o) || !open_socket(&a->sockets[i], &a->server))
                        return error_set(error, "%s: cannot listen there: %s", o->listen, zmq_strerror(errno));
        return true;
}

/* The directory is ours or root's, and nobody else may enter it. */
static bool check_directory(const char *path, struct error *error)
{
        struct stat st;

        if (stat(path, &st) != 0)
                return error_set(error, "%s: %s; `heapwatch keys new server --dir %s` makes it", path, strerror(errno),
                                 path);
        if (!S_ISDIR(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0))
                return error_set(error, "%s: expected a directory that belongs to you or root", path);
        return !(st.st_mode & 077) || error_set(error, "%s: can be entered by others; chmod 700 it", path);
}

struct admission *admission_new(const struct admission_options *o, struct error *error)
{
        struct admission *a = calloc(1, sizeof(*a));

        if (!a) {
                error_set(error, "out of memory for keys");
                return NULL;
        }
        for (unsigned i = 0; i < SOCKETS; i++)
                a->sockets[i] = (struct tcp_socket){ .admission = a, .socket = o->sockets[i], .listener = -1 };
        (void)snprintf(a->listen, sizeof(a->listen), "%s", o->listen);
        (void)snprintf(a->directory, sizeof(a->directory), "%s", o->keys);
        if (!zmq_has("curve"))
                error_set(error, "this libzmq has no CURVE, by which keys work; without it, listen on ipc alone");
        else if (check_directory(o->keys, error) && read_keys(a, &a->server, &a->authorized, error) &&
                 open_sockets(a, o, error)) {
                a->stats.authorized = a->authorized.n;
                log_info("listen=%s keys=%zu server_key=%s", a->listen, a->authorized.n, a->server.name);
                return a;
        }
        admission_destroy(&a);
        return NULL;
}

/* Until the bus closes its sockets libzmq goes on asking, and gets no answer. */
void admission_destroy(struct admission **ret)
{
        struct admission *a = *ret;

        if (!a)
                return;
        *ret = NULL;
        for (unsigned i = 0; i < SOCKETS; i++) {
                struct tcp_socket *d = &a->sockets[i];
                if (d->address[0])
                        (void)zmq_unbind(d->socket, d->address);
                zloop_destroy(&d->monitor_loop);
                if (d->monitor) {
                        (void)zmq_socket_monitor(d->socket, NULL, 0);
                        (void)zmq_close(d->monitor);
                }
                if (d->listener >= 0)
                        (void)close(d->listener);
        }
        zloop_destroy(&a->zap_loop);
        if (a->zap)
                (void)zmq_close(a->zap);
        authorized_done(&a->authorized);
        key_pair_wipe(&a->server);
        free(a);
}

/* Whether this key may still connect. */
static bool still_holds(const void *ctx, const uint8_t public[KEY_BYTES])
{
        return authorized_by_key(ctx, public) != NULL;
}

/* Logs the keys that are no longer listed. */
static size_t count_gone(const struct authorized *before, const struct authorized *now)
{
        size_t n = 0;

        for (size_t i = 0; i < before->n; i++) {
                if (authorized_by_key(now, before->keys[i].public))
                        continue;
                log_info("revoked key=%s", before->keys[i].name);
                n++;
        }
        return n;
}

/* An empty file is a write that was cut short, and not the wish to shut everybody out. */
static bool is_cut_short(const struct admission *a, const struct authorized *authorized, struct error *error)
{
        char path[PATH_MAX];
        struct stat st;

        if (authorized->n > 0 || a->authorized.n == 0 || !path_in(path, a, KEYS_AUTHORIZED, error) ||
            stat(path, &st) != 0 || st.st_size > 0)
                return false;
        (void)error_set(error,
                        "%.800s is empty, which would shut out all %zu keys: they stay in force; if that is meant, "
                        "put a comment (# ...) into it, or remove it",
                        path, a->authorized.n);
        return true;
}

bool admission_reload(struct admission *a, struct error *error)
{
        struct key_pair server;
        struct authorized authorized, before = a->authorized;

        if (!read_keys(a, &server, &authorized, error))
                return false;
        if (is_cut_short(a, &authorized, error)) {
                key_pair_wipe(&server);
                return false;
        }
        const bool new_server = memcmp(server.secret, a->server.secret, KEY_BYTES) != 0;
        a->server = server;
        key_pair_wipe(&server);
        a->authorized = authorized;
        a->stats.authorized = authorized.n;
        for (unsigned i = 0; i < SOCKETS && new_server; i++)
                if (!open_socket(&a->sockets[i], &a->server))
                        log_error("listen=%s: cannot listen with the new server key: %s", a->listen,
                                  zmq_strerror(errno));
        size_t gone = count_gone(&before, &authorized), shut = 0;
        if (gone > 0)
                shut = connections_shut(still_holds, &a->authorized);
        a->stats.shut += shut;
        authorized_done(&before);
        log_info("keys=%zu read again, revoked=%zu connections_shut=%zu server_key=%s", authorized.n, gone, shut,
                 new_server ? "new" : "as before");
        return true;
}

/* ------------------------------------------------------------------- who it is */

void admission_who(struct admission *a, zmq_msg_t *message, struct principal *ret)
{
        const char *id = zmq_msg_gets(message, "User-Id");
        uint8_t public[KEY_BYTES];

        *ret = (struct principal){ .role = ROLE_CONTROL, .fd = zmq_msg_get(message, ZMQ_SRCFD) };
        if (!a || !id || !key_parse(id, public))
                return;
        connections_note_key(ret->fd, public);
        const struct authorized_key *known = authorized_by_key(&a->authorized, public);
        ret->revoked = !known;
        ret->role = known ? known->role : ROLE_READ;
        (void)snprintf(ret->name, sizeof(ret->name), "%s", known ? known->name : "");
}

const struct admission_stats *admission_stats(const struct admission *a)
{
        return &a->stats;
}

const char *admission_listens(const struct admission *a)
{
        return a->listen;
}
