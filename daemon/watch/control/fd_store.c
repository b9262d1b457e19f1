/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: a list of names, each with whether the manager has it; what it cannot take now is sent again. */
#include "daemon/watch/control/service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/loop/descriptors.h"
#include "proto/base/descriptors.h"

#define SETTLED_S UINT64_C(10)

struct kept {
        char name[KEEPER_NAME_MAX];
        int fd;      /* of the source, borrowed; -1: taken back, and no source has it yet */
        int held_fd; /* what was taken back, owned; -1: nothing */
        bool sent;
};

struct fd_store {
        int socket;
        struct keeper keeper;
        struct kept kept[FD_STORE_MAX];
        size_t n;
        uint64_t settled_ns; /* 0: not looked at yet; UINT64_MAX: nothing is held any more */
        bool full;           /* has been logged */
};

/* ------------------------------------------------------------------ manager */

/* False: the manager does not take it now. */
static bool send_text(const struct fd_store *s, const char *text, int fd)
{
        union {
                char bytes[CMSG_SPACE(sizeof(int))];
                struct cmsghdr align;
        } control = { .bytes = { 0 } };
        struct iovec part = { .iov_base = (char *)text, .iov_len = strlen(text) };
        struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

        if (fd >= 0) {
                message.msg_control = control.bytes;
                message.msg_controllen = sizeof(control.bytes);
                struct cmsghdr *c = CMSG_FIRSTHDR(&message);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(c), &fd, sizeof(int));
        }
        return sendmsg(s->socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static bool send_forget(const struct fd_store *s, const char *name)
{
        char text[KEEPER_NAME_MAX + 40];

        (void)snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", name);
        return send_text(s, text, -1);
}

/* FDPOLL=0: a FIFO without a writer hangs up, and is to be kept all the same. */
static void send_kept(const struct fd_store *s, struct kept *k)
{
        char text[KEEPER_NAME_MAX + 40];

        (void)snprintf(text, sizeof(text), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", k->name);
        k->sent = send_forget(s, k->name) && send_text(s, text, k->fd);
}

/* ------------------------------------------------------------------ sources */

static struct kept *find_descriptor(struct fd_store *s, const char *name)
{
        for (size_t i = 0; i < s->n; i++)
                if (!strcmp(s->kept[i].name, name))
                        return &s->kept[i];
        return NULL;
}

static struct kept *add_descriptor(struct fd_store *s, const char *name)
{
        if (s->n == FD_STORE_MAX) {
                if (!s->full)
                        log_warning(
                                "the service manager keeps %u descriptors; further FIFOs are not kept open while "
                                "the daemon is started again",
                                FD_STORE_MAX);
                s->full = true;
                return NULL;
        }
        struct kept *k = &s->kept[s->n++];
        *k = (struct kept){ .fd = -1, .held_fd = -1 };
        (void)snprintf(k->name, sizeof(k->name), "%s", name);
        return k;
}

static void drop_descriptor(struct fd_store *s, struct kept *k)
{
        close_fd(&k->held_fd);
        *k = s->kept[--s->n];
}

static void keep_descriptor(void *ctx, const char *name, int fd)
{
        struct fd_store *s = ctx;
        struct kept *k = find_descriptor(s, name);

        if (!k && !(k = add_descriptor(s, name)))
                return;
        k->fd = fd;
        send_kept(s, k);
        close_fd(&k->held_fd);
}

static void forget_descriptor(void *ctx, const char *name)
{
        struct fd_store *s = ctx;
        struct kept *k = find_descriptor(s, name);

        if (!k)
                return;
        if (!send_forget(s, name))
                log_debug("the service manager was not told to forget %s: %s", name, strerror(errno));
        drop_descriptor(s, k);
}

/* -------------------------------------------------------------------- whole */

/* The next name of LISTEN_FDNAMES, "" when there is none. */
static void next_name(const char **names, char out[KEEPER_NAME_MAX])
{
        const size_t n = *names ? strcspn(*names, ":") : 0;

        (void)snprintf(out, KEEPER_NAME_MAX, "%.*s", n < KEEPER_NAME_MAX ? (int)n : 0, *names ? *names : "");
        if (*names)
                *names = (*names)[n] ? *names + n + 1 : NULL;
}

void fd_store_update(struct fd_store *s, uint64_t mono_ns)
{
        if (s->settled_ns == 0)
                s->settled_ns = mono_ns + SETTLED_S * UINT64_C(1000000000);
        for (size_t i = 0; i < s->n; i++)
                if (s->kept[i].fd >= 0 && !s->kept[i].sent)
                        send_kept(s, &s->kept[i]);
        if (mono_ns < s->settled_ns)
                return;
        s->settled_ns = UINT64_MAX;
        for (size_t i = s->n; i > 0; i--) {
                struct kept *k = &s->kept[i - 1];
                if (k->fd >= 0)
                        continue;
                (void)send_forget(s, k->name);
                drop_descriptor(s, k);
        }
}

struct fd_store *fd_store_new(int socket)
{
        struct fd_store *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        s->socket = socket;
        s->keeper = (struct keeper){ s, keep_descriptor, forget_descriptor };
        const char *names = getenv("LISTEN_FDNAMES");
        const unsigned n = descriptors_passed();
        char name[KEEPER_NAME_MAX];

        for (unsigned i = 0; i < n; i++) {
                const int fd = DESCRIPTORS_PASSED_FIRST + (int)i;
                next_name(&names, name);
                if (descriptors_is_listener(fd)) /* of a socket unit: the transport has those that it listens at */
                        continue;
                if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
                        break;
                struct kept *k = find_descriptor(s, name) ? NULL : add_descriptor(s, name);
                if (k)
                        k->held_fd = fd;
                else
                        (void)close(fd);
        }
        if (s->n > 0)
                log_info("%zu descriptors taken back from the service manager", s->n);
        (void)unsetenv("LISTEN_PID");
        (void)unsetenv("LISTEN_FDS");
        (void)unsetenv("LISTEN_FDNAMES");
        return s;
}

void fd_store_destroy(struct fd_store **sp)
{
        struct fd_store *s = *sp;

        *sp = NULL;
        if (!s)
                return;
        for (size_t i = 0; i < s->n; i++)
                close_fd(&s->kept[i].held_fd);
        free(s);
}

const struct keeper *fd_store_keeper(struct fd_store *s)
{
        return &s->keeper;
}
