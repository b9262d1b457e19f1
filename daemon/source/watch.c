/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one inotify descriptor for the whole daemon, made with the first
 * watch and closed with the last: a user may have only 128 of them, and a
 * daemon a thousand targets. The kernel gives one number to all watches of the
 * same inode, so ours are a list with numbers that may repeat; a number is
 * given back with its last watch.
 *
 * The list is walked once per kernel event. That is a pointer chase over as
 * many entries as there are files, and kernel events come once per write(2) of
 * a runtime system that writes 64 KiB or a flush at a time.
 */
#include "daemon/source/watch.h"

#include <errno.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/uri.h"
#include "proto/base/descriptors.h"
#include "proto/base/event.h"

#define EVENTS_BYTES 8192 /* kernel events of one read(2) */

static struct {
        struct event_base *base;
        struct event *readable;
        int fd;
        struct watch *first;
} watcher = { .fd = -1 };

static void watcher_close(void)
{
        free_event(&watcher.readable);
        close_fd(&watcher.fd); /* nothing was written */
        watcher.base = NULL;
}

/* The kernel dropped this number (its inode is gone): the watches may be set up again. */
static void forget_watch(int wd)
{
        struct watch **at = &watcher.first;

        while (*at) {
                struct watch *w = *at;
                if (w->wd == wd) {
                        *at = w->next;
                        w->wd = 0;
                        w->next = NULL;
                } else {
                        at = &w->next;
                }
        }
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
        alignas(struct inotify_event) char events[EVENTS_BYTES];
        ssize_t n = read(fd, events, sizeof(events));

        if (n <= 0)
                return; /* level-triggered: what is left comes in the next turn */
        for (const char *p = events; p < events + n;) {
                const struct inotify_event *e = (const struct inotify_event *)(const void *)p;
                for (struct watch *w = watcher.first; w; w = w->next)
                        if (e->mask & IN_Q_OVERFLOW ||
                            (w->wd == e->wd && (!w->name || !e->len || !strcmp(w->name, e->name))))
                                w->seen(w->ctx);
                if (e->mask & IN_IGNORED)
                        forget_watch(e->wd);
                p += sizeof(*e) + e->len;
        }
        if (!watcher.first)
                watcher_close();
}

static int watcher_open(struct event_base *base)
{
        if (watcher.fd >= 0)
                return watcher.base == base ? 0 : -EBUSY;
        watcher.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (watcher.fd < 0)
                return -errno;
        watcher.base = base;
        watcher.readable = event_new(base, watcher.fd, EV_READ | EV_PERSIST, on_readable, NULL);
        if (watcher.readable && event_add(watcher.readable, NULL) == 0)
                return 0;
        watcher_close();
        return -ENOMEM;
}

static void watch_add(struct event_base *base, struct watch *w, const char *path, uint32_t mask)
{
        static bool logged;

        if (w->wd > 0 || watcher_open(base) < 0)
                return;
        int wd = inotify_add_watch(watcher.fd, path, mask | IN_MASK_ADD);
        if (wd < 0) {
                if (errno == ENOSPC && !logged) {
                        logged = true;
                        log_warning(
                                "no more inotify watches (fs.inotify.max_user_watches); the rest of the files are "
                                "checked once a second");
                }
                if (!watcher.first)
                        watcher_close();
                return;
        }
        w->wd = wd;
        w->next = watcher.first;
        watcher.first = w;
}

void watch_file(struct event_base *base, struct watch *w, const char *path)
{
        watch_add(base, w, path, IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF);
}

void watch_name(struct event_base *base, struct watch *w, const char *path)
{
        char dir[SOURCE_PATH_MAX];
        const char *slash = strrchr(path, '/');

        w->name = slash ? slash + 1 : path;
        int size = !slash ? 1 : slash == path ? 1 : (int)(slash - path);
        int n = snprintf(dir, sizeof(dir), "%.*s", size, slash ? path : ".");
        if (n > 0 && (size_t)n < sizeof(dir))
                watch_add(base, w, dir, IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB);
}

static bool wd_in_use(int wd)
{
        for (const struct watch *w = watcher.first; w; w = w->next) {
                if (w->wd == wd)
                        return true;
        }
        return false;
}

void watch_stop(struct watch *w)
{
        int wd = w->wd;

        if (wd <= 0)
                return;
        for (struct watch **at = &watcher.first; *at; at = &(*at)->next) {
                if (*at == w) {
                        *at = w->next;
                        break;
                }
        }
        w->wd = 0;
        w->next = NULL;
        if (!wd_in_use(wd))
                (void)inotify_rm_watch(watcher.fd, wd); /* fails if the inode is already gone: fine */
        if (!watcher.first)
                watcher_close();
}
