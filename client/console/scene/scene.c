/* SPDX-License-Identifier: BSD-3-Clause */
/* scene.c - numbers of a target as people read them. */
#include "client/console/scene/scene.h"

#include "client/answers/census.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"

static const struct {
        const char *word;
        enum tint tint;
} states[] = {
        [HW__TARGET__STATE__STATE_UNKNOWN] = { "unknown", TINT_DIM },
        [HW__TARGET__STATE__STATE_WAITING] = { "waiting", TINT_WARN },
        [HW__TARGET__STATE__STATE_CONNECTED] = { "connected", TINT_WARN },
        [HW__TARGET__STATE__STATE_RUNNING] = { "running", TINT_GOOD },
        [HW__TARGET__STATE__STATE_ENDED] = { "ended", TINT_DIM },
        [HW__TARGET__STATE__STATE_CRASHED] = { "crashed", TINT_BAD },
        [HW__TARGET__STATE__STATE_LOST] = { "lost", TINT_BAD },
        [HW__TARGET__STATE__STATE_FAILED] = { "failed", TINT_BAD },
        [HW__TARGET__STATE__STATE_STOPPED] = { "stopped", TINT_WARN },
        [HW__TARGET__STATE__STATE_UNREADABLE] = { "unreadable", TINT_BAD },
        [HW__TARGET__STATE__STATE_REMOVED] = { "removed", TINT_DIM },
};

/* One that a later version of the daemon may have sent is unknown. */
static Hw__Target__State state_of(const struct world_target *t)
{
        const Hw__Target *target = t->target;

        return target && target->has_state && (size_t)target->state < ARRAY_SIZE(states)
                       ? target->state
                       : HW__TARGET__STATE__STATE_UNKNOWN;
}

const char *state_word(const struct world_target *t)
{
        const Hw__Target__State state = state_of(t);

        return state == HW__TARGET__STATE__STATE_CRASHED && t->target->has_exit_signal ? "killed" : states[state].word;
}

enum tint state_tint(const struct world_target *t)
{
        return states[state_of(t)].tint;
}

bool scene_over(const struct scene *s, const struct world_target *t)
{
        return world_is_over(t, s->live);
}

bool scene_stale(const struct scene *s, const struct world_target *t, uint64_t *ret_age_ns)
{
        const struct world_daemon *d = world_daemon(s->world, t->daemon);

        *ret_age_ns = d && s->now_wall_ns > d->heard_wall_ns ? s->now_wall_ns - d->heard_wall_ns : 0;
        return d && d->stale;
}

/* The silent daemon: the target's, or the first of any; NULL: none. */
static const struct world_daemon *silent_daemon(const struct scene *s, const struct world_target *t)
{
        const struct world_daemon *d;

        for (size_t i = t ? t->daemon : 0; (d = world_daemon(s->world, i)); i++) {
                if (d->stale || t)
                        return d->stale ? d : NULL;
        }
        return NULL;
}

bool scene_gone(const struct scene *s, const struct world_target *t, int width, char *out, size_t size)
{
        const struct world_daemon *d = silent_daemon(s, t);
        uint64_t of_ns = s->left && t ? t->published_wall_ns : d ? d->heard_wall_ns : 0;
        uint64_t age_ns = s->now_wall_ns > of_ns ? s->now_wall_ns - of_ns : 0;
        char age[SHORT_TEXT], of[SHORT_TEXT];

        if (!d && !s->left)
                return false;
        (void)age_text(age, sizeof(age), age_ns);
        (void)time_of_day(of, sizeof(of), of_ns, s->now_wall_ns);
        if (s->left)
                (void)snprintf(out, size, "heapwatchd was restarted without %.64s; data as of %.16s",
                               SAFE_TEXT(SHORT_TEXT, t->name), of);
        else if (width >= 70)
                (void)snprintf(out, size, "heapwatchd gone for %.24s; data as of %.16s; reconnecting", age, of);
        else
                (void)snprintf(out, size, "heapwatchd gone %.24s; as of %.16s; reconnecting", age, of);
        return true;
}

