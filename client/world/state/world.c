/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.c - daemons and targets; which update goes where.
 *
 * DESIGN: targets are in one array ordered by name, then daemon, and are found
 * by bisection. A target begins with its first message and ends with
 * STATE_REMOVED, with its daemon's epoch, or when its daemon lists its targets
 * without it (the removal itself was lost). What a target contains is left to
 * world_target.c and its neighbours.
 *
 * Bounds: WORLD_TARGETS and WORLD_DAEMONS; what is beyond them is left out and
 * counted.
 */
#include "client/world/state/world.h"
#include "client/world/state/internal.h"
#include "proto/base/array.h"
#include "proto/base/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct world {
        struct target_state **targets;
        uint32_t n_targets, cap_targets;
        struct world_daemon **daemons; /* by index; NULL: no message yet */
        uint32_t n_daemons, cap_daemons;
        bool keeps_past;
        struct history_options past;
        uint64_t focused; /* times that a target got its whole past by world_focus() */
};

struct world *world_new(const struct history_options *past)
{
        struct world *w = calloc(1, sizeof(*w));

        if (w && past) {
                w->keeps_past = true;
                w->past = *past;
        }
        return w;
}

void world_destroy(struct world **wp)
{
        struct world *w = *wp;

        if (!w)
                return;
        for (uint32_t i = 0; i < w->n_targets; i++)
                target_destroy(&w->targets[i]);
        for (uint32_t i = 0; i < w->n_daemons; i++) {
                if (w->daemons[i])
                        FORGET(w->daemons[i]->state);
                free(w->daemons[i]);
        }
        free(w->targets);
        free(w->daemons);
        free(w);
        *wp = NULL;
}

/* ----------------------------------------------------------------- daemons */

/* The daemon's entry, created if it is new; NULL when out of memory. */
static struct world_daemon *daemon_entry(struct world *w, size_t daemon)
{
        if (daemon >= w->n_daemons) {
                if (!ARRAY_RESERVE_ZEROED(w->daemons, w->cap_daemons, daemon + 1))
                        return NULL;
                w->n_daemons = (uint32_t)daemon + 1;
        }
        if (!w->daemons[daemon])
                w->daemons[daemon] = calloc(1, sizeof(struct world_daemon));
        return w->daemons[daemon];
}

const struct world_daemon *world_daemon(const struct world *w, size_t daemon)
{
        return daemon < w->n_daemons ? w->daemons[daemon] : NULL;
}

void world_set_stale(struct world *w, size_t daemon, bool stale)
{
        if (daemon < w->n_daemons && w->daemons[daemon])
                w->daemons[daemon]->stale = stale;
}

/* ----------------------------------------------------------------- targets */

int world_target_order(const struct world_target *t, const char *name, size_t daemon)
{
        int by_name = name_order(t->name, name, false);

        if (by_name)
                return by_name;
        return t->daemon < daemon ? -1 : t->daemon > daemon;
}

