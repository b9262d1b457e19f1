/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.h - the state of the world rebuilt from messages. Every client that
 * shows something draws from this one. It does no input or output.
 *
 * A message of an older run than the target's current one is ignored. A new
 * run keeps the target and clears everything of the run before.
 * Memory is bounded: history per series VIEW_POINTS, notes VIEW_NOTES.
 */
#ifndef HW_CLIENT_VIEW_H
#define HW_CLIENT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/wire.h"

#define VIEW_POINTS 4096        /* newest samples kept per series */
#define VIEW_BAND_POINTS 64     /* newest censuses kept per band */
#define VIEW_NOTES 512
#define VIEW_SERIES 16          /* indexed by Hw__Series */
#define VIEW_TARGETS 10000      /* of all daemons: messages of further ones are counted as left out */
#define VIEW_DAEMONS 256        /* messages of further ones are ignored */
#define VIEW_NAME_MAX 64        /* bytes of a target's name; longer ones are ignored */

struct view_point { uint64_t time_ns; double value; };

/* A ring of points in order of arrival. */
struct view_ring {
        struct view_point *points;
        size_t capacity, count, next;
};

/* The i-th newest, from 0. */
const struct view_point *view_ring_newest(const struct view_ring *r, size_t i);

struct view_band {
        uint32_t id;
        Hw__Band *def;                  /* owned copy; label is always set */
        uint64_t bytes;                 /* in the newest census; 0 when it had no row */
        uint64_t first_bytes;           /* in the first census that had it */
        uint64_t max_bytes;
        uint64_t census;                /* newest census with a row */
        struct view_ring history;
        Hw__Trend *trend;               /* NULL until it came */
};

/* Owned copies of the newest message of each kind; NULL until it came. */
struct view_target {
        char name[VIEW_NAME_MAX + 1];
        size_t daemon;                  /* index of its daemon in the feed */
        uint32_t run;
        uint64_t event_time_ns;         /* newest */
        uint64_t published_wall_ns;     /* newest */
        Hw__Target *target;
        Hw__Heap *heap;                 /* without samples */
        Hw__Gc *gc;                     /* without collections */
        Hw__Census *census;
        Hw__Sched *sched;
        Hw__Health *health;
        struct view_ring series[VIEW_SERIES]; /* samples */
        struct view_band **bands;       /* by id - 1; entries may be NULL */
        uint32_t n_bands;
        Hw__Note *notes[VIEW_NOTES];    /* ring; see view_note */
        uint64_t notes_first, notes_last; /* numbers kept; 0 when none */
        uint64_t ticks;                 /* time profile */
        Hw__Stack **stacks;             /* by id - 1 */
        uint32_t n_stacks;
        Hw__TickyCounter **ticky;       /* in order of first sight */
        uint32_t n_ticky;
        Hw__Trend *trends[VIEW_SERIES]; /* of series, indexed by Hw__Series; NULL until it came. Of bands: view_band */
        Hw__Trends *trend_state;        /* newest message without `trends`: growth, time to limit, scale */
        Hw__Alerts *alerts;             /* outlives runs */
};

struct view_daemon {
        Hw__DaemonState *state;
        bool stale;                     /* silent for 3 s */
        uint64_t heard_wall_ns;         /* published_wall_ns of its newest message */
        uint64_t left_out;              /* messages of targets beyond VIEW_TARGETS */
};

struct view;

struct view *view_new(void);
void view_destroy(struct view **v);

/* A copy that shares nothing with the view, for a picture that stands still. NULL when memory is short. */
struct view *view_copy(const struct view *v);

/* Takes one update of daemon `daemon` in. Borrowed. Returns 0 or -ENOMEM. */
int view_apply(struct view *v, size_t daemon, const Hw__Update *update);

/* Forgets a daemon's targets (new epoch). */
void view_reset(struct view *v, size_t daemon);
void view_set_stale(struct view *v, size_t daemon, bool stale);

/* Targets in order of name, then daemon. */
size_t view_targets(const struct view *v);
const struct view_target *view_target(const struct view *v, size_t index);
const struct view_target *view_find(const struct view *v, const char *name); /* first of that name, or NULL */
const struct view_daemon *view_daemon(const struct view *v, size_t daemon);  /* NULL when never heard */

/* Note by number, or NULL. */
const Hw__Note *view_note(const struct view_target *t, uint64_t number);

/* Fills `order` with indices of bands by bytes in the newest census, largest first; returns how many (at most max). */
size_t view_top_bands(const struct view_target *t, const struct view_band **bands, size_t max);

#endif
