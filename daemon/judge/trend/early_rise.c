/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: five rungs of 24 points each see rises that last from four seconds to more than an hour, with the same few
 * windows. Only buckets with samples make points, so a series that is sampled once in a minute has points a minute
 * apart on every rung; a rung that has no more points than the one below repeats its answer and saves the fits.
 *
 * The lowest rung keeps minima of seconds, each higher one the mean of the lower half of its children: bursts upward
 * vanish, and the mean averages noise.
 *
 * A rise begins when a rung has passed twice running, or once by twice the required ratio. It ends at once by a sample
 * below the middle of the rise (live data is never under-reported), by newest points that have not risen for some of
 * its age (a program that gets no processor pauses), and otherwise when nothing has passed for a while.
 */
#include "daemon/judge/trend/early_rise.h"

#include <math.h>
#include <string.h>

#include "daemon/judge/trend/theil_sen.h"
#include "proto/base/array.h"

#define GAP_WEIGHT      0.25
#define CERTAIN         2.0 /* times the required ratio: one pass is enough */
#define NEXT_COLLECTION 1.1 /* the next natural major collection may come after the data have doubled */
#define FLAT_GAPS_MIN   2u
#define FLAT_GAPS_MAX   10u
#define FLAT_SCATTERS   4.0
#define FLAT_SHARE      0.25
#define FLAT_AGE        0.03 /* of a rise's age: a pause that is shorter does not end it */
#define RESUMED_SHARE   0.02 /* a rise that was let go at its height resumes with so much more of it */
#define HEIGHT_SHARE    0.85 /* ... and one from there on is another one */
#define QUIET_GAPS      3.2  /* without a pass for the longer of these, a rise ends */
#define QUIET_AGE       0.15
#define HIGHER_PART     0.01 /* of a rise: less is no news of its level */
#define LATE_S          2.0  /* a sample that is later than others by at most this counts as of now */
#define ONSET_SCATTERS  3.0
#define BASE_POINTS     8u
#define BASE_POINTS_MIN 3u  /* fewer are no level: the first second of a program, whose heap is filled then */
#define LEVEL_POINTS    2u  /* at least, above what came before them */
#define LEVEL_BEND      6.0 /* it came there so many times as fast as it moves there */
#define ONSET_ERRORS    5.0 /* to each side: the line chose its points, so it errs more than they scatter */
#define ONSET_ERROR_AGE 0.03
#define ONSET_ERROR_MAX 0.4  /* of the age */
#define ONSET_GAPS      0.8  /* at least so many gaps between samples */
#define SPEEDS_UP       2.0  /* times the pace of the window's older half: the rise began */
#define SPEEDS_UP_AGE   0.45 /* as much of its age earlier than its line says */
#define MAD_TO_SD       1.4826
#define LADDER_MAX      (EARLY_RUNGS * EARLY_POINTS_MAX)

static const unsigned window_sizes[] = { 4, 5, 6, 8, 12, 16, 24 };

void early_rise_init(struct early_rise *e)
{
        *e = (struct early_rise){ .top = -INFINITY };
        for (unsigned k = 0; k < EARLY_RUNGS; k++)
                e->rungs[k].top_before = -INFINITY;
}

static double rung_width_s(unsigned k)
{
        return (double)(1u << (2 * k));
}

/* --------------------------------------------------------------- windows */

/* The median of a point and its neighbours, but for the newest one: a sample of one moment is no level. */
static double level_at(const struct early_rung *r, unsigned i)
{
        const struct early_point *p = &r->points[i];

        if (i == 0 || i + 1 >= r->n)
                return p->value;
        return median_of((double[]){ p[-1].value, p->value, p[1].value }, 3);
}

/* Whether a rung's newest points, of the newer half of the window, gained far less than its line, for at_least_s. */
static bool rung_is_flat(const struct early_rung *r, const struct early_fit *f, double at_least_s)
{
        for (unsigned gaps = FLAT_GAPS_MIN; gaps <= FLAT_GAPS_MAX && gaps < r->n; gaps++) {
                const unsigned from = r->n - 1 - gaps;
                const struct early_point *newest = &r->points[r->n - 1];
                const double span_s = newest->t_s - r->points[from].t_s, expected = f->slope * span_s;

                if (r->points[from].t_s < (f->start_s + f->end_s) / 2)
                        return false;
                if (span_s >= at_least_s && expected > FLAT_SCATTERS * f->sd &&
                    newest->value - level_at(r, from) < FLAT_SHARE * expected)
                        return true;
        }
        return false;
}

