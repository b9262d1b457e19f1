/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an ipc socket is as safe as its directory. The directory is opened
 * without following a link at its end and all checks are made on the
 * descriptor, so nothing can be swapped in between.
 *
 * Whether a socket file is stale is found by connecting to it: only a refused
 * connection means that nobody listens. Two daemons that start at the same time
 * would both find no socket, and the second bind would silently steal the
 * first one's name. An flock on the directory
 * makes check and bind one step.
 */
#include "daemon/publish/transport/endpoint.h"
#include "daemon/log.h"
#include "daemon/source/loop/descriptors.h"
#include "proto/base/private_directory.h"
#include "proto/base/descriptors.h"
#include "proto/base/digits.h"
#include "proto/wire/endpoints.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 200 /* of 10 ms each */
#define BACKLOG    128

/* ---------------------------------------------------------------- tcp */

static bool is_port(const char *text)
{
        uint64_t port;

        return *text != '0' && digits_parse(text, UINT16_MAX, &port);
}

static bool is_loopback(const char *host)
{
        struct in_addr v4;

        if (inet_pton(AF_INET, host, &v4) == 1)
                return (ntohl(v4.s_addr) >> 24) == 127;
        return !strcmp(host, "[::1]");
}

/* ---------------------------------------------------------------- ipc */

/* Opens the directory of the socket, created if missing, and checks it. A descriptor or -errno. */
static int open_directory(const char *directory, struct error *error)
{
        int fd = private_directory_open(directory, false, error);

        if (fd < 0 || trust_parents(directory, geteuid(), error))
                return fd;
        (void)close(fd);
        return -EACCES;
}

static int lock_directory(int fd, const char *directory, struct error *error)
{
        static const struct timespec wait = { .tv_nsec = 10 * 1000 * 1000 };

        for (int i = 0; i < LOCK_TRIES; i++) {
                if (flock(fd, LOCK_EX | LOCK_NB) == 0)
                        return 0;
                if (errno != EWOULDBLOCK && errno != EINTR)
                        break;
                (void)nanosleep(&wait, NULL);
        }
        return error_code(error, -errno, "%s: another daemon is starting there and does not become ready: %s",
                          directory, strerror(errno));
}

static int clear_stale(const char *path, struct error *error)
{
        struct stat st;

        if (lstat(path, &st))
                return errno == ENOENT ? 0 : error_code(error, -errno, "%s: %s", path, strerror(errno));
        if (!S_ISSOCK(st.st_mode))
                return error_code(error, -EACCES, "%s: exists and is not a socket; it is left alone", path);
        if (!unix_nobody_listens(path))
                return error_code(error, -EADDRINUSE,
                                  "%s: another daemon listens there; `heapwatch add NAME=URI` has it watch one more",
                                  path);
        if (unlink(path) && errno != ENOENT)
                return error_code(error, -errno, "%s: cannot remove the socket of a dead daemon: %s", path,
                                  strerror(errno));
        return 0;
}

/* The socket with which the service manager listens at that path. A descriptor, or -1: there is none. */
static int passed_listener(const char *path)
{
        const unsigned n = descriptors_passed();

        for (unsigned i = 0; i < n; i++) {
                const int fd = DESCRIPTORS_PASSED_FIRST + (int)i;
                struct sockaddr_un a = { .sun_family = AF_UNSPEC };
                socklen_t size = sizeof(a) - 1;
                if (descriptors_is_listener(fd) && getsockname(fd, (struct sockaddr *)&a, &size) == 0 &&
                    a.sun_family == AF_UNIX && !strcmp(a.sun_path, path) && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
                    fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
                        return fd;
        }
        return -1;
}

static int prepare_ipc(struct endpoint *e, const char *text, struct error *error)
{
        const char *path = text + strlen("ipc://"), *slash = strrchr(path, '/');
        char directory[LISTEN_MAX];
        struct sockaddr_un limit;

        if (*path != '/' || slash == path || slash[1] == '\0')
                return error_code(error, -EINVAL, "%s: expected ipc:///DIRECTORY/NAME with an absolute path", text);
        if (strlen(path) >= sizeof(limit.sun_path))
                return error_code(error, -EINVAL, "%s: a socket's path may have at most %zu bytes", text,
                                  sizeof(limit.sun_path) - 1);
        (void)snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
        int fd = open_directory(directory, error);
        if (fd < 0)
                return fd;
        int r = lock_directory(fd, directory, error);
        if (r == 0 && (e->passed = passed_listener(path)) < 0)
                r = clear_stale(path, error);
        if (r) {
                close(fd);
                return r;
        }
        (void)snprintf(e->address, sizeof(e->address), "ipc://%s", path);
        e->path = e->address + strlen("ipc://");
        e->directory = fd;
        return 0;
}

/* --------------------------------------------------------------- both */

int endpoint_prepare(struct endpoint *e, const char *text, struct error *error)
{
        *e = (struct endpoint){ .directory = -1, .passed = -1 };
        if (!strncmp(text, "ipc://", 6))
                return prepare_ipc(e, text, error);
        if (!strncmp(text, "tcp://", 6)) {
                const char *rest = text + strlen("tcp://"), *colon = strrchr(rest, ':');
                char host[64] = "";

                if (!colon || !is_port(colon + 1) || (size_t)(colon - rest) >= sizeof(host))
                        return error_code(error, -EINVAL, "%s: expected tcp://HOST:PORT with a port of 1 to 65535",
                                          text);
                memcpy(host, rest, (size_t)(colon - rest));
                if (!strcmp(host, "localhost")) /* a name may become something else */
                        (void)snprintf(host, sizeof(host), "127.0.0.1");
                if (!is_loopback(host))
                        return error_code(
                                error, -EACCES,
                                "%s: only loopback (127.0.0.1, [::1], localhost) is allowed, because messages are "
                                "neither encrypted nor authenticated; other machines connect to --listen, with keys",
                                text);
                (void)snprintf(e->address, sizeof(e->address), "tcp://%s:%s", host, colon + 1);
                return 0;
        }
        return error_code(error, -EINVAL, "%s: expected ipc:///DIRECTORY/NAME or tcp://127.0.0.1:PORT", text);
}

static int listen_ipc(const char *path)
{
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        (void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
        if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, BACKLOG) == 0)
                return fd;
        const int status = -errno;
        close_fd(&fd);
        return status;
}