/* Where the target is or would have to be. */
static uint32_t find_position(const struct world *w, const char *name, size_t daemon, bool *ret_found)
{
        uint32_t low = 0, high = w->n_targets;

        *ret_found = false;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                int order = world_target_order(&w->targets[middle]->t, name, daemon);

                if (!order) {
                        *ret_found = true;
                        return middle;
                }
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static void remove_at(struct world *w, uint32_t at)
{
        target_destroy(&w->targets[at]);
        w->n_targets--;
        memmove(&w->targets[at], &w->targets[at + 1], (w->n_targets - at) * sizeof(*w->targets));
}

static size_t share_of(size_t all, size_t n, size_t least)
{
        return all / n > least ? all / n : least;
}

static bool is_focused(const struct world *w, uint64_t focus)
{
        return focus && focus + WORLD_WHOLE > w->focused;
}

/* What one target may keep: of a thousand those that were looked at have a fine past; 0: it was not. */
static struct history_options share_of_past(const struct world *w, uint64_t focus)
{
        struct history_options o = w->past;
        size_t n = w->n_targets ? w->n_targets : 1,
               points = share_of(WORLD_PAST_POINTS, n * SERIES_COUNT, WORLD_PAST_LEAST);

        o.points = o.points < points ? o.points : points;
        o.cells = share_of(o.cells, n, WORLD_CELLS_LEAST);
        o.brief = (w->past.brief || w->focused) && w->n_targets > WORLD_WHOLE && !is_focused(w, focus);
        return o;
}

static struct target_state *insert_at(struct world *w, uint32_t at, size_t daemon, const char *name)
{
        struct target_state *ts;

        if (!ARRAY_RESERVE(w->targets, w->cap_targets, (size_t)w->n_targets + 1))
                return NULL;
        struct history_options past = share_of_past(w, 0);
        ts = target_new(daemon, name, w->keeps_past ? &past : NULL);
        if (!ts)
                return NULL;
        memmove(&w->targets[at + 1], &w->targets[at], (w->n_targets - at) * sizeof(*w->targets));
        w->targets[at] = ts;
        w->n_targets++;
        return ts;
}

void world_reset(struct world *w, size_t daemon)
{
        for (uint32_t i = w->n_targets; i > 0; i--) {
                if (w->targets[i - 1]->t.daemon == daemon)
                        remove_at(w, i - 1);
        }
        if (daemon < w->n_daemons && w->daemons[daemon])
                FORGET(w->daemons[daemon]->state);
}

struct world *world_detach(struct world *w, size_t daemon)
{
        struct world *to = world_new(w->keeps_past ? &w->past : NULL);
        struct world_daemon *d = to && world_daemon(w, daemon) ? daemon_entry(to, daemon) : NULL;
        uint32_t left = 0;

        if (!to || !ARRAY_RESERVE(to->targets, to->cap_targets, w->n_targets)) {
                world_destroy(&to);
                return NULL;
        }
        if (d)
                *d = *w->daemons[daemon];
        if (d)
                w->daemons[daemon]->state = NULL;
        for (uint32_t i = 0; i < w->n_targets; i++) {
                if (w->targets[i]->t.daemon == daemon)
                        to->targets[to->n_targets++] = w->targets[i];
                else
                        w->targets[left++] = w->targets[i];
        }
        w->n_targets = left;
        return to;
}

size_t world_targets(const struct world *w)
{
        return w->n_targets;
}

bool world_has_run(const struct world *w)
{
        for (size_t i = 0; i < w->n_targets; i++)
                if (w->targets[i]->t.run)
                        return true;
        return false;
}

const struct world_target *world_target(const struct world *w, size_t index)
{
        return index < w->n_targets ? &w->targets[index]->t : NULL;
}

struct history *world_remove_history(struct world *w, size_t index)
{
        struct target_state *ts = w->targets[index];
        struct history *h = ts->history;

        ts->t.history = ts->history = NULL;
        return h;
}

const struct world_target *world_find(const struct world *w, const char *name)
{
        bool found;
        uint32_t at = find_position(w, name, 0, &found);

        if (at < w->n_targets && !strcmp(w->targets[at]->t.name, name))
                return &w->targets[at]->t;
        return NULL;
}

const struct world_target *world_find_of(const struct world *w, size_t daemon, const char *name)
{
        bool found;
        uint32_t at = find_position(w, name, daemon, &found);

        return found ? &w->targets[at]->t : NULL;
}

/* ----------------------------------------------------------------- updates */

static bool lists_target(const Hw__DaemonState *state, const char *name)
{
        for (size_t i = 0; i < state->n_targets; i++) {
                if (!strcmp(state->targets[i], name))
                        return true;
        }
        return false;
}

/* Drops targets that are older than the daemon's list and not in it. */
static void prune_targets(struct world *w, size_t daemon, const Hw__Update *u)
{
        for (uint32_t i = w->n_targets; i > 0; i--) {
                const struct world_target *t = &w->targets[i - 1]->t;

                if (t->daemon == daemon && t->published_wall_ns < u->published_wall_ns &&
                    !lists_target(u->daemon, t->name))
                        remove_at(w, i - 1);
        }
}

static bool is_removal(const Hw__Update *u)
{
        return u->body_case == HW__UPDATE__BODY_TARGET_STATE && u->target_state->has_state &&
               u->target_state->state == HW__TARGET__STATE__STATE_REMOVED;
}

/* Its share of the past as there are now so many targets. 0 or -ENOMEM. */
static int bound_past(const struct world *w, struct target_state *ts)
{
        const struct history_options share = share_of_past(w, ts->focus);
        const bool was_brief = target_is_brief(ts);

        if (ts->history)
                history_bound(ts->history, &share);
        if (was_brief || !target_is_brief(ts))
                return 0;
        world_notes_clear(ts);
        return trends_shorten(ts);
}

bool world_focus(struct world *w, const struct world_target *t)
{
        bool found;
        uint32_t at = find_position(w, t->name, t->daemon, &found);

        if (!found || is_focused(w, w->targets[at]->focus))
                return false;
        w->targets[at]->focus = ++w->focused;
        return w->n_targets > WORLD_WHOLE;
}

static int apply_target(struct world *w, struct world_daemon *d, size_t daemon, const Hw__Update *u)
{
        struct target_state *ts;
        bool found;
        uint32_t at = find_position(w, u->target, daemon, &found);

        if (is_removal(u)) {
                if (found)
                        remove_at(w, at);
                return 0;
        }
        if (!found && w->n_targets >= WORLD_TARGETS) {
                d->left_out++;
                return 0;
        }
        ts = found ? w->targets[at] : insert_at(w, at, daemon, u->target);
        return ts && bound_past(w, ts) == 0 ? target_apply(ts, u) : -ENOMEM;
}

int world_recall(struct world *w, size_t daemon, const char *target, uint32_t run, Hw__Series series, uint32_t band,
                 struct past *points)
{
        struct target_state *ts;
        bool found;
        uint32_t at = find_position(w, target, daemon, &found);
        int r = 0;

        if (found && w->targets[at]->t.run == run && w->targets[at]->history) {
                ts = w->targets[at];
                r = bound_past(w, ts) < 0               ? -ENOMEM
                    : series != HW__SERIES__SERIES_NONE ? history_recall_series(ts->history, series, points)
                                                        : history_recall_band(ts->history, band, points);
        }
        past_done(points);
        return r;
}

int world_apply(struct world *w, size_t daemon, const Hw__Update *update)
{
        struct world_daemon *d;

        if (daemon >= WORLD_DAEMONS)
                return 0;
        d = daemon_entry(w, daemon);
        if (!d)
                return -ENOMEM;
        if (update->has_published_wall_ns && update->published_wall_ns > d->heard_wall_ns)
                d->heard_wall_ns = update->published_wall_ns;
        if (update->body_case == HW__UPDATE__BODY_DAEMON) {
                KEEP(d->state, update->daemon);
                if (!d->state->finished && d->state->n_targets > 0)
                        prune_targets(w, daemon, update);
                return 0;
        }
        if (!update->target || !update->target[0] || strlen(update->target) > WORLD_NAME_MAX)
                return 0;
        return apply_target(w, d, daemon, update);
}
