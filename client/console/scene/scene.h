/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scene.h - what to draw, and of which moment: the one argument of all drawing,
 * and the numbers of a target as people read them.
 */
#pragma once

#include "client/console/draw/canvas.h"
#include "client/console/draw/widgets.h"
#include "client/world/state/cpu_tree.h"
#include "client/world/state/thread_groups.h"
#include "client/world/state/recall.h"
#include "client/world/state/world.h"
#include "heapwatch/wire.h"

struct answer_memo;

/* A moment of a run that the user marked: what every band and series has gained since is shown. */
struct scene_mark {
        bool is_set;
        uint64_t time_ns; /* event time */
        uint32_t run;
        char target[WORLD_NAME_MAX + 1];
};

struct scene {
        const struct world *world;
        const char *(*endpoint)(const void *ctx, size_t daemon); /* where a daemon is, for people */
        const void *endpoint_ctx;
        bool live;                         /* following daemons; false: finished files */
        bool left;                         /* the daemon was restarted without `target`: this is its last known state */
        uint64_t now_wall_ns;              /* Unix time of this frame */
        const struct world_target *target; /* the chosen one; NULL when there is none */
        bool run_time;                     /* moments are shown as event time, not as time of day */
        uint64_t window_ns;                /* what charts show; 0: all that is known */
        struct recall *recall;             /* owned by the console; NULL: nothing to recall (files) */
        struct past *band;                 /* also: what scene_band gives */
        struct answer_memo *answered;      /* also: scene_answered */
        struct scene_mark mark;
        const struct cpu_tree
                *cpu; /* a profile of CPU time, allocation or waiting, shown in place of cost centres; NULL: none */
        const struct thread_groups *groups; /* what threads wait for, as it was read; NULL: it was not */
};

/* "running" ...; and its tint. */
const char *state_word(const struct world_target *t);
enum tint state_tint(const struct world_target *t);

/* Its run is over, or its log is finished: nothing more comes, and what is shown is of its end. */
bool scene_over(const struct scene *s, const struct world_target *t);

/* Unix time of the program's start if its moments are shown as time of day; 0: they are shown as event time. */
uint64_t scene_start_wall_ns(const struct scene *s, const struct world_target *t);

/* "14:02:30" or "5m 00s": a moment of the program in the clock of the view. Returns `out`. */
char *scene_when(char *out, size_t size, const struct scene *s, const struct world_target *t, uint64_t time_ns);

/* The range that charts and histories show: the window, or less if less is known. */
struct time_range scene_span(const struct scene *s, const struct world_target *t);

/* What a band held at censuses; valid until the next call. */
const struct past *scene_band(const struct scene *s, const struct world_target *t, const struct world_band *b);

/* How much a band has grown over the window; NAN: unknown. */
double scene_band_change(const struct scene *s, const struct world_target *t, const struct world_band *b);

/* The marked moment of this run; false: none. */
bool scene_mark_of(const struct scene *s, const struct world_target *t, uint64_t *ret_ns);

/* What a band, or a series, of the chosen target has gained since then; NAN: unknown, or nothing new since. */
double scene_band_since_mark(const struct scene *s, const struct world_band *b);
double scene_series_since_mark(const struct scene *s, Hw__Series series);

/* For columns "since mark". */
bool scene_has_mark(const struct scene *s);

/* Whether the target's daemon is silent; for how long. */
bool scene_stale(const struct scene *s, const struct world_target *t, uint64_t *ret_age_ns);

/*
 * "heapwatchd gone for 42 s; data as of 10:31:07; reconnecting", shorter for a small `width`: for the
 * target's daemon, or with NULL for any. False: it is there, and the picture is current.
 */
bool scene_gone(const struct scene *s, const struct world_target *t, int width, char *out, size_t size);

/* "heapwatchd is short of memory: ...", of the first daemon that is. False: none is. */
bool scene_short(const struct scene *s, char *out, size_t size);

/* Whether it is a process alone, without a log. */
bool scene_process_only(const struct world_target *t);

/* Why there is no census to show, in words. */
const char *scene_no_census(const struct scene *s, const struct world_target *t);

/* label.c: a band's label in a column: without its package where there is no room for it. */

/* Draws into at most `width` columns, and returns how many. `label` may contain anything; NULL or "" is unknown. */
int draw_label(struct canvas *c, struct area area, int row, int column, int width, const char *label);

/* With type, module and source of the band, as far as they are known and fit. */
void draw_band_label(struct canvas *c, struct area area, int row, int column, int width, const Hw__Band *band);
