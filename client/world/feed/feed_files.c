/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * feed_files.c - updates from finished logs, which are read in this process (daemon/watch/targets/log_reader.h).
 *
 * DESIGN: who asks for the next update makes the reader read on, so nothing is read ahead of its use. Of what one step
 * of the reader sends copies wait, because those who keep an update need one that is whole and their own; a step reads
 * at most one piece of a file, and all that it sent is delivered before the next.
 *
 * A pipe that has no bytes yet must not hold up who asks, so it is polled before each step. feed_fd is an epoll of it
 * and of an eventfd that is readable while there is nothing to wait for: epoll does not take the descriptor of a file.
 */
#include "client/world/feed/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "client/world/feed/locate.h"
#include "daemon/watch/config/config.h"
#include "daemon/watch/targets/log_reader.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/eventlog/recording/stretch.h"
#include "proto/wire/message.h"

/* Updates that are to be delivered, owned from `at` on. */
struct waiting_updates {
        Hw__Update **items;
        size_t n, room, at;
};

struct feed_files {
        struct feed feed;
        struct log_reader *reader;
        char **paths; /* as they are opened; n of them */
        size_t n;
        struct waiting_updates waiting;
        uint32_t kinds;     /* that are wanted, a bit each; 0: all */
        Hw__Update *update; /* lent out */
        bool over;          /* nothing more is read */
        int ready_fd;       /* eventfd: readable while `ready` */
        bool ready;         /* the next step has to wait for nothing */
};

static struct feed_files *files_of(const struct feed *feed)
{
        return (struct feed_files *)feed;
}

/* ------------------------------------------------------------- waiting updates */

/* Of wanted kinds. */
static int add_update(void *ctx, const Hw__Update *update)
{
        struct feed_files *f = ctx;
        struct waiting_updates *w = &f->waiting;

        if (f->kinds && !(f->kinds >> hw_update_kind(update) & 1))
                return 0;
        if (!ARRAY_RESERVE(w->items, w->room, w->n + 1))
                return -ENOMEM;
        w->items[w->n] = (Hw__Update *)message_copy(&update->base);
        if (!w->items[w->n])
                return -ENOMEM;
        w->n++;
        return 0;
}

static Hw__Update *remove_first(struct waiting_updates *w)
{
        Hw__Update *update = w->items[w->at++];

        if (w->at == w->n)
                w->at = w->n = 0;
        return update;
}

/* ------------------------------------------------------------------- one update */

static void drop_update(struct feed_files *f)
{
        if (f->update)
                hw_update_unref(f->update);
        f->update = NULL;
}

/* Makes feed_fd readable, unless the next step has to wait for a pipe: then the pipe makes it so. */
static void set_ready(struct feed_files *f, bool ready)
{
        struct epoll_event readable = { .events = EPOLLIN };
        eventfd_t count;

        if (!ready) /* it is in there already, or a new one of that number: the end of the last one removed it */
                (void)epoll_ctl(f->feed.fd, EPOLL_CTL_ADD, log_reader_fd(f->reader), &readable);
        if (ready == f->ready)
                return;
        f->ready = ready;
        if (ready)
                (void)eventfd_write(f->ready_fd, 1);
        else
                (void)eventfd_read(f->ready_fd, &count);
}

/* Reads on. Nothing more can be read when it is over; why, if not because all was read, is in the feed's error. */
static void read_step(struct feed_files *f)
{
        const int status = log_reader_step(f->reader);

        if (log_reader_warning(f->reader)[0])
                (void)fprintf(stderr, "heapwatch: %s\n", log_reader_warning(f->reader));
        if (status > 0 || signals_stop()) /* a read that a signal interrupted is no failure */
                return;
        f->over = true;
        if (status < 0)
                (void)feed_fail(&f->feed, "%s", strerror(-status));
        else if (log_reader_failure(f->reader)[0])
                (void)feed_fail(&f->feed, "%s", log_reader_failure(f->reader));
}

static enum feed_event files_next(struct feed *feed, int timeout_ms, const Hw__Update **ret_update)
{
        struct feed_files *f = files_of(feed);
        uint64_t now_ms = clock_mono_ms();
        const uint64_t until_ms = timeout_ms < 0 ? UINT64_MAX : now_ms + (uint64_t)timeout_ms;

        drop_update(f);
        while (f->waiting.n == 0 && !f->over) {
                struct pollfd p = { .fd = log_reader_fd(f->reader), .events = POLLIN };

                if (now_ms > until_ms || signals_stop())
                        return FEED_NOTHING;
                set_ready(f, p.fd < 0 || poll(&p, 1, timeout_ms < 0 ? -1 : (int)(until_ms - now_ms)) > 0);
                if (!f->ready) /* not within that time, or a signal came */
                        return FEED_NOTHING;
                read_step(f);
                now_ms = clock_mono_ms() + (timeout_ms == 0); /* then one step is all */
        }
        if (f->waiting.n > 0) {
                *ret_update = f->update = remove_first(&f->waiting);
                return FEED_UPDATE;
        }
        return f->feed.error.text[0] ? FEED_FAILED : FEED_END;
}

/* -------------------------------------------------------------------- open, close */