static bool is_flat(const struct early_rise *e, const struct early_fit *f, double at_least_s)
{
        for (unsigned k = 0; k < EARLY_RUNGS; k++)
                if (rung_is_flat(&e->rungs[k], f, at_least_s))
                        return true;
        return false;
}

static double fit_span_s(const struct early_fit *f)
{
        return f->end_s - f->start_s;
}

static void evaluate_rung(struct early_rise *e, unsigned k)
{
        struct early_rung *r = &e->rungs[k];
        struct early_answer answer = { .passes = false };
        struct early_fit f;

        if (k > 0 && r->children == r->closed) { /* its points are those of the rung below */
                r->answer = e->rungs[k - 1].answer;
                r->passed = e->rungs[k - 1].passed;
                return;
        }
        for (size_t i = 0; i < ARRAY_SIZE(window_sizes); i++) {
                unsigned n = window_sizes[i];
                if (n > r->n)
                        break;
                if (n == EARLY_POINTS_MIN && k > 0)
                        continue;
                const struct early_point *p = &r->points[r->n - n];
                early_fit_window(p, n, n < r->n ? p[-1].top : r->top_before, &f);
                if (!f.passes || is_flat(e, &f, 0))
                        continue;
                answer.required_share = fmax(answer.required_share, early_fit_ratio(&f) / early_fit_required_ratio(n));
                if (!answer.passes || fit_span_s(&f) > fit_span_s(&answer.widest))
                        answer.widest = f;
                if (!answer.passes || fit_span_s(&f) < fit_span_s(&answer.shortest))
                        answer.shortest = f;
                answer.passes = true;
        }
        r->passed = answer.passes ? r->passed + 1 : 0;
        r->answer = answer;
}

/* ----------------------------------------------------------------- onset */

/* All points, newest first: of the finest rung that has them, without overlap. Returns their number. */
static unsigned collect_points(const struct early_rise *e, struct early_point *ret)
{
        unsigned n = 0;
        double until_s = INFINITY;

        for (unsigned k = 0; k < EARLY_RUNGS; k++) {
                const struct early_rung *r = &e->rungs[k];
                double width_s = rung_width_s(k);
                for (unsigned i = r->n; i-- > 0;) {
                        double start_s = floor(r->points[i].t_s / width_s) * width_s;
                        if (start_s + width_s > until_s)
                                continue;
                        ret[n++] = r->points[i];
                        until_s = start_s;
                }
        }
        return n;
}

/* 1.4826 MAD of the residuals of p[0..n) (times falling or rising) around a line that is `start` at from_s. */
static double residual_scatter(const struct early_point *p, unsigned n, double from_s, double start, double slope)
{
        double r[EARLY_POINTS_MAX];

        for (unsigned i = 0; i < n; i++)
                r[i] = fabs(p[i].value - start - slope * (p[i].t_s - from_s));
        return MAD_TO_SD * median_of(r, n);
}

/* The level before a rise. */
struct early_base {
        double level, sd;
        unsigned n;
};

/* Whether the k newest of n points are a level: far above all older ones, and come to much faster than it moves. */
static bool is_level(const struct early_point *p, unsigned k, unsigned n, double step)
{
        double least = INFINITY, most = -INFINITY, older = -INFINITY;

        for (unsigned i = 0; i < k; i++) {
                least = fmin(least, p[i].value);
                most = fmax(most, p[i].value);
        }
        for (unsigned i = k; i < n; i++)
                older = fmax(older, p[i].value);
        return least - older > step &&
               (least - older) / (p[k - 1].t_s - p[k].t_s) > LEVEL_BEND * (most - least) / (p[0].t_s - p[k - 1].t_s);
}

/* Of the n newest points those that are a level: a program that has loaded its data stays where it came to. Else n. */
static unsigned newest_level(const struct early_point *p, unsigned n, double step)
{
        for (unsigned k = LEVEL_POINTS; k < n; k++)
                if (is_level(p, k, n, step))
                        return k;
        return n;
}

