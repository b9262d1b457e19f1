/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - be woken when a file or a name in a directory changes.
 *
 * A hint, never the truth: the callback checks for itself, and its owner also
 * checks now and then without being woken, because inotify does not see what
 * happens on the far side of a network file system, and can run out of watches.
 */
#pragma once

struct event_base;

struct watch {
        int wd;                  /* 0 = not watching */
        const char *name;        /* only changes of this name in a directory; NULL = all. Borrowed */
        void (*seen)(void *ctx); /* must not add or remove watches: arm a timer */
        void *ctx;
        struct watch *next;
};

/* Watches a file for growth, and whether its inode loses its name. It may fail: callers look now and then, too. */
void watch_file(struct event_base *base, struct watch *w, const char *path);

/* Watches the directory that `path` is in, for the creation and removal of its last part. */
void watch_name(struct event_base *base, struct watch *w, const char *path);

/* Stops; allowed when not watching. */
void watch_stop(struct watch *w);

/*
 * second_tick.c: once a second, for all sources that look now and then: the daemon wakes once for them together.
 */

struct second_tick {
        void (*passed)(void *ctx); /* does little, or arms a timer; must not start or stop ticks */
        void *ctx;
        struct second_tick *next, **at; /* in the list of all; at == NULL: it does not tick */
};

/* 0 or -Exxx. All of a process tick in one loop. */
int second_tick_start(struct event_base *base, struct second_tick *t);

/* Stops; allowed when it does not tick. */
void second_tick_stop(struct second_tick *t);