static void files_close(struct feed *feed)
{
        struct feed_files *f = files_of(feed);

        drop_update(f);
        log_reader_destroy(&f->reader);
        close_fd(&f->feed.fd);
        close_fd(&f->ready_fd);
        for (size_t i = 0; i < f->n; i++)
                free(f->paths[i]);
        free(f->paths);
        while (f->waiting.n > 0)
                hw_update_unref(remove_first(&f->waiting));
        free(f->waiting.items);
        free(f);
}

/* Whether any file can be read, or why the first cannot. One that is missing among others is reported at the end. */
static bool any_file(const char *const *paths, size_t n, struct error *error)
{
        for (size_t i = n; i-- > 0;)
                if (stretch_is(paths[i]) || !strcmp(paths[i], "-") || access(paths[i], R_OK) == 0)
                        return true;
        /* What may have been meant by a name that is no file: a target, or with ~1, ~2 a run of it before. */
        if (n == 1 && errno == ENOENT && hw_target_name_valid(paths[0]) && !strchr(paths[0], '.'))
                return error_set(
                        error,
                        "%s: %s; for a target: `heapwatch summary %s`, `heapwatch report %s`, or if it is recorded "
                        "recording:%s",
                        paths[0], strerror(ENOENT), paths[0], paths[0], paths[0]);
        return error_set(error, "%s: %s%s", paths[0], strerror(errno),
                         n > 1 ? "; the others cannot be read either" : "");
}

static struct feed *open_files(const char *const *paths, size_t n, struct log_reader_options options,
                               struct error *error)
{
        struct feed_files *f;
        struct epoll_event readable = { .events = EPOLLIN };
        bool good;

        if (paths && !any_file(paths, n, error))
                return NULL;
        error_set(error, "out of memory");
        f = calloc(1, sizeof(*f));
        if (!f)
                return NULL;
        f->feed.next = files_next;
        f->feed.close = files_close;
        f->ready = true;
        f->ready_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
        f->feed.fd = epoll_create1(EPOLL_CLOEXEC);
        good = (f->ready_fd >= 0 && f->feed.fd >= 0 &&
                epoll_ctl(f->feed.fd, EPOLL_CTL_ADD, f->ready_fd, &readable) == 0) ||
               error_set(error, "no descriptor to wait for: %s", strerror(errno));
        if (good && paths)
                good = (f->paths = calloc(n, sizeof(*f->paths))) != NULL;
        for (; good && paths && f->n < n; f->n += good)
                good = (f->paths[f->n] = locate_log(paths[f->n], error)) != NULL;
        if (good) {
                options.paths = (const char *const *)f->paths;
                options.n = options.lists ? options.n : f->n;
                options.sink = (struct update_sink){ .ctx = f, .send = add_update };
                f->kinds = options.wish.kinds;
                f->reader = log_reader_new(&options, error);
        }
        if (f->reader)
                return &f->feed;
        files_close(&f->feed);
        return NULL;
}

/* One setting; NULL: not given. False with an error message. */
static bool set_trend(struct config *c, const char *option, const char *value, struct error *error)
{
        struct error why;

        return !value || setting_give(c, option, value, &why) || error_set(error, "--%s: %s", option, why.text);
}

static struct feed *open_judged(const char *const *paths, const struct event_list *lists, size_t n,
                                const struct judging *judging, const struct update_wish *wish, struct error *error)
{
        struct log_reader_options options = { .lists = lists, .n = n };

        if (wish)
                options.wish = *wish;
        if (judging) {
                struct config c = { .n_targets = 0 };

                options.rules = judging->rules.items;
                options.n_rules = judging->rules.n;
                if (!set_trend(&c, "resolution", judging->resolution, error) ||
                    !set_trend(&c, "leak-after", judging->leak_after, error) ||
                    !set_trend(&c, "limit", judging->limit, error))
                        return NULL;
                options.trend = c.trend;
        }
        return open_files(paths, n, options, error);
}

struct feed *feed_files(const char *const *paths, size_t n, const struct judging *judging, struct error *error)
{
        return open_judged(paths, NULL, n, judging, NULL, error);
}

struct feed *feed_files_wanted(const char *const *paths, size_t n, const struct judging *judging,
                               const struct update_wish *wish, struct error *error)
{
        return open_judged(paths, NULL, n, judging, wish, error);
}

struct feed *feed_runs(const struct event_list *runs, size_t n, const struct judging *judging, struct error *error)
{
        return open_judged(NULL, runs, n, judging, NULL, error);
}

struct feed *feed_events(const char *path, enum feed_events_wish wish, const bool *ids, bool show_arguments,
                         struct error *error)
{
        static const enum event_wish wishes[] = {
                [FEED_EVENT_COUNTS] = EVENTS_COUNTED,
                [FEED_EVENTS] = EVENTS_ALONE,
                [FEED_EVENTS_AND_STATE] = EVENTS_FULL,
        };

        return open_files(&path, 1,
                          (struct log_reader_options){
                                  .events = wishes[wish], .event_ids = ids, .show_arguments = show_arguments },
                          error);
}

void feed_want_band(struct feed *feed, uint32_t run, uint32_t band, bool wanted)
{
        if (!feed_is_live(feed))
                log_reader_want_band(files_of(feed)->reader, run, band, wanted);
}