/* Of up to BASE_POINTS points before all[begin], newest first; begin + 1 < n. */
static struct early_base base_before(const struct early_point *all, unsigned n, unsigned begin, double level_step)
{
        double values[BASE_POINTS];
        struct early_base base = { .n = n - begin - 1 < BASE_POINTS ? n - begin - 1 : BASE_POINTS };

        for (unsigned i = 0; i < base.n; i++)
                values[i] = all[begin + 1 + i].value;
        base.n = newest_level(all + begin + 1, base.n, level_step);
        base.level = median_of(values, base.n);
        base.sd = residual_scatter(all + begin + 1, base.n, 0, base.level, 0);
        return base;
}

/*
 * The oldest point of the rise: from the middle of the window the points are followed back as long as they are near
 * its line. all[0] is the newest of n.
 */
static unsigned oldest_on_line(const struct early_point *all, unsigned n, const struct early_fit *f, double tolerance)
{
        unsigned i = 0;

        while (i + 1 < n && all[i + 1].t_s >= (f->start_s + f->end_s) / 2)
                i++;
        while (i + 1 < n && fabs(all[i + 1].value - (f->end - f->slope * (f->end_s - all[i + 1].t_s))) <= tolerance)
                i++;
        return i;
}

/*
 * Where the line of a rise meets the level before it, as an interval. The rise's oldest point is all[begin], of
 * `base.n` points before it `base` is the level.
 */
static struct early_onset meet_base(const struct early_fit *f, const struct early_point *all, unsigned begin,
                                    struct early_base base, double now_s)
{
        const struct early_point *first = &all[begin];
        const unsigned n = begin + 1 < EARLY_POINTS_MAX ? begin + 1 : EARLY_POINTS_MAX;
        const double gap_s = first->t_s - first[1].t_s, start = f->end - f->slope * (f->end_s - first->t_s);
        const double sd = residual_scatter(first - (n - 1), n, first->t_s, start, f->slope);
        double at_s = first->t_s - (start - base.level) / f->slope;

        at_s = fmin(fmax(at_s, first[1].t_s - gap_s), first->t_s + gap_s);
        double age_s = now_s - at_s;
        double standard_error_s = sqrt(4 * sd * sd / n + base.sd * base.sd / base.n) / f->slope;
        double error_s = ONSET_ERRORS * standard_error_s + ONSET_ERROR_AGE * age_s;
        error_s = fmin(error_s, fmax(2 * gap_s, ONSET_ERROR_MAX * age_s));
        error_s = fmax(error_s, ONSET_GAPS * gap_s);
        double earlier_s = f->slope_new > SPEEDS_UP * f->slope_old ? SPEEDS_UP_AGE * age_s : 0;
        return (struct early_onset){ .from_s = at_s - error_s - earlier_s, .to_s = at_s + error_s, .base = base.level };
}

static void set_onset(struct early_rise *e, const struct early_fit *f, bool after_another, double now_s)
{
        struct early_point all[LADDER_MAX];
        const double tolerance = ONSET_SCATTERS * f->sd, level_step = after_another ? tolerance : INFINITY;
        const unsigned n = collect_points(e, all);
        unsigned begin = oldest_on_line(all, n, f, tolerance);
        struct early_base base = { .level = all[begin].value };

        if (begin + 1 < n) {
                base = base_before(all, n, begin, level_step);
                /* The line's tolerance has reached into what was there before: the rise begins above that. */
                while (begin > 0 && all[begin - 1].t_s <= (f->start_s + f->end_s) / 2 &&
                       all[begin].value <= base.level + ONSET_SCATTERS * base.sd)
                        begin--;
                base = base_before(all, n, begin, level_step);
        }
        e->has_onset = true;
        if (base.n == 0) {
                e->onset = (struct early_onset){ .to_s = all[begin].t_s + 1.5 * f->sd / f->slope + e->gap_s / 2,
                                                 .base = base.level,
                                                 .first = true };
        } else if (base.n < BASE_POINTS_MIN) {
                e->onset = (struct early_onset){ .from_s = all[begin + 1].t_s,
                                                 .to_s = all[begin].t_s + tolerance / f->slope,
                                                 .base = base.level };
        } else {
                e->onset = meet_base(f, all, begin, base, now_s);
        }
        e->onset.from_s = fmax(e->onset.from_s, 0);
        e->onset.to_s = fmax(e->onset.to_s, e->first_s);
}

/* ---------------------------------------------------------------- rising */