static int listen_tcp(const struct addrinfo *at)
{
        int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;

        if (fd >= 0)
                (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (fd >= 0 && bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
                return fd;
        const int status = -errno;
        close_fd(&fd);
        return status;
}

/* "tcp://HOST:PORT", of numbers. NULL with a sentence. */
static struct addrinfo *resolve_tcp(const char *address, struct error *error)
{
        const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
                                        .ai_socktype = SOCK_STREAM };
        const char *rest = address + strlen("tcp://"), *colon = strrchr(rest, ':');
        const bool brackets = *rest == '[' && colon[-1] == ']';
        struct addrinfo *at = NULL;
        char host[64];

        (void)snprintf(host, sizeof(host), "%.*s", (int)(colon - rest) - 2 * brackets, rest + brackets);
        if (getaddrinfo(!strcmp(host, "*") ? "0.0.0.0" : host, colon + 1, &hints, &at) == 0)
                return at;
        (void)error_set(error, "%s: '%s' is not an address; expected tcp://ADDRESS:PORT, such as tcp://0.0.0.0:7700",
                        address, host);
        return NULL;
}

int endpoint_listen(const char *address, struct error *error)
{
        const bool ipc = !strncmp(address, "ipc://", 6);
        struct addrinfo *at = ipc ? NULL : resolve_tcp(address, error);

        if (!ipc && !at)
                return -1;
        const int fd = ipc ? listen_ipc(address + strlen("ipc://")) : listen_tcp(at);
        if (at)
                freeaddrinfo(at);
        if (fd < 0)
                (void)error_set(error, "%s: cannot listen there: %s", address, strerror(-fd));
        return fd;
}

bool endpoint_split(const char *listen, char ret_addresses[2][LISTEN_MAX], struct error *error)
{
        const char *rest = strncmp(listen, "tcp://", 6) ? NULL : listen + 6, *colon = rest ? strrchr(rest, ':') : NULL;

        if (!colon || !is_port(colon + 1) || !strcmp(colon + 1, "65535") || colon == rest || colon - rest >= 60)
                return error_set(
                        error,
                        "--listen: '%.80s'; expected tcp://ADDRESS:PORT with a port of 1 to 65534 (requests are "
                        "answered at the next one)",
                        listen);
        (void)snprintf(ret_addresses[0], LISTEN_MAX, "%s", listen);
        (void)snprintf(ret_addresses[1], LISTEN_MAX, "%.*s%lu", (int)(colon + 1 - listen), listen,
                       strtoul(colon + 1, NULL, 10) + 1);
        return true;
}

void endpoint_bound(struct endpoint *e, bool success)
{
        struct stat st;

        if (e->directory < 0)
                return;
        if (success && e->passed < 0 && lstat(e->path, &st) == 0 && S_ISSOCK(st.st_mode)) {
                e->device = st.st_dev;
                e->inode = st.st_ino;
        }
        close(e->directory); /* unlocks */
        e->directory = -1;
}

int endpoint_open(struct endpoint *e, const char *text, struct error *error)
{
        int fd = endpoint_prepare(e, text, error);

        if (fd < 0)
                return fd;
        fd = e->passed >= 0 ? e->passed : endpoint_listen(e->address, error);
        endpoint_bound(e, fd >= 0);
        return fd >= 0 ? fd : -EADDRNOTAVAIL;
}

static bool is_lost(const struct endpoint *e)
{
        struct stat st;

        return e->path && e->inode && (lstat(e->path, &st) != 0 || st.st_dev != e->device || st.st_ino != e->inode);
}

int endpoint_restore(struct endpoint *e)
{
        struct endpoint again;
        struct error error;

        if (!is_lost(e))
                return -1;
        const int fd = endpoint_open(&again, e->address, &error);
        if (fd < 0 && !e->is_lost)
                log_error("socket=%s was removed, and cannot be made again yet: %s", e->path, error.text);
        e->is_lost = fd < 0;
        if (fd == -EADDRINUSE)
                (void)kill(getpid(), SIGTERM);
        if (fd < 0)
                return -1;
        e->device = again.device;
        e->inode = again.inode;
        log_warning("socket=%s was removed; it is made again", e->path);
        return fd;
}

void endpoint_remove(struct endpoint *e)
{
        if (!e->path || !e->inode)
                return;
        if (!is_lost(e))
                (void)unlink(e->path); /* if it fails, a stale socket stays, and the next daemon replaces it */
        e->inode = 0;
}