bool scene_short(const struct scene *s, char *out, size_t size)
{
        const struct world_daemon *d;

        for (size_t i = 0; (d = world_daemon(s->world, i)); i++) {
                if (!d->state || !d->state->memory_pressure)
                        continue;
                (void)snprintf(out, size, "heapwatchd is short of memory: %s",
                               SAFE_TEXT(256, d->state->memory_pressure));
                return true;
        }
        return false;
}

bool scene_process_only(const struct world_target *t)
{
        return t->target && t->target->run_info && t->target->run_info->process_only;
}

const char *scene_no_census(const struct scene *s, const struct world_target *t)
{
        static char line[CENSUS_LINE + 16], safe[4 * CENSUS_LINE];
        char text[CENSUS_LINE];
        uint64_t age_ns;

        if (scene_stale(s, t, &age_ns))
                return UNKNOWN_TEXT "  no census had been seen when heapwatchd went away";
        (void)snprintf(line, sizeof(line), UNKNOWN_TEXT "  %s",
                       safe_text(safe, sizeof(safe), census_absence(text, sizeof(text), t, s->live)));
        return line;
}

uint64_t scene_start_wall_ns(const struct scene *s, const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        return !s->run_time && run && run->has_start_wall_ns ? run->start_wall_ns : 0;
}

char *scene_when(char *out, size_t size, const struct scene *s, const struct world_target *t, uint64_t time_ns)
{
        uint64_t start_wall_ns = scene_start_wall_ns(s, t);

        if (!start_wall_ns)
                return hw_duration_text(out, size, (double)time_ns);
        return time_of_day(out, size, start_wall_ns + time_ns, s->now_wall_ns);
}

struct time_range scene_span(const struct scene *s, const struct world_target *t)
{
        struct time_range range = { .to_ns = world_known_until_ns(t) };
        uint64_t first_ns = t->history ? history_first_ns(t->history) : UINT64_MAX;

        if (s->window_ns && range.to_ns > s->window_ns)
                range.from_ns = range.to_ns - s->window_ns;
        if (first_ns != UINT64_MAX && first_ns > range.from_ns && first_ns < range.to_ns)
                range.from_ns = first_ns; /* a late joiner knows nothing before */
        return range;
}

/* When out of memory, or of two moments: as far as it is known. */
const struct past *scene_band(const struct scene *s, const struct world_target *t, const struct world_band *b)
{
        past_done(s->band);
        if (t->history)
                (void)history_band(t->history, b->id, NULL, s->band);
        return s->band;
}

double scene_band_change(const struct scene *s, const struct world_target *t, const struct world_band *b)
{
        uint64_t now_ns = t->census ? t->census->time_ns : 0;
        uint64_t from_ns = s->window_ns && s->window_ns < now_ns ? now_ns - s->window_ns : 0;

        return t->census && t->history ? history_change(t->history, b->id, world_band_bytes(t, b), from_ns,
                                                        from_ns ? s->window_ns / 4 : UINT64_MAX)
                                       : NAN;
}

bool scene_mark_of(const struct scene *s, const struct world_target *t, uint64_t *ret_ns)
{
        const struct scene_mark *m = &s->mark;

        if (!m->is_set || m->run != t->run || strcmp(m->target, t->name) != 0)
                return false;
        *ret_ns = m->time_ns;
        return true;
}

bool scene_has_mark(const struct scene *s)
{
        uint64_t mark_ns;

        return s->target && scene_mark_of(s, s->target, &mark_ns);
}

double scene_band_since_mark(const struct scene *s, const struct world_band *b)
{
        const struct world_target *t = s->target;
        uint64_t mark_ns;

        return scene_mark_of(s, t, &mark_ns) && t->census && t->census->time_ns > mark_ns && t->history
                       ? history_change(t->history, b->id, world_band_bytes(t, b), mark_ns + 1, UINT64_MAX)
                       : NAN;
}

double scene_series_since_mark(const struct scene *s, Hw__Series series)
{
        const struct past *past = history_series(s->target->history, series);
        uint64_t mark_ns;

        if (!past->n || !scene_mark_of(s, s->target, &mark_ns))
                return NAN;
        const struct point *then = past_before(past, mark_ns), *now = &past->points[past->n - 1];
        return then && now->cell.last_ns > mark_ns ? now->cell.last - then->cell.last : NAN;
}