/* The widest and the shortest window that pass, of all rungs. */
static bool find_windows(struct early_rise *e)
{
        bool found = false;

        for (unsigned k = 0; k < EARLY_RUNGS; k++) {
                const struct early_answer *a = &e->rungs[k].answer;
                if (!a->passes)
                        continue;
                if (!found || fit_span_s(&a->widest) > fit_span_s(&e->widest))
                        e->widest = a->widest;
                if (!found || fit_span_s(&a->shortest) < fit_span_s(&e->shortest))
                        e->shortest = a->shortest;
                found = true;
        }
        return found;
}

static bool fell_back(const struct early_rise *e)
{
        return e->has_onset && e->last < e->onset.base + (e->end - e->onset.base) / 2;
}

/* The coarser windows still show a rise that has stopped: it resumes when the series is above where it stopped. */
static bool is_standing(const struct early_rise *e)
{
        return e->has_onset && !fell_back(e) && e->last <= e->end + RESUMED_SHARE * (e->end - e->onset.base);
}

/* The rise that was let go at its height: what rises from there is another one. */
static bool starts_at_its_height(const struct early_rise *e, const struct early_onset *before)
{
        return e->onset.base >= before->base + HEIGHT_SHARE * (e->stood - before->base);
}

static void start_rising(struct early_rise *e, double now_s)
{
        e->rising = true;
        if (!find_windows(e))
                return;
        struct early_onset before = e->onset;
        bool had_onset = e->has_onset;
        set_onset(e, had_onset && e->widest.start_s < e->ended_s ? &e->shortest : &e->widest, had_onset, now_s);
        if (had_onset && e->onset.from_s <= e->ended_s && !starts_at_its_height(e, &before)) {
                e->onset = before; /* a rise that was lost out of sight continues */
        } else {
                e->end = e->widest.end;
        }
        e->end = fmax(e->end, e->widest.end);
}

static void note_answers(struct early_rise *e, double now_s, unsigned evaluated)
{
        bool passes = false, starts = false;

        for (unsigned k = 0; k < EARLY_RUNGS; k++) {
                const struct early_rung *r = &e->rungs[k];
                if (!(evaluated & (1u << k)))
                        continue;
                passes |= r->answer.passes;
                starts |= r->answer.passes && (r->passed >= 2 || r->answer.required_share > CERTAIN);
        }
        if (passes) {
                e->passed_s = now_s;
                e->passed_closed = e->rungs[0].closed;
        }
        if (!e->rising && starts && !is_standing(e)) {
                start_rising(e, now_s);
        } else if (e->rising && passes && find_windows(e)) {
                e->end = fmax(e->end, e->widest.end);
        }
}

static void end_rise(struct early_rise *e)
{
        e->rising = false;
        e->ended_s = e->passed_s;
        e->stood = e->rungs[0].n ? e->rungs[0].points[e->rungs[0].n - 1].value : e->last;
        e->end = fmax(e->end, e->stood);
        for (unsigned k = 0; k < EARLY_RUNGS; k++) {
                e->rungs[k].passed = 0;
                e->rungs[k].answer.passes = false;
        }
}

static void check_end(struct early_rise *e, double now_s)
{
        double age_s = now_s - (e->onset.from_s + e->onset.to_s) / 2;
        double patience_s = fmax(QUIET_GAPS * e->gap_s, QUIET_AGE * age_s);

        if (e->rungs[0].closed == e->passed_closed)
                patience_s = fmax(patience_s, NEXT_COLLECTION * e->last / e->shortest.slope);
        if (fell_back(e) || is_flat(e, &e->shortest, FLAT_AGE * age_s) || now_s - e->passed_s > patience_s)
                end_rise(e);
}

void early_rise_bound(struct early_rise *e, double most)
{
        if (e->rising && most < FLAT_SHARE * e->shortest.slope * (e->now_s - e->last_s))
                end_rise(e);
}

/* ----------------------------------------------------------------- rungs */

static void add_child(struct early_rise *e, unsigned k, const struct early_point *p)
{
        struct early_rung *r = &e->rungs[k];

        r->bucket = (int64_t)floor(p->t_s / rung_width_s(k));
        r->open[r->n_open++] = *p;
}

/* The mean of the lower half of the children. */
static struct early_point merge_children(const struct early_rung *r)
{
        struct early_point sorted[EARLY_CHILDREN], p = { .top = r->open[r->n_open - 1].top };
        unsigned n = r->n_open, half = (n + 1) / 2;

        for (unsigned i = 0; i < n; i++) {
                unsigned j = i;
                for (; j > 0 && sorted[j - 1].value > r->open[i].value; j--)
                        sorted[j] = sorted[j - 1];
                sorted[j] = r->open[i];
        }
        for (unsigned i = 0; i < half; i++) {
                p.value += sorted[i].value / half;
                p.t_s += sorted[i].t_s / half;
        }
        return p;
}

static void append_point(struct early_rise *e, unsigned k, const struct early_point *p)
{
        struct early_rung *r = &e->rungs[k];

        if (k == 0 && r->n > 0) {
                double gap_s = p->t_s - r->points[r->n - 1].t_s;
                e->gap_s += (r->closed == 1 ? 1 : GAP_WEIGHT) * (gap_s - e->gap_s);
        }
        if (r->n == EARLY_POINTS_MAX) {
                r->top_before = r->points[0].top;
                memmove(r->points, r->points + 1, (EARLY_POINTS_MAX - 1) * sizeof(r->points[0]));
                r->n--;
        }
        r->points[r->n++] = *p;
        r->closed++;
        r->children += r->n_open;
        r->n_open = 0;
        if (k + 1 < EARLY_RUNGS)
                add_child(e, k + 1, p);
}

void early_rise_advance(struct early_rise *e, double t_s)
{
        unsigned evaluated = 0;

        if (t_s < e->now_s)
                return;
        e->now_s = t_s;
        for (unsigned k = 0; k < EARLY_RUNGS; k++) {
                struct early_rung *r = &e->rungs[k];
                if (r->n_open == 0 || (double)(r->bucket + 1) * rung_width_s(k) > t_s)
                        continue;
                struct early_point p = k == 0 ? r->open[0] : merge_children(r);
                append_point(e, k, &p);
                evaluated |= 1u << k;
        }
        for (unsigned k = 0; k < EARLY_RUNGS; k++)
                if (evaluated & (1u << k))
                        evaluate_rung(e, k);
        if (evaluated)
                note_answers(e, t_s, evaluated);
        if (e->rising)
                check_end(e, t_s);
}

/* --------------------------------------------------------------- samples */

void early_rise_add(struct early_rise *e, double t_s, double value)
{
        struct early_rung *r = &e->rungs[0];

        if (t_s < e->now_s - LATE_S)
                return;
        t_s = fmax(t_s, e->now_s);
        early_rise_advance(e, t_s);
        if (e->samples++ == 0)
                e->first_s = t_s;
        e->last_s = t_s;
        e->last = value;
        e->top = fmax(e->top, value);
        if (!e->rising || value >= e->high + HIGHER_PART * (value - e->onset.base)) {
                e->high = value;
                e->high_s = t_s;
        }
        if (r->n_open == 0) {
                r->bucket = (int64_t)floor(t_s);
                r->open[0] = (struct early_point){ .t_s = t_s, .value = value };
                r->n_open = 1;
        } else if (value < r->open[0].value) {
                r->open[0].t_s = t_s;
                r->open[0].value = value;
        }
        r->open[0].top = e->top;
        if (e->rising)
                check_end(e, t_s);
        else if (fell_back(e))
                e->has_onset = false; /* the next rise is another one */
}

void early_rise_rate(const struct early_rise *e, double *ret_low, double *ret_high)
{
        const struct early_fit *a = &e->widest, *b = &e->shortest;
        double ka = early_fit_interval_factor(a->n), kb = early_fit_interval_factor(b->n);

        *ret_low = fmin(a->slope - ka * a->se, b->slope - kb * b->se);
        *ret_high = fmax(a->slope + ka * a->se, b->slope + kb * b->se);
}

bool early_rise_is_sound(const struct early_rise *e)
{
        for (unsigned k = 0; k < EARLY_RUNGS; k++) {
                const struct early_rung *r = &e->rungs[k];
                const struct early_answer *a = &r->answer;
                if (r->n > EARLY_POINTS_MAX || r->n_open > (k ? EARLY_CHILDREN : 1) || a->widest.n > EARLY_POINTS_MAX ||
                    a->shortest.n > EARLY_POINTS_MAX)
                        return false;
        }
        return !isnan(e->now_s);
}
